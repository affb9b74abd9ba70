"""GrepEvents: reads what `rg --json` prints, with bounded memory however long a line of a file is.

Of an event longer than `MAX_EVENT` only the beginning of the line is kept, with what says where the match is.
"""

import re
from base64 import b64decode

import msgspec
from msgspec import Struct

MAX_EVENT = 1 << 20
_MAX_PLACE = 512
_PLACE = b'},"line_number":'
"""Ends the text of an event. It cannot stand within one: there, quotes have a backslash before them."""
_HEAD = re.compile(
    rb'\{"type":"(match|context)","data":\{"path":(\{"(?:text|bytes)":"(?:[^"\\]|\\.)*"\}),"lines":\{"(text|bytes)":"'
)


class Text(Struct):
    """As ripgrep has it: `bytes` is base64, for what is not UTF-8."""

    text: str | None = None
    bytes: str | None = None

    def raw(self) -> "bytes":
        return self.text.encode() if self.text is not None else b64decode(self.bytes or "")


class Submatch(Struct):
    start: int
    """In bytes, from the start of the line."""


class Line(Struct):
    path: Text
    lines: Text
    line_number: int | None = None
    submatches: list[Submatch] = []


class _Event(Struct):
    type: str
    data: msgspec.Raw


class GrepEvents:
    """Takes the output chunk by chunk."""

    def __init__(self) -> None:
        self.is_whole: bool = False
        """Whether the last event, the summary, was there."""
        self._held = b""
        self._long: _LongEvent | None = None
        self._events = msgspec.json.Decoder(_Event)
        self._lines = msgspec.json.Decoder(Line)

    def take(self, chunk: bytes) -> list[tuple[bool, Line]]:
        """The lines that the chunk completes: whether it is a match (or near one), and the line."""
        found: list[tuple[bool, Line]] = []
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            line = self._long.end(part) if self._long else self._decode(self._held + part)
            self._held, self._long = b"", None
            if line is not None:
                found.append(line)
        if self._long:
            self._long.take(rest)
        elif len(self._held) + len(rest) > MAX_EVENT:
            self._long = _LongEvent(self._held + rest)
            self._held = b""
        else:
            self._held += rest
        return found

    def _decode(self, data: bytes) -> tuple[bool, Line] | None:
        event = self._events.decode(data)
        if event.type in ("match", "context"):
            return event.type == "match", self._lines.decode(event.data)
        self.is_whole = self.is_whole or event.type == "summary"
        return None


class _LongEvent:
    """What is kept of an event that is too long to be kept."""

    def __init__(self, start: bytes) -> None:
        self._head = start
        self._place: bytes | None = None
        self._seam = b""
        self.take(start)
        if self._place is not None:  # the line is short, and the matches in it are many
            self._head = start[: start.index(_PLACE)]

    def take(self, data: bytes) -> None:
        if self._place is None:
            window = self._seam + data
            _, marker, after = window.partition(_PLACE)
            self._seam = window[1 - len(_PLACE) :]
            self._place = after[:_MAX_PLACE] if marker else None
        elif len(self._place) < _MAX_PLACE:
            self._place += data[: _MAX_PLACE - len(self._place)]

    def end(self, data: bytes) -> tuple[bool, Line] | None:
        """The event as a line; None if it is of another kind."""
        self.take(data)
        head = _HEAD.match(self._head)
        if head is None:
            return None
        place = self._place or b""
        number = re.match(rb"\d+", place)
        start = re.search(rb'"start":(\d+)', place)
        line = Line(
            path=msgspec.json.decode(head[2], type=Text),
            lines=_cut_text(head[3].decode(), self._head[head.end() :].removesuffix(b'"')),
            line_number=int(number[0]) if number else None,
            submatches=[Submatch(int(start[1]))] if start else [],
        )
        return head[1] == b"match", line


def _cut_text(kind: str, data: bytes) -> Text:
    """A JSON string that ends anywhere, up to its last whole character."""
    if kind == "bytes":
        return Text(bytes=data[: len(data) // 4 * 4].decode())
    for missing in range(16):  # a character is 12 bytes at most: two \uXXXX
        try:
            return Text(text=msgspec.json.decode(b'"' + data[: len(data) - missing] + b'"', type=str))
        except msgspec.DecodeError:
            continue
    return Text(text="")
