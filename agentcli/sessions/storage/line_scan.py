"""Line scan: the positions of the entries of a session file and their places in the tree, in one pass.

Lines as agentcli writes them are recognised by their first bytes; the rest is only searched for the beginning of
another entry (two writes that ran into each other). Memory is bounded by the longest line.
"""

import re
from collections.abc import Iterator
from io import FileIO

from msgspec import Struct

from agentcli.sessions.codec import BOM, LinePart, decode_head, parts_of
from agentcli.sessions.entries import EntryHead

CHUNK = 1 << 20

_BRACE = ord("}")

_HEAD = re.compile(
    rb'\{"type":"([a-z_]{1,64})","id":"([!#-\[\]-~]{1,128})","parent_id":(?:null|"([!#-\[\]-~]{1,128})"),"timestamp":'
)


_PLACE = b'"parent_id":'
"""Every entry has it once, and text cannot contain it: quotes in a JSON string are escaped."""


class ScannedLine(Struct, gc=False):
    """A line, or one of the parts of a line that is not one record."""

    offset: int
    """Bytes from the start of the file."""
    length: int
    """Bytes, without the newline."""
    head: EntryHead | None
    """None if the line is no entry."""
    has_newline: bool = True
    """False if the file ends here, and the line without a newline."""
    follows: bool = False
    """Whether it is on the same line as the one before."""


def scan_lines(file: FileIO) -> Iterator[ScannedLine]:
    """Every line that is not only whitespace, from the file's start, header included. A byte order mark is skipped."""
    buffer = bytearray(CHUNK)
    filled = base = 0
    types: dict[bytes, str] = {}
    # Most entries follow the one before: its id is neither decoded nor stored twice.
    last_raw, last_id = b"", ""
    while True:
        if filled == len(buffer):
            buffer.extend(bytes(len(buffer)))
        with memoryview(buffer) as view, view[filled:] as rest:
            count = file.readinto(rest) or 0
        if not count:
            break
        filled += count
        start = len(BOM) if base == 0 and buffer.startswith(BOM) else 0
        first = start
        ends: list[int] = []
        heads: list[re.Match[bytes] | None] = []
        odd = 0
        while (end := buffer.find(b"\n", start, filled)) >= 0:
            found = _HEAD.match(buffer, start, end) if buffer[end - 1] == _BRACE else None
            if found is None:
                odd += 1
            ends.append(end)
            heads.append(found)
            start = end + 1
        # One search of the whole buffer takes half the time of one search for each line.
        has_one_each = not odd and buffer.count(_PLACE, first, start) == len(ends)
        begin = first
        for end, found in zip(ends, heads, strict=True):
            if found is not None and (has_one_each or buffer.find(_PLACE, found.end(), end) < 0):
                raw_type, raw, raw_parent = found.groups()
                type = types.get(raw_type) or types.setdefault(raw_type, raw_type.decode())
                parent = last_id if raw_parent == last_raw else None if raw_parent is None else raw_parent.decode()
                last_raw, last_id = raw, raw.decode()
                yield ScannedLine(base + begin, end - begin, EntryHead(type, last_id, parent))
            elif (line := bytes(buffer[begin:end])).strip():
                yield from _scan_odd(line, base + begin, has_newline=True)
            begin = end + 1
        buffer[: filled - start] = buffer[start:filled]
        filled -= start
        base += start
    start = len(BOM) if base == 0 and buffer.startswith(BOM) else 0
    if tail := bytes(buffer[start:filled]):
        yield from _scan_odd(tail, base + start, has_newline=False)


def _scan_odd(line: bytes, offset: int, *, has_newline: bool) -> Iterator[ScannedLine]:
    """A line that its first bytes do not identify: another writer's, a torn one, or several in one."""
    head = decode_head(line.strip())
    parts: list[LinePart] = []
    if head is None:
        parts = parts_of(line)
    if not any(part.is_record for part in parts):
        if head is None and (found := _HEAD.match(line)) is not None and line.endswith(b"}"):
            # It is damaged only after its place in the tree.
            type, id, parent = (group.decode() if group is not None else None for group in found.groups())
            head = EntryHead(type or "", id or "", parent)
        yield ScannedLine(offset, len(line), head, has_newline)
        return
    for part in parts:
        head = decode_head(line[part.start : part.end]) if part.is_record else None
        ends_file = not has_newline and part is parts[-1]
        yield ScannedLine(offset + part.start, part.end - part.start, head, not ends_file, part is not parts[0])
