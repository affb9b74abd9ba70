"""TreeView: which entries of a session's tree are shown, in which order and how far to the right. It paints nothing.

An entry that is left out leaves its children to the nearest shown one above. Rows move to the right only at branches,
so a long conversation stays at the left. Everything takes time linear in the entries.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from agentcli.sessions.entries import EntryKind
from agentcli.sessions.tree import TreeLine


class TreeFilter(StrEnum):
    """Which entries are shown. The value is shown to the user."""

    DEFAULT = "conversation"
    NO_TOOLS = "no tools"
    PROMPTS = "prompts"
    LABELLED = "labelled"
    EVERYTHING = "everything"


_TALK = frozenset({EntryKind.PROMPT, EntryKind.ANSWER, EntryKind.SUMMARY, EntryKind.OTHER})
_KINDS: dict[TreeFilter, Collection[EntryKind]] = {
    TreeFilter.DEFAULT: _TALK | {EntryKind.CALLS},
    TreeFilter.NO_TOOLS: _TALK,
    TreeFilter.PROMPTS: {EntryKind.PROMPT},
    TreeFilter.LABELLED: (),
    TreeFilter.EVERYTHING: frozenset(EntryKind),
}


class Stem(Struct, frozen=True):
    """A part of the tree without a branching: its entries stand below each other."""

    above: "Stem | None"
    """The one that it leaves; None at the left."""
    is_last: bool
    """Whether no other leaves the same place after it."""
    depth: int


class TreeRow(Struct):
    """A shown entry."""

    line: TreeLine
    kind: EntryKind
    stem: Stem
    parent: "int | None"
    """The number of the row above it in the tree."""
    starts: bool
    """Whether its stem begins with it: there it can be folded."""
    children: int = 0
    folded: int = 0
    """How many rows are folded into it."""

    @property
    def id(self) -> str:
        """Of the entry."""
        return self.line.head.id


class TreeView:
    """The shown part of a tree.

    Args:
        lines: the whole tree as `sessions.tree.tree_lines` returns it: parents first, a branch at a time.
        kinds: by entry id.
        labels: by entry id; read again by each `show`.
    """

    def __init__(self, lines: Sequence[TreeLine], kinds: Mapping[str, EntryKind], labels: Mapping[str, str]) -> None:
        self.lines = lines
        self.kinds = kinds
        self.labels = labels
        self.folded: set[str] = set()
        self.rows: list[TreeRow] = []
        self._parents = {line.head.id: line.parent_id for line in lines}
        self._row_of: dict[str, int] = {}

    def show(self, filter: TreeFilter, fits: Callable[[str], bool] | None = None) -> list[TreeRow]:
        """Compute the rows.

        Args:
            filter: which kinds of entries.
            fits: whether the entry of an id is among the searched; None shows all. Folded entries are searched too.
        """
        kept = [line for line in self.lines if self._is_kept(line, filter) and (fits is None or fits(line.head.id))]
        above, children = self._connect(kept)
        self.rows = []
        self._row_of = {}
        stems: dict[str | None, Stem] = {}
        hidden: dict[str, int] = {}
        left: dict[str | None, int] = {id: len(ids) for id, ids in children.items()}
        for line in kept:
            id, parent = line.head.id, above[line.head.id]
            is_mark = self.kinds[id] is EntryKind.MARK
            if not is_mark:
                left[parent] -= 1
            stem, starts = self._stem(stems.get(parent), parent, is_mark, len(children.get(parent, ())), left)
            stems[id] = stem
            if (fold := self._fold_of(parent, hidden) if fits is None else None) is not None:
                hidden[id] = fold
                self.rows[fold].folded += 1
                continue
            number = len(self.rows)
            below = len(children.get(id, ()))
            self.rows.append(TreeRow(line, self.kinds[id], stem, self._row_of.get(parent or ""), starts, below))
            self._row_of[id] = number
        return self.rows

    def _is_kept(self, line: TreeLine, filter: TreeFilter) -> bool:
        return self.kinds[line.head.id] in _KINDS[filter] or (
            filter is TreeFilter.LABELLED and line.head.id in self.labels
        )

    def _connect(self, kept: list[TreeLine]) -> tuple[dict[str, str | None], dict[str | None, list[str]]]:
        """For each kept entry the nearest one above, and for each its children other than marks."""
        is_kept = {line.head.id for line in kept}
        nearest: dict[str | None, str | None] = {None: None}
        above: dict[str, str | None] = {}
        children: dict[str | None, list[str]] = {}
        for line in self.lines:
            id, parent = line.head.id, nearest[line.parent_id]
            nearest[id] = parent
            if id in is_kept:
                nearest[id] = id
                above[id] = parent
                if self.kinds[id] is not EntryKind.MARK:
                    children.setdefault(parent, []).append(id)
        return above, children

    def _stem(
        self, above: Stem | None, parent: str | None, is_mark: bool, siblings: int, left: dict[str | None, int]
    ) -> tuple[Stem, bool]:
        """The stem of an entry, and whether it begins there."""
        if above is None:
            # Several roots are shown like branches.
            return Stem(None, not left.get(None), int(siblings > 1)), True
        if is_mark or siblings < 2:
            return above, False
        return Stem(above, not left[parent], above.depth + 1), True

    def _fold_of(self, parent: str | None, hidden: dict[str, int]) -> int | None:
        """The row that an entry below `parent` is folded into."""
        if parent is None:
            return None
        return self._row_of[parent] if parent in self.folded and parent in self._row_of else hidden.get(parent)

    # Places

    def nearest(self, id: str | None) -> int | None:
        """The row of an entry, or of the nearest one above it that has one."""
        while id is not None:
            if (row := self._row_of.get(id)) is not None:
                return row
            id = self._parents.get(id)
        return None

    def can_fold(self, number: int) -> bool:
        """Whether a row has something to fold."""
        row = self.rows[number]
        return row.starts and row.children > 0

    def stem_start(self, number: int) -> int:
        """The row with which the stem of a row begins; of one that begins a stem, that of the stem which it leaves."""
        row = self.rows[number]
        if row.starts:
            if row.parent is None:
                return number
            number = row.parent
        while not self.rows[number].starts and (parent := self.rows[number].parent) is not None:
            number = parent
        return number
