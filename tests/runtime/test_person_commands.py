"""Commands that the person types: they run as the agent's do, and come into the conversation where they may."""

import asyncio
import os
from typing import Any

import pytest

from agentcli.agent.errors import AgentBusyError, ToolError
from agentcli.agent.messages import BashExecutionMessage, text_of
from agentcli.config.masking import MASK, remember_key
from agentcli.config.settings import PermissionMode, Settings
from agentcli.runtime.events import (
    AgentSettledEvent,
    BashExecutionEndEvent,
    BashExecutionStartEvent,
    BashExecutionUpdateEvent,
)
from agentcli.runtime.session_choice import SessionChoice
from tests.agent.doubles import call, say, word
from tests.runtime.conftest import Make
from tests.runtime.test_runtime import hear
from tests.waiting import until


def roles(runtime: Any) -> list[str]:
    return [message.role for message in runtime.agent.state.messages]


def stored_roles(runtime: Any) -> list[str]:
    return [message.role for message in runtime.session.build_context().messages]


def asked(runtime: Any, request: int = -1) -> list[str]:
    """What the model read in a request, by message."""
    return [text_of(message.content) for message in runtime.options.stream_fn.requests[request].messages]


async def test_a_command_runs_in_the_folder_and_the_model_reads_of_it_with_the_next_prompt(make: Make):
    runtime = make([say("ok")], permission_mode=PermissionMode.READ_ONLY)
    message = await runtime.bash("pwd; exit 3")
    assert (message.output, message.exit_code, message.cancelled) == (str(runtime.cwd), 3, False)
    await runtime.prompt("what was that?")
    assert asked(runtime)[0].startswith(f"Ran `pwd; exit 3`\n```\n{runtime.cwd}\n```\n(exit code 3)")
    assert stored_roles(runtime) == roles(runtime) == ["bashExecution", "user", "assistant"]


async def test_a_command_that_is_kept_from_the_model_is_in_the_session_all_the_same(make: Make):
    runtime = make([say("ok")], [say("fine")])
    await runtime.prompt("hi")
    await runtime.bash("echo secret", exclude_from_context=True)
    await runtime.prompt("and now")
    assert not any("secret" in text for text in asked(runtime))
    assert "bashExecution" in stored_roles(runtime)


async def test_its_events_come_in_order_and_the_output_as_it_grows(make: Make):
    runtime = make()
    events = hear(runtime)
    message = await runtime.bash("echo one; sleep 0.15; echo two")
    told = [event for event in events if type(event).__name__.startswith("Bash")]
    assert told[0] == BashExecutionStartEvent("c1", "echo one; sleep 0.15; echo two", False)
    assert BashExecutionUpdateEvent("c1", "one") in told or BashExecutionUpdateEvent("c1", "one\n") in told
    assert told[-1] == BashExecutionEndEvent("c1", message)
    assert all(isinstance(event, BashExecutionUpdateEvent) for event in told[1:-1])


async def test_beside_a_run_the_message_waits_until_the_run_has_settled(make: Make):
    runtime = make([call("bash", "a", command="sleep 0.3"), call("bash", "b", command="true")], [say("done")])
    events = hear(runtime)
    run = runtime.prompt("go")
    await until(lambda: any(word(event) == "tool_execution_start a" for event in events))
    message = await runtime.bash("echo beside")
    assert not run.done()
    assert roles(runtime) == ["user", "assistant"]
    await run
    assert (
        roles(runtime)
        == stored_roles(runtime)
        == ["user", "assistant", "toolResult", "toolResult", "assistant", "bashExecution"]
    )
    assert runtime.agent.state.messages[-1] == message
    assert not any("beside" in text for text in asked(runtime))
    assert isinstance(events[-1], AgentSettledEvent)


async def test_a_queued_message_is_worked_on_after_the_command_that_ended_before_it(make: Make):
    runtime = make([say("one two", chunk=4, delay=0.1)], [say("two")])
    run = runtime.prompt("go")
    await runtime.bash("echo beside")

    def listen(event: Any, signal: Any) -> None:
        if word(event) == "agent_end" and len(runtime.options.stream_fn.requests) == 1:
            runtime.follow_up("later")

    runtime.subscribe(listen)
    await run
    assert roles(runtime) == ["user", "assistant", "bashExecution", "user", "assistant"]
    assert "beside" in asked(runtime)[2]


async def test_an_abort_of_the_run_leaves_the_command_and_the_other_way_round(make: Make):
    runtime = make([call("bash", "a", command="sleep 30")])
    events = hear(runtime)
    run = runtime.prompt("go")
    await until(lambda: any(word(event) == "tool_execution_start a" for event in events))
    command = asyncio.ensure_future(runtime.bash("echo begun; sleep 30"))
    await until(lambda: any(isinstance(event, BashExecutionUpdateEvent) for event in events))
    runtime.abort()
    await run
    assert runtime.is_bash_running
    runtime.abort_bash()
    message = await command
    assert (message.output, message.cancelled) == ("begun", True)
    assert not runtime.is_bash_running
    assert roles(runtime) == stored_roles(runtime) == ["user", "assistant", "toolResult", "bashExecution"]


