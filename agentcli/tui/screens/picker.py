"""Picker: a list to choose one from, searched by a few letters: models, thinking levels, themes, prompts, commands."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct
from rich.cells import cell_len
from textual.strip import Strip

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.editing.query import Query
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.list_rows import MARK, NO_MARK, fit, marked, two_columns
from agentcli.tui.painting.rows import Run
from agentcli.tui.screens.list_screen import ListScreen

T = TypeVar("T")

CURRENT = "● "
PREVIEW_LINES = 6


class PickerRow(Struct, Generic[T], frozen=True):
    """A choice."""

    value: T
    label: str
    """Shown as one line."""
    detail: str = ""
    """Beside the label, if there is room."""
    search: str = ""
    """Found too, but not shown."""
    group: str = ""
    """Rows of one group that follow each other stand under it as a heading, while nothing is searched."""


class _Line(Struct, frozen=True):
    """A drawn line: a row with the letters that were found, or a heading."""

    row: int | None
    heading: str = ""
    places: tuple[int, ...] = ()


class Picker(ListScreen[T]):
    """A list of choices. The result is the value of the chosen row.

    Args:
        title: what is listed.
        rows: the choices, in order; a search puts the best first.
        keymap: which key does what.
        palette: the styles.
        current: the value that is set now: it is marked, and chosen at first.
        placeholder: shown in the empty line.
        on_highlight: called with the value of a row when it becomes the chosen one, but not for the first.
        preview: more about a value, shown if there is room.
        empty: shown when there is nothing to choose.
    """

    def __init__(
        self,
        title: str,
        rows: Sequence[PickerRow[T]],
        *,
        keymap: Keymap,
        palette: Palette,
        current: T | None = None,
        placeholder: str = "type to search",
        on_highlight: Callable[[T], object] | None = None,
        preview: Callable[[T], str] | None = None,
        empty: str = "nothing to choose from",
    ) -> None:
        super().__init__(title, keymap=keymap, palette=palette, placeholder=placeholder)
        self.rows = rows
        self.current = current
        self._labels = [one_line(row.label) for row in rows]
        self._details = [one_line(row.detail) for row in rows]
        self._column = max((cell_len(label) for label in self._labels), default=0) + len(MARK + CURRENT)
        self._on_highlight = on_highlight
        self._preview_of = preview
        self.preview_lines = PREVIEW_LINES if preview is not None else 0
        self._empty = empty
        self._lines: list[_Line] = []
        self._highlighted: int | None = None

    @property
    def chosen(self) -> PickerRow[T] | None:
        """The row that Enter would choose."""
        number = self.list.chosen
        row = self._lines[number].row if number is not None and number < len(self._lines) else None
        return self.rows[row] if row is not None else None

    def place_list(self) -> None:
        """Show the rows that fit the search."""
        first = not self._lines and not self.line.text
        query = Query(self.line.text)
        self._lines = self._found(query) if query else self._grouped()
        at = 0
        if first and self.current is not None:
            at = next((n for n, line in enumerate(self._lines) if self._is_current(line.row)), 0)
        self.list.show(len(self._lines), at)
        if first:
            self._highlighted = self._lines[self.list.chosen].row if self.list.chosen is not None else None

    def _grouped(self) -> list[_Line]:
        lines: list[_Line] = []
        group = ""
        for number, row in enumerate(self.rows):
            if row.group != group:
                group = row.group
                lines.append(_Line(None, one_line(group)))
            lines.append(_Line(number))
        return lines

    def _found(self, query: Query) -> list[_Line]:
        found: list[tuple[float, int, tuple[int, ...]]] = []
        for number, row in enumerate(self.rows):
            label = self._labels[number]
            if match := query.match(label):
                found.append((-match.score, number, match.places))
            elif query.is_in(f"{row.group} {label} {row.detail} {row.search}"):
                found.append((0, number, query.places(label)))
        return [_Line(number, "", places) for _, number, places in sorted(found)]

    def _is_current(self, row: int | None) -> bool:
        return row is not None and self.current is not None and self.rows[row].value == self.current

    def is_heading(self, number: int) -> bool:
        """Whether a row is a heading."""
        return self._lines[number].row is None

    def moved(self) -> None:
        """Report the newly chosen value."""
        row = self.chosen
        number = None if row is None or self.list.chosen is None else self._lines[self.list.chosen].row
        if row is None or number == self._highlighted:
            return
        self._highlighted = number
        if self._on_highlight is not None:
            self._on_highlight(row.value)

    def choose(self) -> None:
        """Close with the chosen value."""
        if (row := self.chosen) is not None:
            self.dismiss(row.value)

    def counted(self) -> str:
        """How many rows are shown, of how many."""
        found = sum(line.row is not None for line in self._lines)
        return f"{found} of {len(self.rows)}" if self.line.text else str(len(self.rows))

    # Painting

    def draw_row(self, number: int, width: int, chosen: bool) -> Strip:
        """A row."""
        palette, line = self.palette, self._lines[number]
        if line.row is None:
            return fit([(line.heading, palette[Tone.HEADING])], width, palette[Tone.TEXT])
        mark = CURRENT if self._is_current(line.row) else NO_MARK if self.current is not None else ""
        left: list[Run] = [((MARK if chosen else NO_MARK) + mark, palette[Tone.TEXT])]
        left += marked(self._labels[line.row], line.places, palette[Tone.TEXT])
        detail = self._details[line.row]
        if self.line.text and self.rows[line.row].group:
            detail = " · ".join(part for part in (one_line(self.rows[line.row].group), detail) if part)
        return two_columns(left, [(detail, palette[Tone.DIM])], width, palette[Tone.TEXT], self._column)

    def preview(self) -> str:
        """More about the chosen value."""
        row = self.chosen
        return self._preview_of(row.value) if row is not None and self._preview_of is not None else ""

    def nothing(self) -> str:
        """What is shown without rows."""
        return "nothing fits" if self.rows else self._empty
