"""Graphemes: user-perceived characters, which may be several code points: an emoji of a family, a flag.

The cursor never stands within one, and a key deletes a whole one.
"""

import unicodedata

_ALONE = (("\u3041", "\u3096"), ("\u30a1", "\u30fa"), ("\u3400", "\u9fff"))
"""Ranges of kana and ideographs, which never join to the character before."""


def grapheme_at(line: str, column: int) -> tuple[int, int]:
    """Where the grapheme begins and ends that has the code point at `column`."""
    if column >= len(line):
        return column, column
    if line.isascii():
        return column, column + 1
    from wcwidth import grapheme_boundary_before, iter_graphemes  # slow, and most texts are ASCII

    start = grapheme_boundary_before(line, column + 1)
    return start, start + len(next(iter_graphemes(line, start)))


def beside_graphemes(line: str, column: int, *, back: bool) -> int:
    """The column, or if it is within a grapheme the beginning or the end of that."""
    if not 0 < column < len(line) or _begins(line[column]):
        return column
    start, end = grapheme_at(line, column)
    return column if start == column else start if back else end


def _begins(character: str) -> bool:
    """Whether it begins a grapheme wherever it stands. False means unknown."""
    if character.isascii() or unicodedata.category(character) in ("Lu", "Ll"):
        return True
    return any(first <= character <= last for first, last in _ALONE)
