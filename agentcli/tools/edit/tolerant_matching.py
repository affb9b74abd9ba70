"""Tolerant matching: where a text stands in a file that does not have it exactly. Whole lines, from strict to lenient.

1. `same_columns`: whitespace at line ends does not count, nor do typography and Unicode forms.
2. `shifted`: besides, all lines may be indented by more, or all by less.
3. `elided`: one line of the text is `...`; what is above and below it stands in the file once.
4. `blind_to_whitespace`: any whitespace is the same, and blank lines do not count.
"""

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from agentcli.tools.edit.file_lines import FileLines, is_blank
from agentcli.tools.edit.folding import blind, fold, raw_column
from agentcli.tools.edit.indentation import common_shift

_LEAST_CHARS = 8
"""A single line that is found whatever its whitespace has at least so many characters."""
_ELISION = re.compile(
    r"\s*(?:#+|//+|--+|;+|%+|/\*+|<!--|\{/\*|\*)?\s*(?:(?:\.{3,}|…)[^\n]{0,80}?|[^\n.…]{0,80}(?:\.{3,}|…))\s*(?:\*+/\}?|-->)?\s*"
)


class Match(Struct, frozen=True):
    """One place of a text."""

    ranges: list[tuple[int, int]]
    """For each line of the text the lines of the file, first and behind the last; each range begins where the one
    before it ends. An empty one is a blank line that the file has not."""
    head: int = 0
    """Characters of the first line that are before the match."""
    tail: int | None = None
    """Where in the last line the match ends; None for its end."""

    @property
    def first(self) -> int:
        return self.ranges[0][0]

    @property
    def stop(self) -> int:
        return self.ranges[-1][1]


class Wanted(Struct, frozen=True):
    """The lines of an old text, and of the new one that is to replace it."""

    old: list[str]
    new: list[str]
    with_end: bool
    """Whether the old text ends with a line end."""


def same_columns(lines: FileLines, wanted: Wanted) -> list[Match]:
    """Matches that may begin and end within a line."""
    if all(map(is_blank, wanted.old)):
        return []
    goal = [fold(line).rstrip() for line in wanted.old]
    keys = lines.folded.keys
    if len(goal) == 1:
        return [match for at, key in enumerate(keys) if goal[0] in key for match in _in_line(lines, at, wanted)]
    if len(goal) > 2:
        starts = (at - 1 for at in lines.folded.runs(goal[1:-1]))
    else:
        starts = (at for at, key in enumerate(keys) if key.endswith(goal[0]))
    found: list[Match] = []
    for start in starts:
        stop = start + len(goal)
        if start < 0 or stop > len(keys):
            continue
        first, last = keys[start], keys[stop - 1]
        begins = first.endswith(goal[0]) if goal[0] else not first
        ends = last.startswith(goal[-1]) if goal[-1] else not last
        head = raw_column(lines.texts[start], len(first) - len(goal[0])) if begins and ends else None
        tail = _tail(lines.texts[stop - 1], last, 0, wanted.old[-1], wanted.with_end)
        if head is not None and tail is not False:
            found.append(Match(_each(start, stop), head, tail))
    return found


def _in_line(lines: FileLines, at: int, wanted: Wanted) -> Iterator[Match]:
    text = wanted.old[0]
    key, goal = lines.folded.keys[at], fold(text).rstrip()
    column = key.find(goal)
    while column >= 0:
        head = raw_column(lines.texts[at], column)
        tail = _tail(lines.texts[at], key, column, text, wanted.with_end)
        if head is not None and tail is not False:
            yield Match([(at, at + 1)], head, tail)
        column = key.find(goal, column + 1)


def _tail(text: str, key: str, column: int, wanted: str, with_end: bool) -> int | bool | None:
    """Where the last line's match ends: None with the line, or within it (then whitespace at its end counts)."""
    if column + len(fold(wanted).rstrip()) == len(key):
        return None
    inside = fold(f"{wanted}.")[:-1]
    if with_end or not key.startswith(inside, column):
        return False
    tail = raw_column(text, column + len(inside))
    return False if tail is None else tail


