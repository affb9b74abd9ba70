"""Pastes: pasted texts that are too long to show, and the markers that stand for them in a draft.

A marker looks like `[paste #1 +24 lines]`, but its brackets and spaces are noncharacters of Unicode, which nobody can
type or paste (`without_marks`): typed text is never taken for one, and no line is wrapped within one.
"""

import re

MAX_LINES = 10
MAX_CHARACTERS = 1_000

_OPEN, _CLOSE, _BLANK = "\ufdd0", "\ufdd1", "\ufdd2"
_MARKER = re.compile(f"{_OPEN}paste{_BLANK}#(\\d+){_BLANK}[^{_OPEN}{_CLOSE}\n]*{_CLOSE}")
_SHOWN = str.maketrans({_OPEN: "[", _CLOSE: "]", _BLANK: " "})
_NOTHING = str.maketrans(dict.fromkeys((_OPEN, _CLOSE, _BLANK)))


class Pastes:
    """The pastes of one editor. They are kept as long as it exists, since undo brings markers back."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def marker(self, text: str) -> str:
        """Keep a text. Returns the marker that stands for it."""
        self._texts.append(text)
        lines = _lines(text)
        size = f"+{lines}{_BLANK}lines" if lines > MAX_LINES else f"{len(text)}{_BLANK}chars"
        return f"{_OPEN}paste{_BLANK}#{len(self._texts)}{_BLANK}{size}{_CLOSE}"

    def expand(self, draft: str) -> str:
        """The draft with every text in place of its marker."""
        if _OPEN not in draft:
            return draft
        return _MARKER.sub(lambda found: self._texts[int(found[1]) - 1], draft)


def is_long(text: str) -> bool:
    """Whether a text is shown as a marker."""
    return len(text) > MAX_CHARACTERS or _lines(text) > MAX_LINES


def without_marks(text: str) -> str:
    """Text from outside, without the characters that only markers have."""
    return text.translate(_NOTHING) if not text.isascii() else text


def marker_spans(line: str) -> list[tuple[int, int]]:
    """Where the markers of a line begin and end."""
    return [found.span() for found in _MARKER.finditer(line)] if _OPEN in line else []


def beside_markers(line: str, column: int, *, back: bool) -> int:
    """The column, or if it is within a marker the beginning or the end of that."""
    for start, end in marker_spans(line):
        if start < column < end:
            return start if back else end
    return column


def shown_markers(line: str) -> str:
    """The line as it is painted, of the same length."""
    return line.translate(_SHOWN) if _OPEN in line else line


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))
