"""JsonlSessionRepo: the folder of sessions, a folder in it for each working folder."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AssistantMessage, UserMessage, text_of
from agentcli.agent.text import one_line
from agentcli.sessions.entries import (
    MessageEntry,
    SessionHeader,
    SessionInfoEntry,
    decode_entry,
    decode_head,
    decode_header,
)
from agentcli.sessions.ids import new_id, now_iso, to_milliseconds
from agentcli.sessions.jsonl_storage import JsonlSessionStorage
from agentcli.sessions.session import Session

HEAD_BYTES = 1 << 16
TAIL_BYTES = 1 << 15


class SessionInfo(Struct, frozen=True):
    """What a list shows of a session, read from the ends of its file."""

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


class JsonlSessionRepo:
    """Args:
    folder: `~/.agentcli/sessions`; made when the first session is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, cwd: Path, *, parent_session: Path | None = None) -> Session:
        """A new session. Its file appears with the first user message."""
        header = SessionHeader(
            id=new_id(),
            timestamp=now_iso(),
            cwd=str(cwd),
            parent_session=str(parent_session) if parent_session else None,
        )
        stamp = re.sub(r"[:.]", "-", header.timestamp)
        path = self.folder_of(cwd) / f"{stamp}_{header.id}.jsonl"
        return Session(JsonlSessionStorage.create(path, header))

    def open(self, path: Path) -> Session:
        """Raises SessionError: see `JsonlSessionStorage.open`."""
        return Session(JsonlSessionStorage.open(path))

    def read(self, path: Path) -> Session:
        """A session to look at, whoever else has it open. Raises SessionError: see `JsonlSessionStorage.read`."""
        return Session(JsonlSessionStorage.read(path))

    def folder_of(self, cwd: Path) -> Path:
        """Where the sessions of a working folder are: its name, so that people find it, and a hash of its real path."""
        real = os.path.realpath(cwd)
        name = re.sub(r"[^\w.-]", "_", Path(real).name)[:60] or "root"
        return self.folder / f"{name}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:12]}"

    def list(self, cwd: Path | None = None) -> list[SessionInfo]:
        """The sessions of one working folder, or all; last used first. Files that are no sessions are left out."""
        infos = (read_info(path) for path in self._files(cwd))
        return sorted((info for info in infos if info), key=lambda info: (info.modified, info.created), reverse=True)

    def find(self, reference: str, cwd: Path | None = None) -> Path:
        """The file of a session named by its path, its id, or a part of the id's beginning or end that only it has.

        Sessions of `cwd` are looked at first.

        Raises:
            SessionError: `not_found`, `ambiguous`.
        """
        if "/" in reference or reference.endswith(".jsonl"):
            path = Path(reference).expanduser()
            if not path.is_file():
                raise SessionError("not_found", f"there is no session file {path}", hint="see: agentcli sessions list")
            return path
        for scope in (cwd, None) if cwd else (None,):
            found = [path for path in self._files(scope) if _matches(_id_of(path), reference)]
            if len(found) == 1:
                return found[0]
            if found:
                ids = ", ".join(_id_of(path) for path in found[:5])
                raise SessionError("ambiguous", f"{reference} may be any of {ids}", hint="give more of the id")
        raise SessionError("not_found", f"there is no session {reference}", hint="see: agentcli sessions list --all")

    def latest(self, cwd: Path) -> Path | None:
        """The session of a working folder that was used last."""
        infos = self.list(cwd)
        return infos[0].path if infos else None

    def _files(self, cwd: Path | None) -> Iterator[Path]:
        if cwd is not None:
            yield from self.folder_of(cwd).glob("*.jsonl")
        else:
            yield from self.folder.glob("*/*.jsonl")


def _id_of(path: Path) -> str:
    return path.stem.rpartition("_")[2]


def _matches(id: str, part: str) -> bool:
    return bool(part) and (id.startswith(part) or id.endswith(part))


def read_info(path: Path) -> SessionInfo | None:
    """A session's entry in a list, from the head and the tail of its file; None if it is no session."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - TAIL_BYTES, 0))
            tail = file.read() if size > HEAD_BYTES else head
            modified = int(os.fstat(file.fileno()).st_mtime * 1000)
    except OSError:
        return None
    lines = head.split(b"\n")
    header = decode_header(lines[0])
    if header is None:
        return None
    name, latest = _read_tail(tail)
    return SessionInfo(
        path, header.id, header.cwd, header.timestamp, latest or modified, name, _first_message(lines[1:])
    )


def _first_message(lines: list[bytes]) -> str:
    for line in lines:
        head = decode_head(line)
        if head is None or head.type != "message":
            continue
        entry = decode_entry(line)
        if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
            return one_line(text_of(entry.message.content))
    return ""


def _read_tail(tail: bytes) -> tuple[str | None, int]:
    """The latest name and the time of the latest message, as far as the tail tells."""
    name: str | None = None
    latest = 0
    for line in reversed(tail.split(b"\n")):
        head = decode_head(line)
        if head is None or head.type not in ("message", "session_info"):
            continue
        entry = decode_entry(line)
        if isinstance(entry, SessionInfoEntry):
            name = name or entry.name
        elif isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage | AssistantMessage):
            latest = latest or to_milliseconds(entry.timestamp)
        if name and latest:
            break
    return name, latest
