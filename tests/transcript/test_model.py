"""What the model of a transcript knows after which events, and what its listener is notified of."""

from typing import Any

import pytest

from agentcli.agent.assistant_events import (
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from agentcli.agent.events import (
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnStartEvent,
)
from agentcli.agent.messages import (
    AssistantMessage,
    StopReason,
    TextContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UsageCost,
    user_message,
)
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.agent.tool_calls import ABORTED_TEXT
from agentcli.agent.tools import AgentToolResult
from agentcli.runtime.events import (
    CompactionEndEvent,
    NoticeEvent,
    PermissionEndEvent,
    PermissionRequestEvent,
    QueueUpdateEvent,
    RetryEndEvent,
    RetryStartEvent,
    SpentEvent,
)
from agentcli.runtime.repair import INTERRUPTED_TEXT
from agentcli.transcript.item_list import Change
from agentcli.transcript.items import CallState, NoticeItem, RetryItem, TextItem, ToolItem
from agentcli.transcript.model import HistoryReplaced, TranscriptModel
from tests.transcript.facts import words

PARTIAL = PartialMessage(Model(id="m", api="scripted", provider="scripted"))
CALL = ToolCall("c1", "bash", {"command": "make"})


def update(event: Any) -> MessageUpdateEvent:
    return MessageUpdateEvent(PARTIAL, event)


def changes_of(model: TranscriptModel, *events: Any, now: float = 0.0) -> list[str]:
    """The changes that these events make, as lines."""
    heard: list[Change] = []
    model._list.notify = heard.append
    for event in events:
        model.apply(event, now)
    return [words(change) for change in heard]


def request(id: str = "p1") -> PermissionRequestEvent:
    return PermissionRequestEvent(
        id=id, tool_call_id="c1", tool_name="bash", arguments={}, about="make", because="it is asked"
    )


def result(text: str, **fields: Any) -> AgentToolResult:
    return AgentToolResult(content=[TextContent(text)], **fields)


def test_a_listener_is_told_of_each_delta_and_of_nothing_else():
    model = TranscriptModel()
    model.add_messages([user_message("hi")])
    start = MessageStartEvent(AssistantMessage([]))
    assert changes_of(model, TurnStartEvent(), start, update(TextStartEvent(0))) == ["added 1 TextItem"]
    assert changes_of(model, update(TextDeltaEvent(0, "one ")), update(TextDeltaEvent(0, "two"))) == [
        "appended 1 one ",
        "appended 1 two",
    ]
    assert changes_of(model, update(TextEndEvent(0, "one two"))) == ["changed 1"]
    message = AssistantMessage([TextContent("one two")], stop_reason=StopReason.DONE)
    assert changes_of(model, MessageEndEvent(message)) == []
    item = model.items[1]
    assert isinstance(item, TextItem) and item.text == "one two" and not item.is_growing


def test_a_call_goes_from_state_to_state():
    model, states = TranscriptModel(), list[CallState]()
    steps: list[Any] = [
        update(ToolCallStartEvent(0, "c1", "bash")),
        update(ToolCallDeltaEvent(0, '{"command"')),
        update(ToolCallEndEvent(0, CALL)),
        ToolExecutionStartEvent("c1", "bash", CALL.arguments),
        request(),
        PermissionEndEvent(id="p1", allowed=True),
        ToolExecutionUpdateEvent("c1", "bash", CALL.arguments, result("so far")),
        ToolExecutionEndEvent("c1", "bash", result("done", details={"diff": "+1 x"}), False),
    ]
    for event in steps:
        model.apply(event, 1.0)
        (item,) = model.items
        assert isinstance(item, ToolItem)
        states.append(item.state)
    running = CallState.RUNNING
    assert states == [
        CallState.WRITING, CallState.WRITING, CallState.WAITING, running, CallState.ASKING, running, running, CallState.DONE,
    ]  # fmt: skip
    assert (item.written, item.arguments, item.text, item.diff) == (10, {"command": "make"}, "done", "+1 x")


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (result("no", is_error=True), CallState.FAILED),
        (result(ABORTED_TEXT, is_error=True), CallState.CANCELLED),
        (result("killed", is_error=True, details={"aborted": True}), CallState.CANCELLED),
        (result("aborted", details={"aborted": False}), CallState.DONE),
    ],
)
def test_an_aborted_call_is_told_apart_from_one_that_failed(end: AgentToolResult, state: CallState):
    model = TranscriptModel()
    model.apply(ToolExecutionStartEvent("c1", "bash", {}), 2.0)
    model.apply(ToolExecutionEndEvent("c1", "bash", end, end.is_error), 4.5)
    (item,) = model.items
    assert isinstance(item, ToolItem) and item.state is state and item.seconds == 2.5


