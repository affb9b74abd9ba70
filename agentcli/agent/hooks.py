"""Hooks: where a caller can look into a run and change it. Each may be sync or async."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from msgspec import Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.context import AgentContext
from agentcli.agent.events import AgentEvent
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    Message,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
)
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.agent.tools import AgentTool, AgentToolResult

T = TypeVar("T")
MaybeAwaitable = T | Awaitable[T]


class BeforeToolCallContext(Struct, frozen=True):
    assistant_message: AssistantMessage
    tool_call: ToolCall
    args: dict[str, Any]
    """What will run: prepared and validated."""
    context: AgentContext


class BeforeToolCallResult(Struct, frozen=True):
    block: bool = False
    reason: str | None = None
    """Told to the model when the call is blocked."""


class AfterToolCallContext(Struct, frozen=True):
    assistant_message: AssistantMessage
    tool_call: ToolCall
    args: dict[str, Any]
    result: AgentToolResult
    is_error: bool
    context: AgentContext


class AfterToolCallResult(Struct, frozen=True):
    """What is not None replaces that part of the result."""

    content: list[UserContent] | None = None
    details: Any = None
    is_error: bool | None = None
    usage: Usage | None = None
    terminate: bool | None = None


class PrepareNextTurnContext(Struct, frozen=True):
    message: AssistantMessage
    """The turn that just ended."""
    tool_results: list[ToolResultMessage]
    context: AgentContext
    new_messages: list[AgentMessage]
    """What this run has added so far."""


class AgentLoopTurnUpdate(Struct, frozen=True):
    """What is not None holds from the next turn on."""

    context: AgentContext | None = None
    model: Model | None = None
    thinking_level: ThinkingLevel | None = None
    tools: list[AgentTool] | None = None


BeforeToolCall = Callable[[BeforeToolCallContext, AbortSignal], MaybeAwaitable[BeforeToolCallResult | None]]
AfterToolCall = Callable[[AfterToolCallContext, AbortSignal], MaybeAwaitable[AfterToolCallResult | None]]
PrepareNextTurn = Callable[[PrepareNextTurnContext, AbortSignal], MaybeAwaitable[AgentLoopTurnUpdate | None]]
PrepareRequest = Callable[[], AgentLoopTurnUpdate | None]
"""Called right before each request, so that the model may change during a run. Not async: nothing can come between."""
ShouldStopAfterTurn = Callable[[PrepareNextTurnContext], MaybeAwaitable[bool]]
TransformContext = Callable[[list[AgentMessage], AbortSignal], MaybeAwaitable[list[AgentMessage]]]
ConvertToLlm = Callable[[list[AgentMessage]], MaybeAwaitable[list[Message]]]
GetApiKey = Callable[[str], MaybeAwaitable[str | None]]
"""Called with the provider's name before each request, so that a key may change during a run."""
GetMessages = Callable[[], MaybeAwaitable[list[AgentMessage]]]
FilterEvents = Callable[[AgentEvent], Iterable[AgentEvent]]
"""What an event of the loop becomes before the agent keeps it and the listeners receive it: itself, others, or none."""