async def test_a_command_that_ends_while_a_run_settles_is_delivered_too(make: Make):
    runtime = make([say("ok")])
    ended: list[BashExecutionMessage] = []

    async def listen(event: Any, signal: Any) -> None:
        if isinstance(event, AgentSettledEvent) and not ended:
            ended.append(await runtime.bash("true"))

    runtime.subscribe(listen)
    await runtime.prompt("go")
    assert roles(runtime) == stored_roles(runtime) == ["user", "assistant", "bashExecution"]


async def test_one_command_at_a_time(make: Make):
    runtime = make()
    first = asyncio.ensure_future(runtime.bash("sleep 30"))
    await until(lambda: runtime.is_bash_running)
    with pytest.raises(AgentBusyError, match="`sleep 30` is still running"):
        await runtime.bash("true")
    runtime.abort_bash()
    await first
    assert (await runtime.bash("true")).exit_code == 0


async def test_closing_ends_the_command_and_keeps_what_it_printed(make: Make):
    runtime = make([say("ok")])
    await runtime.prompt("hi")
    events = hear(runtime)
    command = asyncio.ensure_future(runtime.bash("echo $$; exec sleep 30"))
    await until(lambda: any(isinstance(event, BashExecutionUpdateEvent) for event in events))
    await runtime.close()
    message = await command
    with pytest.raises(ProcessLookupError):
        os.kill(int(message.output), 0)
    again = make(session=SessionChoice(reference=str(runtime.session.storage.path)))
    assert again.agent.state.messages[-1] == message


async def test_a_caller_that_is_cancelled_ends_the_command_in_order(make: Make):
    runtime = make()
    events = hear(runtime)
    command = asyncio.ensure_future(runtime.bash("sleep 30"))
    await until(lambda: any(isinstance(event, BashExecutionStartEvent) for event in events))
    command.cancel()
    with pytest.raises(asyncio.CancelledError):
        await command
    assert isinstance(events[-1], BashExecutionEndEvent)
    assert events[-1].message.cancelled
    assert not runtime.is_bash_running


@pytest.mark.parametrize("text", ["", "  \n", "echo \0", "echo \ud800"])
async def test_what_is_no_command_is_refused_before_anything_runs(make: Make, text: str):
    runtime = make()
    events = hear(runtime)
    with pytest.raises(ToolError, match="command"):
        await runtime.bash(text)
    assert events == []
    assert not runtime.is_bash_running


async def test_a_shell_that_is_not_there_is_said_in_the_output(make: Make):
    runtime = make(settings=Settings(shell="/nowhere/bash"))
    events = hear(runtime)
    message = await runtime.bash("true")
    assert "could not be started: /nowhere/bash" in message.output
    assert message.exit_code is None
    assert isinstance(events[-1], BashExecutionEndEvent)


async def test_keys_are_neither_shown_nor_kept(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    runtime = make()
    remember_key("sk-very-secret-key")
    events = hear(runtime)
    message = await runtime.bash("printf 'a sk-very-sec'; sleep 0.2; printf ret-key; echo; echo ${OPENAI_API_KEY-none}")
    assert message.output == f"a {MASK}\nnone"
    updates = [event.output for event in events if isinstance(event, BashExecutionUpdateEvent)]
    assert updates
    assert not any("sk-very" in output for output in updates)


async def test_a_long_output_is_cut_and_the_file_with_all_of_it_named(make: Make):
    from pathlib import Path

    runtime = make()
    message = await runtime.bash("seq 5000")
    assert message.truncated
    assert message.output.splitlines()[-1] == "5000"
    assert len(message.output.splitlines()) == 2000
    assert Path(message.full_output_path or "").read_text().startswith("1\n2\n")


async def test_what_is_left_in_the_background_is_named(make: Make):
    runtime = make()
    message = await runtime.bash("sleep 30 & echo started")
    assert message.output.startswith("started\nStill running in the background (job 1")


async def test_in_a_session_that_was_killed_within_a_call_the_call_is_answered_first(make: Make):
    first = make([call("bash", "a", command="true")], [say("ok")])
    await first.prompt("hi")
    first.session.move_to(first.session.get_branch()[3].id)
    await first.close()
    again = make([say("on we go")], session=SessionChoice(reference=str(first.session.storage.path)))
    again.options.stream_fn.answers = [[say("on we go")]]
    await again.bash("echo mine")
    assert roles(again) == stored_roles(again) == ["user", "assistant", "toolResult", "bashExecution"]
    await again.prompt("go on")
    assert roles(again)[-2:] == ["user", "assistant"]


async def test_a_flood_of_output_does_not_pile_up_before_a_slow_listener(make: Make):
    runtime = make()
    updates: list[str] = []

    async def slow(event: Any, signal: Any) -> None:
        if isinstance(event, BashExecutionUpdateEvent):
            updates.append(event.output)
            await asyncio.sleep(0.2)

    runtime.subscribe(slow)
    await runtime.bash("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.06; done")
    assert 0 < len(updates) <= 5
