"""The conversation: content blocks, usage, and every kind of message.

`Message` is what a model understands. `AgentMessage` adds the kinds that only agentcli knows; `agent.convert` turns
those into `Message`s. All is frozen data, encoded by msgspec: messages are told apart by `role`, blocks by `type`. It
holds no circles, so the garbage collector need not look at it (`gc=False`): a long session opens in half the time.
"""

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from agentcli.agent.surrogates import without_surrogates


def now_ms() -> int:
    """Unix milliseconds: the unit of every message's timestamp."""
    return time.time_ns() // 1_000_000


class StopReason(StrEnum):
    """Why an assistant message ended. Refusals and content filters are `error`."""

    DONE = "done"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    ERROR = "error"
    ABORTED = "aborted"


class TextContent(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="type", tag="text"):
    text: str
    signature: str | None = None
    """What the provider wants back with this block, byte for byte; None for most."""


class ImageContent(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="type", tag="image"):
    data: str
    """Base64."""
    mime_type: str


class ThinkingContent(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="type", tag="thinking"):
    thinking: str
    signature: str | None = None
    """What the provider wants back with this block, byte for byte."""
    redacted: bool = False
    """The text is withheld; `signature` holds the provider's opaque data."""


class ToolCall(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="type", tag="tool"):
    id: str
    name: str
    arguments: dict[str, Any] = {}
    partial_json: str | None = None
    """The arguments as the model wrote them, kept only when they are not one whole JSON object."""
    signature: str | None = None
    """What the provider wants back with this call, byte for byte; None for most."""


UserContent = TextContent | ImageContent
AssistantContent = TextContent | ThinkingContent | ToolCall


class UsageCost(Struct, frozen=True, omit_defaults=True, gc=False):
    """US dollars."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    total: float = 0.0

    def __add__(self, other: "UsageCost") -> "UsageCost":
        return UsageCost(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.total + other.total,
        )


class Usage(Struct, frozen=True, omit_defaults=True, gc=False):
    """Tokens. `input` is what was neither read from nor written to a cache; `total_tokens` is the sum of all four."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    cost: UsageCost = UsageCost()

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.total_tokens + other.total_tokens,
            self.cost + other.cost,
        )

    @property
    def counted(self) -> int:
        """`total_tokens`, or the sum of the four where the server sent no total."""
        return self.total_tokens or self.input + self.output + self.cache_read + self.cache_write


class UserMessage(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="role", tag="user"):
    content: list[UserContent]
    timestamp: int = field(default_factory=now_ms)

    @property
    def role(self) -> str:
        return "user"


class AssistantMessage(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="role", tag="assistant"):
    content: list[AssistantContent]
    api: str = ""
    provider: str = ""
    model: str = ""
    usage: Usage = Usage()
    stop_reason: StopReason | None = None
    """None only while the message streams."""
    error_message: str | None = None
    error_kind: str | None = None
    """The `kind` of the `AgentcliError` behind `error_message`: `auth`, `rate_limit`, `overflow` …"""
    timestamp: int = field(default_factory=now_ms)

    @property
    def role(self) -> str:
        return "assistant"

    @property
    def tool_calls(self) -> list[ToolCall]:
        return [block for block in self.content if isinstance(block, ToolCall)]


class ToolResultMessage(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="role", tag="toolResult"):
    tool_call_id: str
    tool_name: str
    content: list[UserContent]
    details: Any = None
    """What the tool tells programs and screens: plain data (dicts, lists, strings, numbers)."""
    usage: Usage | None = None
    added_tool_names: list[str] | None = None
    is_error: bool = False
    timestamp: int = field(default_factory=now_ms)

    @property
    def role(self) -> str:
        return "toolResult"


class BashExecutionMessage(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="role", tag="bashExecution"):
    """A command that the person ran themselves."""

    command: str
    output: str
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None
    timestamp: int = field(default_factory=now_ms)
    exclude_from_context: bool = False

    @property
    def role(self) -> str:
        return "bashExecution"


class CompactionSummaryMessage(
    Struct, frozen=True, omit_defaults=True, gc=False, tag_field="role", tag="compactionSummary"
):
    summary: str
    tokens_before: int = 0
    timestamp: int = field(default_factory=now_ms)

    @property
    def role(self) -> str:
        return "compactionSummary"


class BranchSummaryMessage(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="role", tag="branchSummary"):
    summary: str
    from_id: str
    """The entry at which the summarised branch leaves this one."""
    timestamp: int = field(default_factory=now_ms)

    @property
    def role(self) -> str:
        return "branchSummary"


class CustomMessage(Struct, frozen=True, omit_defaults=True, gc=False, tag_field="role", tag="custom"):
    """A message of an extension's own kind, which the model reads as the user's."""

    custom_type: str
    content: str | list[UserContent]
    display: bool = True
    details: Any = None
    timestamp: int = field(default_factory=now_ms)

    @property
    def role(self) -> str:
        return "custom"


Message = UserMessage | AssistantMessage | ToolResultMessage
AgentMessage = Message | BashExecutionMessage | CompactionSummaryMessage | BranchSummaryMessage | CustomMessage


def user_message(text: str, images: Sequence[ImageContent] = ()) -> UserMessage:
    """The message a person sends. An image alone needs no text."""
    content: list[UserContent] = [TextContent(without_surrogates(text))] if text or not images else []
    return UserMessage(content=[*content, *images])


def text_of(content: str | Sequence[UserContent | AssistantContent]) -> str:
    """The text blocks of a message's content, joined; thinking, calls and images are left out."""
    if isinstance(content, str):
        return content
    return "".join(block.text for block in content if isinstance(block, TextContent))
