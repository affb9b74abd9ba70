"""Folding: texts compared without what differs in writing only: typography, Unicode forms, whitespace at line ends."""

import re
import unicodedata

_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
TYPOGRAPHY = {"'": "‘’‚‛′", '"': "“”„‟″", "-": "‐‑‒–—―−", " ": _SPACES, "...": "…"}
"""What is typed plainly, and the characters that stand for it."""
_PLAIN = [(char, plain) for plain, chars in TYPOGRAPHY.items() for char in chars]
_TOKEN = re.compile(r"\.\.\.|…|\s+|(?:[^\W_]|_)[\w\u0300-\u036f]*|.", re.DOTALL)


def fold(text: str) -> str:
    """The text in plain typography and composed characters; line ends stay."""
    if text.isascii():
        return text
    for char, plain in _PLAIN:  # for a whole file this is several times as fast as `str.translate`
        if char in text:
            text = text.replace(char, plain)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def blind(line: str) -> str:
    """The folded line with each run of whitespace as one space, and none around it."""
    return " ".join(fold(line).split())


def indentation_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def tokens_of(text: str) -> list[str]:
    """The text as words, runs of whitespace and single signs."""
    return _TOKEN.findall(text)


def plain_typography(ours: list[str], theirs: list[str]) -> dict[int, str]:
    """The typography that a call has where the file is plain, as a table for `str.translate`.

    Args:
        ours: the file's tokens.
        theirs: the call's tokens for the same text, one for one.
    """
    table: dict[int, str] = {}
    for mine, other in zip(ours, theirs, strict=True):
        if mine != other and not other.isascii():
            for plain, chars in TYPOGRAPHY.items():
                if any(char in other for char in chars) and not any(char in mine for char in chars):
                    table |= {ord(char): plain for char in chars}
    return table


def raw_column(text: str, column: int) -> int | None:
    """The index in `text` at which a column of its folded form begins; None if that is within a character."""
    taken = done = 0
    while done < column and taken < len(text):
        step = taken + 1
        while step < len(text) and _joins(text[step]):
            step += 1
        done += len(fold(text[taken:step]))
        taken = step
    return taken if done == column else None


def _joins(char: str) -> bool:
    """Whether a character may become one with those before it."""
    return not char.isascii() and (unicodedata.combining(char) != 0 or "\u1160" <= char <= "\u11ff")
