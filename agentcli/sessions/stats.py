"""Stats: what a session took in messages, tools, tokens, money and time, by model. Every branch counts: it was paid."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, assert_never

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.messages import AssistantMessage, ToolResultMessage, Usage, UserMessage
from agentcli.agent.text import one_line
from agentcli.sessions.entries import (
    OFF_TREE,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    CustomMessageEntry,
    DataEntry,
    Entry,
    EntryHead,
    MarkEntry,
    MessageEntry,
    SettingEntry,
)
from agentcli.sessions.ids import to_milliseconds

if TYPE_CHECKING:
    from agentcli.sessions.session import Session

UNKNOWN = "(unknown)"
SUMMARIES = "(summaries)"
"""The name under which compactions and branch summaries are counted, those that failed included."""

SPENT = "spent"
"""The `custom_type` of an entry for a request that left nothing else, such as a summary that failed."""


class ModelStats(Struct):
    """What one model took. The counts are tokens."""

    answers: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    cost: float = 0.0
    """US dollars."""


class ToolStats(Struct):
    """How often one tool was called, and how often it failed."""

    calls: int = 0
    errors: int = 0


class SessionStats(Struct):
    """What a whole session took, on every branch."""

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
    """When the first entry was appended: ISO 8601 UTC."""
    last: str | None = None
    working_ms: int = 0
    """Milliseconds between each user message and the last entry before the next one."""
    models: dict[str, ModelStats] = {}
    """By `provider/id`."""
    tools: dict[str, ToolStats] = {}


class _Spent(Struct):
    """The requests that one name in `SessionStats.models` stands for."""

    answers: int = 0
    usage: Usage = Usage()

    def add(self, usage: Usage) -> None:
        self.answers += 1
        self.usage += replace(usage, total_tokens=usage.counted)


def collect_stats(heads: Sequence[EntryHead], entries: Iterable[Entry]) -> SessionStats:
    """Count a whole session.

    Args:
        heads: of every entry, in the order in which they were appended.
        entries: every entry in full, in the same order.
    """
    stats = SessionStats()
    spent: dict[str, _Spent] = {}
    total = _Spent()
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
        name, usage = _spent(entry)
        if usage is not None:
            spent.setdefault(name, _Spent()).add(usage)
            total.add(usage)
    stats.working_ms += max(latest - asked, 0) if asked else 0
    stats.models = {name: _model_stats(of) for name, of in spent.items()}
    _set_totals(stats, total.usage)
    return stats


def _model_stats(spent: _Spent) -> ModelStats:
    usage = spent.usage
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens)
    return ModelStats(spent.answers, *counts, cost=usage.cost.total)


def _set_totals(stats: SessionStats, usage: Usage) -> None:
    stats.input_tokens = usage.input
    stats.output_tokens = usage.output
    stats.cache_read_tokens = usage.cache_read
    stats.cache_write_tokens = usage.cache_write
    stats.total_tokens = usage.total_tokens
    stats.cost_total = usage.cost.total


def _count(stats: SessionStats, entry: Entry) -> None:
    """Count messages, calls and compactions."""
    stats.compactions += isinstance(entry, CompactionEntry)
    if not isinstance(entry, MessageEntry):
        return
    message = entry.message
    stats.message_count += 1
    stats.user_messages += isinstance(message, UserMessage)
    if isinstance(message, AssistantMessage):
        stats.assistant_messages += 1
        for call in message.tool_calls:
            stats.tools.setdefault(call.name, ToolStats()).calls += 1
    elif isinstance(message, ToolResultMessage):
        stats.tool_results += 1
        if message.is_error:
            stats.tools.setdefault(message.tool_name, ToolStats()).errors += 1


def _spent(entry: Entry) -> tuple[str, Usage | None]:
    """The usage of the request behind an entry, and the name that it is counted under."""
    match entry:
        case MessageEntry(message=AssistantMessage() as message):
            return f"{message.provider}/{message.model}" if message.model else UNKNOWN, message.usage
        case MessageEntry(message=ToolResultMessage() as message):
            return f"({message.tool_name})", message.usage
        case CompactionEntry() | BranchSummaryEntry():
            return SUMMARIES, entry.usage
        case CustomEntry():
            return SUMMARIES, _spent_usage(entry.data) if entry.custom_type == SPENT else None
        case MessageEntry() | CustomMessageEntry() | SettingEntry() | DataEntry() | MarkEntry():
            return UNKNOWN, None
        case _:
            assert_never(entry)


def spent_data(what: str, error: str, usage: Usage) -> dict[str, Any]:
    """The data of a `SPENT` entry.

    Args:
        what: what was asked for.
        error: why there is no result.
        usage: what the request took.
    """
    return {"for": what, "error": error, "usage": msgspec.to_builtins(usage)}


def _spent_usage(data: object) -> Usage | None:
    """The usage in the data of a `SPENT` entry; None if it is damaged."""
    try:
        return msgspec.convert(data["usage"], Usage) if isinstance(data, dict) else None
    except (KeyError, msgspec.ValidationError):
        return None


def stats_lines(session: "Session", stats: SessionStats) -> Iterator[str]:
    """The stats as printable lines for a terminal."""
    yield f"session   {session.id}" + (f"  {one_line(session.name)}" if session.name else "")
    yield f"folder    {one_line(session.header.cwd)}"
    yield f"time      {stats.first or '-'} to {stats.last or '-'}, {stats.working_ms / 60_000:.1f} min at work"
    yield (
        f"messages  {stats.message_count} ({stats.user_messages} yours, {stats.assistant_messages} answers, "
        f"{stats.tool_results} results)"
    )
    yield f"tree      {stats.entry_count} entries, {stats.branches} branches, {stats.compactions} compactions"
    yield (
        f"tokens    {stats.total_tokens:,} ({stats.input_tokens:,} in, {stats.output_tokens:,} out, "
        f"{stats.cache_read_tokens:,} read from the cache, {stats.cache_write_tokens:,} written to it)"
    )
    yield f"cost      ${stats.cost_total:.4f}"
    models = [
        (one_line(name), str(of.answers), f"{of.total_tokens:,}", f"${of.cost:.4f}")
        for name, of in stats.models.items()
    ]
    yield from _table(("model", "answers", "tokens", "cost"), models)
    tools = [(one_line(name), str(of.calls), str(of.errors)) for name, of in sorted(stats.tools.items())]
    yield from _table(("tool", "calls", "errors"), tools)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    rows = list(rows)
    if not rows:
        return
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    yield ""
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()
