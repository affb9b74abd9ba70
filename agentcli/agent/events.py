"""Agent events: the one ordered stream that screens, scripts and sessions are made from. `agent.loop` has the order."""

from typing import Any

from msgspec import Struct

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.messages import AgentMessage, ToolResultMessage
from agentcli.agent.partial import PartialMessage
from agentcli.agent.tools import AgentToolResult


class AgentStartEvent(Struct, frozen=True, tag_field="type", tag="agent_start"):
    pass


class AgentEndEvent(Struct, frozen=True, tag_field="type", tag="agent_end"):
    messages: list[AgentMessage]
    """What the run added, its prompts included."""


class TurnStartEvent(Struct, frozen=True, tag_field="type", tag="turn_start"):
    pass


class TurnEndEvent(Struct, frozen=True, tag_field="type", tag="turn_end"):
    message: AgentMessage
    tool_results: list[ToolResultMessage]


class MessageStartEvent(Struct, frozen=True, tag_field="type", tag="message_start"):
    message: AgentMessage


class MessageUpdateEvent(Struct, frozen=True, tag_field="type", tag="message_update"):
    message: PartialMessage
    """The assistant message as it grows: one object, which reads like an `AssistantMessage`."""
    assistant_message_event: AssistantMessageEvent


class MessageEndEvent(Struct, frozen=True, tag_field="type", tag="message_end"):
    message: AgentMessage


class ToolExecutionStartEvent(Struct, frozen=True, tag_field="type", tag="tool_execution_start"):
    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    """As the model wrote them; empty if that is no JSON object."""


class ToolExecutionUpdateEvent(Struct, frozen=True, tag_field="type", tag="tool_execution_update"):
    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    partial_result: AgentToolResult


class ToolExecutionEndEvent(Struct, frozen=True, tag_field="type", tag="tool_execution_end"):
    tool_call_id: str
    tool_name: str
    result: AgentToolResult
    is_error: bool


AgentEvent = (
    AgentStartEvent
    | AgentEndEvent
    | TurnStartEvent
    | TurnEndEvent
    | MessageStartEvent
    | MessageUpdateEvent
    | MessageEndEvent
    | ToolExecutionStartEvent
    | ToolExecutionUpdateEvent
    | ToolExecutionEndEvent
)
