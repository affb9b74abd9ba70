"""Tree: a session's entries in the order in which a tree is drawn, each once."""

from collections.abc import Iterator

from msgspec import Struct

from agentcli.sessions.entries import OFF_TREE, EntryHead
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
