"""Session lines: lists, trees and figures of sessions as text for a terminal. Nothing in them does a terminal obey."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from agentcli.agent.text import one_line
from agentcli.sessions.listing import SessionInfo
from agentcli.sessions.search import SearchHit
from agentcli.sessions.session import Session
from agentcli.sessions.stats import SessionStats

SHORT = 8
"""Characters of an entry's id that are shown; its end, which differs even in one millisecond."""


def list_row(info: SessionInfo, *, with_folder: bool) -> str:
    when = datetime.fromtimestamp(info.modified / 1000).strftime("%Y-%m-%d %H:%M")
    folder = f"  {one_line(info.cwd)}" if with_folder else ""
    return f"{info.id[:13]}  {when}{folder}  {one_line(info.name or info.first_message) or '(empty)'}"


def list_json(info: SessionInfo) -> dict[str, Any]:
    return {
        "id": info.id,
        "path": str(info.path),
        "cwd": info.cwd,
        "created": info.created,
        "modified": info.modified,
        "name": info.name,
        "first_message": info.first_message,
        "parent_session": info.parent_session,
    }


def hit_text(hit: SearchHit, *, with_folder: bool, colour: bool) -> str:
    """Two lines: the session, and what was found in it."""
    start, end = hit.span
    found = hit.excerpt[start:end]
    marked = f"\x1b[1m{found}\x1b[0m" if colour else found
    return f"{list_row(hit.info, with_folder=with_folder)}\n    {hit.excerpt[:start]}{marked}{hit.excerpt[end:]}"


def print_tree(session: Session, *, everything: bool, width: int | None = None) -> None:
    """Draw a session's tree on stdout; a branch is indented where it leaves another."""
    # 70 ms, and only who looks at a tree needs it.
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from agentcli.sessions.tree import describe, tree_lines

    root = Tree(Text(one_line(session.name or session.id), style="bold"), guide_style="dim")
    nodes: dict[str | None, Tree] = {None: root}
    containers: dict[str | None, Tree] = {None: root}
    branching: set[str | None] = set()
    lines = list(tree_lines(session.storage, everything=everything))
    for line, entry in zip(lines, session.storage.get_some([line.head.id for line in lines]), strict=True):
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(entry.id[-SHORT:], style="dim")
        text.append(" ● " if line.is_leaf else "   ", style="green")
        if line.label:
            text.append(f"[{one_line(line.label)}] ", style="yellow")
        text.append(describe(entry), style="bold" if line.is_leaf else "" if line.on_path else "dim")
        starts = line.parent_id in branching
        node = (nodes if starts else containers)[line.parent_id].add(text)
        nodes[entry.id] = node
        containers[entry.id] = node if starts else containers[line.parent_id]
        if line.children > 1:
            branching.add(entry.id)
    Console(highlight=False, markup=False, emoji=False, width=width).print(root)


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
