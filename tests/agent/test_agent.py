"""The agent: its listeners, its state, its queues and what it refuses."""

import asyncio
import logging
from typing import Any

import pytest

from agentcli.agent.errors import AgentBusyError, UsageError
from agentcli.agent.messages import AssistantMessage, ImageContent, TextContent, UserMessage, user_message
from agentcli.agent.queues import MessageQueues, QueueMode
from tests.agent.doubles import agent, call, record, say, scripted, sleeper, text_result, texts, tool, word
from tests.waiting import until


async def test_listeners_hear_every_event_in_order_and_slow_ones_are_waited_for():
    heard: list[str] = []

    async def slow(event: Any, signal: Any) -> None:
        await asyncio.sleep(0.001)
        heard.append(f"slow {word(event)}")

    subject = agent(scripted([call("t", "a")], [say("ok")]), tool("t"))
    subject.subscribe(slow)
    subject.subscribe(lambda event, signal: heard.append(f"quick {word(event)}"))
    await subject.prompt("hi")
    assert [line.partition(" ")[2] for line in heard[::2]] == [line.partition(" ")[2] for line in heard[1::2]]
    assert all(line.startswith("slow") for line in heard[::2])


async def test_a_listener_that_raises_is_reported_and_stops_nothing(caplog: pytest.LogCaptureFixture):
    def broken(event: Any, signal: Any) -> None:
        raise RuntimeError("listener is down")

    subject = agent(scripted([say("ok")]))
    subject.subscribe(broken)
    words = record(subject)
    with caplog.at_level(logging.ERROR):
        await subject.prompt("hi")
    assert words[-1] == "agent_end"
    assert "listener is down" in caplog.text


async def test_unsubscribe_ends_the_listening():
    subject = agent(scripted([say("one")], [say("two")]))
    heard: list[Any] = []
    unsubscribe = subject.subscribe(lambda event, signal: heard.append(event))
    await subject.prompt("hi")
    count = len(heard)
    unsubscribe()
    await subject.prompt("again")
    assert len(heard) == count


async def test_a_listener_hears_the_signal_of_the_run():
    subject = agent(scripted([say("ok")]))
    signals: set[Any] = set()
    subject.subscribe(lambda event, signal: signals.add(signal))
    await subject.prompt("hi")
    assert signals == {subject.signal}


async def test_a_prompt_goes_on_by_itself_and_can_be_waited_for():
    subject = agent(scripted([say("hello")]))
    subject.prompt("hi")
    await subject.wait_for_idle()
    assert texts(subject)[-1] == "assistant: hello"


async def test_a_prompt_may_be_text_with_images_a_message_or_messages():
    stream = scripted([say("1")], [say("2")], [say("3")])
    subject = agent(stream)
    picture = ImageContent("aGk=", "image/png")
    await subject.prompt("look", [picture])
    await subject.prompt(user_message("one"))
    await subject.prompt([user_message("two"), AssistantMessage([TextContent("so")]), user_message("three")])
    assert subject.state.messages[0].content == [TextContent("look"), picture]
    assert [m.role for m in subject.state.messages] == ["user", "assistant"] * 3 + ["user", "assistant"]


@pytest.mark.parametrize("method", ["prompt", "continue_", "reset"])
async def test_what_cannot_be_done_during_a_run_says_what_can(method: str):
    subject = agent(scripted([call("slow", "a")], [say("ok")]), sleeper("slow", 0.05))
    run = subject.prompt("hi")
    arguments = ["again"] if method == "prompt" else []
    with pytest.raises(AgentBusyError, match=r"steer\(\).*follow_up\(\)"):
        getattr(subject, method)(*arguments)
    await run


async def test_continue_answers_a_user_message_or_a_tool_result():
    subject = agent(scripted([say("hello")]), messages=[user_message("hi")])
    await subject.continue_()
    assert texts(subject) == ["user: hi", "assistant: hello"]
    with pytest.raises(UsageError):
        subject.continue_()


async def test_the_state_says_what_is_going_on():
    subject = agent(scripted([say("a", chunk=1), call("slow", "x")], [say("ok")]), sleeper("slow", 0.05))
    streaming: list[Any] = []
    pending: list[set[str]] = []

    def listen(event: Any, signal: Any) -> None:
        streaming.append((word(event), subject.state.streaming_message is not None, subject.state.is_streaming))
        pending.append(set(subject.state.pending_tool_calls))

    subject.subscribe(listen)
    assert not subject.state.is_streaming
    run = subject.prompt("hi")
    assert subject.state.is_streaming
    await run
    assert ("message_update text_delta", True, True) in streaming
    assert ("message_end assistant", False, True) in streaming
    assert streaming[-1] == ("agent_end", False, True)
    assert {"x"} in pending
    assert pending[-1] == set()
    assert not subject.state.is_streaming


async def test_it_is_streaming_until_the_listeners_of_agent_end_are_done():
    subject = agent(scripted([say("ok")]))
    seen: list[bool] = []

    async def slow(event: Any, signal: Any) -> None:
        if word(event) == "agent_end":
            await asyncio.sleep(0.01)
            seen.append(subject.state.is_streaming)

    subject.subscribe(slow)
    await subject.prompt("hi")
    assert seen == [True]


