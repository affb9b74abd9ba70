"""Entries: the lines of a session. Each has an id and a parent; together they are a tree, and none is ever rewritten.

A kind of entry is declared here, once: its fields, its role, and what its role leaves open. A role says whether the
entry moves the leaf, what it adds to the model's context, and where it is shown:

    role            moves the leaf  in the context   in exports          members of the kind itself
    ContextEntry    yes             `to_messages()`  as its messages     `kind`, `describe`, `text`, `to_messages`
    SettingEntry    yes             as a setting     as a line (HTML)    `describe`
    DataEntry       yes             no               as a line (HTML)    `describe`
    MarkEntry       no              no               no                  `describe`

A new kind is a class here, its name in `KnownEntry`, and a method of `Session` that appends it. Consumers call the
members on the union, or match it and end with `assert_never`, so the type checker names what is missing: a member, the
field of `SessionContext` that a setting changes, the usage of what is in the context, the effect of a mark.

The first line of a file is the header. An entry of a type that this version does not know stays in the file and in the
tree as an `UnknownEntry`. Entries are plain data without reference cycles, so the garbage collector does not track them
(`gc=False`): a long session has hundreds of thousands.
"""

from enum import StrEnum
from typing import Any, ClassVar, get_args

from msgspec import UNSET, Struct, UnsetType

from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
    text_of,
)
from agentcli.agent.text import one_line
from agentcli.sessions.ids import to_milliseconds
from agentcli.sessions.message_text import describe_message, message_text

VERSION = 3


class SessionHeader(Struct, frozen=True, kw_only=True, tag_field="type", tag="session"):
    """The first line of a session file."""

    version: int = VERSION
    id: str
    timestamp: str
    cwd: str
    parent_session: str | None = None
    """The file that this session was forked from."""
    metadata: dict[str, Any] = {}


class EntryKind(StrEnum):
    """How an entry appears to a user who looks for a place in the tree."""

    PROMPT = "prompt"
    ANSWER = "answer"
    """Of the model, with some text, or without any calls."""
    CALLS = "calls"
    """Of the model, only calls of tools."""
    RESULT = "result"
    """Of a tool."""
    SUMMARY = "summary"
    """Of what was compacted, or of a branch that was left."""
    OTHER = "other"
    """Another message: a command that the user ran, one of an extension."""
    SETTING = "setting"
    """A change of model, thinking level or tools; an extension's data; a type that this version does not know."""
    MARK = "mark"
    """A label, a name or a move, which is no place in the conversation."""


class TreeEntry(Struct, frozen=True, kw_only=True, gc=False):
    """The place of an entry in the tree, and when it was appended."""

    id: str
    parent_id: str | None = None
    timestamp: str
    """ISO 8601 UTC."""


class ContextEntry(Struct, frozen=True, gc=False):
    """Role: part of the conversation that the model reads."""

    moves_leaf: ClassVar[bool] = True


class _OutsideContext(Struct, frozen=True, gc=False):
    def text(self) -> str:
        """The text of the entry as it is: none."""
        return ""

    def to_messages(self) -> list[AgentMessage]:
        """The messages that the entry adds to the context: none."""
        return []


class SettingEntry(_OutsideContext, frozen=True, gc=False):
    """Role: changes how the conversation continues from here on; `context.SessionContext` has a field for it."""

    moves_leaf: ClassVar[bool] = True
    kind: ClassVar[EntryKind] = EntryKind.SETTING


class DataEntry(_OutsideContext, frozen=True, gc=False):
    """Role: data at a place of the conversation, which the model does not read."""

    moves_leaf: ClassVar[bool] = True
    kind: ClassVar[EntryKind] = EntryKind.SETTING


class MarkEntry(_OutsideContext, frozen=True, gc=False):
    """Role: says something about the session or one of its entries. The conversation never continues from one."""

    moves_leaf: ClassVar[bool] = False
    kind: ClassVar[EntryKind] = EntryKind.MARK


