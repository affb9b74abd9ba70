"""Printable text: what of a text may reach a terminal."""

import re

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def printable(text: str) -> str:
    """`text` without what a terminal would obey: control characters but tab and newline, and reordering marks."""
    return _UNPRINTABLE.sub("", text)


def one_line(text: str, width: int = 200) -> str:
    """`text` as one printable line of at most `width` characters."""
    text = text.strip()
    # A megabyte need not be cleaned for a line.
    line = " ".join(printable(text[: width * 8]).split())
    return line if len(line) <= width and len(text) <= width * 8 else line[: width - 1] + "…"
