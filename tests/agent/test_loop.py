"""The loop: how it ends, what it lets the caller change, and that nothing raises out of it."""

import asyncio
from typing import Any

import pytest

from agentcli.agent.abort import AbortController
from agentcli.agent.context import AgentContext
from agentcli.agent.errors import OverloadedError, UsageError
from agentcli.agent.events import AgentEndEvent
from agentcli.agent.hooks import AgentLoopTurnUpdate, PrepareNextTurnContext
from agentcli.agent.loop import MAX_TRUNCATED_TURNS, agent_loop, agent_loop_continue
from agentcli.agent.messages import AssistantMessage, StopReason, text_of, user_message
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.agent.partial import PartialMessage
from tests.agent.doubles import (
    MODEL,
    agent,
    call,
    config,
    context,
    fail,
    record,
    say,
    scripted,
    stop,
    text_result,
    texts,
    tool,
    word,
)


async def test_a_stream_gives_its_events_and_its_result():
    stream = agent_loop([user_message("hi")], context("before"), config(), stream_fn=scripted([say("hello")]))
    words = [word(event) async for event in stream]
    assert (words[0], words[-1]) == ("agent_start", "agent_end")
    assert [message.role for message in await stream.result()] == ["user", "assistant"]


async def test_the_result_can_be_awaited_without_iterating():
    stream = agent_loop([user_message("hi")], context(), config(), stream_fn=scripted([say("hello")]))
    assert text_of((await stream.result())[-1].content) == "hello"


async def test_a_run_does_not_change_the_context_it_was_given():
    given = context("before")
    await agent_loop([user_message("hi")], given, config(), stream_fn=scripted([say("hello")])).result()
    assert len(given.messages) == 1


async def test_continue_goes_on_from_a_user_message_without_adding_one():
    stream = agent_loop_continue(context("hi"), config(), stream_fn=scripted([say("hello")]))
    assert [message.role for message in await stream.result()] == ["assistant"]


@pytest.mark.parametrize("messages", [[], [user_message("hi"), AssistantMessage([])]])
def test_continue_wants_something_to_answer(messages: list[Any]):
    with pytest.raises(UsageError, match="prompt"):
        agent_loop_continue(AgentContext("", messages), config(), stream_fn=scripted())


@pytest.mark.parametrize(
    ("error", "message", "kind"),
    [
        (OverloadedError("too busy", hint="wait"), "too busy (wait)", "overloaded"),
        (ValueError("odd"), "ValueError: odd", None),
    ],
)
@pytest.mark.parametrize("before", [True, False])
async def test_what_a_provider_raises_becomes_an_error_message_with_what_had_streamed(error, message, kind, before):
    async def failing(model: Model, context: Any, options: Any):
        partial = PartialMessage(model)
        if before:
            yield partial.start()
            for event in partial.text("half an ans"):
                yield event
        raise error

    subject = agent(failing)
    words = record(subject)
    await subject.prompt("hi")
    last = subject.state.messages[-1]
    assert (last.stop_reason, last.error_message, last.error_kind) == (StopReason.ERROR, message, kind)
    assert text_of(last.content) == ("half an ans" if before else "")
    assert words.count("message_start assistant") == words.count("message_end assistant") == 1
    assert words[-2:] == ["turn_end", "agent_end"]
    assert subject.state.error_message == message


async def test_a_stream_function_that_fails_before_it_streams_is_no_exception():
    def refuses(model: Any, context: Any, options: Any):
        raise OSError("no")

    subject = agent(refuses)
    await subject.prompt("hi")
    assert subject.state.messages[-1].error_message == "OSError: no"


async def test_a_stream_that_ends_without_its_end_is_an_error():
    async def cut(model: Model, context: Any, options: Any):
        partial = PartialMessage(model)
        yield partial.start()
        for event in partial.text("half"):
            yield event

    subject = agent(cut)
    await subject.prompt("hi")
    last = subject.state.messages[-1]
    assert (last.stop_reason, last.error_kind, text_of(last.content)) == ("error", "bad_response", "half")


@pytest.mark.parametrize("hook", ["transform_context", "convert_to_llm", "get_api_key"])
async def test_a_hook_that_raises_before_the_request_becomes_an_error_message(hook: str):
    def raises(*arguments: Any):
        raise ValueError("broken hook")

    subject = agent(scripted([say("unreached")]), **{hook: raises})
    await subject.prompt("hi")
    assert subject.state.messages[-1].error_message == "ValueError: broken hook"


