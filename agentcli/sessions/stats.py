"""Stats: what a session took: messages, tools, tokens, money and time, by model. Every branch counts: it was paid."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent.messages import AssistantMessage, ToolResultMessage, Usage, UserMessage
from agentcli.sessions.entries import (
    OFF_TREE,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    Entry,
    EntryHead,
    MessageEntry,
)
from agentcli.sessions.ids import to_milliseconds

UNKNOWN = "(unknown)"
SUMMARIES = "(summaries)"
"""The name under which compactions and branch summaries are counted, those that failed included."""


SPENT = "spent"
"""The `custom_type` of an entry that says what a request took which left nothing else, as a summary that failed."""


class ModelStats(Struct):
    answers: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    cost: float = 0.0
    """US dollars."""


class ToolStats(Struct):
    calls: int = 0
    errors: int = 0


class SessionStats(Struct):
    entry_count: int = 0
    message_count: int = 0
    user_messages: int = 0
    assistant_messages: int = 0
    tool_results: int = 0
    compactions: int = 0
    branches: int = 0
    """Places where the conversation ends: leaves of the tree."""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    total_tokens: int = 0
    cost_total: float = 0.0
    """US dollars."""
    first: str | None = None
    """When the first entry was made: ISO 8601 UTC."""
    last: str | None = None
    working_ms: int = 0
    """Milliseconds between each user message and the last entry before the next one, as far as the session tells."""
    models: dict[str, ModelStats] = {}
    """By `provider/id`."""
    tools: dict[str, ToolStats] = {}


def collect_stats(heads: Sequence[EntryHead], entries: Iterable[Entry]) -> SessionStats:
    """Args:
    heads, entries: of every entry, both in the order in which they were appended.
    """
    stats = SessionStats()
    parents = {head.parent_id for head in heads if head.type not in OFF_TREE}
    asked = latest = 0
    for head, entry in zip(heads, entries, strict=True):
        stats.entry_count += 1
        if head.type not in OFF_TREE and head.id not in parents:
            stats.branches += 1
        if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
            stats.working_ms += max(latest - asked, 0) if asked else 0
            asked = to_milliseconds(entry.timestamp)
        if head.type not in OFF_TREE:
            latest = max(to_milliseconds(entry.timestamp), asked)
        stats.first = stats.first or entry.timestamp or None
        stats.last = entry.timestamp or stats.last
        _count(stats, entry)
    stats.working_ms += max(latest - asked, 0) if asked else 0
    return stats


def spent_data(what: str, error: str, usage: Usage) -> dict[str, Any]:
    """The data of such an entry.

    Args:
        what: what was asked for.
        error: what became of it.
    """
    return {"for": what, "error": error, "usage": msgspec.to_builtins(usage)}


def _spent_usage(data: object) -> Usage | None:
    """What an entry with this data tells; None if it is damaged."""
    try:
        return msgspec.convert(data["usage"], Usage) if isinstance(data, dict) else None
    except (KeyError, msgspec.ValidationError):
        return None


def _count(stats: SessionStats, entry: Entry) -> None:
    match entry:
        case MessageEntry(message=AssistantMessage() as message):
            stats.message_count += 1
            stats.assistant_messages += 1
            for call in message.tool_calls:
                stats.tools.setdefault(call.name, ToolStats()).calls += 1
            model = f"{message.provider}/{message.model}" if message.model else UNKNOWN
            _spend(stats, model, message.usage)
        case MessageEntry(message=ToolResultMessage() as message):
            stats.message_count += 1
            stats.tool_results += 1
            if message.is_error:
                stats.tools.setdefault(message.tool_name, ToolStats()).errors += 1
            if message.usage is not None:
                _spend(stats, f"({message.tool_name})", message.usage)
        case MessageEntry(message=message):
            stats.message_count += 1
            stats.user_messages += isinstance(message, UserMessage)
        case CompactionEntry() | BranchSummaryEntry():
            stats.compactions += isinstance(entry, CompactionEntry)
            if entry.usage is not None:
                _spend(stats, SUMMARIES, entry.usage)
        case CustomEntry(custom_type=custom_type, data=data) if custom_type == SPENT:
            if (usage := _spent_usage(data)) is not None:
                _spend(stats, SUMMARIES, usage)
        case _:
            pass


def _spend(stats: SessionStats, model: str, usage: Usage) -> None:
    total = usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write
    stats.input_tokens += usage.input
    stats.output_tokens += usage.output
    stats.cache_read_tokens += usage.cache_read
    stats.cache_write_tokens += usage.cache_write
    stats.total_tokens += total
    stats.cost_total += usage.cost.total
    of = stats.models.setdefault(model, ModelStats())
    of.answers += 1
    of.input += usage.input
    of.output += usage.output
    of.cache_read += usage.cache_read
    of.cache_write += usage.cache_write
    of.total_tokens += total
    of.cost += usage.cost.total
