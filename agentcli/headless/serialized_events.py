"""Wire events: the types of the lines that programs read, where they differ from the events inside of agentcli.

They say only what is new: a delta has no more than what came with it, and a list that changed does not repeat what was
in it before. A message is whole at its end, and once more in its entry. All other events are written as they are.
"""

from typing import get_args

from msgspec import Struct

from agentcli.agent.assistant_events import (
    TextDeltaEvent,
    TextStartEvent,
    ThinkingDeltaEvent,
    ThinkingStartEvent,
    ToolCallDeltaEvent,
    ToolCallStartEvent,
)
from agentcli.agent.events import AgentEvent
from agentcli.agent.messages import AgentMessage, StopReason
from agentcli.runtime.events import RuntimeEvent
from agentcli.sessions.entries import KnownEntry, SessionHeader


class AgentEnd(Struct, frozen=True, tag_field="type", tag="agent_end"):
    """A run is over. More may follow by itself (a retry, a compaction) until `agent_settled`."""


class TurnEnd(Struct, frozen=True, tag_field="type", tag="turn_end"):
    stop_reason: StopReason | None
    """Of the turn's answer."""


class MessageStart(Struct, frozen=True, tag_field="type", tag="message_start"):
    role: str


class TextEnd(Struct, frozen=True, tag_field="type", tag="text_end"):
    content_index: int


class ThinkingEnd(Struct, frozen=True, tag_field="type", tag="thinking_end"):
    content_index: int


class ToolCallEnd(Struct, frozen=True, tag_field="type", tag="toolcall_end"):
    content_index: int


Delta = (
    TextStartEvent
    | TextDeltaEvent
    | TextEnd
    | ThinkingStartEvent
    | ThinkingDeltaEvent
    | ThinkingEnd
    | ToolCallStartEvent
    | ToolCallDeltaEvent
    | ToolCallEnd
)


class MessageUpdate(Struct, frozen=True, tag_field="type", tag="message_update"):
    assistant_message_event: Delta


class TextChange(Struct, frozen=True):
    """How a text changed: it is now `before[start : start + keep] + text`, counted in code points."""

    start: int
    keep: int
    text: str


class ToolExecutionUpdate(Struct, frozen=True, tag_field="type", tag="tool_execution_update"):
    """What a tool shows while it works, which may be the end only of a long output."""

    tool_call_id: str
    tool_name: str
    change: TextChange
    """Of the text shown so far, which is empty at first."""


class BashExecutionUpdate(Struct, frozen=True, tag_field="type", tag="bash_execution_update"):
    """What a command of the person shows while it works."""

    id: str
    change: TextChange
    """Of the text shown so far, which is empty at first."""


class QueueUpdate(Struct, frozen=True, tag_field="type", tag="queue_update"):
    """What waits now, as ids, next first."""

    steering: list[str]
    follow_up: list[str]
    messages: dict[str, AgentMessage]
    """By id: those that were not in the update before, or were edited since."""


class EntryAppended(Struct, frozen=True, tag_field="type", tag="entry_appended"):
    """The session has one entry more. The header and all entries, in order, are the session.

    Of one that is gone on with, or forked, `get_entries` and `sessions export` give those that were there before.
    """

    entry: KnownEntry


_REPLACING = (
    AgentEnd, TurnEnd, MessageStart, MessageUpdate, ToolExecutionUpdate, BashExecutionUpdate, QueueUpdate,
    EntryAppended,
)  # fmt: skip


def event_types() -> list[type[Struct]]:
    """The types of every line that tells an event, the session's header included."""
    replaced = {type.__struct_config__.tag for type in _REPLACING}
    inside = [*get_args(AgentEvent), *get_args(RuntimeEvent)]
    return [SessionHeader, *_REPLACING, *(type for type in inside if type.__struct_config__.tag not in replaced)]
