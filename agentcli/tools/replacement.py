"""Replacement: the bytes that go in for a place in a file: the new text in the file's encoding and line ends.

The new text is taken as it is written; nothing in it is a pattern. Only an LF becomes the line end that the file has at
that place: lines that stay keep their own, new ones get that of the line they follow. A CRLF in the text stays CRLF.
"""

import re

from agentcli.tools.matching import Span
from agentcli.tools.text_file import TextKind

_END = re.compile(r"\r\n|\n|\r")
_LF = re.compile(r"(?<!\r)\n")


def replacement(data: bytes, kind: TextKind, span: Span, new_text: str) -> bytes:
    """Raises `UnicodeEncodeError` if the encoding has not all characters of `new_text`."""
    return with_line_ends(data, kind, span, new_text).encode(kind.encoding)


def with_line_ends(data: bytes, kind: TextKind, span: Span, new_text: str) -> str:
    lines = _LF.split(new_text)
    if len(lines) == 1:
        return new_text
    old = data[span.start : span.end].decode(kind.encoding, "replace")
    old_lines, old_ends = _END.split(old), _END.findall(old)
    same_before = _common(old_lines, lines)
    same_behind = _common(old_lines[::-1], lines[::-1])
    local = old_ends[min(same_before, len(old_ends) - 1)] if old_ends else end_near(data, kind, span.start)
    count = len(lines) - 1
    parts: list[str] = []
    for index, line in enumerate(lines[:-1]):
        from_behind = count - index
        if index < min(same_before, len(old_ends)):
            end = old_ends[index]
        elif from_behind < same_behind and from_behind <= len(old_ends):
            end = old_ends[-from_behind]
        else:
            end = local
        parts += (line, end)
    return "".join([*parts, lines[-1]])


def end_near(data: bytes, kind: TextKind, position: int) -> str:
    """The line end of the line at `position`; of the line before, if it is the last; LF if there is none."""
    ends = {name: name.encode(kind.encoding) for name in ("\r\n", "\n", "\r")}
    behind = [(hit, -len(ends[name]), name) for name in ends if (hit := _find(data, ends[name], position, kind)) >= 0]
    if behind:
        return min(behind)[2]
    for name, end in ends.items():
        if data.endswith(end, len(kind.bom), _line_start(data, kind, position)):
            return name
    return "\n"


def _find(data: bytes, end: bytes, position: int, kind: TextKind) -> int:
    hit = data.find(end, position)
    while hit >= 0 and (hit - len(kind.bom)) % kind.unit:
        hit = data.find(end, hit + 1)
    return hit


def _line_start(data: bytes, kind: TextKind, position: int) -> int:
    """Where the line begins that `position` is in."""
    starts = [len(kind.bom)]
    for name in ("\n", "\r"):
        end = name.encode(kind.encoding)
        hit = data.rfind(end, len(kind.bom), position)
        while hit >= 0 and (hit - len(kind.bom)) % kind.unit:
            hit = data.rfind(end, len(kind.bom), hit)
        if hit >= 0:
            starts.append(hit + len(end))
    return max(starts)


def _common(left: list[str], right: list[str]) -> int:
    """How many items are the same from the start on."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
