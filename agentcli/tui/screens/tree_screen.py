"""TreeScreen: the tree of a session, and an entry in it to continue from.

Entries are read when they come into view, and all of them by a search.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from msgspec import Struct
from rich.style import Style
from textual.strip import Strip

from agentcli.agent.errors import AgentcliError
from agentcli.sessions.entries import Entry, EntryKind
from agentcli.sessions.tree import TreeLine
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.commands.actions import Where
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.editing.query import Query
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.list_rows import MARK, NO_MARK, fit, marked
from agentcli.tui.painting.rows import Run
from agentcli.tui.painting.tree_view import Stem, TreeFilter, TreeRow, TreeView
from agentcli.tui.screens.list_screen import ListScreen

LEAF, ON_PATH, OFF_PATH = "● ", "• ", "  "
"""Where the conversation is now, what led there, and the rest."""
FOLDED, UNFOLDED = "▸ ", "▾ "
SEARCHED_CHARACTERS = 2_000
"""Of an entry's text."""
KEPT_TEXTS = 500
_TONES = {
    EntryKind.PROMPT: Tone.STRONG,
    EntryKind.ANSWER: Tone.TEXT,
    EntryKind.SUMMARY: Tone.HEADING,
    EntryKind.OTHER: Tone.TEXT,
}


class TreeDeed(StrEnum):
    """What to do with the chosen entry."""

    GO_TO = "go_to"
    FORK = "fork"
    SUMMARIZE = "summarize"
    """Go there, and tell the new branch of the one that is left."""


class TreeChoice(Struct, frozen=True):
    """The result of the screen."""

    entry_id: str
    what: TreeDeed
    instructions: str = ""
    """For the summary; empty for none."""


