"""Tree: a session's entries in the order in which a tree is drawn, each once, with a line that says what it is."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from agentcli.agent.convert import convert_message
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from agentcli.agent.text import one_line
from agentcli.sessions.entries import (
    OFF_TREE,
    ActiveToolsChangeEntry,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    EntryHead,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)
from agentcli.sessions.storage.storage import SessionStorage


class TreeLine(Struct, frozen=True):
    head: EntryHead
    parent_id: str | None
    """The line it is drawn under; not the entry's own parent where that one is left out."""
    depth: int
    """How many branchings lie above: what follows its parent alone is drawn under it, not deeper."""
    on_path: bool
    """Whether it is on the active branch."""
    is_leaf: bool
    """Whether the conversation goes on from here."""
    label: str | None
    children: int = 0


def tree_lines(storage: SessionStorage, *, everything: bool = False) -> Iterator[TreeLine]:
    """Every entry once, parents first, a branch at a time.

    Args:
        everything: also labels, names and moves, which are no places in the conversation.
    """
    children = _children(storage, everything)
    path = {head.id for head in storage.get_path(storage.get_leaf_id())}
    roots = children.get(None, [])
    stack: list[tuple[EntryHead, str | None, int]] = [(head, None, int(len(roots) > 1)) for head in reversed(roots)]
    while stack:
        head, parent_id, depth = stack.pop()
        below = children.get(head.id, [])
        yield TreeLine(
            head,
            parent_id,
            depth,
            head.id in path,
            head.id == storage.get_leaf_id(),
            storage.labels.get(head.id),
            len(below),
        )
        deeper = depth + (len(below) > 1)
        stack += [(child, head.id, deeper) for child in reversed(below)]


def _children(storage: SessionStorage, everything: bool) -> dict[str | None, list[EntryHead]]:
    """By parent. What is left out is taken out of the middle too: its children are its parent's."""
    heads = storage.heads()
    instead: dict[str, str | None] = {}
    children: dict[str | None, list[EntryHead]] = {}
    for head in heads:
        if not everything and head.type in OFF_TREE:
            instead[head.id] = head.parent_id
    for head in heads:
        if head.id in instead:
            continue
        parent = head.parent_id
        while parent in instead:
            parent = instead[parent]
        children.setdefault(parent, []).append(head)
    return children


def describe(entry: Entry) -> str:
    """An entry as one printable line."""
    match entry:
        case MessageEntry():
            return describe_message(entry.message)
        case CompactionEntry():
            return one_line(f"compaction of {entry.tokens_before:,} tokens: {entry.summary}")
        case BranchSummaryEntry():
            return one_line(f"branch summary: {entry.summary}")
        case ModelChangeEntry():
            return one_line(f"model: {entry.provider}/{entry.model_id}")
        case ThinkingLevelChangeEntry():
            return one_line(f"thinking: {entry.thinking_level}")
        case ActiveToolsChangeEntry():
            return one_line(f"tools: {', '.join(entry.active_tool_names)}")
        case CustomMessageEntry():
            return one_line(f"{entry.custom_type}: {text_of(entry.content)}")
        case CustomEntry():
            return one_line(f"({entry.custom_type})")
        case LabelEntry():
            return one_line(f"label: {entry.label or '(taken away)'}")
        case SessionInfoEntry():
            return one_line(f"name: {entry.name or '(taken away)'}")
        case LeafEntry():
            return one_line(f"moved to {entry.target_id or 'the beginning'}")
        case _:
            return one_line(f"({entry.type})")


def describe_message(message: AgentMessage) -> str:
    match message:
        case UserMessage():
            return one_line(f"user: {text_of(message.content) or '(image)'}")
        case AssistantMessage():
            calls = " ".join(f"● {call.name}({call_arguments(call.arguments)})" for call in message.tool_calls)
            failed = f"✗ {message.error_message}" if message.error_message else ""
            return one_line(" ".join(part for part in ("assistant:", text_of(message.content), calls, failed) if part))
        case ToolResultMessage():
            mark = "✗ " if message.is_error else ""
            return one_line(f"{mark}{message.tool_name}: {text_of(message.content)}")
        case BashExecutionMessage():
            return one_line(f"$ {message.command}")
        case _:
            converted = convert_message(message)
            return one_line(f"{message.role}: {text_of(converted.content) if converted else ''}")


def full_text(entry: Entry) -> str:
    """What an entry says, as it is; empty for one that says nothing (calls, changes of settings, marks)."""
    match entry:
        case MessageEntry(message=BashExecutionMessage() as message):
            return f"$ {message.command}\n{message.output}"
        case MessageEntry(message=CompactionSummaryMessage() | BranchSummaryMessage() as message):
            return message.summary
        case MessageEntry(
            message=UserMessage() | AssistantMessage() | ToolResultMessage() | CustomMessage() as message
        ):
            return text_of(message.content)
        case CompactionEntry() | BranchSummaryEntry():
            return entry.summary
        case CustomMessageEntry():
            return text_of(entry.content)
        case _:
            return ""


def call_arguments(arguments: dict) -> str:
    """A call's arguments as `name="value"`, short."""
    pairs = (f"{name}={msgspec.json.encode(value).decode()}" for name, value in arguments.items())
    return one_line(", ".join(pairs), 160)
