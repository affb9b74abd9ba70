"""A summary in place of a part of the conversation: a title, and the text when it is unfolded."""

from agentcli.transcript.items import SummaryItem
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Foldable, guess_rows
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.markdown import markdown_rows
from agentcli.tui.painting.rows import Row, indented, row, wrapped

_GUTTER = "  │ "


class Summary(Foldable):
    """A summary."""

    def __init__(self, item: SummaryItem) -> None:
        super().__init__()
        self.item = item

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        dim = palette[Tone.DIM]
        rows = wrapped([(self.item.title, palette[Tone.STRONG])], width, first=[("≡ ", dim)])
        self.title_rows = len(rows)
        if self.expanded:
            room = max(width - len(_GUTTER), 1)
            return rows + [
                indented((_GUTTER, dim), made, width) for made in markdown_rows(self.item.text, room, palette)
            ]
        lines = [line for line in self.item.text.splitlines() if line.strip()]
        if not lines:
            return rows
        more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
        first = one_line(lines[0], max(width - len(_GUTTER) - len(more), 1))
        return [*rows, row([(_GUTTER, dim), (first, palette[Tone.QUOTE]), (more, dim)], width)]

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        return 1 + (guess_rows(self.item.text, width) if self.expanded else 1)
