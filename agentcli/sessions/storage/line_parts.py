"""Line parts: what can be read in a line that is not one JSON value, as two writes that ran into each other leave it.

Only damaged lines come here, so this may take its time; a line's cost stays within a constant of its length.
"""

import re
from collections.abc import Iterator

import msgspec

MAX_TRIES = 50
"""A line is given up after so many places at which an object seemed to begin, and did not."""

_OBJECT = re.compile(r'\{\s*"(?:type|id|parent_id|parentId|timestamp)"\s*:')
_BLANK = b" \t\r\n\v\f"


class LinePart(msgspec.Struct, frozen=True):
    start: int
    """Bytes from the line's start."""
    end: int
    is_record: bool
    """Whether it is a whole JSON object that may be a header or an entry."""


def parts_of(line: bytes) -> list[LinePart]:
    """The records that stand in a line, and what cannot be read before, between and after them, in order."""
    parts: list[LinePart] = []
    end = 0
    for start, after in _records(line):
        if line[end:start].strip(_BLANK):
            parts.append(LinePart(end, start, False))
        parts.append(LinePart(start, after, True))
        end = after
    if line[end:].strip(_BLANK):
        parts.append(LinePart(end, len(line), False))
    return parts


def records_of(line: bytes) -> list[bytes]:
    """The records that stand in a line, each as its own line would hold it; nothing if there is none."""
    return [line[part.start : part.end] for part in parts_of(line) if part.is_record]


def _records(line: bytes) -> Iterator[tuple[int, int]]:
    """Where whole records begin and end. What lies inside of a torn one is none, however whole it looks."""
    import json  # 5 ms, for those who have such a line

    decoder = json.JSONDecoder(strict=False)
    # A byte a character: the structure of JSON is ASCII, so that places in the text are places in the line.
    text = line.decode("latin-1")
    position = read_to = tries = 0
    while tries < MAX_TRIES and (found := _OBJECT.search(text, position)) is not None:
        try:
            value, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            tries += 1
            position = found.start() + 1
            continue
        position = end
        follows = not line[read_to : found.start()].strip(_BLANK)
        if _is_record(value, follows):
            read_to = end
            yield found.start(), end


def _is_record(value: object, follows: bool) -> bool:
    """Whether an object is an entry or a header. A block of a torn message is none: it has no place in the tree."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or not isinstance(value.get("id"), str):
        return False
    return follows or ("timestamp" in value and ("parent_id" in value or "parentId" in value))
