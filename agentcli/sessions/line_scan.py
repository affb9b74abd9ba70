"""Line scan: where the entries of a session file are, and their places in the tree, in one pass.

Lines as agentcli writes them are told by their first bytes; what follows is not looked at. Memory is bounded by the
longest line.
"""

import re
from collections.abc import Iterator
from io import FileIO

from msgspec import Struct

from agentcli.sessions.entries import EntryHead, decode_head

CHUNK = 1 << 20

_BRACE = ord("}")

_HEAD = re.compile(
    rb'\{"type":"([a-z_]{1,64})","id":"([!#-\[\]-~]{1,128})","parent_id":(?:null|"([!#-\[\]-~]{1,128})"),"timestamp":'
)


class ScannedLine(Struct, gc=False):
    offset: int
    """Bytes from the start of the file."""
    length: int
    """Bytes, without the newline."""
    head: EntryHead | None
    """None if the line is no entry."""
    has_newline: bool = True


def scan_lines(file: FileIO) -> Iterator[ScannedLine]:
    """Every line that is not blank, from the file's start, its header included."""
    buffer = bytearray(CHUNK)
    filled = base = 0
    types: dict[bytes, str] = {}
    # Most entries follow the one before: its id is not decoded and kept twice.
    last_raw, last_id = b"", ""
    while True:
        if filled == len(buffer):
            buffer.extend(bytes(len(buffer)))
        with memoryview(buffer) as view, view[filled:] as rest:
            count = file.readinto(rest) or 0
        if not count:
            break
        filled += count
        start = 0
        while (end := buffer.find(b"\n", start, filled)) >= 0:
            found = _HEAD.match(buffer, start, end)
            if found is not None and buffer[end - 1] == _BRACE:
                raw_type, raw, raw_parent = found.groups()
                type = types.get(raw_type) or types.setdefault(raw_type, raw_type.decode())
                parent = last_id if raw_parent == last_raw else None if raw_parent is None else raw_parent.decode()
                last_raw, last_id = raw, raw.decode()
                yield ScannedLine(base + start, end - start, EntryHead(type, last_id, parent))
            elif line := bytes(buffer[start:end]).strip():
                yield ScannedLine(base + start, end - start, decode_head(line))
            start = end + 1
        buffer[: filled - start] = buffer[start:filled]
        filled -= start
        base += start
    if tail := bytes(buffer[:filled]):
        yield ScannedLine(base, filled, decode_head(tail), has_newline=False)