async def test_the_streaming_message_grows_with_its_deltas():
    subject = agent(scripted([say("abc", chunk=1)]))
    grown: list[str] = []

    def listen(event: Any, signal: Any) -> None:
        if word(event) == "message_update text_delta":
            grown.append(event.message.content[0].text)

    subject.subscribe(listen)
    await subject.prompt("hi")
    assert grown == ["a", "ab", "abc"]


async def test_reset_forgets_transcript_and_queues():
    subject = agent(scripted([say("ok")]))
    await subject.prompt("hi")
    subject.steer("later")
    subject.reset()
    assert subject.state.messages == []
    assert not subject.has_queued_messages()


async def test_steering_enters_after_the_whole_batch_and_skips_no_call():
    async def steers(id: str, *rest: Any):
        if id == "a":
            subject.steer("turn left")
        return text_result(id)

    stream = scripted([call("t", "a"), call("t", "b"), call("t", "c")], [say("left it is")])
    subject = agent(stream, tool("t", steers, execution_mode="sequential"))
    words = record(subject)
    await subject.prompt("go")
    assert texts(subject)[2:] == [
        "toolResult: a",
        "toolResult: b",
        "toolResult: c",
        "user: turn left",
        "assistant: left it is",
    ]
    second = words.index("turn_start", words.index("turn_end"))
    assert words[second : second + 3] == ["turn_start", "message_start user", "message_end user"]
    assert len(stream.requests) == 2


async def test_a_follow_up_waits_until_the_agent_would_stop():
    stream = scripted([call("t", "a")], [say("done")], [say("and that too")])
    subject = agent(stream, tool("t"))
    subject.follow_up("now that")
    await subject.prompt("go")
    assert texts(subject)[3:] == ["assistant: done", "user: now that", "assistant: and that too"]


async def test_steering_comes_before_follow_ups():
    subject = agent(scripted([say("1")], [say("2")], [say("3")]))

    def queue(event: Any, signal: Any) -> None:
        if word(event) == "message_start assistant" and len(subject.state.messages) == 1:
            subject.follow_up("later")
            subject.steer("sooner")

    subject.subscribe(queue)
    await subject.prompt("go")
    assert texts(subject) == ["user: go", "assistant: 1", "user: sooner", "assistant: 2", "user: later", "assistant: 3"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(QueueMode.ONE_AT_A_TIME, ["go", "1", "a", "2", "b", "3"]), (QueueMode.ALL, ["go", "1", "a", "b", "2"])],
)
@pytest.mark.parametrize("kind", ["steer", "follow_up"])
async def test_a_queue_delivers_one_at_a_time_or_all(kind: str, mode: QueueMode, expected: list[str]):
    subject = agent(scripted([say("1")], [say("2")], [say("3")]), queues=MessageQueues(mode, mode))

    def queue(event: Any, signal: Any) -> None:
        if word(event) == "message_start assistant" and len(subject.state.messages) == 1:
            getattr(subject, kind)("a")
            getattr(subject, kind)("b")

    subject.subscribe(queue)
    await subject.prompt("go")
    assert [text.partition(": ")[2] for text in texts(subject)] == expected


async def test_what_was_steered_before_a_run_goes_with_its_first_request():
    stream = scripted([say("ok")])
    subject = agent(stream)
    subject.steer("by the way")
    await subject.prompt("hi")
    assert texts(subject) == ["user: hi", "user: by the way", "assistant: ok"]


async def test_an_image_alone_is_a_message_and_is_delivered_once():
    subject = agent(scripted([say("1")], [say("2")]))
    subject.follow_up("", [ImageContent("aGk=", "image/png")])
    await subject.prompt("hi")
    followed = subject.state.messages[2]
    assert isinstance(followed, UserMessage)
    assert followed.content == [ImageContent("aGk=", "image/png")]
    assert not subject.has_queued_messages()


async def test_a_run_that_failed_leaves_the_queue_alone():
    from tests.agent.doubles import fail

    subject = agent(scripted([fail("network")]))
    subject.follow_up("later")
    await subject.prompt("hi")
    assert [item.message for item in subject.follow_up_queue.items] == subject.clear_all_queues()
    assert subject.state.error_message


async def test_prompt_ends_only_when_the_calls_of_its_last_turn_are_answered():
    subject = agent(scripted([call("slow", "a")], [say("ok")]), sleeper("slow", 0.02))
    await subject.prompt("hi")
    assert not subject.is_running
    assert texts(subject)[-1] == "assistant: ok"


async def test_wait_for_idle_returns_at_once_without_a_run():
    await agent(scripted()).wait_for_idle()


async def test_abort_without_a_run_does_nothing():
    subject = agent(scripted([say("ok")]))
    subject.abort()
    await subject.prompt("hi")
    assert texts(subject)[-1] == "assistant: ok"
    await until(lambda: not subject.is_running)
