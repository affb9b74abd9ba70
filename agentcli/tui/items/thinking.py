"""The model's thinking, folded to one row."""

from agentcli.transcript.items import ThinkingItem
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Fold, Foldable, guess_rows
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.rows import Row, row, wrapped


class Thinking(Foldable):
    """While it streams its last line is shown, afterwards its first; unfolded, all of it.

    Unfolded, only what came since the last whole line is laid out again.
    """

    fold = Fold.THINKING

    def __init__(self, item: ThinkingItem) -> None:
        super().__init__()
        self.item = item
        self._layout: tuple[int, Palette] | None = None
        self._settled: list[Row] = []
        """Rows of the whole lines, when it is unfolded."""
        self._settled_chars = 0

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        text = self.item.text
        if self.expanded and not self.item.redacted and text.strip():
            return [self._head("", "", width, palette), *self._whole(text, width, palette)]
        if self.hidden and not self.item.is_growing:
            return []
        if self.item.is_growing:
            return [self._head(text.rstrip().rpartition("\n")[2], "", width, palette)]
        lines = [line for line in text.splitlines() if line.strip()]
        if self.item.redacted or not lines:
            return [self._head("withheld by the provider", "", width, palette)] if self.item.redacted else []
        more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
        return [self._head(lines[0], more, width, palette)]

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        if self.expanded:
            return 1 + guess_rows(self.item.text, width)
        return 0 if self.hidden else 1

    def _head(self, line: str, more: str, width: int, palette: Palette) -> Row:
        style, dim = palette[Tone.THINKING], palette[Tone.DIM]
        head = "thinking … " if self.item.is_growing else "thought: "
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
        if not self.item.is_growing:
            self._layout, self._settled = None, []
        return rows

    def _wrapped(self, text: str, width: int, palette: Palette) -> list[Row]:
        gutter = [("  │ ", palette[Tone.DIM])]
        return wrapped([(text, palette[Tone.THINKING])], width, first=gutter, rest=gutter)
