"""Latecomers: what the person says while a prompt settles is worked on, unless something has to wait for them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentcli.runtime.events import AgentSettledEvent
from tests.agent.doubles import call, fail, say, word
from tests.runtime.conftest import Make
from tests.runtime.test_runtime import hear, said
from tests.waiting import until

EXTENSION = """
import asyncio

def register(api):
    async def slow(arguments):
        api.entered = True
        (api.cwd / "entered").touch()
        await asyncio.sleep(30 if arguments == "long" else 0)
    api.add_command("slow", slow)
"""


def say_once(runtime: Any, moment: str, how: str) -> list[Any]:
    """Queue one message at the first event of a kind. Returns all events."""
    said_it: list[str] = []

    def listen(event: Any, signal: Any) -> None:
        if word(event) == moment and not said_it:
            said_it.append(getattr(runtime, how)("late"))

    runtime.subscribe(listen)
    return hear(runtime)


@pytest.mark.parametrize("how", ["steer", "follow_up"])
@pytest.mark.parametrize("moment", ["agent_end", "agent_settled"])
async def test_what_comes_while_a_prompt_settles_is_worked_on_by_the_same_task(make: Make, how: str, moment: str):
    runtime = make([say("one")], [say("two")])
    events = say_once(runtime, moment, how)
    await runtime.prompt("hi")
    assert said(runtime) == ["user: hi", "assistant: one", "user: late", "assistant: two"]
    assert not runtime.agent.has_queued_messages()
    assert isinstance(events[-1], AgentSettledEvent)


async def test_each_of_several_latecomers_is_worked_on(make: Make):
    runtime = make([say("one")], [say("two")], [say("three")])
    texts = iter(["second", "third"])

    def listen(event: Any, signal: Any) -> None:
        if isinstance(event, AgentSettledEvent) and (text := next(texts, None)):
            runtime.steer(text)

    runtime.subscribe(listen)
    await runtime.prompt("first")
    assert said(runtime)[::2] == ["user: first", "user: second", "user: third"]


async def test_what_comes_while_the_last_turn_is_made_safe_is_worked_on(make: Make, monkeypatch: pytest.MonkeyPatch):
    runtime = make([say("one")], [say("two")])
    settle = runtime._recorder.settle

    async def late() -> None:
        await settle()
        if len(runtime.agent.state.messages) == 2 and not runtime.agent.state.is_streaming:
            runtime.steer("late")
            monkeypatch.undo()

    monkeypatch.setattr(runtime._recorder, "settle", late)
    await runtime.prompt("hi")
    assert said(runtime)[2:] == ["user: late", "assistant: two"]


async def test_after_a_failure_a_latecomer_waits(make: Make):
    runtime = make([fail("auth")], [say("unreached")])
    say_once(runtime, "agent_settled", "steer")
    await runtime.prompt("hi")
    assert len(runtime.agent.steering_queue) == 1


async def test_after_an_abort_a_latecomer_waits(make: Make):
    runtime = make([say("one")], [say("unreached")])
    say_once(runtime, "agent_settled", "follow_up")
    runtime.subscribe(lambda event, signal: runtime.abort() if word(event) == "message_start assistant" else None)
    await runtime.prompt("hi")
    assert len(runtime.agent.follow_up_queue) == 1


async def test_an_abort_in_the_moment_of_settling_keeps_the_latecomer_waiting(make: Make):
    runtime = make([say("one")], [say("unreached")])
    say_once(runtime, "agent_settled", "steer")
    runtime.subscribe(lambda event, signal: runtime.abort() if word(event) == "agent_settled" else None)
    await runtime.prompt("hi")
    assert len(runtime.agent.steering_queue) == 1
    assert said(runtime)[-1] == "assistant: one"


async def test_what_waits_after_a_failure_goes_with_the_next_prompt(make: Make):
    runtime = make([fail("auth")], [say("two")])
    say_once(runtime, "agent_settled", "steer")
    await runtime.prompt("hi")
    await runtime.prompt("again")
    assert [text for text in said(runtime) if text.startswith("user")] == ["user: hi", "user: again", "user: late"]


async def test_going_elsewhere_leaves_what_is_queued_to_the_person(make: Make):
    runtime = make([say("one")], [say("unreached")])
    await runtime.prompt("hi")
    runtime.follow_up("later")
    await runtime.go_to(None)
    assert len(runtime.agent.follow_up_queue) == 1
    assert said(runtime) == []


@pytest.fixture
def extension(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "extensions"
    folder.mkdir(parents=True)
    (folder / "slow.py").write_text(EXTENSION)


@pytest.mark.usefixtures("extension")
async def test_what_comes_during_a_command_of_an_extension_is_worked_on(make: Make):
    runtime = make([say("one")])
    run = runtime.prompt("/slow")
    runtime.steer("late")
    await run
    assert said(runtime) == ["user: late", "assistant: one"]


@pytest.mark.usefixtures("extension")
async def test_a_command_of_an_extension_does_not_send_what_waited_before(make: Make):
    runtime = make([say("unreached")])
    runtime.follow_up("waiting")
    await runtime.prompt("/slow")
    assert len(runtime.agent.follow_up_queue) == 1


@pytest.mark.usefixtures("extension")
async def test_an_abort_ends_a_command_of_an_extension(make: Make):
    runtime = make()
    events = hear(runtime)
    run = runtime.prompt("/slow long")
    await until(lambda: (runtime.cwd / "entered").exists())
    runtime.abort()
    await run
    assert events[-1] == AgentSettledEvent(aborted=True)


async def test_a_cancelled_prompt_settles_in_order(make: Make):
    runtime = make([call("bash", "a", command="sleep 30")])
    events = hear(runtime)
    run = runtime.prompt("hi")
    await until(lambda: any(word(event) == "tool_execution_start a" for event in events))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert events[-1] == AgentSettledEvent(aborted=True)
    assert [message.role for message in runtime.agent.state.messages] == ["user", "assistant", "toolResult"]
    assert not runtime.is_busy
