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
