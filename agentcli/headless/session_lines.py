"""Session lines: lists, trees and figures of sessions as text for a terminal. Nothing in them does a terminal obey."""

from datetime import datetime
from typing import Any

from agentcli.agent.text import one_line
from agentcli.sessions.listing import SessionInfo
from agentcli.sessions.search import SearchHit
from agentcli.sessions.session import Session

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

    from agentcli.sessions.tree import tree_lines

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
        text.append(entry.describe(), style="bold" if line.is_leaf else "" if line.on_path else "dim")
        starts = line.parent_id in branching
        node = (nodes if starts else containers)[line.parent_id].add(text)
        nodes[entry.id] = node
        containers[entry.id] = node if starts else containers[line.parent_id]
        if line.children > 1:
            branching.add(entry.id)
    Console(highlight=False, markup=False, emoji=False, width=width).print(root)