@pytest.mark.parametrize("hook", ["prepare_next_turn", "should_stop_after_turn"])
async def test_a_hook_that_raises_between_turns_ends_the_run_in_order(hook: str):
    def raises(*arguments: Any):
        raise ValueError("broken hook")

    subject = agent(scripted([say("one")]), **{hook: raises})
    words = record(subject)
    await subject.prompt("hi")
    assert subject.state.messages[-1].error_message == "ValueError: broken hook"
    assert words.count("turn_start") == words.count("turn_end") == 2
    assert words[-1] == "agent_end"


async def test_transform_then_convert_decide_what_the_model_reads():
    stream = scripted([say("ok")])
    subject = agent(
        stream,
        transform_context=lambda messages, signal: messages[-1:],
        convert_to_llm=lambda messages: [user_message(text_of(message.content).upper()) for message in messages],
    )
    subject.state.messages = [user_message("old")]
    await subject.prompt("new")
    assert [text_of(message.content) for message in stream.requests[0].messages] == ["NEW"]
    assert texts(subject) == ["user: old", "user: new", "assistant: ok"]


async def test_the_key_is_asked_for_before_every_request():
    keys: list[str | None] = []

    async def keyed(model: Model, context: Any, options: Any):
        keys.append(options.api_key)
        async for event in script(model, context, options):
            yield event

    script = scripted([call("read", "a")], [say("done")])
    given = iter(["k1", "k2"])

    async def next_key(provider: str) -> str:
        assert provider == "test"
        return next(given)

    await agent(keyed, tool("read"), get_api_key=next_key).prompt("hi")
    assert keys == ["k1", "k2"]


async def test_the_stream_function_gets_the_signal_and_the_options_of_the_agent():
    seen: list[Any] = []

    async def looking(model: Model, context: Any, options: Any):
        seen.append(options)
        async for event in scripted([say("ok")])(model, context, options):
            yield event

    async def hook(payload: Any) -> None: ...

    subject = agent(looking, thinking_level=ThinkingLevel.HIGH, session_id="s1", on_payload=hook, on_response=hook)
    await subject.prompt("hi")
    options = seen[0]
    assert (options.session_id, options.reasoning, options.on_payload, options.on_response) == (
        "s1",
        "high",
        hook,
        hook,
    )
    assert options.signal is subject.signal


async def test_should_stop_after_turn_ends_the_run_though_calls_were_answered():
    stream = scripted([call("read", "a")], [say("unreached")])
    subject = agent(stream, tool("read"), should_stop_after_turn=lambda ended: len(ended.tool_results) == 1)
    await subject.prompt("hi")
    assert [message.role for message in subject.state.messages] == ["user", "assistant", "toolResult"]


@pytest.mark.parametrize("name", ["prepare_next_turn", "prepare_next_turn_with_context"])
async def test_prepare_next_turn_changes_model_thinking_and_context(name: str):
    requests: list[tuple[str, str, int]] = []

    async def looking(model: Model, context: Any, options: Any):
        requests.append((model.id, options.reasoning, len(context.messages)))
        async for event in script(model, context, options):
            yield event

    script = scripted([call("read", "a")], [say("done")])
    other = Model(id="m2", api="scripted", provider="test")

    async def prepare(ended: PrepareNextTurnContext, signal: Any) -> AgentLoopTurnUpdate | None:
        if not ended.tool_results:
            return None
        shorter = AgentContext(ended.context.system_prompt, ended.context.messages[-2:], ended.context.tools)
        return AgentLoopTurnUpdate(context=shorter, model=other, thinking_level=ThinkingLevel.LOW)

    await agent(looking, tool("read"), **{name: prepare}).prompt("hi")
    assert requests == [("m1", "off", 1), ("m2", "low", 2)]


async def test_terminate_ends_the_run_only_if_every_result_of_the_batch_says_so():
    async def finish(*arguments: Any):
        return text_result("bye", terminate=True)

    both = agent(scripted([call("end", "a"), call("read", "b")], [say("goes on")]), tool("end", finish), tool("read"))
    await both.prompt("hi")
    assert texts(both)[-1] == "assistant: goes on"
    alone = agent(scripted([call("end", "a"), call("end", "b")], [say("unreached")]), tool("end", finish))
    await alone.prompt("hi")
    assert texts(alone)[-1] == "toolResult: bye"


