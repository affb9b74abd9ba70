"""Asking the person: a call waits for the answer, and the answer is remembered as long as it was meant."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.messages import ToolResultMessage, text_of
from agentcli.config.configuration import load_configuration
from agentcli.config.settings import PermissionMode, PermissionSettings, Settings
from agentcli.runtime.events import NoticeEvent, PermissionEndEvent, PermissionRequestEvent
from tests.agent.doubles import call, say
from tests.runtime.conftest import Make


def results(runtime: Any) -> list[str]:
    return [text_of(each.content) for each in runtime.agent.state.messages if isinstance(each, ToolResultMessage)]


class FakePerson:
    """Listens, and gives the same answer to every question."""

    def __init__(self, runtime: Any, verdict: str = "allow", remember: str = "once", reason: str | None = None) -> None:
        self.asked: list[PermissionRequestEvent] = []
        self.ended: list[PermissionEndEvent] = []
        self.notices: list[str] = []
        self._runtime = runtime
        self._answer = (verdict, remember, reason)
        runtime.subscribe(self._listen)

    def _listen(self, event: object, signal: object) -> None:
        match event:
            case PermissionRequestEvent():
                self.asked.append(event)
                verdict, remember, reason = self._answer
                asyncio.get_running_loop().call_soon(
                    self._runtime.answer_permission, event.id, verdict, remember, reason
                )
            case PermissionEndEvent():
                self.ended.append(event)
            case NoticeEvent():
                self.notices.append(event.text)
            case _:
                pass


async def test_a_call_waits_for_the_person_and_runs_when_allowed(make: Make):
    runtime = make([call("bash", "a", command="touch made")], [say("ok")], answers_permissions=True)
    person = FakePerson(runtime)
    await runtime.prompt("go")
    assert (runtime.cwd / "made").exists()
    (request,) = person.asked
    assert (request.tool_name, request.tool_call_id, request.arguments) == ("bash", "a", {"command": "touch made"})
    assert (request.about, request.suggested_rules) == ("touch made", ["bash(=touch made)"])
    assert "mode is ask" in request.because
    assert person.ended == [PermissionEndEvent(id=request.id, allowed=True, remember="once")]


async def test_a_call_that_is_not_allowed_does_not_run_and_the_model_hears_why(make: Make):
    runtime = make([call("bash", "a", command="touch made")], [say("ok")], answers_permissions=True)
    FakePerson(runtime, "deny", reason="use the Makefile")
    await runtime.prompt("go")
    assert not (runtime.cwd / "made").exists()
    assert results(runtime) == ["The person did not allow this call: use the Makefile"]


@pytest.mark.parametrize(("remember", "asked"), [("once", 2), ("session", 1), ("always", 1)])
async def test_an_answer_holds_as_long_as_it_was_meant(make: Make, remember: str, asked: int):
    runtime = make(
        [call("bash", "a", command="touch a")], [call("bash", "b", command="touch a")], [say("ok")],
        answers_permissions=True,
    )  # fmt: skip
    person = FakePerson(runtime, remember=remember)
    await runtime.prompt("go")
    assert len(person.asked) == asked
    assert (runtime.cwd / "a").exists()


async def test_what_is_allowed_always_is_not_asked_by_the_next_process_either(make: Make, tmp_path: Path):
    first = make([call("write", "a", path="src/a.txt", content="x")], [say("ok")], answers_permissions=True)
    FakePerson(first, remember="always")
    await first.prompt("go")
    settings = load_configuration(tmp_path / "work").settings
    assert settings.permissions.allow == [f"edit({tmp_path / 'work'}/**)"]
    second = make(
        [call("write", "a", path="b.txt", content="x")], [say("ok")], settings=settings, answers_permissions=True
    )
    person = FakePerson(second)
    await second.prompt("go")
    assert person.asked == []
    assert (tmp_path / "work" / "b.txt").exists()


async def test_a_rule_that_cannot_be_kept_holds_for_the_session_and_is_told(make: Make, tmp_path: Path):
    runtime = make(
        [call("bash", "a", command="touch a")], [call("bash", "b", command="touch a")], [say("ok")],
        answers_permissions=True,
    )  # fmt: skip
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "config.toml").write_text("model = \n")
    person = FakePerson(runtime, remember="always")
    await runtime.prompt("go")
    assert len(person.asked) == 1
    assert "holds for this session only" in person.notices[0]
    assert (tmp_path / "home" / "config.toml").read_text() == "model = \n"


async def test_a_denial_for_the_session_is_remembered(make: Make):
    runtime = make(
        [call("bash", "a", command="make")],
        [call("bash", "b", command="make")],
        [say("ok")],
        answers_permissions=True,
    )
    person = FakePerson(runtime, "deny", "session")
    await runtime.prompt("go")
    assert len(person.asked) == 1
    assert "the rule deny bash(=make)" in results(runtime)[1]


async def test_an_abort_ends_the_waiting(make: Make):
    runtime = make([call("bash", "a", command="touch made")], [say("unreached")], answers_permissions=True)
    ended: list[PermissionEndEvent] = []

    def listen(event: object, signal: object) -> None:
        if isinstance(event, PermissionRequestEvent):
            asyncio.get_running_loop().call_soon(runtime.abort)
        if isinstance(event, PermissionEndEvent):
            ended.append(event)

    runtime.subscribe(listen)
    await asyncio.wait_for(runtime.prompt("go"), 10)
    assert not (runtime.cwd / "made").exists()
    assert [(event.id, event.allowed) for event in ended] == [("p1", False)]
    assert not runtime.answer_permission("p1", "allow")


async def test_an_answer_to_nothing_is_said_to_be_one(make: Make):
    runtime = make([say("ok")], answers_permissions=True)
    assert not runtime.answer_permission("p7", "allow")
    assert not make([say("ok")]).answer_permission("p7", "allow")


async def test_where_nobody_can_answer_asking_is_denying_and_the_rule_that_would_help_is_named(make: Make):
    runtime = make([call("bash", "a", command="touch made")], [say("ok")], permission_mode=PermissionMode.ASK)
    await runtime.prompt("go")
    assert not (runtime.cwd / "made").exists()
    assert "nobody is here to be asked" in results(runtime)[0]
    assert "bash(=touch made)" in results(runtime)[0]


async def test_without_a_mode_a_run_lets_everything_run_and_an_app_asks(make: Make):
    assert make([say("ok")]).permission_mode == PermissionMode.AUTO
    assert make([say("ok")], answers_permissions=True).permission_mode == PermissionMode.ASK
    settings = Settings(permissions=PermissionSettings(mode=PermissionMode.READ_ONLY))
    assert make([say("ok")], settings=settings).permission_mode == PermissionMode.READ_ONLY
    assert (
        make([say("ok")], settings=settings, permission_mode=PermissionMode.AUTO).permission_mode == PermissionMode.AUTO
    )


async def test_read_only_has_only_the_tools_that_cannot_change_anything(make: Make):
    runtime = make([call("read", "a", path="a.txt")], [say("ok")], permission_mode=PermissionMode.READ_ONLY)
    (runtime.cwd / "a.txt").write_text("text\n")
    await runtime.prompt("go")
    assert [tool.name for tool in runtime.agent.state.tools] == ["read", "grep", "find", "ls"]
    assert results(runtime) == ["text\n"] or results(runtime) == ["text"]


async def test_the_mode_can_be_changed_while_the_agent_lives(make: Make):
    runtime = make(
        [call("bash", "a", command="touch a")], [say("ok")], [call("bash", "b", command="touch b")], [say("ok")]
    )
    runtime.permission_mode = PermissionMode.READ_ONLY
    await runtime.prompt("go")
    assert "read-only" in results(runtime)[0]
    runtime.permission_mode = PermissionMode.AUTO
    await runtime.prompt("go")
    assert [(runtime.cwd / name).exists() for name in "ab"] == [False, True]


async def test_rules_hold_in_every_mode(make: Make):
    settings = Settings(permissions=PermissionSettings(deny=["bash(touch)"]))
    runtime = make([call("bash", "a", command="true && touch a")], [say("ok")], settings=settings)
    await runtime.prompt("go")
    assert not (runtime.cwd / "a").exists()
    assert "the rule deny bash(touch)" in results(runtime)[0]