class TreeScreen(ListScreen[TreeChoice]):
    """The tree of a session. The result is an entry, and what to do with it.

    Args:
        lines: `tree_lines(storage, everything=True)`.
        read: `storage.get_some`: entries by their ids, in order.
        labels: by entry id; read again after each `label`.
        label: labels an entry; None removes its label. An `AgentcliError` that it raises is shown.
        keymap: which key does what.
        palette: the styles.
        title: the session's name.
    """

    PLACES: ClassVar[tuple[Where, ...]] = (Where.TREE, Where.LIST)
    preview_lines = 6

    def __init__(
        self,
        lines: Sequence[TreeLine],
        read: Callable[[Iterable[str]], Iterator[Entry]],
        *,
        labels: Mapping[str, str],
        label: Callable[[str, str | None], object],
        keymap: Keymap,
        palette: Palette,
        title: str = "Tree",
    ) -> None:
        super().__init__(title, keymap=keymap, palette=palette)
        self.filter = TreeFilter.DEFAULT
        self._read = read
        self._label = label
        kinds = {entry.id: entry.kind for entry in read([line.head.id for line in lines])}
        self.view = TreeView([line for line in lines if line.head.id in kinds], kinds, labels)
        self._leaf = next((line.head.id for line in lines if line.is_leaf), None)
        self._texts: dict[str, str] = {}
        """By entry id, of those that were in view lately."""
        self._searched: dict[str, str] | None = None
        """The text of each entry in lower case; None until there is a search."""

    @property
    def chosen(self) -> TreeRow | None:
        """The row that Enter would choose."""
        number = self.list.chosen
        return self.view.rows[number] if number is not None and number < len(self.view.rows) else None

    # The list

    def place_list(self) -> None:
        """Show the entries that pass the filter and fit the search."""
        before = self.chosen.id if self.chosen else self._leaf
        rows = self.view.show(self.filter, self._fits(Query(self.line.text)))
        at = self.view.nearest(before)
        self.list.show(len(rows), len(rows) - 1 if at is None else at)

    def _fits(self, query: Query) -> Callable[[str], bool] | None:
        if not query:
            return None
        if self._searched is None:
            ids = [line.head.id for line in self.view.lines]
            self._searched = {
                entry.id: f"{entry.describe()} {entry.text()[:SEARCHED_CHARACTERS]}".lower()
                for entry in self._read(ids)
            }
        texts, labels = self._searched, self.view.labels
        return lambda id: all(word in texts[id] or word in labels.get(id, "").lower() for word in query.words)

    def handle_action(self, name: str) -> None:
        """Filter, fold, label, fork or summarise."""
        number, row = self.list.chosen, self.chosen
        if name == "tree_filter":
            self._next_filter()
        if number is None or row is None:
            return
        match name:
            case "tree_fold":
                self._fold(number, row)
            case "tree_unfold" if row.id in self.view.folded:
                self.view.folded.discard(row.id)
                self.place_list()
            case "tree_label":
                at = self.view.labels.get(row.id, "")
                self.ask("Label", at, lambda text: self._set_label(row.id, text or None))
            case "tree_fork":
                self.dismiss(TreeChoice(row.id, TreeDeed.FORK))
            case "tree_summarize":
                self.ask("What matters", "", lambda text: self._summarize(row.id, text))

    def choose(self) -> None:
        """Close with the chosen entry, to go there."""
        if (row := self.chosen) is not None:
            self.dismiss(TreeChoice(row.id, TreeDeed.GO_TO))

    def _summarize(self, id: str, instructions: str) -> None:
        self.dismiss(TreeChoice(id, TreeDeed.SUMMARIZE, instructions))

    def _next_filter(self) -> None:
        filters = list(TreeFilter)
        self.filter = filters[(filters.index(self.filter) + 1) % len(filters)]
        self.place_list()

    def _fold(self, number: int, row: TreeRow) -> None:
        if self.view.can_fold(number) and row.id not in self.view.folded and not self.line.text:
            self.view.folded.add(row.id)
            self.place_list()
        else:
            self.list.choose(self.view.stem_start(number))

    def _set_label(self, id: str, label: str | None) -> None:
        try:
            self._label(id, label)
        except AgentcliError as error:
            self.show_notice(str(error), Tone.ERROR)
        self.place_list()

    # Painting

    def counted(self) -> str:
        """The filter, and how many entries are shown, of how many."""
        return f"{self.filter} · {self.list.count} of {len(self.view.lines)}"

    def hints(self) -> Sequence[tuple[str, str]]:
        """Keys for the last line."""
        return (
            ("list_choose", "go"),
            ("tree_filter", "filter"),
            ("tree_fork", "fork"),
            ("tree_summarize", "summary"),
            ("tree_label", "label"),
            ("tree_fold", "fold"),
            ("list_cancel", "close"),
        )

    def nothing(self) -> str:
        """Why nothing is listed."""
        if not self.view.lines:
            return "nothing was said yet"
        return f"nothing fits ({self.filter}); {self.keymap.shown('tree_filter')} shows more or less"

    def draw_row(self, number: int, width: int, chosen: bool) -> Strip:
        """A row."""
        palette, row = self.palette, self.view.rows[number]
        dim, text = palette[Tone.DIM], palette[Tone.TEXT]
        runs: list[Run] = [(MARK if chosen else NO_MARK, text), (_gutter(row, max(width // 6, 1)), dim)]
        if self.view.can_fold(number):
            runs.append((FOLDED if row.id in self.view.folded and not self.line.text else UNFOLDED, dim))
        is_here = number == self.view.nearest(self._leaf)
        runs.append((LEAF if is_here else ON_PATH if row.line.on_path else OFF_PATH, palette[Tone.OK]))
        query = Query(self.line.text)
        if label := one_line(self.view.labels.get(row.id, "")):
            runs += [*marked(f"[{label}]", query.places(f"[{label}]"), palette[Tone.WARNING]), (" ", text)]
        if row.folded:
            runs.append((f"({row.folded} folded) ", dim))
        line = self._line_of(row.id)
        runs += marked(line, query.places(line), self._style(row))
        return fit(runs, width, text)

    def _style(self, row: TreeRow) -> Style:
        return self.palette[_TONES.get(row.kind, Tone.DIM) if row.line.on_path else Tone.DIM]

    def _line_of(self, id: str) -> str:
        if id not in self._texts:
            if len(self._texts) >= KEPT_TEXTS:
                self._texts.clear()
            entry = next(iter(self._read([id])), None)
            self._texts[id] = one_line(entry.describe()) if entry is not None else ""
        return self._texts[id]

    def preview(self) -> str:
        """The text of the chosen entry."""
        row = self.chosen
        entry = next(iter(self._read([row.id])), None) if row is not None else None
        return "" if entry is None else entry.text().strip() or entry.describe()


def _gutter(row: TreeRow, levels: int) -> str:
    """The lines of the branches that a row is in, of at most so many levels, the nearest ones."""
    parts: list[str] = []
    stem: Stem | None = row.stem
    starts = row.starts
    while stem is not None and stem.depth > 0 and len(parts) < levels:
        if starts:
            parts.append("└ " if stem.is_last else "├ ")
        else:
            parts.append("  " if stem.is_last else "│ ")
        starts = False
        stem = stem.above
    if stem is not None and stem.depth > 0:
        parts[-1] = "… "
    return "".join(reversed(parts))