async def test_calls_of_a_message_cut_off_by_length_are_answered_and_not_run():
    ran: list[str] = []

    async def write(id: str, *arguments: Any):
        ran.append(id)
        return text_result("written")

    stream = scripted([call("write", "a", path="x"), call("write", "b"), stop(StopReason.LENGTH)], [say("smaller")])
    subject = agent(stream, tool("write", write))
    words = record(subject)
    await subject.prompt("hi")
    results = [message for message in subject.state.messages if message.role == "toolResult"]
    assert ran == []
    assert all(result.is_error and "smaller parts" in text_of(result.content) for result in results)
    assert [result.tool_call_id for result in results] == ["a", "b"]
    assert words.count("tool_execution_start a") == words.count("tool_execution_end a") == 1
    assert texts(subject)[-1] == "assistant: smaller"


async def test_a_model_that_is_cut_off_again_and_again_does_not_loop_for_ever():
    answer = [call("write", "a"), stop(StopReason.LENGTH)]
    subject = agent(scripted(*[answer] * 10), tool("write"))
    await subject.prompt("hi")
    assert len([message for message in subject.state.messages if message.role == "assistant"]) == MAX_TRUNCATED_TURNS


async def test_calls_of_a_message_that_failed_are_answered_so_that_the_transcript_stays_valid():
    subject = agent(scripted([call("read", "a"), fail("overloaded")]), tool("read"))
    await subject.prompt("hi")
    last = subject.state.messages[-1]
    assert (last.role, last.tool_call_id, last.is_error) == ("toolResult", "a", True)


async def test_a_consumer_that_stops_iterating_closes_the_provider():
    closed = asyncio.Event()

    async def endless(model: Model, context: Any, options: Any):
        partial = PartialMessage(model)
        yield partial.start()
        try:
            while True:
                for event in partial.text("x"):
                    yield event
                await asyncio.sleep(0)
        finally:
            closed.set()

    stream = agent_loop([user_message("hi")], context(), config(), stream_fn=endless)
    iterator = aiter(stream)
    for _ in range(10):
        await anext(iterator)
    await iterator.aclose()
    assert closed.is_set()
    with pytest.raises(RuntimeError, match="given up"):
        await stream.result()


async def test_an_aborted_loop_says_so_in_its_last_message():
    controller = AbortController()

    async def hanging(model: Model, context: Any, options: Any):
        partial = PartialMessage(model)
        yield partial.start()
        await asyncio.sleep(60)

    stream = agent_loop([user_message("hi")], context(), config(), stream_fn=hanging, signal=controller.signal)
    asyncio.get_running_loop().call_later(0.01, controller.abort)
    events = [event async for event in stream]
    assert isinstance(events[-1], AgentEndEvent)
    assert events[-1].messages[-1].stop_reason == "aborted"


async def test_the_model_is_stamped_on_its_messages():
    subject = agent(scripted([say("hi")]))
    await subject.prompt("hi")
    last = subject.state.messages[-1]
    assert (last.api, last.provider, last.model) == (MODEL.api, MODEL.provider, MODEL.id)


async def test_the_model_may_be_changed_right_before_each_request():
    other = Model(id="m2", api="scripted", provider="test")
    updates = iter([None, AgentLoopTurnUpdate(model=other, thinking_level=ThinkingLevel.HIGH)])
    script = scripted([call("look", "a")], [say("done")])
    asked: list[tuple[str, str]] = []

    def ask(model: Model, context: Any, options: Any) -> Any:
        asked.append((model.id, str(options.reasoning)))
        return script(model, context, options)

    looked = agent(ask, tool("look"), prepare_request=lambda: next(updates))
    await looked.prompt("hi")
    assert asked == [("m1", "off"), ("m2", "high")]


async def test_a_failure_right_before_a_request_ends_the_run_in_order():
    def prepare() -> AgentLoopTurnUpdate | None:
        raise RuntimeError("no")

    failing = agent(scripted([say("unreached")]), prepare_request=prepare)
    words = record(failing)
    await failing.prompt("hi")
    assert words[-4:] == ["message_start assistant", "message_end assistant", "turn_end", "agent_end"]
    assert words.count("turn_start") == words.count("turn_end") == 1
    assert failing.state.error_message == "RuntimeError: no"
