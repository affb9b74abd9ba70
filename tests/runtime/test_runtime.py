"""The runtime: a prompt is worked on until nothing automatic remains, and all of it is in the session."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.errors import AgentBusyError, UsageError
from agentcli.agent.messages import AssistantMessage, ToolResultMessage, text_of
from agentcli.config.settings import PermissionMode, RetrySettings, Settings
from agentcli.runtime.events import (
    AgentSettledEvent,
    EntryAppendedEvent,
    NoticeEvent,
    QueueUpdateEvent,
    RetryEndEvent,
    RetryStartEvent,
)
from agentcli.runtime.retry import retry_delay, too_long_a_wait
from agentcli.runtime.session_choice import SessionChoice
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from tests.agent.doubles import call, fail, say, word
from tests.runtime.conftest import Make
from tests.waiting import until


def hear(runtime: Any) -> list[Any]:
    events: list[Any] = []
    runtime.subscribe(lambda event, signal: events.append(event))
    return events


def said(runtime: Any) -> list[str]:
    messages = runtime.agent.state.messages
    return [f"{message.role}: {text_of(message.content)}" for message in messages]


def stored(runtime: Any) -> list[str]:
    return [f"{message.role}: {text_of(message.content)}" for message in runtime.session.build_context().messages]


async def test_a_prompt_uses_the_tools_and_is_kept(make: Make):
    runtime = make([call("bash", "a", command="echo hi")], [say("it says hi")])
    await runtime.prompt("go")
    assert said(runtime) == ["user: go", "assistant: ", "toolResult: hi", "assistant: it says hi"]
    assert stored(runtime) == said(runtime)


async def test_what_a_listener_hears_has_been_written(make: Make):
    runtime = make([say("hello")])
    kept: list[int] = []

    def listen(event: Any, signal: Any) -> None:
        if word(event).startswith("message_end"):
            kept.append(len(runtime.session.build_context().messages))

    runtime.subscribe(listen)
    events = hear(runtime)
    await runtime.prompt("hi")
    assert kept == [1, 2]
    appended = [event.entry_id for event in events if isinstance(event, EntryAppendedEvent)]
    assert appended == [entry.id for entry in runtime.session.get_branch() if entry.id in appended]
    assert len(appended) == 2


async def test_settled_comes_last_and_once(make: Make):
    runtime = make([say("hello")])
    events = hear(runtime)
    await runtime.prompt("hi")
    assert events[-1] == AgentSettledEvent(aborted=False)
    assert sum(isinstance(event, AgentSettledEvent) for event in events) == 1
    assert not runtime.is_busy


async def test_a_prompt_while_another_is_worked_on_is_refused(make: Make):
    runtime = make([call("bash", "a", command="sleep 0.1")], [say("ok")])
    run = runtime.prompt("one")
    with pytest.raises(AgentBusyError, match=r"steer\(\)"):
        runtime.prompt("two")
    await run


async def test_a_failure_that_may_pass_is_retried_and_leaves_no_trace_in_the_context(make: Make):
    runtime = make([say("half"), fail("overloaded")], [fail("network")], [say("whole")])
    events = hear(runtime)
    await runtime.prompt("hi")
    assert said(runtime) == ["user: hi", "assistant: whole"]
    starts = [event for event in events if isinstance(event, RetryStartEvent)]
    assert [(event.attempt, event.max_attempts, event.delay) for event in starts] == [(1, 3, 0.01), (2, 3, 0.02)]
    assert [event for event in events if isinstance(event, RetryEndEvent)] == [RetryEndEvent(True, 2)]
    reasons = [message.stop_reason for message in runtime.session.build_context().messages[1:]]
    assert reasons == ["error", "error", "done"]


async def test_the_count_of_retries_starts_anew_after_a_success(make: Make):
    runtime = make(
        [fail("overloaded")], [call("bash", "a", command="true")], [fail("overloaded")], [say("done")],
        settings=Settings(retry=RetrySettings(max_retries=1, base_delay=0.01)),
    )  # fmt: skip
    await runtime.prompt("hi")
    assert said(runtime)[-1] == "assistant: done"


@pytest.mark.parametrize("kind", ["auth", "quota", "bad_request", "refused", "overflow"])
async def test_what_will_not_pass_is_not_retried(make: Make, kind: str):
    runtime = make([fail(kind, "no")], [say("unreached")], settings=Settings(retry=RetrySettings(base_delay=0.01)))
    events = hear(runtime)
    await runtime.prompt("hi")
    assert not any(isinstance(event, RetryStartEvent) for event in events)
    assert runtime.last_message.error_kind == kind


async def test_calls_of_a_failed_answer_do_not_run_again_or_twice(make: Make):
    runtime = make([call("bash", "a", command="touch ran"), fail("network")], [say("ok")])
    await runtime.prompt("hi")
    assert not (runtime.cwd / "ran").exists()
    assert said(runtime) == ["user: hi", "assistant: ok"]


async def test_an_abort_ends_the_wait_before_a_retry(make: Make):
    runtime = make([fail("overloaded")], [say("unreached")], settings=Settings(retry=RetrySettings(base_delay=30.0)))
    events = hear(runtime)
    run = runtime.prompt("hi")
    await until(lambda: any(isinstance(event, RetryStartEvent) for event in events))
    runtime.abort()
    await asyncio.wait_for(run, 1)
    assert events[-1] == AgentSettledEvent(aborted=True)
    assert isinstance(events[-2], RetryEndEvent)


async def test_a_steer_during_the_wait_goes_with_the_retry(make: Make):
    runtime = make([fail("overloaded")], [say("left it is")], settings=Settings(retry=RetrySettings(base_delay=0.05)))
    events = hear(runtime)
    run = runtime.prompt("hi")
    await until(lambda: any(isinstance(event, RetryStartEvent) for event in events))
    runtime.steer("turn left")
    await run
    assert said(runtime) == ["user: hi", "user: turn left", "assistant: left it is"]


async def test_what_is_queued_as_the_run_ends_is_delivered(make: Make):
    runtime = make([say("one")], [say("two")])

    def listen(event: Any, signal: Any) -> None:
        if word(event) == "agent_end" and len(runtime.agent.state.messages) == 2:
            runtime.steer("too late for that run")

    runtime.subscribe(listen)
    await runtime.prompt("hi")
    assert said(runtime)[2:] == ["user: too late for that run", "assistant: two"]


async def test_after_an_abort_what_is_queued_waits_for_the_person(make: Make):
    runtime = make([call("bash", "a", command="sleep 30")], [say("unreached")])
    events = hear(runtime)
    run = runtime.prompt("hi")
    await until(lambda: any(word(event).startswith("tool_execution_start") for event in events))
    runtime.follow_up("later")
    runtime.abort()
    await run
    assert len(runtime.agent.follow_up_queue) == 1
    result = runtime.agent.state.messages[-1]
    assert isinstance(result, ToolResultMessage)
    assert "bort" in text_of(result.content)


async def test_an_abort_right_after_the_prompt_keeps_the_prompt(make: Make):
    runtime = make([say("unreached")])
    run = runtime.prompt("remember me")
    runtime.abort()
    await run
    assert stored(runtime)[0] == "user: remember me"
    assert runtime.last_message.stop_reason == "aborted"


async def test_every_change_of_the_queue_is_told_whole(make: Make):
    runtime = make([say("one")], [say("two")])
    events = hear(runtime)
    runtime.follow_up("a")
    runtime.steer("b")
    await runtime.prompt("hi")
    updates = [event for event in events if isinstance(event, QueueUpdateEvent)]
    assert [(len(event.steering), len(event.follow_up)) for event in updates] == [(0, 1), (1, 1), (0, 1), (0, 0)]


async def test_a_limit_of_turns_stops_with_work_left(make: Make):
    runtime = make(*[[call("bash", "a", command="true")]] * 5, max_turns=2)
    await runtime.prompt("hi")
    assert runtime.reached_limit == "max_turns"
    assert sum(isinstance(message, AssistantMessage) for message in runtime.agent.state.messages) == 2


async def test_a_session_that_ended_in_a_call_goes_on_with_an_answer_to_it(make: Make, tmp_path: Path):
    first = make([call("bash", "a", command="true")], [say("ok")])
    await first.prompt("hi")
    storage = first.session.storage
    branch = first.session.get_branch()
    first.session.move_to(branch[3].id)
    path = storage.path
    await first.close()
    again = make([say("unreached")], [say("on we go")], session=SessionChoice(reference=str(path)))
    again.options.stream_fn.answers = [[say("on we go")]]
    await again.prompt("continue")
    assert said(again)[2].startswith("toolResult: Interrupted")
    assert said(again)[3:] == ["user: continue", "assistant: on we go"]


async def test_reopening_adds_no_entries_of_its_own(make: Make):
    first = make([say("hello")])
    await first.prompt("hi")
    path = first.session.storage.path
    before = path.read_bytes()
    await first.close()
    again = make([say("again")], session=SessionChoice(reference=str(path)))
    assert path.read_bytes() == before
    await again.prompt("more")
    kinds = [head.type for head in again.session.storage.heads()]
    assert kinds == ["model_change", "thinking_level_change"] + ["message"] * 4


async def test_the_model_of_the_session_comes_back_and_its_loss_is_told(make: Make):
    settings = Settings(models={"openai/gpt-5.5": {}}, providers={})
    first = make([say("hello")], settings=settings, model="scripted:somewhere.jsonl")
    await first.prompt("hi")
    path = first.session.storage.path
    await first.close()
    again = make(session=SessionChoice(reference=str(path)))
    assert again.agent.state.model.full_id == "scripted/somewhere.jsonl"


async def test_a_full_disk_is_told_once_and_the_talk_goes_on(make: Make, monkeypatch: pytest.MonkeyPatch):
    import errno
    import os

    runtime = make([call("bash", "a", command="true")], [say("still here")])
    events = hear(runtime)
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if data.startswith(b'{"type":"message"'):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    await runtime.prompt("hi")
    monkeypatch.undo()
    assert said(runtime)[-1] == "assistant: still here"
    notices = [event.text for event in events if isinstance(event, NoticeEvent)]
    assert len(notices) == 1
    assert "No space left" in notices[0]


async def test_closing_ends_what_runs(make: Make):
    runtime = make([call("bash", "a", command="sleep 30")])
    events = hear(runtime)
    run = runtime.prompt("hi")
    await until(lambda: any(word(event).startswith("tool_execution_start") for event in events))
    await runtime.close()
    assert run.done()
    assert word(events[-2]) == "agent_end"
    session = Session(JsonlSessionStorage.read(runtime.session.storage.path))
    assert [message.role for message in session.build_context().messages] == ["user", "assistant", "toolResult"]
    session.close()


async def test_a_slow_listener_does_not_change_the_order_in_which_messages_are_kept(make: Make):
    runtime = make([call("bash", "a", command="echo a"), call("bash", "b", command="echo b")], [say("done")])

    async def slow(event: Any, signal: Any) -> None:
        await asyncio.sleep(0.01 if word(event) == "message_end assistant" else 0)

    runtime.subscribe(slow)
    await runtime.prompt("go")
    assert stored(runtime) == ["user: go", "assistant: ", "toolResult: a", "toolResult: b", "assistant: done"]


async def test_a_prompt_ends_only_after_its_retries_and_their_calls(make: Make):
    runtime = make([fail("network")], [call("bash", "a", command="sleep 0.05; echo done")], [say("finished")])
    await runtime.prompt("go")
    assert said(runtime) == ["user: go", "assistant: ", "toolResult: done", "assistant: finished"]


async def test_a_message_put_in_during_a_batch_never_parts_a_call_from_its_result(make: Make):
    from agentcli.agent.messages import CustomMessage

    runtime = make([call("bash", "a", command="sleep 0.05"), call("bash", "b", command="true")], [say("ok")])

    def listen(event: Any, signal: Any) -> None:
        if word(event) == "tool_execution_end b":
            runtime.steer(CustomMessage("reminder", "mind the gap"))

    runtime.subscribe(listen)
    await runtime.prompt("go")
    roles = [message.role for message in runtime.agent.state.messages]
    assert roles == ["user", "assistant", "toolResult", "toolResult", "custom", "assistant"]


def test_a_wait_is_what_the_server_asks_or_doubles_up_to_a_limit():
    from agentcli.agent.errors import AuthError, RateLimitError

    settings = RetrySettings(max_retries=5, base_delay=2.0, max_delay=10.0)
    busy = RateLimitError("busy")
    assert [retry_delay(busy, attempt, settings) for attempt in range(1, 7)] == [2, 4, 8, 10, 10, None]
    assert retry_delay(RateLimitError("busy", retry_after=7.5), 1, settings) == 7.5
    asks_too_much = RateLimitError("busy", retry_after=7200)
    assert retry_delay(asks_too_much, 1, settings) is None
    assert "2:00:00" in (too_long_a_wait(asks_too_much, settings) or "")
    assert too_long_a_wait(busy, settings) is None
    assert retry_delay(AuthError("no"), 1, settings) is None
    assert retry_delay(None, 1, settings) is None


@pytest.mark.parametrize(
    "choice",
    [
        SessionChoice(continue_=True, in_memory=True),
        SessionChoice(reference="x", continue_=True),
        SessionChoice(reference="x", in_memory=True),
    ],
)
async def test_choices_that_contradict_each_other_are_refused(make: Make, choice: SessionChoice):
    with pytest.raises(UsageError, match="exclude"):
        make(session=choice)


async def test_tools_that_a_session_switched_on_are_on_again_after_a_resume(make: Make):
    first = make([say("hello")])
    await first.prompt("hi")
    first.session.append_active_tools_change(["read", "grep", "from-the-future"])
    path = first.session.storage.path
    await first.close()
    again = make(session=SessionChoice(reference=str(path)))
    assert [tool.name for tool in again.agent.state.tools] == ["read", "grep"]
    await again.close()
    looking = make(session=SessionChoice(reference=str(path)), permission_mode=PermissionMode.READ_ONLY)
    assert [tool.name for tool in looking.agent.state.tools] == ["read", "grep", "find", "ls"]
