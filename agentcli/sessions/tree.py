"""Tree: a session's entries in the order in which a tree is drawn, each once."""

from collections.abc import Iterator

from msgspec import Struct

from agentcli.sessions.entries import OFF_TREE, EntryHead
from agentcli.sessions.storage.storage import SessionStorage


class TreeLine(Struct, frozen=True):
    """One entry as a line of the drawn tree."""

    head: EntryHead
    parent_id: str | None
    """The entry under which it is drawn: the nearest ancestor that is drawn."""
    depth: int
    """How many branchings are above: an only child is drawn under its parent, not deeper."""
    on_path: bool
    """Whether it is on the active branch."""
    is_leaf: bool
    """Whether the conversation continues from here."""
    label: str | None
    children: int = 0


def tree_lines(storage: SessionStorage, *, everything: bool = False) -> Iterator[TreeLine]:
    """Every entry once, parents first, a branch at a time.

    Args:
        storage: of the session.
        everything: include labels, names and moves, which are no places in the conversation.
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
    """By parent. The children of an entry that is left out become those of its parent."""
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
