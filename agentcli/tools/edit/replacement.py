"""Replacement: the bytes that go in for a place in a file: the new text in the file's encoding and line ends.

The new text is taken as it is written; nothing in it is a pattern. Only an LF becomes the line end that the file has at
that place: lines that stay keep their own, changed ones that of the line they stand for, added ones that of a line
beside them. A CR or CRLF in the text stays what it is. A lone CR ends lines only in a file that has no LF; beside LF it
is a character, and no added line gets it.
"""

import re
from collections.abc import Iterator

from agentcli.tools.edit.matching import Span
from agentcli.tools.files.text_file import TextEncoding

_END = re.compile(r"\r\n|\n|\r")
_END_BESIDE_CR = re.compile(r"\r\n|\n")


def replacement(data: bytes, kind: TextEncoding, span: Span, old_text: str, new_text: str) -> bytes:
    """Raises `UnicodeEncodeError` if the encoding has not all characters of `new_text`."""
    return with_line_ends(data, kind, span, old_text, new_text).encode(kind.encoding)


def fit_edges(data: bytes, kind: TextEncoding, span: Span, old_text: str, new_text: str) -> tuple[Span, str]:
    """The place and the new text without what would join lines, or part them, that the texts do not speak of.

    Whether a text ends with its last line end, or begins with the one before it, is often an accident: the new text
    goes in as whole lines if the old one is.
    """
    old, new = old_text.replace("\r\n", "\n"), new_text.replace("\r\n", "\n")
    if not old.strip("\n"):
        return span, new_text
    line = _line_start(data, kind, span.start)
    if not new and old.endswith("\n"):
        if line is None:
            return span, "\n" if span.end < len(data) else ""
        return Span(line, span.end), ""
    if not new:
        return span, ""
    if old.endswith("\n") and not new.endswith("\n"):
        new_text += "\n"
    if old.startswith("\n") and not new.startswith("\n") and line is None:
        new_text = "\n" + new_text
    adds_one = new.endswith("\n") and not new.endswith("\n\n") and new != f"{old}\n" and not old.endswith("\n")
    if adds_one and line is not None and _after(data, kind, span.end, 2).startswith(("\r", "\n")):
        new_text = new_text[:-2] if new_text.endswith("\r\n") else new_text[:-1]
    return span, new_text


def _line_start(data: bytes, kind: TextEncoding, position: int) -> int | None:
    """Where the line of a position begins; None if more than whitespace is before the position."""
    blanks = {blank.encode(kind.encoding) for blank in (" ", "\t")}
    while position > len(kind.bom):
        unit = data[position - kind.unit : position]
        if unit not in blanks:
            return position if unit.decode(kind.encoding, "replace") in "\r\n" else None
        position -= kind.unit
    return position


def _before(data: bytes, kind: TextEncoding, position: int, chars: int) -> str:
    """At least so many characters before a position, if there are so many, with LF for line ends."""
    start = max(len(kind.bom), position - 4 * (chars + 1))
    start += (position - start) % kind.unit
    return _with_lf(data[start:position].decode(kind.encoding, "replace"))


def _after(data: bytes, kind: TextEncoding, position: int, chars: int) -> str:
    return _with_lf(data[position : position + 4 * (chars + 1)].decode(kind.encoding, "replace"))


def _with_lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def has_substance(text: str) -> bool:
    """Whether a text is hardly repeated by chance, as brackets and blank lines are."""
    return re.search(r"\w{3}", text) is not None


def is_made(data: bytes, kind: TextEncoding, span: Span, old_text: str, new_text: str) -> bool:
    """Whether an edit that adds to the old text has been made at this place before: what it adds is there."""
    old, new = _with_lf(old_text), _with_lf(new_text)
    at = new.find(old)
    if at < 0 or new == old or not has_substance(new[:at] + new[at + len(old) :]):
        return False
    above, below = new[:at], new[at + len(old) :]
    if old.endswith("\n") and below and not below.endswith("\n"):
        below += "\n"
    before, after = _before(data, kind, span.start, 2 * len(above)), _after(data, kind, span.end, 2 * len(below))
    above, below, before, after = (re.sub(r"[ \t]+(?=\n)", "", text) for text in (above, below, before, after))
    return _is_at(above[::-1], before[::-1]) and _is_at(below, after)


