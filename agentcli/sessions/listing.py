"""Listing: the facts about a session for a list, read from the two ends of its file."""

import os
import re
from pathlib import Path
from typing import IO, BinaryIO

import msgspec
from msgspec import Struct

from agentcli.agent.messages import AssistantMessage, UserMessage, text_of
from agentcli.agent.text import one_line
from agentcli.files.reading import open_file
from agentcli.sessions.codec import BOM, decode_entry, decode_head, decode_header, first_record, records_of
from agentcli.sessions.entries import EntryHead, MessageEntry, SessionHeader, SessionInfoEntry
from agentcli.sessions.ids import to_milliseconds

HEAD_BYTES = 1 << 14
TAIL_BYTES = 24 << 10
"""More than `jsonl_storage.REPEAT_NAME_AFTER`, so that the name is in it."""
MOST_BYTES = 4 << 20
"""The last message is searched up to this far from the end, behind a huge line."""

_MESSAGE = re.compile(rb'"timestamp":"([^"\\]{1,40})","message":\{"role":"(user|assistant)"')
_CUT_TEXT = re.compile(rb'"role":"user".{0,200}?"text":"((?:[^"\\]|\\.)*)', re.S)


class SessionInfo(Struct, frozen=True):
    """The facts about a session for a list."""

    path: Path
    id: str
    cwd: str
    created: str
    """ISO 8601 UTC."""
    modified: int
    """Unix milliseconds of the last user or assistant message; naming a session does not change it."""
    name: str | None
    first_message: str
    """The first user message, as one line."""
    parent_session: str | None = None


def read_info(path: Path) -> SessionInfo | None:
    """A session's entry in a list; None if the file is no session, or cannot be read."""
    try:
        with open_file(path) as file:
            status = os.fstat(file.fileno())
            head = file.read(HEAD_BYTES)
            header = decode_header(head.partition(b"\n")[0])
            if header is None and (header := _long_header(file, head)) is None:
                return None
            first = _first_message(head)
            name, latest = _read_tail(file, head, status.st_size)
    except OSError:
        return None
    modified = latest or int(status.st_mtime * 1000)
    return SessionInfo(path, header.id, header.cwd, header.timestamp, modified, name, first, header.parent_session)


def read_cwd(path: Path) -> str | None:
    """The working directory in a session file's header; None if there is no header, or it cannot be read."""
    try:
        with path.open("rb", buffering=0) as file:
            head = file.read(4096)
            header = decode_header(head.partition(b"\n")[0]) if b"\n" in head else _long_header(file, head)
    except OSError:
        return None
    return header.cwd if header is not None else None


def _long_header(file: IO[bytes], head: bytes) -> SessionHeader | None:
    if b"\n" in head or not head.removeprefix(BOM).startswith(b"{"):
        return None
    file.seek(0)
    return decode_header(file.readline(1 << 20))


def _first_message(beginning: bytes) -> str:
    lines = beginning.split(b"\n")
    # An entry may have run into the header's line.
    first = lines[0].removeprefix(BOM)
    for number, line in enumerate([first.removeprefix(first_record(first)), *lines[1:]]):
        is_cut = number == len(lines) - 1
        if is_cut and (found := _CUT_TEXT.search(line)):
            return one_line(_decoded(found[1][:2000]))
        if line.isspace() or not line:
            continue
        head = decode_head(line)
        for record in [line] if head is not None else records_of(line):
            if (text := _user_text(record, head or decode_head(record))) is not None:
                return text
    return ""


def _user_text(record: bytes, head: EntryHead | None) -> str | None:
    entry = decode_entry(record, head) if head is not None and head.type == "message" else None
    if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
        return one_line(text_of(entry.message.content))
    return None


def _decoded(raw: bytes) -> str:
    """The text of a JSON string that may be cut anywhere."""
    for end in range(len(raw), max(len(raw) - 12, -1), -1):
        try:
            return msgspec.json.decode(b'"' + raw[:end] + b'"', type=str)
        except msgspec.DecodeError:
            continue
    return ""


def _read_tail(file: BinaryIO, head: bytes, size: int) -> tuple[str | None, int]:
    """The latest name, and the time of the latest message, in the tail; 0 if there is none."""
    length = TAIL_BYTES
    while True:
        if size <= len(head):
            tail, is_whole = head, True
        else:
            start = max(size - length, 0)
            file.seek(start)
            tail, is_whole = file.read(size - start), start == 0
        name, latest = _scan_backwards(tail)
        if latest or is_whole or length >= MOST_BYTES:
            return name, latest
        length *= 8


def _scan_backwards(tail: bytes) -> tuple[str | None, int]:
    name: str | None = None
    named = False
    latest = 0
    end = len(tail)
    while end > 0 and not (named and latest):
        start = tail.rfind(b"\n", 0, end) + 1
        if start == 0 and not tail.startswith(b'{"type":'):
            break
        line = tail[start : min(end, start + 400)]
        if not latest:
            latest = _time_of(line, tail, start, end)
        if not named and line.startswith(b'{"type":"session_info"'):
            record = first_record(tail[start:end])
            head = decode_head(record)
            entry = decode_entry(record, head) if head is not None else None
            if isinstance(entry, SessionInfoEntry):
                name, named = entry.name or None, True
        end = start - 1
    return name, latest


def _time_of(beginning: bytes, tail: bytes, start: int, end: int) -> int:
    """The time of a line's message in Unix milliseconds; 0 if it is no message of the user or the model."""
    if beginning.startswith(b'{"type":"message"'):
        found = _MESSAGE.search(beginning)
        return to_milliseconds(found[1].decode()) if found else 0
    if beginning.startswith(b'{"type":"') or not beginning.startswith(b"{"):
        return 0
    head = decode_head(tail[start:end])
    entry = decode_entry(tail[start:end], head) if head is not None and head.type == "message" else None
    if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage | AssistantMessage):
        return to_milliseconds(entry.timestamp)
    return 0
