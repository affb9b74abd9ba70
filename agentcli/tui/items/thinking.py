"""The model's thinking, folded to one row."""

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Fold, Foldable, guess_rows
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.rows import Row, row, wrapped


class Thinking(Foldable):
    """While it streams its last line is shown, afterwards its first; unfolded, all of it.

    Unfolded, only what came since the last whole line is laid out again.
    """

    fold = Fold.THINKING

    def __init__(self, text: str = "", redacted: bool = False) -> None:
        super().__init__()
        self._pieces = [text]
        self._growing = False
        self.redacted = redacted
        self._layout: tuple[int, Palette] | None = None
        self._settled: list[Row] = []
        """Rows of the whole lines, when it is unfolded."""
        self._settled_chars = 0

    @property
    def text(self) -> str:
        """The text."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def append(self, delta: str) -> None:
        """Add a delta."""
        self._pieces.append(delta)
        self._growing = True

    def finish(self) -> None:
        """Note that the text is complete."""
        self._growing = False
        self._layout, self._settled = None, []

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        text = self.text
        if self.expanded and not self.redacted and text.strip():
            return [self._head("", "", width, palette), *self._whole(text, width, palette)]
        if self.hidden and not self._growing:
            return []
        if self._growing:
            return [self._head(text.rstrip().rpartition("\n")[2], "", width, palette)]
        lines = [line for line in text.splitlines() if line.strip()]
        if self.redacted or not lines:
            return [self._head("withheld by the provider", "", width, palette)] if self.redacted else []
        more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
        return [self._head(lines[0], more, width, palette)]

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        if self.expanded:
            return 1 + guess_rows(self.text, width)
        return 0 if self.hidden else 1

    def _head(self, line: str, more: str, width: int, palette: Palette) -> Row:
        style, dim = palette[Tone.THINKING], palette[Tone.DIM]
        head = "thinking … " if self._growing else "thought: "
        room = max(width - len(head) - len(more) - 2, 1)
        return row([("∴ ", dim), (head, dim), (one_line(line, room), style), (more, dim)], width)

    def _whole(self, text: str, width: int, palette: Palette) -> list[Row]:
        if self._layout != (width, palette):
            self._layout, self._settled, self._settled_chars = (width, palette), [], 0
        settled = text.rfind("\n") + 1
        if settled > self._settled_chars:
            new = text[self._settled_chars : settled - 1]
            self._settled += self._wrapped(new, width, palette)
            self._settled_chars = settled
        rest = text[settled:]
        rows = self._settled + (self._wrapped(rest, width, palette) if rest.strip() else [])
        if not self._growing:
            self._layout, self._settled = None, []
        return rows

    def _wrapped(self, text: str, width: int, palette: Palette) -> list[Row]:
        gutter = [("  │ ", palette[Tone.DIM])]
        return wrapped([(text, palette[Tone.THINKING])], width, first=gutter, rest=gutter)
