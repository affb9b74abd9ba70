"""Codec: the lines of a session file as headers and entries, and back.

An entry of an unknown type decodes to an `UnknownEntry`. Of a damaged line, what can be read is decoded: two writes may
have run into each other, or only the place in the tree may be readable. Only damaged lines take the slow path; its cost
stays within a constant of the line's length.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent.json_bytes import json_bytes
from agentcli.sessions.entries import VERSION, Entry, EntryHead, KnownEntry, SessionHeader, UnknownEntry

BOM = b"\xef\xbb\xbf"
"""The byte order mark that some editors write before the header."""

DAMAGED = "damaged"
"""The `type` of an entry of which only the place in the tree can be read."""

MAX_TRIES = 50
"""A line is given up after so many places at which an object seemed to begin, and did not."""

_OBJECT = re.compile(r'\{\s*"(?:type|id|parent_id|parentId|timestamp)"\s*:')
_WHITESPACE = b" \t\r\n\v\f"

_entry_decoder = msgspec.json.Decoder(KnownEntry)
_head_decoder = msgspec.json.Decoder(EntryHead)
_unknown_decoder = msgspec.json.Decoder(UnknownEntry)
_header_decoder = msgspec.json.Decoder(SessionHeader)


def encode_line(record: SessionHeader | Entry) -> bytes:
    """One line, newline included: valid UTF-8, whatever the record holds."""
    return json_bytes(record) + b"\n"


def decode_header(line: bytes) -> SessionHeader | None:
    """The header that a file's first line begins with, or None if there is none."""
    try:
        return _header_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        first = first_record(line)
        return decode_header(first) if first != line else None


def decode_head(line: bytes) -> EntryHead | None:
    """The head of an entry, or None if the line is none."""
    try:
        return _head_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None


def decode_entry(line: bytes, head: EntryHead | None = None) -> Entry:
    """An entry whose head could be decoded.

    Args:
        line: the entry's line, or what is left of it.
        head: the entry's place in the tree, where it differs from the one in the line; also all that is left of an
            entry whose line is damaged otherwise.
    """
    try:
        entry: Entry = _entry_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        if (first := first_record(line)) != line:
            return decode_entry(first, head)
        entry = _decode_unknown(line, head)
    if head is not None and (entry.id != head.id or entry.parent_id != head.parent_id):
        entry = msgspec.structs.replace(entry, id=head.id, parent_id=head.parent_id)
    return entry


def _decode_unknown(line: bytes, head: EntryHead | None) -> UnknownEntry:
    try:
        return _unknown_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        if head is None:
            raise
        return UnknownEntry(type=DAMAGED, id=head.id, parent_id=head.parent_id)


def decode_object(line: bytes) -> dict[str, Any] | None:
    """The JSON object that a line is, of whatever format; None if it is none."""
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def is_foreign(first: bytes, second: bytes) -> bool:
    """Whether a file that begins with these two lines is a session in another or older format, to be imported."""
    header, entry = decode_object(first), decode_object(second)
    if header is None or header.get("type") != "session" or not isinstance(header.get("id"), str):
        return False
    version = header.get("version", 1)
    if not isinstance(version, int) or version < VERSION or "parentSession" in header:
        return True
    return entry is not None and "parentId" in entry and "parent_id" not in entry


def first_record(line: bytes) -> bytes:
    """The record that a line begins with: without a byte order mark, and without what ran into it."""
    line = line.removeprefix(BOM)
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return next(iter(records_of(line)), line) if line.startswith(b"{") else line
    return line


class LinePart(Struct, frozen=True):
    """A stretch of a line that is not one JSON value."""

    start: int
    """Bytes from the line's start."""
    end: int
    is_record: bool
    """Whether it is a whole JSON object that may be a header or an entry."""


def parts_of(line: bytes) -> list[LinePart]:
    """The records in a line, and what cannot be read before, between and after them, in order."""
    parts: list[LinePart] = []
    end = 0
    for start, after in _find_records(line):
        if line[end:start].strip(_WHITESPACE):
            parts.append(LinePart(end, start, False))
        parts.append(LinePart(start, after, True))
        end = after
    if line[end:].strip(_WHITESPACE):
        parts.append(LinePart(end, len(line), False))
    return parts


def records_of(line: bytes) -> list[bytes]:
    """The records in a line, each as its own line would hold it; empty if there is none."""
    return [line[part.start : part.end] for part in parts_of(line) if part.is_record]


def _find_records(line: bytes) -> Iterator[tuple[int, int]]:
    """Where whole records begin and end. An object inside a torn one is none, however whole it looks."""
    import json  # only for damaged lines

    decoder = json.JSONDecoder(strict=False)
    # A byte a character: the structure of JSON is ASCII, so that positions in the text are positions in the line.
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
        follows = not line[read_to : found.start()].strip(_WHITESPACE)
        if _is_record(value, follows):
            read_to = end
            yield found.start(), end


def _is_record(value: object, follows: bool) -> bool:
    """Whether an object is an entry or a header. A block of a torn message is none: it has no place in the tree."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or not isinstance(value.get("id"), str):
        return False
    return follows or ("timestamp" in value and ("parent_id" in value or "parentId" in value))
