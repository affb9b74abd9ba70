"""What an item shows, as plain data that can be compared. Times are left out: they differ from run to run."""

from typing import Any, assert_never

import msgspec

from agentcli.transcript.item_list import (
    Change,
    ItemAdded,
    ItemChanged,
    ItemsReplaced,
    QueueChanged,
    RequestsChanged,
    TextAppended,
)
from agentcli.transcript.items import (
    CommandItem,
    Item,
    NoticeItem,
    RetryItem,
    SummaryItem,
    TextItem,
    ThinkingItem,
    ToolItem,
    UserItem,
)


def facts(item: Item) -> tuple[Any, ...]:
    match item:
        case UserItem():
            return "user", item.text, item.images
        case TextItem():
            return "text", item.text, item.is_growing
        case ThinkingItem():
            return "thinking", item.text, item.is_growing, item.redacted
        case CommandItem():
            return "command", item.arguments, item.exclude_from_context, item.state, item.text, item.details
        case ToolItem():
            details = msgspec.to_builtins(item.details)
            return "tool", item.name, dict(item.arguments), item.state, item.text, details
        case NoticeItem():
            return "notice", item.kind, item.lines
        case RetryItem():
            return "retry", item.error_message, item.attempt
        case SummaryItem():
            return type(item).__name__, item.text
        case _:
            assert_never(item)


def words(change: Change) -> str:
    """A change as one line: what happened to which item."""
    match change:
        case ItemAdded(item):
            return f"added {item.position} {type(item).__name__}"
        case TextAppended(item, delta):
            return f"appended {item.position} {delta}"
        case ItemChanged(item):
            return f"changed {item.position}"
        case ItemsReplaced(items):
            return f"replaced by {len(items)}"
        case QueueChanged() | RequestsChanged():
            return type(change).__name__
        case _:
            assert_never(change)