def _is_at(added: str, around: str) -> bool:
    """Whether a text begins with what an edit adds, and that does not end within a word."""
    if not added:
        return True
    if not around.startswith(added):
        return False
    following = around[len(added) : len(added) + 1]
    return not (added[-1:].isalnum() and following.isalnum())


def with_line_ends(data: bytes, kind: TextEncoding, span: Span, old_text: str, new_text: str) -> str:
    """The new text with the line ends that belong into this place.

    Args:
        old_text: how the place was named. If it has CRLF and the place has none, CRLF only stood for a line end, in
            the new text too; if it has a lone CR, that is a character.
    """
    old = data[span.start : span.end].decode(kind.encoding, "replace")
    if "\r\n" in old_text and "\r\n" not in old:
        old_text, new_text = old_text.replace("\r\n", "\n"), new_text.replace("\r\n", "\n")
    split_at = _END_BESIDE_CR if "\r" in old_text.replace("\r\n", "") else _END
    new_lines, new_ends = split_at.split(new_text), split_at.findall(new_text)
    if "\n" not in new_ends:
        return new_text
    old_lines, old_ends = split_at.split(old), split_at.findall(old)
    usual = [end for end in old_ends if end != "\r"] or [end_near(data, kind, span.start)]
    if set(old_ends) <= {usual[0]}:
        return "".join(_joined(new_lines, [usual[0] if end == "\n" else end for end in new_ends]))
    ends = list(new_ends)
    for index, stands_for in enumerate(_counterparts(old_lines, new_lines)[:-1]):
        if ends[index] == "\n":
            ends[index] = _end_for(stands_for, old_ends, usual[0])
    return "".join(_joined(new_lines, ends))


def _joined(lines: list[str], ends: list[str]) -> Iterator[str]:
    for line, end in zip(lines, ends, strict=False):
        yield line
        yield end
    yield lines[-1]


def _end_for(stands_for: tuple[int, bool], old_ends: list[str], usual: str) -> str:
    """The end of a new line: that of the old line it stands for, or one like those before it."""
    index, is_added = stands_for
    if not is_added and index < len(old_ends):
        return old_ends[index]
    before = [end for end in old_ends[: index + 1] if end != "\r"]
    return before[-1] if before else usual


def _counterparts(old: list[str], new: list[str]) -> list[tuple[int, bool]]:
    """For each new line the old one that it stands for, or comes after if it is added, and whether it is added."""
    from agentcli.tools.edit.edit_diff import compare  # 1 ms, for difflib

    found: list[tuple[int, bool]] = []
    for _, i1, i2, j1, j2 in compare(old, new):
        for offset in range(j2 - j1):
            is_added = i1 + offset >= i2
            found.append((max(i2 - 1, 0) if is_added else i1 + offset, is_added))
    return found


def end_near(data: bytes, kind: TextEncoding, position: int) -> str:
    """The line end of the line at `position`; of the line before, if it is the last; LF if there is none."""
    lf, cr = "\n".encode(kind.encoding), "\r".encode(kind.encoding)
    first = len(kind.bom)
    hit = _find(data, lf, position, kind)
    if hit < 0:
        hit = _find_before(data, lf, position, kind)
    if hit >= 0:
        return "\r\n" if data.endswith(cr, first, hit) else "\n"
    return "\r" if _find(data, cr, first, kind) >= 0 else "\n"


def _find(data: bytes, end: bytes, position: int, kind: TextEncoding) -> int:
    hit = data.find(end, position)
    while hit >= 0 and (hit - len(kind.bom)) % kind.unit:
        hit = data.find(end, hit + 1)
    return hit


def _find_before(data: bytes, end: bytes, position: int, kind: TextEncoding) -> int:
    hit = data.rfind(end, len(kind.bom), position)
    while hit >= 0 and (hit - len(kind.bom)) % kind.unit:
        hit = data.rfind(end, len(kind.bom), hit + len(end) - 1)
    return hit
