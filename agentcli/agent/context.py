"""Contexts and options: what a request is made of, and what a stream function receives with it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from msgspec import Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.messages import AgentMessage, Message
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.agent.tools import AgentTool


class AgentContext(Struct):
    """The conversation as the agent keeps it."""

    system_prompt: str
    messages: list[AgentMessage]
    tools: list[AgentTool] = []


class Context(Struct, frozen=True):
    """The conversation as a model reads it."""

    system_prompt: str
    messages: list[Message]
    tools: list[AgentTool] = []


class StreamOptions(Struct, frozen=True, kw_only=True):
    """What a stream function may be told beside the model and the context; None leaves it to the provider."""

    signal: AbortSignal | None = None
    api_key: str | None = None
    reasoning: ThinkingLevel = ThinkingLevel.OFF
    session_id: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    cache_retention: str | None = None
    """`none`, `short`, `long`."""
    headers: dict[str, str] | None = None
    metadata: dict[str, Any] | None = None
    transport: str = "auto"
    thinking_budgets: dict[str, int] | None = None
    """Tokens by level."""
    max_retry_delay_ms: int | None = None
    on_payload: Callable[[Any], Any] | None = None
    """Called with the request body before it is sent; what it returns (unless None) is sent in its place."""
    on_response: Callable[[Any], Any] | None = None
    """Called with the response's status and headers before its body is read."""


StreamFn = Callable[
    [Model, Context, StreamOptions],
    AsyncIterator[AssistantMessageEvent] | Awaitable[AsyncIterator[AssistantMessageEvent]],
]
"""Asks a model. Yields the events of `agent.assistant_events`; may raise: the loop makes an error message of it."""
