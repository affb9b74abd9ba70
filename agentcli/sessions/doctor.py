"""Doctor: the damage of a session file, and a repaired copy. The file itself is only read."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.call_ids import CallIds
from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AssistantMessage, ToolResultMessage
from agentcli.sessions.codec import DAMAGED
from agentcli.sessions.copying import lines_of, publish
from agentcli.sessions.entries import Entry, EntryHead, MessageEntry, UnknownEntry
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage, storage_error
from agentcli.sessions.storage.line_scan import ScannedLine, scan_lines
from agentcli.sessions.storage.storage import SessionStorage


class Finding(Struct, frozen=True):
    """One thing that is wrong or worth knowing about a session file."""

    kind: str
    """`refused`, `torn`, `unreadable`, `damaged`, `fused`, `orphaned`, `duplicate`, `same_call`, `unknown`,
    `unanswered`, `set_aside`, `not_private`, `parent_gone`."""
    text: str
    """One line, for users."""
    is_wrong: bool = True
    """Whether a repaired copy would differ; otherwise it is only worth knowing."""


def examine(path: Path) -> list[Finding]:
    """Check a session file. Empty if all is well."""
    try:
        storage = JsonlSessionStorage.read(path)
    except SessionError as error:
        return [Finding("refused", str(error), is_wrong=False)]
    try:
        return [*_of_lines(storage), *_of_entries(storage), *_around(path, storage)]
    except OSError as error:
        return [Finding("refused", str(storage_error(path, error, "read")), is_wrong=False)]
    finally:
        storage.close()


def _of_lines(storage: JsonlSessionStorage) -> list[Finding]:
    findings: list[Finding] = []
    seen: dict[str, str | None] = {}
    ids = {head.id for head in storage.heads()}
    for number, line in _numbered(storage.path):
        head = line.head
        if head is None:
            kind = "unreadable" if line.has_newline else "torn"
            findings.append(Finding(kind, f"line {number}: {line.length:,} bytes cannot be read"))
            continue
        if line.follows:
            findings.append(
                Finding("fused", f"line {number} goes on with the entry {head.id}; it has no line of its own")
            )
        if head.id in seen:
            findings.append(Finding("duplicate", f"line {number} has the id {head.id} of an earlier one"))
        if head.parent_id is not None and head.parent_id not in ids:
            findings.append(Finding("orphaned", f"line {number}: its parent {head.parent_id} is not there"))
        elif _closes_cycle(head, seen):
            findings.append(Finding("orphaned", f"line {number} and its parents form a circle"))
        seen[head.id] = head.parent_id
    return findings


def _numbered(path: Path) -> Iterator[tuple[int, ScannedLine]]:
    """The lines after the header, each with its number; lines of whitespace do not count."""
    number = 0
    with FileIO(str(path), "rb") as file:
        for index, line in enumerate(scan_lines(file)):
            number += not line.follows
            if index:
                yield number, line


def _closes_cycle(head: EntryHead, parents: dict[str, str | None]) -> bool:
    id = head.parent_id
    if id is None or id not in parents or head.id in parents:
        return False
    steps = 0
    while id is not None and id in parents and steps <= len(parents):
        id, steps = parents[id], steps + 1
        if id == head.id:
            return True
    return False


def _of_entries(storage: JsonlSessionStorage) -> list[Finding]:
    findings: list[Finding] = []
    unknown: dict[str, int] = {}
    ids = [head.id for head in storage.heads()]
    for entry in storage.get_some(ids):
        if isinstance(entry, UnknownEntry):
            if entry.type == DAMAGED:
                findings.append(Finding("damaged", f"entry {entry.id} cannot be read but for its place"))
            else:
                unknown[entry.type] = unknown.get(entry.type, 0) + 1
    for id, name in _shared_calls(storage, storage.get_some(ids)):
        findings.append(Finding("same_call", f"entry {id}: a call of {name} has no id of its own"))
    for type, count in unknown.items():
        findings.append(Finding("unknown", f"{count} entries of type {type} are not known here; kept", is_wrong=False))
    for name in _unanswered_calls(storage.get_some(ids)):
        text = f"a call of {name} has no result; it gets one when the session goes on"
        findings.append(Finding("unanswered", text, is_wrong=False))
    return findings


def _around(path: Path, storage: JsonlSessionStorage) -> list[Finding]:
    findings: list[Finding] = []
    if path.with_name(path.name + ".torn").exists():
        findings.append(Finding("set_aside", f"what was torn before is in {path.name}.torn", is_wrong=False))
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        findings.append(Finding("not_private", f"others may read it: chmod 600 {path}", is_wrong=False))
    parent = storage.header.parent_session
    if parent is not None and not Path(parent).exists():
        findings.append(Finding("parent_gone", f"the session it was forked from is gone: {parent}", is_wrong=False))
    return findings


def repair(path: Path) -> Path:
    """Write a copy with every entry that can be read and a connected tree. Returns it; the file stays as it is.

    Raises:
        SessionError: the file is no session, or the copy cannot be written.
    """
    storage = JsonlSessionStorage.read(path)
    try:
        header = replace(storage.header, id=new_id(), timestamp=now_iso(), parent_session=str(path))
        stamp = re.sub(r"[^\w-]", "-", header.timestamp)
        copy = path.with_name(f"{stamp}_{header.id}.jsonl")
        lines = lines_of(storage, storage.heads())
        if any(_shared_calls(storage, storage.get_some([head.id for head in storage.heads()]))):
            lines = _with_distinct_calls(storage, lines)
        publish(copy, header, lines)
    finally:
        storage.close()
    return copy


def _shared_calls(storage: SessionStorage, entries: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    """The entry and the tool of each call without an id, or with that of an earlier call on the same branch."""
    owners: dict[str, list[str]] = {}
    for entry in entries:
        if not (isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage)):
            continue
        above: set[str] | None = None
        for call in entry.message.tool_calls:
            earlier = owners.setdefault(call.id, [])
            if earlier and above is None:
                above = {head.id for head in storage.get_path(entry.id)}
            if not call.id.strip() or (above is not None and not above.isdisjoint(earlier)):
                yield entry.id, call.name
            earlier.append(entry.id)


def _with_distinct_calls(storage: SessionStorage, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a session's entries, with a new id for each call whose id is taken, and for its result."""
    taken = CallIds()
    given: dict[str, dict[str, list[str]]] = {}
    """By entry: the new ids of its calls by the old ones, in order."""
    originals: dict[str, str] = {}
    """By entry of a result: the old id of its call."""
    for line in lines:
        record = msgspec.json.decode(line)
        message = record.get("message")
        before = msgspec.json.encode(record)
        match message:
            case {"role": "assistant", "content": list(content)}:
                changed = given[record["id"]] = {}
                for block in content:
                    if isinstance(block, dict) and block.get("type") == "tool" and isinstance(block.get("id"), str):
                        id = taken.assign(block["id"])
                        changed.setdefault(block["id"], []).append(id)
                        block["id"] = id
            case {"role": "toolResult", "tool_call_id": str(original)}:
                originals[record["id"]] = original
                message["tool_call_id"] = _answered(storage, record["id"], original, given, originals)
            case _:
                pass
        after = msgspec.json.encode(record)
        yield line if after == before else after


def _answered(
    storage: SessionStorage,
    id: str,
    original: str,
    given: dict[str, dict[str, list[str]]],
    originals: dict[str, str],
) -> str:
    """The new id of the call that a result answers: in the nearest ancestor with the old id, in order."""
    before = 0
    head = storage.get_head(id)
    while head is not None and head.parent_id is not None:
        head = storage.get_head(head.parent_id)
        if head is None:
            break
        if calls := given.get(head.id, {}).get(original):
            return calls[min(before, len(calls) - 1)]
        before += originals.get(head.id) == original
    return original


def _unanswered_calls(entries: Iterable[Entry]) -> list[str]:
    """The names of calls that have no result, in order."""
    waiting: dict[str, list[str]] = {}
    for entry in entries:
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                waiting.setdefault(call.id, []).append(call.name)
        elif isinstance(message, ToolResultMessage) and waiting.get(message.tool_call_id):
            waiting[message.tool_call_id].pop(0)
    return [name for names in waiting.values() for name in names]