def shifted(lines: FileLines, wanted: Wanted) -> list[Match]:
    """Matches of whole lines that are all indented by more, or all by less."""
    return [] if all(map(is_blank, wanted.old)) else _shifted(lines, wanted.old)


def _shifted(lines: FileLines, wanted: list[str]) -> list[Match]:
    goal = [fold(line).strip(" \t").rstrip() for line in wanted]
    return [
        Match(_each(start, start + len(goal)))
        for start in lines.unindented.runs(goal)
        if common_shift(wanted, lines.texts[start : start + len(goal)])
    ]


def elided(lines: FileLines, wanted: Wanted) -> list[Match]:
    """Matches of a text in which one line, the same in the new text, stands for lines that stay."""
    dots = [at for at, line in enumerate(wanted.old) if is_elision(line)]
    if len(dots) != 1 or [line for line in wanted.new if is_elision(line)] != [wanted.old[dots[0]]]:
        return []
    above, below = wanted.old[: dots[0]], wanted.old[dots[0] + 1 :]
    if all(map(is_blank, above)) or all(map(is_blank, below)):
        return []
    heads, tails = (_whole_lines(lines, part) for part in (above, below))
    if len(heads) != 1 or len(tails) != 1 or tails[0].first <= heads[0].stop:
        return []
    return [Match([*heads[0].ranges, (heads[0].stop, tails[0].first), *tails[0].ranges])]


def is_elision(line: str) -> bool:
    """Whether a line is `...`, alone or in a comment, that stands for lines which are left out."""
    return _ELISION.fullmatch(line) is not None


def _whole_lines(lines: FileLines, wanted: list[str]) -> list[Match]:
    goal = [fold(line).rstrip() for line in wanted]
    same = [Match(_each(start, start + len(goal))) for start in lines.folded.runs(goal)]
    return same or _shifted(lines, wanted)


def blind_to_whitespace(lines: FileLines, wanted: Wanted) -> list[Match]:
    """Matches of whole lines, whatever whitespace is in them, and between them."""
    numbers = [at for at, line in enumerate(wanted.old) if not is_blank(line)]
    goal = [blind(wanted.old[at]) for at in numbers]
    if not goal or (len(goal) == 1 and len(goal[0]) < _LEAST_CHARS):
        return []
    keys, places = lines.blind
    return [
        Match(_with_blank_lines(lines, wanted.old, numbers, places[start : start + len(goal)]))
        for start in keys.runs(goal)
    ]


def _with_blank_lines(
    lines: FileLines, wanted: list[str], numbers: list[int], places: list[int]
) -> list[tuple[int, int]]:
    """The ranges of all lines of a text, once those are placed that are not blank.

    Args:
        numbers: which lines of the text are not blank.
        places: where these stand in the file.
    """
    above = numbers[0]
    first = places[0]
    while first > 0 and places[0] - first < above and not lines.folded.keys[first - 1]:
        first -= 1
    ranges = _blank_lines(above, first, places[0])
    stops = [*places[1:], None]
    nexts = [*numbers[1:], len(wanted)]
    for number, place, following, stop in zip(numbers, places, nexts, stops, strict=True):
        count = following - number - 1
        if stop is None:
            stop = place + 1
            while stop < len(lines) and stop - place - 1 < count and not lines.folded.keys[stop]:
                stop += 1
        # Blank lines that the text has not belong to the line before them.
        own = max(place + 1, stop - count)
        ranges += [(place, own), *_blank_lines(count, own, stop)]
    return ranges


def _blank_lines(count: int, first: int, stop: int) -> list[tuple[int, int]]:
    """The ranges of so many blank lines of a text, where the file has `stop - first`, which are not more."""
    return [(min(first + at, stop), min(first + at + 1, stop)) for at in range(count)]


Step = Callable[[FileLines, Wanted], list[Match]]
STRICT: tuple[Step, ...] = (same_columns, shifted)
LENIENT: tuple[Step, ...] = (elided, blind_to_whitespace)
"""For when no way of reading the text has found a place."""


def _each(start: int, stop: int) -> list[tuple[int, int]]:
    return [(at, at + 1) for at in range(start, stop)]
