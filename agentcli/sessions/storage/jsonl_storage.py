"""JsonlSessionStorage: a session in one append-only file, one line for each entry.

A line is one write; a failed write is undone, so that memory and file agree. A torn last line (after a killed process
or a full disk) is moved to `FILE.torn` and reported. Opening reads the file once and decodes of each line only its
place in the tree; the rest is decoded on demand.
"""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path

from agentcli.agent.errors import SessionError
from agentcli.files.reading import OPEN_FLAGS, FileProblem, open_file, require_regular
from agentcli.sessions.codec import decode_entry, decode_header, encode_line, first_record, is_foreign
from agentcli.sessions.entries import Entry, SessionHeader, SessionInfoEntry, head_of, is_user_message
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.storage.line_scan import ScannedLine, scan_lines
from agentcli.sessions.storage.lock import SessionLock
from agentcli.sessions.storage.storage import SessionStorage

HEADER_BYTES = 1 << 20
"""A longer first line is no header."""

BLOCK = 1 << 20
"""Adjacent lines are read together, up to this many bytes."""

REPEAT_NAME_AFTER = 1 << 14
"""Bytes. A list reads only the ends of files, so the name is repeated after this much."""


class JsonlSessionStorage(SessionStorage):
    """A session in a file; made by `create`, `open` or `read`.

    `create` writes nothing until the first user message; what was appended before is written with it.
    """

    def __init__(self, path: Path, header: SessionHeader) -> None:
        super().__init__(header)
        self.path = path
        self._descriptor = -1
        self._lock: SessionLock | None = None
        self._size = 0
        self._ends_in_newline = True
        self._named_at = 0
        self._lines: dict[str, ScannedLine] = {}
        self._waiting: dict[str, Entry] = {}
        self._is_new = True
        self._is_unlisted = False
        """Whether the file was created here, and its directory entry may not be on the disk yet."""
        self._read_only = False

    @classmethod
    def create(cls, path: Path, header: SessionHeader) -> "JsonlSessionStorage":
        """A new session, whose file appears with the first user message."""
        return cls(path, header)

    @classmethod
    def read(cls, path: Path) -> "JsonlSessionStorage":
        """Open a file for reading, even if another process has it open. Nothing can be appended.

        Raises:
            SessionError: `not_found`; `not_a_session`; `old_format`; `storage`, when the system refuses.
        """
        storage = cls(path, read_header(path))
        storage._read_only = True
        storage._load(os.O_RDONLY)
        return storage

    @classmethod
    def open(cls, path: Path) -> "JsonlSessionStorage":
        """Open a file for reading and appending.

        Raises:
            SessionError: `not_found`; `not_a_session` (the file is left as it is); `old_format`, when it has to be
                imported; `locked`, when another process has it open; `storage`, when the system refuses.
        """
        storage = cls(path, read_header(path))
        try:
            storage._acquire_lock()
        except OSError as error:
            raise storage_error(path, error, "locked") from None
        storage._load(os.O_RDWR | os.O_APPEND)
        return storage

    def _load(self, flags: int) -> None:
        self._is_new = False
        try:
            self._descriptor = os.open(self.path, flags | OPEN_FLAGS)
            require_regular(self.path, os.fstat(self._descriptor))
            with FileIO(self._descriptor, "rb", closefd=False) as file:
                self._register_lines(scan_lines(file))
        except OSError as error:
            self.close()
            raise storage_error(self.path, error, "opened") from None
        except MemoryError:
            self.close()
            hint = "free some memory, or raise the limit"
            raise SessionError("storage", f"there is not enough memory to open {self.path}", hint=hint) from None
        except BaseException:
            self.close()
            raise

    def _register_lines(self, lines: Iterator[ScannedLine]) -> None:
        """Register the place of every entry. Lines that are no entries stay in the file and are counted."""
        found: list[ScannedLine] = []
        unreadable = 0
        next(lines, None)  # the header
        for line in lines:
            if line.head is not None:
                found.append(line)
            elif line.has_newline or self._read_only:
                unreadable += 1
            elif self._set_aside(line):
                # There may be an entry before it on its line.
                self._ends_in_newline = os.pread(self._descriptor, 1, line.offset - 1) == b"\n"
                continue
            self._ends_in_newline = line.has_newline
        self._size = os.fstat(self._descriptor).st_size
        self._connect(line.head for line in found if line.head is not None)
        self._lines = dict(zip(self._heads, found, strict=True))
        self._restore_state()
        named = [line.offset for line in found if line.head is not None and line.head.type == "session_info"]
        self._named_at = max(named, default=0)
        if unreadable:
            count = "1 line" if unreadable == 1 else f"{unreadable} lines"
            self.notices.append(f"{count} of {self.path} cannot be read; left out and kept")
        if self.orphans:
            entries = "1 entry" if len(self.orphans) == 1 else f"{len(self.orphans)} entries"
            text = f"the parent of {entries} of {self.path} is not there; what was written before is taken for it"
            self.notices.append(text)

    def get_entry(self, id: str) -> Entry | None:
        """One entry in full; None if there is none with this id."""
        if (waiting := self._waiting.get(id)) is not None:
            return waiting
        line = self.get_line(id)
        return decode_entry(line, self._heads[id]) if line is not None else None

    def get_line(self, id: str) -> bytes | None:
        """An entry as it is in the file, without its newline; None if it is not in the file (yet)."""
        line = self._lines.get(id)
        return os.pread(self._descriptor, line.length, line.offset) if line is not None else None

    def get_some(self, ids: Iterable[str]) -> Iterator[Entry]:
        """Several entries in full, in order; unknown ids are left out. Adjacent lines are read together."""
        block, base = b"", 0
        wanted = [id for id in ids if id in self._heads]
        for number, id in enumerate(wanted):
            line = self._lines.get(id)
            if line is None:
                yield self._waiting[id]
                continue
            offset, length = line.offset, line.length
            if not base <= offset <= offset + length <= base + len(block):
                block, base = os.pread(self._descriptor, self._run(wanted, number), offset), offset
            yield decode_entry(block[offset - base : offset - base + length], self._heads[id])

    def _run(self, ids: list[str], first: int) -> int:
        """How many bytes to read for the entry and for those that follow it both in the file and in the list."""
        offset = self._lines[ids[first]].offset
        end = offset + self._lines[ids[first]].length
        for id in ids[first + 1 : first + 1000]:
            line = self._lines.get(id)
            if line is None or line.offset != end + 1 or line.offset + line.length - offset > BLOCK:
                break
            end = line.offset + line.length
        return end - offset

    def _keep(self, entry: Entry) -> None:
        if self._read_only:
            raise SessionError("storage", f"the session {self.path} was opened for reading only")
        if self._is_new:
            if not is_user_message(entry):
                self._waiting[entry.id] = entry
                return
            self._make_file()
        for waiting in list(self._waiting.values()):
            self._write(waiting)
            del self._waiting[waiting.id]
        self._write(entry)

    def append_entry(self, entry: Entry) -> None:
        """Add one entry; see `SessionStorage`. The session's name is repeated now and then."""
        super().append_entry(entry)
        if isinstance(entry, SessionInfoEntry):
            self._named_at = self._size
        elif self.name and self._size - self._named_at > REPEAT_NAME_AFTER and self._descriptor >= 0:
            self._repeat_name()

    def _repeat_name(self) -> None:
        repeated = SessionInfoEntry(id=new_id(), parent_id=self._leaf_id, timestamp=now_iso(), name=self.name)
        # The entry before it is kept, and the name is in the file already: if this fails, lists miss the name.
        with suppress(SessionError):
            super().append_entry(repeated)
        self._named_at = self._size

    def sync(self) -> None:
        """Make what was appended survive a power failure: `fsync`."""
        if self._descriptor < 0:
            return
        _sync(self._descriptor)
        if self._is_unlisted:
            # The entries of a new file in its directory, and of that in its parent, must be on the disk too.
            for directory in (self.path.parent, self.path.parent.parent):
                _sync_directory(directory)
            self._is_unlisted = False

    def close(self) -> None:
        """Close the file and release its lock. May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._lock:
            self._lock.release()
            self._lock = None

    def _acquire_lock(self) -> None:
        self._lock = SessionLock(self.path)
        if self._lock.problem:
            self.notices.append(self._lock.problem)

    def _make_file(self) -> None:
        """The file gets its name after its header is written: a killed process leaves no file without a header."""
        partial = self.path.with_name(f".{self.path.name}.{os.getpid()}.partial")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._acquire_lock()
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
            self._descriptor = os.open(partial, flags, 0o600)
            self._put(encode_line(self.header))
            publish_as(partial, self.path)
            self._is_unlisted = True
        except OSError as error:
            with contextlib.suppress(OSError):
                partial.unlink()
            self._size = 0
            self.close()
            raise storage_error(self.path, error) from None
        self._is_new = False

    def _write(self, entry: Entry) -> None:
        body = encode_line(entry)
        line = body if self._ends_in_newline else b"\n" + body
        try:
            self._put(line)
        except OSError as error:
            raise storage_error(self.path, error) from None
        self._lines[entry.id] = ScannedLine(self._size - len(body), len(body) - 1, head_of(entry))
        self._ends_in_newline = True

    def _put(self, line: bytes) -> None:
        """Append bytes in one write, or undo what was written of them."""
        try:
            written = os.write(self._descriptor, line)
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError:
            self._undo_write()
            raise
        self._size += len(line)

    def _undo_write(self) -> None:
        try:
            os.ftruncate(self._descriptor, self._size)
        except OSError:
            # The partial line stays; the next entry begins on a new line.
            self._size = os.fstat(self._descriptor).st_size
            self._ends_in_newline = False

    def _set_aside(self, torn: ScannedLine) -> bool:
        """Move a torn line out of the file. False if it cannot be written elsewhere; then it stays in the file."""
        aside = self.path.with_name(self.path.name + ".torn")
        try:
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, os.pread(self._descriptor, torn.length, torn.offset) + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            problem = error.strerror or str(error)
            self.notices.append(f"the last line of {self.path} was not finished, and cannot be set aside: {problem}")
            return False
        os.ftruncate(self._descriptor, torn.offset)
        self.notices.append(f"the last line of {self.path} was not finished; it is set aside in {aside}")
        return True


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems (network, FUSE) do not support it for files, or for directories.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF):
            raise


def publish_as(partial: Path, path: Path) -> None:
    """Give a complete file its name; never replaces another file.

    Raises:
        OSError: the system refuses; `FileExistsError` if there is a file of this name.
    """
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: names contain random ids, so nobody else takes this one meanwhile.
        if path.exists():
            raise FileExistsError(17, "there is such a file already") from None
        partial.rename(path)
    else:
        partial.unlink()


def read_header(path: Path) -> SessionHeader:
    """The header of a session file in the current format.

    Raises:
        SessionError: `not_found`, `not_a_session`, `old_format`, `storage`.
    """
    try:
        with open_file(path) as file:
            first = file.readline(HEADER_BYTES)
            header = decode_header(first)
            foreign = is_foreign(first_record(first), file.readline(HEADER_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        hint = "see: agentcli sessions list"
        raise SessionError("not_found", f"there is no session file {path}", hint=hint) from None
    except FileProblem as error:
        raise SessionError("not_a_session", f"{path} is not a session file: {error.reason}") from None
    except OSError as error:
        raise storage_error(path, error) from None
    if foreign:
        hint = f"make a session of it: agentcli sessions import {path}"
        raise SessionError("old_format", f"{path} is a session in another format", hint=hint)
    if header is None:
        raise SessionError("not_a_session", f"{path} is not a session of agentcli", hint="it was left as it is")
    return header


def storage_error(path: Path, error: OSError, done: str = "written") -> SessionError:
    """The error for a call that the system refused; `done` is the participle of what was to be done."""
    problem = error.strerror or str(error)
    return SessionError("storage", f"the session file {path} cannot be {done}: {problem}", hint="see to the disk")
