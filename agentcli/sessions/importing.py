"""Importing: a session file from elsewhere, or in an older format, becomes the lines of a new session file.

What it was made from is never touched.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent.errors import SessionError
from agentcli.files.reading import FileProblem, open_file
from agentcli.sessions.codec import first_record, parts_of
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.formats import is_foreign, translate
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.storage.jsonl_storage import HEADER_BYTES, storage_error


class Import(Struct, frozen=True):
    header: SessionHeader
    lines: list[bytes]
    skipped: int
    """Lines that could not be read, or of which something could not."""


def read_import(path: Path) -> Import:
    """What a file holds, in today's format.

    Raises:
        SessionError: `not_found`, `not_a_session`, `storage`.
    """
    hint = "give the path of a session file"
    try:
        with open_file(path) as file:
            line, second = file.readline(HEADER_BYTES), file.readline(HEADER_BYTES)
            first = first_record(line)
            header = _record(first)
            if header is None or header.get("type") != "session" or not isinstance(header.get("id"), str):
                raise SessionError("not_a_session", f"{path} is not a session file", hint="it was left as it is")
            foreign = is_foreign(first, second)
            file.seek(line.index(first) + len(first.rstrip(b"\r\n")))
            raw = [line.rstrip(b"\r\n") for line in file]
    except (FileNotFoundError, NotADirectoryError):
        raise SessionError("not_found", f"there is no file {path}", hint=hint) from None
    except FileProblem as error:
        raise SessionError("not_found", f"{path} cannot be read: {error.reason}", hint=hint) from None
    except OSError as error:
        raise storage_error(path, error, "read") from None
    lines: list[bytes] = []
    skipped = 0
    for line in raw:
        if _record(line) is not None:
            lines.append(line)
        elif line.strip():
            parts = parts_of(line)
            lines += [line[part.start : part.end] for part in parts if part.is_record]
            skipped += any(not part.is_record for part in parts)
    if not foreign:
        return Import(_header(header, path), lines, skipped)
    records = [record for line in lines if (record := _record(line)) is not None]
    translated = _connected([translate(record) for record in records], header.get("version", 1))
    return Import(_header(translate(header), path), [msgspec.json.encode(record) for record in translated], skipped)


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _header(record: dict[str, Any], path: Path) -> SessionHeader:
    metadata = record.get("metadata")
    return SessionHeader(
        id=record["id"],
        timestamp=str(record.get("timestamp") or now_iso()),
        cwd=str(record.get("cwd") or ""),
        parent_session=parent if isinstance(parent := record.get("parent_session"), str) else None,
        metadata={**(metadata if isinstance(metadata, dict) else {}), "imported_from": str(path)},
    )


def _connected(records: list[dict[str, Any]], version: object) -> Iterator[dict[str, Any]]:
    """Records with ids and parents: version 1 is a list, in which each follows the one before."""
    is_list = not isinstance(version, int) or version < 2
    ids = [record["id"] if isinstance(record.get("id"), str) else new_id() for record in records]
    for number, record in enumerate(records):
        if is_list:
            record["parent_id"] = ids[number - 1] if number else None
        index = record.pop("first_kept_entry_index", None)
        if isinstance(index, int) and "first_kept_entry_id" not in record:
            # The index counts the header as 0.
            record["first_kept_entry_id"] = ids[index - 1] if 1 <= index <= len(ids) else None
        place = {"type": record.pop("type", "unknown"), "id": ids[number], "parent_id": record.pop("parent_id", None)}
        record.pop("id", None)
        timestamp = record.pop("timestamp", None)
        yield {**place, "timestamp": timestamp if isinstance(timestamp, str) else now_iso(), **record}