class MessageEntry(TreeEntry, ContextEntry, frozen=True, kw_only=True, gc=False, tag_field="type", tag="message"):
    """A message of the conversation."""

    message: AgentMessage

    @property
    def kind(self) -> EntryKind:
        """By the message's role; of an answer, by whether it has text."""
        match self.message:
            case UserMessage():
                return EntryKind.PROMPT
            case AssistantMessage(content=content, tool_calls=calls):
                return EntryKind.CALLS if calls and not text_of(content).strip() else EntryKind.ANSWER
            case ToolResultMessage():
                return EntryKind.RESULT
            case _:
                return EntryKind.OTHER

    def describe(self) -> str:
        """The message as one printable line."""
        return describe_message(self.message)

    def text(self) -> str:
        """The text of the message as it is."""
        return message_text(self.message)

    def to_messages(self) -> list[AgentMessage]:
        """The message itself."""
        return [self.message]


class ThinkingLevelChangeEntry(
    TreeEntry,
    SettingEntry,
    frozen=True,
    kw_only=True,
    gc=False,
    tag_field="type",
    tag="thinking_level_change",
):
    """The thinking level that is wanted from here on; each model does of it what it can."""

    thinking_level: str

    def describe(self) -> str:
        """The level as one printable line."""
        return one_line(f"thinking: {self.thinking_level}")


class ModelChangeEntry(
    TreeEntry, SettingEntry, frozen=True, kw_only=True, gc=False, tag_field="type", tag="model_change"
):
    """The model that answers from here on."""

    provider: str
    model_id: str
    thinks: bool | UnsetType = UNSET
    """Whether the user declared that the model can think; for one that no list describes."""

    def describe(self) -> str:
        """The model as one printable line."""
        return one_line(f"model: {self.provider}/{self.model_id}")


class ActiveToolsChangeEntry(
    TreeEntry, SettingEntry, frozen=True, kw_only=True, gc=False, tag_field="type", tag="active_tools_change"
):
    """The tools that are on from here on."""

    active_tool_names: list[str]

    def describe(self) -> str:
        """The tools as one printable line."""
        return one_line(f"tools: {', '.join(self.active_tool_names)}")


class CompactionEntry(
    TreeEntry, ContextEntry, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag_field="type", tag="compaction"
):
    """A summary that replaces what came before it in the context."""

    kind: ClassVar[EntryKind] = EntryKind.SUMMARY
    parent_id: str | None  # pyright: ignore[reportGeneralTypeIssues]  # no default: it is always written
    summary: str
    first_kept_entry_id: str | None = None
    """From here on the entries before this one stay in the context."""
    tokens_before: int = 0
    """Estimate of the context's size before."""
    retained_tail: list[AgentMessage] | None = None
    """Messages that stay in the context instead of the entries from `first_kept_entry_id` on."""
    details: Any = None
    usage: Usage | None = None
    """Of the requests for the summary."""
    from_hook: bool = False
    """Whether an extension wrote the summary."""
    kept_prompt_id: str | None = None
    """The entry of the newest prompt, if it stays in the context although it lies before the first kept entry."""

    def describe(self) -> str:
        """The size and the summary as one printable line."""
        return one_line(f"compaction of {self.tokens_before:,} tokens: {self.summary}")

    def text(self) -> str:
        """The summary as it is."""
        return self.summary

    def to_messages(self) -> list[AgentMessage]:
        """The summary, and the retained tail if there is one."""
        summary = CompactionSummaryMessage(self.summary, self.tokens_before, to_milliseconds(self.timestamp))
        return [summary, *(self.retained_tail or [])]


class BranchSummaryEntry(
    TreeEntry,
    ContextEntry,
    frozen=True,
    kw_only=True,
    gc=False,
    omit_defaults=True,
    tag_field="type",
    tag="branch_summary",
):
    """A summary of a branch that was left, at the place where the conversation continues."""

    kind: ClassVar[EntryKind] = EntryKind.SUMMARY
    parent_id: str | None  # pyright: ignore[reportGeneralTypeIssues]  # no default: it is always written
    from_id: str
    """The branch point: where the summarised branch leaves this one."""
    summary: str
    abandoned_leaf_id: str | None = None
    """The leaf that was left."""
    details: Any = None
    usage: Usage | None = None
    """Of the requests for the summary."""
    from_hook: bool = False
    """Whether an extension wrote the summary."""

    def describe(self) -> str:
        """The summary as one printable line."""
        return one_line(f"branch summary: {self.summary}")

    def text(self) -> str:
        """The summary as it is."""
        return self.summary

    def to_messages(self) -> list[AgentMessage]:
        """The summary."""
        return [BranchSummaryMessage(self.summary, self.from_id, to_milliseconds(self.timestamp))]


