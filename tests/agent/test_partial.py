"""The growing message: its events are balanced, and its text costs the same however long it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.errors import AgentcliError, RateLimitError
from agentcli.agent.messages import StopReason, TextContent, ThinkingContent, ToolCall
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage

MODEL = Model(id="m", api="x", provider="p")


def kinds(events: list[object]) -> list[str]:
    return [type(event).__struct_config__.tag for event in events]


def test_blocks_open_and_close_as_their_kind_changes():
    partial = PartialMessage(MODEL)
    events = [*partial.thinking("hm"), *partial.text("so"), *partial.text(" on")]
    events += partial.toolcall_start("a", "read")
    events += partial.toolcall_delta(2, '{"path": "x"}')
    events += partial.done(StopReason.DONE)
    assert kinds(events) == [
        "thinking_start", "thinking_delta", "thinking_end",
        "text_start", "text_delta", "text_delta", "text_end",
        "toolcall_start", "toolcall_delta", "toolcall_end", "done",
    ]  # fmt: skip
    message = events[-1].message
    assert message.content == [ThinkingContent("hm"), TextContent("so on"), ToolCall("a", "read", {"path": "x"})]
    assert message.stop_reason == "tool_calls"


def test_two_calls_may_grow_side_by_side():
    partial = PartialMessage(MODEL)
    partial.toolcall_start("a", "read")
    partial.toolcall_start("b", "read")
    for index, piece in ((0, '{"path"'), (1, '{"path"'), (0, ': "x"}'), (1, ': "y"}')):
        partial.toolcall_delta(index, piece)
    message = partial.done(StopReason.TOOL_CALLS)[-1].message
    assert [call.arguments for call in message.tool_calls] == [{"path": "x"}, {"path": "y"}]


def test_a_snapshot_shows_a_call_that_still_grows_as_text():
    partial = PartialMessage(MODEL)
    partial.toolcall_start("a", "write")
    partial.toolcall_delta(0, '{"path": "x"}')
    assert partial.snapshot().tool_calls == [ToolCall("a", "write", {}, '{"path": "x"}')]
    assert partial.snapshot().stop_reason is None


def test_an_error_keeps_what_came_and_never_parses_half_a_call():
    partial = PartialMessage(MODEL)
    partial.text("half")
    partial.toolcall_start("a", "write")
    partial.toolcall_delta(0 + 1, '{"path": "x"}')
    events = partial.error(RateLimitError("slow down", hint="wait"))
    assert kinds(events) == ["toolcall_end", "error"]
    message = events[-1].error
    assert message.content == [TextContent("half"), ToolCall("a", "write", {}, '{"path": "x"}')]
    assert (message.error_message, message.error_kind) == ("slow down (wait)", "rate_limit")


def test_length_stays_length_whatever_the_message_holds():
    partial = PartialMessage(MODEL)
    partial.toolcall_start("a", "write")
    assert partial.done(StopReason.LENGTH)[-1].reason == "length"


def test_a_signature_in_pieces_and_redacted_thinking_are_kept():
    partial = PartialMessage(MODEL)
    partial.thinking("hm")
    partial.sign("ab")
    partial.sign("cd")
    partial.redacted_thinking("opaque")
    partial.text("so")
    assert partial.content[:2] == [ThinkingContent("hm", "abcd"), ThinkingContent("", "opaque", redacted=True)]


STEPS = st.lists(st.sampled_from(["text", "thinking", "redacted", "call", "delta", "end"]), max_size=30)


@given(STEPS, st.sampled_from(["done", "error", "aborted"]))
def test_every_start_has_its_end_whatever_comes(steps: list[str], ending: str):
    partial = PartialMessage(MODEL)
    events: list[object] = []
    calls: list[int] = []
    for step in steps:
        match step:
            case "text":
                events += partial.text("x")
            case "thinking":
                events += partial.thinking("x")
            case "redacted":
                events += partial.redacted_thinking("x")
            case "call":
                events += partial.toolcall_start("id", "read")
                calls.append(events[-1].content_index)
            case "delta" if calls:
                events += partial.toolcall_delta(calls[-1], "{")
            case "end" if calls:
                events += partial.end_block(calls[0])
    if ending == "done":
        events += partial.done(StopReason.DONE)
    else:
        events += partial.error(AgentcliError("x"), StopReason(ending))
    words = kinds(events)
    for kind in ("text", "thinking", "toolcall"):
        assert words.count(f"{kind}_start") == words.count(f"{kind}_end")
    starts = [event.content_index for event in events if kinds([event])[0].endswith("_start")]
    assert starts == list(range(len(starts)))
    assert words[-1] == ("done" if ending == "done" else "error")


@pytest.mark.parametrize("reads_between", [False, True])
def test_long_texts_are_joined_only_when_they_are_read(reads_between: bool):
    partial = PartialMessage(MODEL)
    for number in range(2000):
        partial.text("x")
        if reads_between and number % 100 == 0:
            assert partial.content[0].text == "x" * (number + 1)
    assert partial.content[0].text == "x" * 2000
