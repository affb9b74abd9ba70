"""List rows: one row of a list, cut with an ellipsis, and the marks in it.

Colour is never the only sign: `MARK` stands before the chosen row.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.painting.rows import Run, row, shown_runs

MARK = "❯ "
NO_MARK = "  "
TWO_COLUMNS = 36
"""Cells. A narrower list shows its first column only."""


def fit(runs: Sequence[Run], width: int, fill: Style) -> Strip:
    """One row of exactly `width` cells; what does not fit ends in an ellipsis."""
    runs = [(text.replace("\n", " "), style) for text, style in shown_runs(runs)]
    if sum(cell_len(text) for text, _ in runs) <= width or width < 2:
        return row(runs, width, fill)
    cut = row(runs, width - 1)
    last = next(reversed(cut), None)
    style = last.style if last else fill
    return Strip.join([cut, Strip([Segment("…", style)], 1)]).adjust_cell_length(width, fill)


def two_columns(left: Sequence[Run], right: Sequence[Run], width: int, fill: Style, column: int | None = None) -> Strip:
    """A row of `width` cells with two columns.

    Args:
        left: the first column, which is kept longest.
        right: the second column.
        width: in cells.
        fill: style of the padding.
        column: where the second one begins; None puts it at the right end.
    """
    needed = sum(cell_len(text) for text, _ in shown_runs(right))
    if not needed or width < TWO_COLUMNS:
        return fit(left, width, fill)
    share = width - min(needed, width // 2) - 2 if column is None else min(column, width * 6 // 10)
    gap = Strip([Segment("  ", fill)], 2)
    return Strip.join([fit(left, share, fill), gap, fit(right, width - share - 2, fill)])


def marked(text: str, places: Collection[int], style: Style) -> list[Run]:
    """`text`, with the letters at these places underlined."""
    found = style + Style(underline=True, bold=True)
    return [(part, found if is_found else style) for part, is_found in parts(text, places)]


def parts(text: str, places: Collection[int]) -> Iterator[tuple[str, bool]]:
    """`text` in pieces, and whether each is at these places."""
    start = 0
    for is_found, run in groupby(range(len(text)), lambda place: place in places):
        end = start + sum(1 for _ in run)
        yield text[start:end], is_found
        start = end


def lit(strip: Strip, palette: Palette) -> Strip:
    """The chosen row, highlighted in addition to its mark."""
    back = Style(bgcolor=palette[Tone.BLOCK].bgcolor, bold=True)
    return Strip([Segment(text, (style or Style()) + back) for text, style, _ in strip], strip.cell_length)
