"""JsonlSessionStorage: a session in one file that only grows, one line an entry.

A line is one write; one that fails is taken back, so that memory and file agree. A torn last line (the end of a killed
process or a full disk) is set aside in `FILE.torn` and reported. Opening reads the file once and decodes of each line
only its place in the tree; the rest is decoded when it is asked for.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import UserMessage
from agentcli.sessions.entries import (
    Entry,
    EntryHead,
    MessageEntry,
    SessionHeader,
    decode_entry,
    decode_head,
    decode_header,
    encode_line,
)
from agentcli.sessions.lock import SessionLock
from agentcli.sessions.memory_storage import head_of

Place = tuple[int, int]
"""Where a line is: offset and length in bytes, without its newline."""


class JsonlSessionStorage:
    """Use `create` or `open`.

    `create` writes nothing until the first user message; what was appended before is written with it.
    """

    def __init__(self, path: Path, header: SessionHeader) -> None:
        self.path = path
        self.header = header
        self.notices: list[str] = []
        """What was odd about the file when it was opened, for the person."""
        self._descriptor = -1
        self._lock: SessionLock | None = None
        self._size = 0
        self._ends_in_newline = True
        self._heads: dict[str, EntryHead] = {}
        self._places: dict[str, Place] = {}
        self._waiting: list[Entry] = []
        self._is_new = True

    @classmethod
    def create(cls, path: Path, header: SessionHeader) -> "JsonlSessionStorage":
        return cls(path, header)

    @classmethod
    def read(cls, path: Path) -> "JsonlSessionStorage":
        """Open a file for looking at it, whoever else has it open. Nothing can be appended.

        Raises:
            SessionError: `not_found`; `not_a_session`; `storage`, when the system refuses.
        """
        storage = cls._checked(path)
        try:
            storage._index(path.read_bytes(), repair=False)
            storage._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise _storage_error(path, error) from None
        return storage

    @classmethod
    def open(cls, path: Path) -> "JsonlSessionStorage":
        """Open a file for going on with it.

        Raises:
            SessionError: `not_found`; `not_a_session` (the file is left as it is); `locked`, when another process has
                it open; `storage`, when the system refuses.
        """
        storage = cls._checked(path)
        try:
            storage._lock = SessionLock(path)
            storage._index(path.read_bytes(), repair=True)
            storage._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            storage.close()
            raise _storage_error(path, error) from None
        return storage

    @classmethod
    def _checked(cls, path: Path) -> "JsonlSessionStorage":
        """The storage of a file that is a session, its entries not read yet."""
        if not path.is_file():
            raise SessionError("not_found", f"there is no session file {path}", hint="see: agentcli sessions list")
        try:
            with path.open("rb") as file:
                header = decode_header(file.readline(1 << 20))
        except OSError as error:
            raise _storage_error(path, error) from None
        if header is None:
            raise SessionError("not_a_session", f"{path} is not a session of agentcli", hint="it was left as it is")
        storage = cls(path, header)
        storage._is_new = False
        return storage

    def heads(self) -> list[EntryHead]:
        return list(self._heads.values())

    def get_entry(self, id: str) -> Entry | None:
        for entry in self._waiting:
            if entry.id == id:
                return entry
        place = self._places.get(id)
        if place is None:
            return None
        return decode_entry(os.pread(self._descriptor, place[1], place[0]))

    def append_entry(self, entry: Entry) -> None:
        """Raises SessionError (`storage`) when it cannot be written; then nothing has changed."""
        if self._is_new:
            starts = isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
            if not starts:
                self._waiting.append(entry)
                self._heads[entry.id] = head_of(entry)
                return
            self._make_file()
        self._write([*self._waiting, entry])
        self._waiting.clear()

    def sync(self) -> None:
        if self._descriptor >= 0:
            os.fsync(self._descriptor)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._lock:
            self._lock.release()
            self._lock = None

    def _make_file(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = SessionLock(self.path)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o600)
            self._put(encode_line(self.header))
        except OSError as error:
            self.close()
            self.path.unlink(missing_ok=True)
            raise _storage_error(self.path, error) from None
        self._is_new = False

    def _write(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            line = encode_line(entry)
            if not self._ends_in_newline:
                line = b"\n" + line
            try:
                self._put(line)
            except OSError as error:
                raise _storage_error(self.path, error) from None
            body = line.strip(b"\n")
            self._heads[entry.id] = head_of(entry)
            self._places[entry.id] = (self._size - len(body) - 1, len(body))
            self._ends_in_newline = True

    def _put(self, line: bytes) -> None:
        """Append bytes in one write, or take back what was written of them."""
        try:
            written = os.write(self._descriptor, line)
            if written != len(line):
                written += os.write(self._descriptor, line[written:])
            if written != len(line):
                raise OSError(28, "no space left on device")
        except OSError:
            os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(line)

    def _index(self, data: bytes, *, repair: bool) -> None:
        """Note every entry's place. Lines that are no entries stay where they are and are counted."""
        self._size = len(data)
        start = data.find(b"\n") + 1 or len(data)
        unreadable = 0
        while start < len(data):
            end = data.find(b"\n", start)
            torn = end < 0
            line = data[start : len(data) if torn else end]
            head = decode_head(line)
            if head is not None and head.id not in self._heads:
                self._heads[head.id] = head
                self._places[head.id] = (start, len(line))
            elif torn and repair:
                self._set_aside(line, start)
                break
            elif line.strip():
                unreadable += 1
            self._ends_in_newline = not torn
            start += len(line) + 1
        if unreadable:
            self.notices.append(f"{unreadable} lines of {self.path} cannot be read; they are left out and kept")

    def _set_aside(self, torn: bytes, start: int) -> None:
        aside = self.path.with_name(self.path.name + ".torn")
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, torn + b"\n")
        finally:
            os.close(descriptor)
        os.truncate(self.path, start)
        self._size = start
        self.notices.append(f"the last line of {self.path} was not finished; it is set aside in {aside}")


def _storage_error(path: Path, error: OSError) -> SessionError:
    problem = error.strerror or str(error)
    return SessionError("storage", f"the session file {path} cannot be written: {problem}", hint="see to the disk")
