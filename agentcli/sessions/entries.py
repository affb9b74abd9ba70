"""Entries: the lines of a session. Each has an id and a parent; together they are a tree, and none is ever rewritten.

The first line of a file is the header. Entries are told apart by `type`; one that this version does not know stays in
the file and in the tree as an `UnknownEntry`. What is data only is kept out of the garbage collector (`gc=False`): it
holds no circles, and a long session has hundreds of thousands of them.
"""

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agentcli.agent.json_bytes import json_bytes
from agentcli.agent.messages import AgentMessage, Usage, UserContent, UserMessage

VERSION = 3

BOM = b"\xef\xbb\xbf"
"""What some editors put before the header."""


class SessionHeader(Struct, frozen=True, kw_only=True, tag_field="type", tag="session"):
    version: int = VERSION
    id: str
    timestamp: str
    cwd: str
    parent_session: str | None = None
    """The file that this session was forked from."""
    metadata: dict[str, Any] = {}


class MessageEntry(Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="message"):
    id: str
    parent_id: str | None = None
    timestamp: str
    message: AgentMessage


class ThinkingLevelChangeEntry(
    Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="thinking_level_change"
):
    """What is wanted from here on. Of that, each model does what it can."""

    id: str
    parent_id: str | None = None
    timestamp: str
    thinking_level: str


class ModelChangeEntry(Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="model_change"):
    id: str
    parent_id: str | None = None
    timestamp: str
    provider: str
    model_id: str
    thinks: bool | UnsetType = UNSET
    """Of a model that no list describes: whether it was said to be able to think."""


class ActiveToolsChangeEntry(Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="active_tools_change"):
    id: str
    parent_id: str | None = None
    timestamp: str
    active_tool_names: list[str]


class CompactionEntry(
    Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag_field="type", tag="compaction"
):
    id: str
    parent_id: str | None
    timestamp: str
    summary: str
    first_kept_entry_id: str | None = None
    """From here on the entries before this one stay in the context."""
    tokens_before: int = 0
    retained_tail: list[AgentMessage] | None = None
    """What stays in the context instead of entries from `first_kept_entry_id` on."""
    details: Any = None
    usage: Usage | None = None
    from_hook: bool = False
    kept_prompt_id: str | None = None
    """The entry of the newest prompt, if it stays in the context although it lies before the first kept entry."""


class BranchSummaryEntry(
    Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag_field="type", tag="branch_summary"
):
    id: str
    parent_id: str | None
    timestamp: str
    from_id: str
    """The branch point: where the summarised branch leaves this one."""
    summary: str
    abandoned_leaf_id: str | None = None
    """The leaf that was left."""
    details: Any = None
    usage: Usage | None = None
    from_hook: bool = False


class CustomEntry(Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="custom"):
    """An extension's own data; not in the context."""

    id: str
    parent_id: str | None = None
    timestamp: str
    custom_type: str
    data: Any = None


class CustomMessageEntry(Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="custom_message"):
    """An extension's own message; in the context."""

    id: str
    parent_id: str | None = None
    timestamp: str
    custom_type: str
    content: str | list[UserContent]
    details: Any = None
    display: bool = True


class LabelEntry(Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="label"):
    """A name for a place in the tree; None takes it away."""

    id: str
    parent_id: str | None = None
    timestamp: str
    target_id: str
    label: str | None = None


class SessionInfoEntry(Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="session_info"):
    id: str
    parent_id: str | None = None
    timestamp: str
    name: str | None = None


class LeafEntry(Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="leaf"):
    """The conversation moves to a place in the tree; None is before its first entry."""

    id: str
    parent_id: str | None = None
    timestamp: str
    target_id: str | None = None


class UnknownEntry(Struct, frozen=True, kw_only=True, gc=False):
    """An entry of a kind, or with a field, that this version cannot read. Its line is kept as it is."""

    type: str
    id: str
    parent_id: str | None = None
    timestamp: str = ""


KnownEntry = (
    MessageEntry
    | ThinkingLevelChangeEntry
    | ModelChangeEntry
    | ActiveToolsChangeEntry
    | CompactionEntry
    | BranchSummaryEntry
    | CustomEntry
    | CustomMessageEntry
    | LabelEntry
    | SessionInfoEntry
    | LeafEntry
)
Entry = KnownEntry | UnknownEntry

DAMAGED = "damaged"
"""The `type` of an entry whose place in the tree can be read, and nothing else."""

OFF_TREE = frozenset({"label", "session_info", "leaf"})
"""Types of entries that do not move the leaf: nothing goes on from them."""


class EntryHead(Struct, frozen=True, gc=False):
    """As much of a line as its place in the tree needs."""

    type: str
    id: str
    parent_id: str | None = None


_entry_decoder = msgspec.json.Decoder(KnownEntry)
_head_decoder = msgspec.json.Decoder(EntryHead)
_unknown_decoder = msgspec.json.Decoder(UnknownEntry)
_header_decoder = msgspec.json.Decoder(SessionHeader)


def decode_header(line: bytes) -> SessionHeader | None:
    """The header that a file's first line begins with, or None if there is none."""
    try:
        return _header_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        first = first_record(line)
        return decode_header(first) if first != line else None


def first_record(line: bytes) -> bytes:
    """The record that a line begins with: without a byte order mark, and without what ran into it."""
    line = line.removeprefix(BOM)
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        from agentcli.sessions.storage.line_parts import records_of  # for those who have such a line

        return next(iter(records_of(line)), line) if line.startswith(b"{") else line
    return line


def decode_head(line: bytes) -> EntryHead | None:
    """The head of an entry, or None if the line is none."""
    try:
        return _head_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None


def decode_entry(line: bytes, head: EntryHead | None = None) -> Entry:
    """An entry whose head could be decoded.

    Args:
        head: the entry's place in the tree, where that differs from what the line says, and all that is left of the
            entry if the rest of the line is damaged.
    """
    try:
        entry: Entry = _entry_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        if (first := first_record(line)) != line:
            return decode_entry(first, head)
        entry = _decode_unknown(line, head)
    if head is not None and (entry.id != head.id or entry.parent_id != head.parent_id):
        entry = msgspec.structs.replace(entry, id=head.id, parent_id=head.parent_id)
    return entry


def _decode_unknown(line: bytes, head: EntryHead | None) -> UnknownEntry:
    try:
        return _unknown_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        if head is None:
            raise
        return UnknownEntry(type=DAMAGED, id=head.id, parent_id=head.parent_id)


def is_said_by_user(entry: Entry) -> bool:
    """Whether it is a message of the user: with the first one a session is worth a file."""
    return isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)


def head_of(entry: Entry) -> EntryHead:
    type = entry.type if isinstance(entry, UnknownEntry) else str(entry.__struct_config__.tag)
    return EntryHead(type, entry.id, entry.parent_id)


def encode_line(record: SessionHeader | Entry) -> bytes:
    """One line, newline included: valid UTF-8, whatever the record holds."""
    return json_bytes(record) + b"\n"
