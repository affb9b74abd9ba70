"""Copying: a session file made from entries of another, published whole or not at all.

Lines are copied byte for byte, so that what this version does not know survives; only a place in the tree that differs
is rewritten.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import UserMessage
from agentcli.sessions.codec import encode_line, first_record
from agentcli.sessions.entries import EntryHead, LabelEntry, MessageEntry, SessionHeader, SessionInfoEntry
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage, publish_as, storage_error
from agentcli.sessions.storage.storage import SessionStorage


def publish(path: Path, header: SessionHeader, lines: Iterable[bytes]) -> None:
    """Write a session file that appears under its name when it is complete and on the disk.

    Raises:
        SessionError: `storage`, or `exists` if there is such a file; then no partial file is left.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(encode_line(header))
                for line in lines:
                    file.write(line + b"\n")
                file.flush()
                os.fsync(file.fileno())
            publish_as(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except FileExistsError:
        raise SessionError("exists", f"there is a session file {path} already", hint="it was left as it is") from None
    except OSError as error:
        raise storage_error(path, error) from None


def lines_of(storage: SessionStorage, heads: Sequence[EntryHead]) -> Iterator[bytes]:
    """The lines of entries, each with its place in the tree of the storage; damaged ones are left out."""
    dropped: dict[str | None, str | None] = {}
    for head in heads:
        if head.parent_id in dropped:
            head = EntryHead(head.type, head.id, dropped[head.parent_id])
        line = storage.get_line(head.id) if isinstance(storage, JsonlSessionStorage) else None
        if line is None:
            entry = storage.get_entry(head.id)
            if entry is not None:
                yield encode_line(entry)[:-1]
        elif (placed := placed_line(line, head)) is not None:
            yield placed
        else:
            dropped[head.id] = head.parent_id


def placed_line(line: bytes, head: EntryHead) -> bytes | None:
    """The line with the id and the parent of the head; None if it is damaged."""
    line = first_record(line)
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    if record.get("id") == head.id and record.get("parent_id") == head.parent_id:
        return line
    return msgspec.json.encode({**record, "id": head.id, "parent_id": head.parent_id})


def branch_lines(storage: SessionStorage, leaf_id: str | None) -> Iterator[bytes]:
    """One branch as the lines of a new session: the path, then its labels and the name."""
    path = storage.get_path(leaf_id)
    yield from lines_of(storage, path)
    ids = {head.id for head in path}
    carried = {"id": "", "parent_id": leaf_id, "timestamp": now_iso()}
    for target_id, label in storage.labels.items():
        if target_id in ids:
            entry = LabelEntry(**{**carried, "id": new_id()}, target_id=target_id, label=label)
            yield encode_line(entry)[:-1]
    if storage.name and not any(head.type == "session_info" for head in path):
        yield encode_line(SessionInfoEntry(**{**carried, "id": new_id()}, name=storage.name))[:-1]


def fork_leaf(storage: SessionStorage, entry_id: str, position: str) -> str | None:
    """The last entry of a fork: the entry, or its parent if the fork ends before it; then it must be a user message.

    Raises:
        SessionError: `not_found`, `invalid_fork_target`.
    """
    head = storage.require(entry_id)
    match position:
        case "at":
            return head.id
        case "before":
            entry = storage.get_entry(entry_id)
            if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
                return head.parent_id
            hint = "name a user message, or fork at the entry"
            raise SessionError("invalid_fork_target", f"entry {entry_id} is no message of the user", hint=hint)
        case _:
            raise SessionError("invalid_fork_target", f"a fork is `before` or `at` an entry, not {position!r}")
