"""Rows: styled text, wrapped to a width and made into the strips that Textual paints.

All strips of the transcript are made here, so this is the last place where text is cleaned.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agentcli.tui.painting.clean import shown_pieces

Run = tuple[str, Style]
"""A piece of text and its style."""

Row = Strip

_WORD = re.compile(r"\s*\S+|\s+")


def row(runs: Iterable[Run], width: int, fill: Style | None = None) -> Row:
    """One row of these runs, cut at `width` cells; `fill` pads it to the width."""
    segments: list[Segment] = []
    room = width
    for text, style in shown_runs(runs):
        text = text.replace("\n", " ")
        cells = cell_len(text)
        if cells > room:
            text = chop_cells(text, room)[0] if room > 0 else ""
            cells = cell_len(text)
        if text and cells <= room:
            room -= cells
            if segments and segments[-1].style == style:
                # Fewer segments are fewer bytes for the terminal.
                text = segments.pop().text + text
            segments.append(Segment(text, style))
    if fill is not None and room > 0:
        segments.append(Segment(" " * room, fill))
        room = 0
    return Strip(segments, width - room)


def indented(before: Run, inner: Row, width: int) -> Row:
    """A row with a run before it."""
    return Strip.join([row([before], width), inner]).crop(0, width)


def wrapped(
    runs: Sequence[Run],
    width: int,
    *,
    first: Sequence[Run] = (),
    rest: Sequence[Run] | None = None,
    fill: Style | None = None,
    keep_spaces: bool = False,
) -> list[Row]:
    """Rows of at most `width` cells; line feeds in the runs begin a new one.

    Args:
        runs: the text.
        width: in cells.
        first: what is put before the first row.
        rest: what is put before the others; None is as much space as `first` takes.
        fill: pads each row to the width.
        keep_spaces: break anywhere and keep every space, for code and output.
    """
    if rest is None:
        indent = sum(cell_len(text) for text, _ in first)
        rest = [(" " * indent, first[-1][1])] if indent else []
    room = max(width - sum(cell_len(text) for text, _ in first), 1)
    rows: list[Row] = []
    for line in _lines(runs):
        text = "".join(piece for piece, _ in line)
        for start, end in _spans(text, room, keep_spaces):
            rows.append(row([*(rest if rows else first), *_slice(line, start, end)], width, fill))
    return rows


def _lines(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """The runs of each line, clean."""
    line: list[Run] = []
    for text, style in shown_runs(runs):
        if "\n" not in text:
            line.append((text, style))
            continue
        head, *others = text.split("\n")
        line.append((head, style))
        for piece in others:
            yield line
            line = [(piece, style)]
    yield line


def shown_runs(runs: Iterable[Run]) -> list[Run]:
    """The runs of a row with their texts as `clean.shown`."""
    runs = list(runs)
    texts = shown_pieces([text for text, _ in runs])
    return [(text, style) for text, (_, style) in zip(texts, runs, strict=True)]


def _spans(text: str, room: int, keep_spaces: bool) -> list[tuple[int, int]]:
    """Where each row of a line begins and ends in its text."""
    if cell_len(text) <= room:
        return [(0, len(text.rstrip()) if not keep_spaces else len(text))]
    if keep_spaces:
        return _folded(text, 0, room)
    spans: list[tuple[int, int]] = []
    start = end = used = 0
    for match in _WORD.finditer(text):
        word = match.group()
        cells = cell_len(word)
        if used + cells <= room or not word.strip():
            end, used = match.end(), used + cells
            continue
        if end > start:
            spans.append((start, end))
        start = match.end() - len(word.lstrip()) if end > 0 else match.start()
        end, used = match.end(), cell_len(text[start : match.end()])
        if used > room:
            *whole, (start, end) = _folded(text[:end], start, room)
            spans += whole
            used = cell_len(text[start:end])
    spans.append((start, end))
    return [(begin, begin + len(text[begin:stop].rstrip())) for begin, stop in spans]


def _folded(text: str, start: int, room: int) -> list[tuple[int, int]]:
    """The rest of a text, broken wherever a row is full. A character wider than the row gets a row of its own."""
    spans: list[tuple[int, int]] = []
    for piece in chop_cells(text[start:], room):
        if piece:
            spans.append((start, start + len(piece)))
            start += len(piece)
    return spans or [(start, start)]


def _slice(line: Sequence[Run], start: int, end: int) -> Iterator[Run]:
    position = 0
    for text, style in line:
        stop = position + len(text)
        if stop > start and position < end:
            yield text[max(start - position, 0) : end - position], style
        position = stop


def plain(rows: Iterable[Row]) -> list[str]:
    """The text of each row, without the spaces at its end."""
    return [strip.text.rstrip() for strip in rows]


def common_rows(before: list[Row], after: list[Row]) -> int:
    """How many rows at the start are the same."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and old != new:
            break
        count += 1
    return count
