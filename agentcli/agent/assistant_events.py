"""What a model's answer looks like while it streams: the events that a `StreamFn` yields.

```
start
  text_start, text_delta*, text_end                  each told apart by content_index,
  thinking_start, thinking_delta*, thinking_end      the block's place in the message
  toolcall_start, toolcall_delta*, toolcall_end
done | error
```

`agent.partial.PartialMessage` makes them; every start has its end, and nothing comes after `done` or `error`.
"""

from typing import Any

from msgspec import Struct

from agentcli.agent.messages import AssistantMessage, StopReason, ToolCall


class StartEvent(Struct, frozen=True, tag_field="type", tag="start"):
    partial: Any
    """The message as it grows: one `agent.partial.PartialMessage` for the whole stream."""


class TextStartEvent(Struct, frozen=True, tag_field="type", tag="text_start"):
    content_index: int


class TextDeltaEvent(Struct, frozen=True, tag_field="type", tag="text_delta"):
    content_index: int
    delta: str


class TextEndEvent(Struct, frozen=True, tag_field="type", tag="text_end"):
    content_index: int
    content: str


class ThinkingStartEvent(Struct, frozen=True, tag_field="type", tag="thinking_start"):
    content_index: int


class ThinkingDeltaEvent(Struct, frozen=True, tag_field="type", tag="thinking_delta"):
    content_index: int
    delta: str


class ThinkingEndEvent(Struct, frozen=True, tag_field="type", tag="thinking_end"):
    content_index: int
    content: str


class ToolCallStartEvent(Struct, frozen=True, tag_field="type", tag="toolcall_start"):
    content_index: int
    id: str
    name: str


class ToolCallDeltaEvent(Struct, frozen=True, tag_field="type", tag="toolcall_delta"):
    content_index: int
    delta: str
    """A piece of the arguments' JSON."""


class ToolCallEndEvent(Struct, frozen=True, tag_field="type", tag="toolcall_end"):
    content_index: int
    tool_call: ToolCall


class DoneEvent(Struct, frozen=True, tag_field="type", tag="done"):
    reason: StopReason
    message: AssistantMessage


class ErrorEvent(Struct, frozen=True, tag_field="type", tag="error"):
    reason: StopReason
    """`error` or `aborted`."""
    error: AssistantMessage
    """What had streamed, with `error_message`."""


AssistantMessageEvent = (
    StartEvent
    | TextStartEvent
    | TextDeltaEvent
    | TextEndEvent
    | ThinkingStartEvent
    | ThinkingDeltaEvent
    | ThinkingEndEvent
    | ToolCallStartEvent
    | ToolCallDeltaEvent
    | ToolCallEndEvent
    | DoneEvent
    | ErrorEvent
)