class CustomEntry(TreeEntry, DataEntry, frozen=True, kw_only=True, gc=False, tag_field="type", tag="custom"):
    """An extension's own data. In the context only if a projector makes messages of it."""

    custom_type: str
    data: Any = None

    def describe(self) -> str:
        """The type as one printable line."""
        return one_line(f"({self.custom_type})")


class CustomMessageEntry(
    TreeEntry, ContextEntry, frozen=True, kw_only=True, gc=False, tag_field="type", tag="custom_message"
):
    """An extension's own message."""

    kind: ClassVar[EntryKind] = EntryKind.OTHER
    custom_type: str
    content: str | list[UserContent]
    details: Any = None
    display: bool = True
    """Whether users see it."""

    def describe(self) -> str:
        """The type and the text as one printable line."""
        return one_line(f"{self.custom_type}: {text_of(self.content)}")

    def text(self) -> str:
        """The text of the message as it is."""
        return text_of(self.content)

    def to_messages(self) -> list[AgentMessage]:
        """The message, which the model reads as the user's."""
        timestamp = to_milliseconds(self.timestamp)
        return [CustomMessage(self.custom_type, self.content, self.display, self.details, timestamp)]


class LabelEntry(TreeEntry, MarkEntry, frozen=True, kw_only=True, gc=False, tag_field="type", tag="label"):
    """A name for an entry; None removes it."""

    target_id: str
    label: str | None = None

    def describe(self) -> str:
        """The label as one printable line."""
        return one_line(f"label: {self.label or '(taken away)'}")


class SessionInfoEntry(TreeEntry, MarkEntry, frozen=True, kw_only=True, gc=False, tag_field="type", tag="session_info"):
    """The name of the session; None removes it."""

    name: str | None = None

    def describe(self) -> str:
        """The name as one printable line."""
        return one_line(f"name: {self.name or '(taken away)'}")


class LeafEntry(TreeEntry, MarkEntry, frozen=True, kw_only=True, gc=False, tag_field="type", tag="leaf"):
    """The conversation moves to another entry; None is before the first."""

    target_id: str | None = None

    def describe(self) -> str:
        """The target as one printable line."""
        return one_line(f"moved to {self.target_id or 'the beginning'}")


class UnknownEntry(DataEntry, frozen=True, kw_only=True, gc=False):
    """An entry of a type, or with a field, that this version cannot read. Its line is kept as it is."""

    type: str
    id: str
    parent_id: str | None = None
    timestamp: str = ""

    def describe(self) -> str:
        """The type as one printable line."""
        return one_line(f"({self.type})")


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

_KINDS: tuple[type[KnownEntry], ...] = get_args(KnownEntry)

OFF_TREE = frozenset(str(kind.__struct_config__.tag) for kind in _KINDS if not kind.moves_leaf)
"""Types of entries that do not move the leaf."""

SETTING_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in _KINDS if issubclass(kind, SettingEntry))
"""Types of entries that change a setting."""


class EntryHead(Struct, frozen=True, gc=False):
    """The part of an entry that the tree needs: its type and its place."""

    type: str
    id: str
    parent_id: str | None = None


def type_of(entry: Entry) -> str:
    """The `type` in the entry's line."""
    return entry.type if isinstance(entry, UnknownEntry) else str(entry.__struct_config__.tag)


def head_of(entry: Entry) -> EntryHead:
    """The head of an entry."""
    return EntryHead(type_of(entry), entry.id, entry.parent_id)


def is_user_message(entry: Entry) -> bool:
    """Whether it is a message of the user; a session gets its file with the first one."""
    return isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
