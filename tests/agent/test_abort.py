"""Abort: everything stops, every start has its end, every call its answer, and nothing queued is lost."""

import asyncio
import contextlib
from typing import Any

import pytest

from agentcli.agent.abort import AbortController, Aborted, interruptible
from agentcli.agent.hooks import BeforeToolCallContext
from agentcli.agent.messages import StopReason, ToolResultMessage, text_of
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from tests.agent.doubles import agent, call, record, say, scripted, sleeper, text_result, texts, tool
from tests.waiting import until


def balanced(words: list[str]) -> bool:
    """Whether every start has its end."""
    return all(words.count(word) == words.count(word.replace("_start", "_end")) for word in words if "_start" in word)


async def test_an_abort_while_the_model_streams_keeps_what_had_streamed():
    closed: list[bool] = []

    async def slow(model: Model, context: Any, options: Any):
        partial = PartialMessage(model)
        yield partial.start()
        try:
            for event in partial.text("half an answer"):
                yield event
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    subject = agent(slow)
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: "message_update text_delta" in words)
    subject.abort()
    await run
    last = subject.state.messages[-1]
    assert (last.stop_reason, text_of(last.content), last.error_message) == (
        "aborted",
        "half an answer",
        "aborted by the user",
    )
    assert words[-2:] == ["turn_end", "agent_end"]
    assert balanced(words)
    assert closed == [True]


async def test_an_abort_before_the_first_byte_is_an_abort_and_no_error():
    async def never(provider: str) -> str:
        await asyncio.sleep(60)
        return ""

    subject = agent(scripted([say("unreached")]), get_api_key=never)
    run = subject.prompt("hi")
    await asyncio.sleep(0.01)
    subject.abort()
    await run
    assert subject.state.messages[-1].stop_reason == StopReason.ABORTED


async def test_a_call_that_had_not_ended_never_runs_and_is_answered():
    async def half_a_call(model: Model, context: Any, options: Any):
        partial = PartialMessage(model)
        yield partial.start()
        started = partial.toolcall_start("a", "write")
        for event in [*started, *partial.toolcall_delta(0, '{"path": "out.txt"}')]:
            yield event
        await asyncio.sleep(60)

    subject = agent(half_a_call, tool("write"))
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: "message_update toolcall_delta" in words)
    subject.abort()
    await run
    assistant, result = subject.state.messages[-2:]
    assert assistant.tool_calls[0].partial_json == '{"path": "out.txt"}'
    assert (result.tool_call_id, result.is_error) == ("a", True)
    assert "tool_execution_start a" not in words


async def test_an_abort_during_tools_stops_them_and_answers_every_call():
    subject = agent(scripted([call("slow", "a"), call("slow", "b")], [say("unreached")]), sleeper("slow", 60))
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: "tool_execution_start b" in words)
    subject.abort()
    await run
    results = [message for message in subject.state.messages if isinstance(message, ToolResultMessage)]
    assert [result.tool_call_id for result in results] == ["a", "b"]
    assert all("aborted by the user; effects may remain" in text_of(result.content) for result in results)
    assert words.count("turn_start") == 1
    assert balanced(words)


async def test_calls_that_had_not_begun_are_not_run_after_an_abort():
    ran: list[str] = []

    async def first(id: str, *rest: Any):
        ran.append(id)
        subject.abort()
        return text_result("done")

    subject = agent(
        scripted([call("t", "a"), call("t", "b")], [say("no")]), tool("t", first, execution_mode="sequential")
    )
    words = record(subject)
    await subject.prompt("hi")
    assert ran == ["a"]
    assert "tool_execution_start b" not in words
    assert texts(subject)[2] == "toolResult: done"
    assert texts(subject)[3].startswith("toolResult: Interrupted")


async def test_exclusive_calls_that_wait_for_their_turn_are_ended_and_answered_by_an_abort():
    ran: list[str] = []

    async def first(id: str, *rest: Any):
        ran.append(id)
        subject.abort()
        return text_result("done")

    calls = [call("t", "a"), call("t", "b"), call("slow", "c")]
    subject = agent(scripted(calls, [say("no")]), tool("t", first, execution_mode="exclusive"), sleeper("slow", 60))
    words = record(subject)
    await subject.prompt("hi")
    assert ran == ["a"]
    assert texts(subject)[2] == "toolResult: done"
    assert all("aborted by the user" in text for text in texts(subject)[3:])
    assert balanced(words)
    assert words.count("turn_start") == 1


async def test_a_tool_that_listens_to_the_signal_reports_what_it_had():
    async def partial_output(id: str, params: Any, signal: Any, *rest: Any):
        await signal.wait()
        return text_result("line 1\n(aborted)", is_error=True)

    subject = agent(scripted([call("t", "a")], [say("unreached")]), tool("t", partial_output))
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: "tool_execution_start a" in words)
    await asyncio.sleep(0.01)
    subject.abort()
    await run
    assert texts(subject)[-1] == "toolResult: line 1\n(aborted)"