def test_a_clock_runs_as_long_as_a_call_does():
    model = TranscriptModel()
    model.apply(ToolExecutionStartEvent("c1", "bash", {}), 2.0)
    assert model.has_clock and model.activity == "running bash"
    model.tick(5.9)
    (item,) = model.items
    assert isinstance(item, ToolItem) and item.seconds == 3.0
    model.apply(ToolExecutionEndEvent("c1", "bash", result(""), False), 6.0)
    assert not model.has_clock and item.seconds == 4.0
    # The call has run: the result that comes into the conversation later does not make it longer.
    model.apply(MessageEndEvent(ToolResultMessage("c1", "bash", [])), 9.0)
    assert item.seconds == 4.0


def test_a_request_is_open_until_it_is_answered():
    model = TranscriptModel()
    start = ToolExecutionStartEvent("c1", "bash", {})
    assert changes_of(model, start, request("p1"), request("p2"))[-2:] == ["changed 0", "RequestsChanged"]
    assert [each.id for each in model.requests] == ["p1", "p2"]
    model.end_request("p1")
    assert [each.id for each in model.requests] == ["p2"]
    assert changes_of(model, PermissionEndEvent(id="p1", allowed=True)) == []


def test_what_is_queued_is_known():
    model = TranscriptModel()
    one, two = user_message("one"), user_message("two")
    assert changes_of(model, QueueUpdateEvent([one], [two])) == ["QueueChanged"]
    assert (model.steering, model.follow_up) == ([one], [two])


def test_another_conversation_replaces_the_items_but_not_what_the_session_used():
    model = TranscriptModel()
    usage = Usage(input=5, cost=UsageCost(total=0.5))
    changes_of(model, MessageEndEvent(AssistantMessage([TextContent("a")], usage=usage)))
    assert changes_of(model, HistoryReplaced([user_message("b")])) == [
        "replaced by 1",
        "added 1 NoticeItem",
    ]
    assert model.usage == usage
    model.open([])
    assert model.items == [] and model.usage == Usage()


def test_all_usage_is_counted():
    model = TranscriptModel()
    usage = Usage(input=5, cost=UsageCost(total=0.5))
    for event in (
        MessageEndEvent(AssistantMessage([TextContent("a")], usage=usage)),
        MessageEndEvent(ToolResultMessage("c1", "bash", [], usage=usage)),
        CompactionEndEvent(reason="manual", error_message="no", usage=usage),
        SpentEvent(reason="branch_summary", usage=usage),
        CompactionEndEvent(reason="manual", aborted=True),
    ):
        model.apply(event, 0.0)
    assert (model.usage.input, model.usage.cost.total) == (20, 2.0)


def test_a_retry_counts_down_and_is_then_over():
    model = TranscriptModel()
    model.apply(RetryStartEvent(1, 3, 5.0, "busy"), 10.0)
    (item,) = model.items
    assert isinstance(item, RetryItem) and item.left == 5.0 and model.has_clock
    model.tick(13.0)
    assert item.left == 2.0
    model.tick(99.0)
    assert item.left == 0.0
    assert changes_of(model, RetryEndEvent(True, 1)) == ["changed 0"]
    assert item.left is None and not model.has_clock


def test_a_call_without_a_result_was_interrupted():
    model = TranscriptModel()
    model.add_messages([AssistantMessage([CALL], stop_reason=StopReason.TOOL_CALLS)])
    (item,) = model.items
    assert isinstance(item, ToolItem) and (item.state, item.text) == (CallState.FAILED, INTERRUPTED_TEXT)


def test_notices_that_follow_each_other_are_one_item():
    model = TranscriptModel()
    assert changes_of(model, NoticeEvent("one"), NoticeEvent("two"), NoticeEvent("two")) == [
        "added 0 NoticeItem",
        "changed 0",
        "changed 0",
    ]
    (item,) = model.items
    assert isinstance(item, NoticeItem) and [(line.text, line.times) for line in item.lines] == [("one", 1), ("two", 2)]
