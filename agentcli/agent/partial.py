"""PartialMessage: the assistant message while it streams, and the maker of its stream events.

A provider tells it what arrived (`text`, `thinking`, `toolcall_start`, `toolcall_delta`, `end_block`, then `done` or
`error`) and yields the events that come back; starts and ends match whatever the order of the calls. It reads like an
`AssistantMessage`, but text is joined only when somebody asks, so that a delta costs the same at any length.
"""

from enum import Enum
from typing import Any

import msgspec

from agentcli.agent.arguments import parse_arguments
from agentcli.agent.assistant_events import (
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    StartEvent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ThinkingDeltaEvent,
    ThinkingEndEvent,
    ThinkingStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from agentcli.agent.errors import AgentcliError, BadResponseError
from agentcli.agent.messages import (
    AssistantContent,
    AssistantMessage,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    Usage,
    now_ms,
)
from agentcli.agent.models import Model
from agentcli.agent.threads import shortage

MAX_BLOCKS = 2000
"""Blocks of one message: no model has that much to say apart."""


class _Kind(Enum):
    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "toolcall"


class _Block:
    """One content block as it grows."""

    __slots__ = ("id", "kind", "name", "open", "pieces", "redacted", "signature")

    def __init__(self, kind: _Kind, id: str = "", name: str = "") -> None:
        self.kind = kind
        self.id = id
        self.name = name
        self.pieces: list[str] = []
        self.open = True
        self.signature: str | None = None
        self.redacted = False

    def joined(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    def content(self) -> AssistantContent:
        text = self.joined()
        match self.kind:
            case _Kind.TEXT:
                return TextContent(text, signature=self.signature)
            case _Kind.THINKING:
                return ThinkingContent(text, signature=self.signature, redacted=self.redacted)
            case _Kind.TOOL_CALL:
                arguments = None if self.open else parse_arguments(text)
                partial_json = text if arguments is None else None
                return ToolCall(self.id, self.name, arguments or {}, partial_json, self.signature)


class PartialMessage:
    """Args:
    model: the model that answers; its names are stamped on the message.

    What begins a block raises BadResponseError when there are `MAX_BLOCKS`.
    """

    role = "assistant"

    def __init__(self, model: Model) -> None:
        self.model = model
        self.timestamp: int = now_ms()
        self.usage: Usage = Usage()
        self.closed: bool = False
        """Whether `done` or `error` was said: nothing may follow."""
        self._blocks: list[_Block] = []
        self._speaking = -1
        """The place of the block of text or thinking that is open; there is one at most."""

    @property
    def content(self) -> list[AssistantContent]:
        """What has arrived so far. A call whose arguments are still coming has them in `partial_json`."""
        return [block.content() for block in self._blocks]

    def snapshot(self) -> AssistantMessage:
        """The message so far, as data; `stop_reason` is None."""
        return self._message(None)

    def start(self) -> StartEvent:
        return StartEvent(self)

    def text(self, delta: str) -> list[AssistantMessageEvent]:
        events, index = self._block(_Kind.TEXT)
        self._blocks[index].pieces.append(delta)
        return [*events, TextDeltaEvent(index, delta)]

    def thinking(self, delta: str) -> list[AssistantMessageEvent]:
        events, index = self._block(_Kind.THINKING)
        self._blocks[index].pieces.append(delta)
        return [*events, ThinkingDeltaEvent(index, delta)]

    def thinking_start(self) -> list[AssistantMessageEvent]:
        """A new block of thinking, for what may stay without text and still has to go back."""
        return [*self.end_text(), *self._block(_Kind.THINKING)[0]]

    def redacted_thinking(self, data: str) -> list[AssistantMessageEvent]:
        """A whole block of thinking whose text the provider withholds."""
        events = self.thinking_start()
        self._blocks[-1].redacted = True
        self._blocks[-1].signature = data
        return [*events, *self.end_text()]

    def toolcall_start(self, id: str, name: str) -> list[AssistantMessageEvent]:
        """A new call. Its `content_index`, for `toolcall_delta`, is that of the event that comes last."""
        events = self.end_text()
        self._append(_Block(_Kind.TOOL_CALL, id, name))
        return [*events, ToolCallStartEvent(len(self._blocks) - 1, id, name)]

    def toolcall_delta(self, content_index: int, delta: str) -> list[AssistantMessageEvent]:
        self._blocks[content_index].pieces.append(delta)
        return [ToolCallDeltaEvent(content_index, delta)]

    def toolcall_arguments(
        self, started: AssistantMessageEvent, arguments: dict[str, Any] | str
    ) -> list[AssistantMessageEvent]:
        """The whole arguments of a call at once, and its end. `started` is the call's start event."""
        assert isinstance(started, ToolCallStartEvent)
        text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
        return [*self.toolcall_delta(started.content_index, text), *self.end_block(started.content_index)]

    def rename_call(self, content_index: int, id: str) -> None:
        """Another id for a call, in all that is said of it from now on."""
        self._blocks[content_index].id = id

    def sign(self, signature: str, content_index: int = -1) -> None:
        """Keep what the provider wants back with a block (the last one); several pieces are joined."""
        block = self._blocks[content_index]
        block.signature = (block.signature or "") + signature

    def end_block(self, content_index: int) -> list[AssistantMessageEvent]:
        block = self._blocks[content_index]
        if not block.open:
            return []
        block.open = False
        if content_index == self._speaking:
            self._speaking = -1
        match content := block.content():
            case TextContent():
                return [TextEndEvent(content_index, content.text)]
            case ThinkingContent():
                return [ThinkingEndEvent(content_index, content.thinking)]
            case ToolCall():
                return [ToolCallEndEvent(content_index, content)]

    def end_text(self) -> list[AssistantMessageEvent]:
        """End what is open of text and thinking."""
        return self.end_block(self._speaking) if self._speaking >= 0 else []

    def end_blocks(self) -> list[AssistantMessageEvent]:
        """End every open block."""
        return [event for index in range(len(self._blocks)) for event in self.end_block(index)]

    def done(self, reason: StopReason) -> list[AssistantMessageEvent]:
        """End the stream. Calls make the reason `tool_calls`, whatever the server called it, unless it is `length`."""
        events = self.end_blocks()
        calls = any(block.kind is _Kind.TOOL_CALL for block in self._blocks)
        if reason in (StopReason.DONE, StopReason.TOOL_CALLS):
            reason = StopReason.TOOL_CALLS if calls else StopReason.DONE
        self.closed = True
        return [*events, DoneEvent(reason, self._message(reason))]

    def error(self, error: BaseException, reason: StopReason = StopReason.ERROR) -> list[AssistantMessageEvent]:
        """End the stream with what went wrong. A call that had not ended stays unparsed and never runs."""
        events = self._abandon_blocks()
        self.closed = True
        error = shortage(error) or error
        known = isinstance(error, AgentcliError)
        text = str(error) if known or reason == StopReason.ABORTED else f"{type(error).__name__}: {error}"
        message = self._message(reason, text, error.kind if known else None)
        return [*events, ErrorEvent(reason, message)]

    def _block(self, kind: _Kind) -> tuple[list[AssistantMessageEvent], int]:
        """The place of the block that a delta of this kind belongs to, opened if need be."""
        blocks = self._blocks
        if blocks and blocks[-1].kind is kind and blocks[-1].open:
            return [], len(blocks) - 1
        events = self.end_text()
        self._append(_Block(kind))
        self._speaking = index = len(blocks) - 1
        start = TextStartEvent if kind is _Kind.TEXT else ThinkingStartEvent
        return [*events, start(index)], index

    def _append(self, block: _Block) -> None:
        if len(self._blocks) >= MAX_BLOCKS:
            raise BadResponseError(f"{self.model.provider} sent an answer of more than {MAX_BLOCKS} blocks and calls")
        self._blocks.append(block)

    def _abandon_blocks(self) -> list[AssistantMessageEvent]:
        """End open text and thinking; an open call ends too, as the fragment it is."""
        events = self.end_text()
        for index, block in enumerate(self._blocks):
            if block.open:
                call = ToolCall(block.id, block.name, {}, block.joined(), block.signature)
                events.append(ToolCallEndEvent(index, call))
        return events

    def _message(
        self, reason: StopReason | None, error_message: str | None = None, error_kind: str | None = None
    ) -> AssistantMessage:
        return AssistantMessage(
            content=self.content,
            api=self.model.api,
            provider=self.model.provider,
            model=self.model.id,
            usage=self.usage,
            stop_reason=reason,
            error_message=error_message,
            error_kind=error_kind,
            timestamp=self.timestamp,
        )
