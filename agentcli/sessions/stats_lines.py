"""Stats lines: what a session took, as text for a terminal. Nothing in it does a terminal obey."""

from collections.abc import Iterable, Iterator, Sequence

from agentcli.agent.text import one_line
from agentcli.sessions.session import Session
from agentcli.sessions.stats import SessionStats


def stats_lines(session: Session, stats: SessionStats) -> Iterator[str]:
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
