"""Ids of tool calls: whatever a server calls its calls, each has an id of its own wherever it is told of."""

import pytest

from agentcli.agent.call_ids import with_own_ids
from agentcli.agent.events import (
    AgentEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
)
from agentcli.agent.messages import AgentMessage, AssistantMessage, TextContent, ToolCall, ToolResultMessage, text_of
from agentcli.providers.scripted import Step
from tests.agent.doubles import agent as agent_of
from tests.agent.doubles import call, raw_call, say, scripted, tool


def result(id: str, text: str) -> ToolResultMessage:
    return ToolResultMessage(id, "t", [TextContent(text)])


def calls_and_results(messages: list[AgentMessage]) -> tuple[list[str], list[tuple[str, str]]]:
    calls = [call.id for message in messages if isinstance(message, AssistantMessage) for call in message.tool_calls]
    results = [(m.tool_call_id, text_of(m.content)) for m in messages if isinstance(m, ToolResultMessage)]
    return calls, results


@pytest.mark.parametrize("id", ["c", "", " ", "x" * 64], ids=["one", "none", "blank", "long"])
async def test_calls_that_a_server_gives_one_id_are_told_of_by_ids_of_their_own(id: str):
    answers: list[list[Step]] = [
        [call("t", id or " ", path="1"), call("t", id or " ", path="2")],
        [call("t", id or " ", path="3"), raw_call("t", id or " ", "{")],
        [say("done")],
    ]
    agent = agent_of(scripted(*answers), tool("t"))
    events: list[AgentEvent] = []
    agent.subscribe(lambda event, signal: events.append(event))
    await agent.prompt("go")
    calls, results = calls_and_results(agent.state.messages)
    assert len(set(calls)) == 4 and all(call.strip() and len(call) <= 64 for call in calls)
    assert [id for id, _ in results] == calls
    assert [text for _, text in results[:3]] == ["t 1", "t 2", "t 3"]
    assert [event.tool_call_id for event in events if isinstance(event, ToolExecutionStartEvent)] == calls
    assert {event.tool_call_id for event in events if isinstance(event, ToolExecutionEndEvent)} == set(calls)
    updates = [event.assistant_message_event for event in events if isinstance(event, MessageUpdateEvent)]
    assert [update.id for update in updates if hasattr(update, "id")] == calls
    assert [update.tool_call.id for update in updates if hasattr(update, "tool_call")] == calls
    assert agent.state.pending_tool_calls == set()
    if id.strip():
        assert calls[0] == id


def test_a_stored_conversation_gets_ids_in_the_order_of_its_calls():
    first, second = (
        [ToolCall("c", "t"), ToolCall("c", "t"), ToolCall("d", "t")],
        [ToolCall("c", "t"), ToolCall("", "t")],
    )
    stored: list[AgentMessage] = [
        AssistantMessage([*first]),
        result("c", "1"),
        result("c", "2"),
        result("d", "3"),
        AssistantMessage([*second]),
        result("c", "4"),
        result("", "5"),
        result("gone", "6"),
    ]
    messages = with_own_ids(stored)
    calls, results = calls_and_results(messages)
    assert len(set(calls)) == 5 and calls[0] == "c"
    assert results == [*zip(calls, "12345", strict=True), ("gone", "6")]
    assert with_own_ids(messages) == messages
    assert messages[3] is stored[3]