async def test_an_abort_while_a_policy_thinks_stops_later_questions():
    asked: list[str] = []

    async def ask(hook: BeforeToolCallContext, signal: Any) -> None:
        asked.append(hook.tool_call.id)
        await asyncio.sleep(60)

    subject = agent(scripted([call("t", "a"), call("t", "b")]), tool("t"), before_tool_call=ask)
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: asked)
    subject.abort()
    await run
    assert asked == ["a"]
    assert [text.startswith("toolResult: Interrupted") for text in texts(subject)[2:]] == [True, True]
    assert balanced(words)


async def test_what_is_queued_stays_queued_after_an_abort():
    subject = agent(scripted([call("slow", "a")], [say("unreached")]), sleeper("slow", 60))
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: "tool_execution_start a" in words)
    subject.steer("turn left")
    subject.follow_up("and then stop")
    subject.abort()
    await run
    assert [text_of(message.content) for message in subject.clear_all_queues()] == ["turn left", "and then stop"]
    assert texts(subject)[-1].startswith("toolResult: Interrupted")


async def test_the_agent_can_go_on_after_an_abort():
    subject = agent(scripted([call("slow", "a")], [say("on we go")]), sleeper("slow", 60))
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: "tool_execution_start a" in words)
    subject.abort()
    await run
    await subject.prompt("continue")
    assert texts(subject)[-1] == "assistant: on we go"


async def test_an_abort_from_a_listener_ends_the_run_before_the_next_request():
    stream = scripted([call("t", "a")], [say("unreached")])
    subject = agent(stream, tool("t"))
    subject.subscribe(lambda event, signal: subject.abort() if type(event).__name__ == "TurnEndEvent" else None)
    await subject.prompt("hi")
    assert len(stream.requests) == 1


async def test_an_abort_while_the_next_turn_is_prepared_ends_the_run():
    async def compacting(ended: Any, signal: Any) -> None:
        started.set()
        await asyncio.sleep(60)

    started = asyncio.Event()
    subject = agent(scripted([call("t", "a")], [say("unreached")]), tool("t"), prepare_next_turn=compacting)
    words = record(subject)
    run = subject.prompt("hi")
    await started.wait()
    subject.abort()
    await run
    assert words[-2:] == ["turn_end", "agent_end"]


async def test_a_provider_that_swallows_the_cancellation_is_left_all_the_same():
    async def stubborn(model: Model, context: Any, options: Any):
        partial = PartialMessage(model)
        yield partial.start()
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
            for event in partial.text("x"):
                yield event

    subject = agent(stubborn)
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: "message_update text_delta" in words)
    subject.abort()
    await asyncio.wait_for(run, 5)
    assert subject.state.messages[-1].stop_reason == "aborted"


async def test_cancelling_the_prompt_aborts_the_run_in_order():
    subject = agent(scripted([call("slow", "a")], [say("unreached")]), sleeper("slow", 60))
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: "tool_execution_start a" in words)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert words[-1] == "agent_end"
    assert balanced(words)
    assert not subject.state.is_streaming


async def test_no_event_comes_after_the_end_of_an_aborted_run():
    async def shouting(id: str, params: Any, signal: Any, on_update: Any, context: Any):
        asyncio.get_running_loop().call_later(0.02, lambda: on_update(text_result("still here")))
        await asyncio.sleep(60)

    subject = agent(scripted([call("t", "a")]), tool("t", shouting))
    words = record(subject)
    run = subject.prompt("hi")
    await until(lambda: "tool_execution_start a" in words)
    await asyncio.sleep(0)
    subject.abort()
    await run
    count = len(words)
    await asyncio.sleep(0.05)
    assert len(words) == count
    assert words[-1] == "agent_end"


async def test_interruptible_leaves_an_unrelated_cancellation_alone():
    controller = AbortController()

    async def work() -> None:
        with interruptible(controller.signal):
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_interruptible_raises_once_and_the_task_lives_on():
    controller = AbortController()

    async def work() -> str:
        try:
            with interruptible(controller.signal):
                await asyncio.sleep(60)
        except Aborted:
            await asyncio.sleep(0.01)
            return "went on"
        return "unreached"

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    controller.abort()
    assert await task == "went on"
    with pytest.raises(Aborted), interruptible(controller.signal):
        pass


async def test_a_signal_calls_back_once_and_late_comers_at_once():
    controller = AbortController()
    calls: list[str] = []
    controller.signal.on_abort(lambda: calls.append("first"))
    remove = controller.signal.on_abort(lambda: calls.append("removed"))
    remove()
    controller.abort("enough")
    controller.abort("again")
    controller.signal.on_abort(lambda: calls.append("late"))
    await controller.signal.wait()
    assert calls == ["first", "late"]
    assert controller.signal.reason == "enough"
