"""Other sessions: the new runtime is opened first, and if that fails the old one stays as it was."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.errors import SessionError, UsageError
from agentcli.agent.messages import text_of
from agentcli.config.settings import PermissionMode, ProviderSettings, Settings
from agentcli.runtime.events import BashExecutionStartEvent, PermissionRequestEvent
from agentcli.runtime.session_choice import SessionChoice
from agentcli.runtime.switching import clone_session, fork_session, new_session, switch_session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from tests.agent.doubles import call, say, word
from tests.runtime.conftest import Make
from tests.runtime.test_runtime import hear, said
from tests.waiting import until

SETTINGS = Settings(
    model="mine/plain",
    providers={"mine": ProviderSettings(base_url="http://127.0.0.1:9/v1")},
    models={"mine/plain": {}, "mine/thinker": {"reasoning": True}},
)


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "home" / "sessions").rglob("*.jsonl"))


def path_of(runtime: Any) -> Path:
    return runtime.session.storage.path


def is_open(runtime: Any) -> bool:
    return path_of(runtime).with_name(path_of(runtime).name + ".lock").exists()


def entries(runtime: Any) -> list[str]:
    """The ids of the messages."""
    return [head.id for head in runtime.session.storage.heads() if head.type == "message"]


IN_MEMORY = pytest.mark.parametrize("in_memory", [False, True], ids=["file", "memory"])


def options(make: Make, tmp_path: Path, in_memory: bool) -> dict[str, Any]:
    return {"session": SessionChoice(cwd=tmp_path / "work", in_memory=in_memory)}


async def test_a_new_session_is_empty_and_has_the_present_model_and_mode(make: Make, tmp_path: Path, closing: list):
    old = make([say("one")], settings=SETTINGS, permission_mode=PermissionMode.READ_ONLY)
    await old.prompt("hi")
    old.set_model("mine/thinker:low")
    old.permission_mode = PermissionMode.ASK
    new = await new_session(old)
    closing.append(new)
    assert (new.cwd, said(new), new.session.id != old.session.id) == (old.cwd, [], True)
    assert (new.agent.state.model.full_id, new.agent.state.thinking_level) == ("mine/thinker", "low")
    assert new.permission_mode == PermissionMode.ASK
    assert "write" in [tool.name for tool in new.agent.state.tools]
    assert files(tmp_path) == [path_of(old)]
    assert not is_open(old)


@IN_MEMORY
async def test_a_new_session_stays_in_memory_where_the_old_one_was(
    make: Make, tmp_path: Path, closing: list, in_memory: bool
):
    old = make([say("one")], [say("two")], **options(make, tmp_path, in_memory))
    new = await new_session(old)
    closing.append(new)
    await new.prompt("hi")
    assert bool(files(tmp_path)) is not in_memory


async def test_a_run_that_goes_on_is_aborted_in_order_and_what_was_queued_can_be_taken_back(make: Make, closing: list):
    old = make([call("bash", "a", command="sleep 30")])
    events = hear(old)
    run = old.prompt("hi")
    await until(lambda: any(word(event) == "tool_execution_start a" for event in events))
    old.follow_up("later")
    closing.append(await new_session(old))
    assert run.done()
    assert [message.role for message in old.agent.state.messages] == ["user", "assistant", "toolResult"]
    assert [text_of(message.content) for message in old.agent.clear_all_queues()] == ["later"]
    session = JsonlSessionStorage.read(path_of(old))
    assert [head.type for head in session.heads()].count("message") == 3
    session.close()


async def test_the_command_of_the_person_ends_with_its_session(make: Make, closing: list):
    old = make([say("one")])
    await old.prompt("hi")
    events = hear(old)
    command = asyncio.ensure_future(old.bash("sleep 30"))
    await until(lambda: any(isinstance(event, BashExecutionStartEvent) for event in events))
    closing.append(await new_session(old))
    assert (await command).cancelled
    assert old.session.storage.heads()[-1].type == "message"


async def test_switching_goes_on_where_the_other_session_was_with_its_own_model(make: Make, closing: list):
    other = make([say("one")], settings=SETTINGS, model="mine/thinker:high")
    await other.prompt("hi")
    await other.close()
    old = make(settings=SETTINGS, model="mine/plain")
    new = await switch_session(old, other.session.id[-8:])
    closing.append(new)
    assert new.session.id == other.session.id
    assert said(new) == ["user: hi", "assistant: one"]
    assert new.agent.state.model.full_id == "mine/thinker"
    assert new.agent.state.thinking_level == "high"


async def test_switching_to_the_session_that_is_open_changes_nothing(make: Make, tmp_path: Path):
    runtime = make([call("bash", "a", command="sleep 0.2")], [say("one")])
    run = runtime.prompt("hi")
    await until(lambda: files(tmp_path))
    link = tmp_path / "link.jsonl"
    link.symlink_to(path_of(runtime))
    for reference in (runtime.session.id, runtime.session.id[-9:], str(path_of(runtime)), str(link)):
        assert await switch_session(runtime, reference) is runtime
    await run
    assert said(runtime)[-1] == "assistant: one"


async def test_switching_to_the_session_that_has_no_file_yet_changes_nothing(make: Make):
    runtime = make()
    assert await switch_session(runtime, runtime.session.id) is runtime


async def refused(old: Any, reference: str) -> SessionError:
    """The error of a switch that fails, after which the old runtime goes on."""
    events = hear(old)
    run = old.prompt("hi")
    await until(lambda: any(word(event) == "message_start assistant" for event in events))
    with pytest.raises(SessionError) as error:
        await switch_session(old, reference)
    await run
    assert said(old)[-1] == "assistant: still here"
    assert is_open(old)
    return error.value


async def test_a_session_that_is_not_there_leaves_the_old_one_as_it_was(make: Make):
    old = make([say("still here", chunk=2, delay=0.02)])
    assert (await refused(old, "nowhere")).code == "not_found"


async def test_a_session_whose_folder_is_gone_leaves_the_old_one_as_it_was(make: Make, tmp_path: Path):
    (tmp_path / "gone").mkdir()
    other = make([say("one")], session=SessionChoice(cwd=tmp_path / "gone"))
    await other.prompt("hi")
    await other.close()
    (tmp_path / "gone").rmdir()
    old = make([say("still here", chunk=2, delay=0.02)])
    assert (await refused(old, str(path_of(other)))).code == "cwd_missing"
    assert not is_open(other)


async def test_a_session_that_another_has_open_leaves_the_old_one_as_it_was(make: Make):
    other = make([say("one")])
    await other.prompt("hi")
    old = make([say("still here", chunk=2, delay=0.02)])
    assert (await refused(old, other.session.id)).code == "locked"


async def test_a_new_session_in_a_folder_that_is_gone_leaves_the_old_one_as_it_was(make: Make, tmp_path: Path):
    (tmp_path / "gone").mkdir()
    old = make([say("one")], session=SessionChoice(cwd=tmp_path / "gone"))
    await old.prompt("hi")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match="does not exist"):
        await new_session(old)
    assert is_open(old)


@IN_MEMORY
async def test_a_fork_before_a_message_ends_there_and_gives_its_text(
    make: Make, tmp_path: Path, closing: list, in_memory: bool
):
    old = make([say("one")], [say("two")], [say("three")], **options(make, tmp_path, in_memory))
    await old.prompt("first")
    await old.prompt("second")
    old.label(entries(old)[1], "here")
    new, text = await fork_session(old, entries(old)[2])
    closing.append(new)
    assert (text, said(new)) == ("second", ["user: first", "assistant: one"])
    assert new.session.labels == {entries(old)[1]: "here"}
    assert new.session.id != old.session.id
    assert len(old.session.storage.heads()) == 7
    await new.prompt("third")
    assert said(new)[-1] == "assistant: three"
    assert len(files(tmp_path)) == (0 if in_memory else 2)


@IN_MEMORY
async def test_a_fork_at_an_entry_has_it_and_no_text(make: Make, tmp_path: Path, closing: list, in_memory: bool):
    old = make([say("one")], [say("two")], **options(make, tmp_path, in_memory))
    await old.prompt("first")
    await old.prompt("second")
    new, text = await fork_session(old, entries(old)[1], "at")
    closing.append(new)
    assert (text, said(new)) == (None, ["user: first", "assistant: one"])


@IN_MEMORY
async def test_a_fork_before_the_first_message_makes_no_file_and_keeps_the_model(
    make: Make, tmp_path: Path, closing: list, in_memory: bool
):
    old = make([say("one")], settings=SETTINGS, **options(make, tmp_path, in_memory))
    old.set_model("mine/thinker:low")
    await old.prompt("first")
    old.name_session("mine")
    before = files(tmp_path)
    new, text = await fork_session(old, entries(old)[0])
    closing.append(new)
    assert (text, said(new), new.session.name) == ("first", [], "mine")
    assert new.agent.state.model.full_id == "mine/thinker"
    assert files(tmp_path) == before


async def test_what_no_fork_can_begin_at_is_refused_and_the_run_goes_on(make: Make):
    old = make([say("one")], [say("still here", chunk=2, delay=0.02)])
    await old.prompt("first")
    run = old.prompt("second")
    for entry, position, code in (
        ("nowhere", "before", "not_found"),
        (entries(old)[1], "before", "invalid_fork_target"),
        (entries(old)[0], "beside", "invalid_fork_target"),
    ):
        with pytest.raises(SessionError) as error:
            await fork_session(old, entry, position)
        assert error.value.code == code
    await run
    assert said(old)[-1] == "assistant: still here"


@IN_MEMORY
async def test_a_clone_made_during_a_call_has_its_answer(make: Make, tmp_path: Path, closing: list, in_memory: bool):
    old = make([call("bash", "a", command="sleep 30")], **options(make, tmp_path, in_memory))
    events = hear(old)
    run = old.prompt("first")
    await until(lambda: any(word(event) == "tool_execution_start a" for event in events))
    new = await clone_session(old)
    closing.append(new)
    assert run.done()
    assert [message.role for message in new.agent.state.messages] == ["user", "assistant", "toolResult"]
    assert said(new) == said(old)


@IN_MEMORY
async def test_a_session_with_no_message_can_be_cloned(make: Make, tmp_path: Path, closing: list, in_memory: bool):
    old = make(settings=SETTINGS, **options(make, tmp_path, in_memory))
    old.set_model("mine/thinker:low")
    new = await clone_session(old)
    closing.append(new)
    assert said(new) == []
    assert new.agent.state.model.full_id == "mine/thinker"
    assert files(tmp_path) == []


async def test_a_clone_has_the_branch_and_not_the_others(make: Make, closing: list):
    old = make([say("one")], [say("two")])
    await old.prompt("first")
    await old.go_to(None)
    await old.prompt("anew")
    new = await clone_session(old)
    closing.append(new)
    assert said(new) == ["user: anew", "assistant: two"]
    assert new.session.header.parent_session == str(path_of(old))


async def test_a_fork_that_cannot_be_opened_leaves_no_file_and_the_old_one_open(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from agentcli.agent.errors import ConfigError
    from agentcli.runtime import assembly

    old = make([say("one")], [say("two")])
    await old.prompt("first")

    def broken(*arguments: Any) -> Any:
        raise ConfigError("the settings are wrong by now")

    monkeypatch.setattr(assembly, "choose_model", broken)
    with pytest.raises(ConfigError):
        await fork_session(old, entries(old)[1], "at")
    monkeypatch.undo()
    os.environ["AGENTCLI_HOME"] = str(tmp_path / "home")
    assert files(tmp_path) == [path_of(old)]
    await old.prompt("second")
    assert said(old)[-1] == "assistant: two"


async def asked(runtime: Any) -> int:
    """How often the person was asked in a prompt, in which they allow everything for the session."""
    requests: list[str] = []

    def listen(event: Any, signal: Any) -> None:
        if isinstance(event, PermissionRequestEvent):
            requests.append(event.id)
            asyncio.get_running_loop().call_soon(runtime.answer_permission, event.id, "allow", "session")

    runtime.subscribe(listen)
    await runtime.prompt("go")
    return len(requests)


async def test_what_was_allowed_for_the_session_is_allowed_in_the_next_one_of_the_folder(make: Make, closing: list):
    answers = [[call("bash", "a", command="touch a")], [say("ok")]]
    old = make(*answers, *answers, answers_permissions=True)
    assert await asked(old) == 1
    new = await new_session(old)
    closing.append(new)
    assert await asked(new) == 0
    newest = await new_session(new)
    closing.append(newest)
    assert newest._additions.session_rules == [("allow", "bash(=touch a)")]


async def test_another_folder_begins_with_its_own_mode_and_rules(make: Make, tmp_path: Path, closing: list):
    (tmp_path / "other").mkdir()
    other = make([say("one")], session=SessionChoice(cwd=tmp_path / "other"))
    await other.prompt("hi")
    await other.close()
    old = make([call("bash", "a", command="touch a")], [say("ok")], answers_permissions=True)
    await asked(old)
    old.permission_mode = PermissionMode.AUTO
    new = await switch_session(old, other.session.id)
    closing.append(new)
    assert new.cwd == tmp_path / "other"
    assert new.permission_mode == PermissionMode.ASK
    assert new._additions.session_rules == []
    back = await switch_session(new, old.session.id)
    closing.append(back)
    assert said(back)[-1] == "assistant: ok"
