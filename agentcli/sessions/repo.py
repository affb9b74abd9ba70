"""Session repositories: a directory of session files, with a directory for each working directory; or memory only."""

import functools
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from agentcli.agent.errors import SessionError
from agentcli.files.reading import open_file
from agentcli.sessions.codec import decode_entry, is_foreign
from agentcli.sessions.copying import branch_lines, fork_leaf, lines_of, publish
from agentcli.sessions.entries import SessionHeader, is_user_message
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.listing import SessionInfo, read_cwd, read_info
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage, read_header, storage_error
from agentcli.sessions.storage.lock import SessionLock
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage


class JsonlSessionRepo:
    """The sessions that are kept in files.

    Args:
        folder: `~/.agentcli/sessions`; created with the first session.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notices: list[str] = []
        """Problems of the last imported file, for the user."""

    def create(self, cwd: Path, *, parent_session: Path | None = None) -> Session:
        """A new session. Its file appears with the first user message."""
        header = self._new_header(cwd, parent_session)
        return Session(JsonlSessionStorage.create(self._path_of(header), header))

    def open(self, path: Path) -> Session:
        """Open a session to continue it. One in an older format is imported, and the new one is opened.

        Raises:
            SessionError: see `JsonlSessionStorage.open`.
        """
        try:
            return Session(JsonlSessionStorage.open(path))
        except SessionError as error:
            if error.code != "old_format":
                raise
        self.notices = []
        imported = self._imported(path) or self.import_file(path)
        session = Session(JsonlSessionStorage.open(imported))
        session.storage.notices += self.notices
        session.storage.notices.append(f"{path} is in an older format and stays as it is; this is {imported}")
        return session

    def read(self, path: Path) -> Session:
        """Open a session for reading. Raises SessionError: see `JsonlSessionStorage.read`."""
        return Session(JsonlSessionStorage.read(path))

    def fork(
        self, source: Path, *, entry_id: str | None = None, position: str = "before", cwd: Path | None = None
    ) -> Session:
        """A new session with the entries of another. The source is only read, and may be open elsewhere.

        Args:
            source: the session file.
            entry_id: where the fork ends; None copies every branch.
            position: `before` the entry, which must be a user message, or `at` it.
            cwd: the working directory; None is that of the source.

        Raises:
            SessionError: `not_found`, `invalid_fork_target`, `not_a_session`, `storage`.
        """
        storage = JsonlSessionStorage.read(source)
        try:
            header = replace(
                self._new_header(cwd or Path(storage.header.cwd), source), metadata=storage.header.metadata
            )
            if entry_id is None:
                lines = lines_of(storage, storage.heads())
            else:
                lines = branch_lines(storage, fork_leaf(storage, entry_id, position))
            publish(self._path_of(header), header, lines)
        finally:
            storage.close()
        return self.open(self._path_of(header))

    def branch_off(self, source: Session, leaf_id: str | None, *, cwd: Path) -> Session:
        """A new session with one branch of an open one, including entries that are not in its file yet.

        Its file appears with the first user message.

        Raises:
            SessionError: `storage`.
        """
        storage = source.storage
        parent = storage.path if isinstance(storage, JsonlSessionStorage) and storage.path.exists() else None
        header = replace(self._new_header(cwd, parent), metadata=storage.header.metadata)
        lines = list(branch_lines(storage, leaf_id))
        if leaf_id is not None and any(is_user_message(entry) for entry in source.get_branch(leaf_id)):
            publish(self._path_of(header), header, lines)
            return self.open(self._path_of(header))
        session = Session(JsonlSessionStorage.create(self._path_of(header), header))
        for line in lines:
            session.storage.append_entry(decode_entry(line))
        return session

    def import_file(self, path: Path, *, cwd: Path | None = None) -> Path:
        """Make a session of a file from elsewhere, which stays as it is. What cannot be read is reported in `notices`.

        Args:
            path: the file.
            cwd: the working directory it belongs to; None is that of the file.

        Returns:
            The new file.

        Raises:
            SessionError: see `importing.read_import`.
        """
        from agentcli.sessions.importing import read_import

        found = read_import(path)
        header = replace(found.header, cwd=str(cwd or found.header.cwd or Path.cwd()))
        if not re.fullmatch(r"[\w-]{8,64}", header.id) or self._has_id(header.id):
            header = replace(header, id=new_id())
        publish(self._path_of(header), header, found.lines)
        lines = "1 line" if found.skipped == 1 else f"{found.skipped} lines"
        self.notices = [f"{lines} of {path} cannot be read and are left out"] if found.skipped else []
        return self._path_of(header)

    def delete(self, path: Path) -> bool:
        """Delete a session. Returns whether it went to the trash; where there is none, it is gone.

        Raises:
            SessionError: `locked`, when it is open, here or elsewhere; `not_found`, `not_a_session`, `storage`.
        """
        try:
            read_header(path)
        except SessionError as error:
            if error.code != "old_format":
                raise
        try:
            lock = SessionLock(path)
            try:
                trashed = _to_trash(path)
                if not trashed:
                    path.unlink()
                path.with_name(path.name + ".torn").unlink(missing_ok=True)
            finally:
                lock.release()
        except OSError as error:
            raise storage_error(path, error) from None
        return trashed

    def folder_of(self, cwd: Path) -> Path:
        """The directory of a working directory's sessions: its name, for users, and a hash of its real path."""
        real = os.path.realpath(cwd)
        name = re.sub(r"[^\w.-]", "_", Path(real).name)[:60] or "root"
        return self.folder / f"{name}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:12]}"

    def list(self, cwd: Path | None = None) -> list[SessionInfo]:
        """The sessions of one working directory, or all; last used first. Files that are no sessions are left out.

        A session belongs to the working directory in its header, wherever the file is; if that directory is gone, to
        the one among whose sessions the file is.
        """
        infos = (read_info(path) for path in self.files()) if cwd is None else self._infos_of(cwd)
        return sorted(
            (info for info in infos if info), key=lambda info: (info.modified, info.created, info.id), reverse=True
        )

    def find(self, reference: str, cwd: Path | None = None) -> Path:
        """The file of a session, by its path, its id, or a unique beginning or end of the id.

        Sessions of `cwd` are searched first.

        Raises:
            SessionError: `not_found`, `ambiguous`.
        """
        if "/" in reference or reference.endswith(".jsonl"):
            path = Path(reference).expanduser()
            if not path.exists():
                raise SessionError("not_found", f"there is no session file {path}", hint="see: agentcli sessions list")
            return path
        for scope in (cwd, None) if cwd else (None,):
            found = [path for path in self.files(scope) if _matches(_id_of(path), reference)]
            if len(found) == 1:
                return found[0]
            if found:
                ids = ", ".join(_id_of(path) for path in found[:5])
                raise SessionError("ambiguous", f"{reference} may be any of {ids}", hint="give more of the id")
        raise SessionError("not_found", f"there is no session {reference}", hint="see: agentcli sessions list --all")

    def latest(self, cwd: Path) -> Path | None:
        """The session of a working directory that was used last."""
        infos = self.list(cwd)
        return infos[0].path if infos else None

    def files(self, cwd: Path | None = None) -> Iterator[Path]:
        """The session files of one working directory, or all; each once, even if links give it several names."""
        directories = [self.folder_of(cwd)] if cwd is not None else sorted(self.folder.glob("*/"))
        seen: set[str] = set()
        for directory in directories:
            real = os.path.realpath(directory)
            if real not in seen:
                seen.add(real)
                yield from (path for path in directory.glob("*.jsonl") if not path.name.startswith("."))

    def _infos_of(self, cwd: Path) -> Iterator[SessionInfo]:
        real, own = os.path.realpath(cwd), os.path.realpath(self.folder_of(cwd))
        real_path = functools.cache(os.path.realpath)

        def is_here(stored: str) -> bool:
            return real_path(stored) == real

        for path in self.files():
            if real_path(path.parent) == own:
                info = read_info(path)
                if info is not None and (is_here(info.cwd) or not os.path.isdir(info.cwd)):  # noqa: PTH112
                    yield info
            elif (stored := read_cwd(path)) and is_here(stored) and (info := read_info(path)) is not None:
                yield info

    def _has_id(self, id: str) -> bool:
        return any(_id_of(path) == id for path in self.files())

    def _imported(self, path: Path) -> Path | None:
        """The session that an earlier import made of this file, if there is one."""
        for file in self.files():
            info = read_info(file)
            if info is not None and file != path and _is_ours(file):
                imported = read_header(file).metadata.get("imported_from")
                if imported == str(path) and file.stat().st_mtime >= path.stat().st_mtime:
                    return file
        return None

    def _new_header(self, cwd: Path, parent: Path | None) -> SessionHeader:
        return SessionHeader(
            id=new_id(), timestamp=now_iso(), cwd=str(cwd), parent_session=str(parent) if parent else None
        )

    def _path_of(self, header: SessionHeader) -> Path:
        stamp = re.sub(r"[^\w-]", "-", header.timestamp)[:40]
        return self.folder_of(Path(header.cwd)) / f"{stamp}_{header.id}.jsonl"


class InMemorySessionRepo:
    """Sessions that end with the process, for tests and for programs that keep nothing. They are named by id."""

    def __init__(self) -> None:
        self._sessions: dict[str, InMemorySessionStorage] = {}

    def create(self, cwd: Path = Path("/"), *, parent_session: str | None = None) -> Session:
        """A new session."""
        header = SessionHeader(id=new_id(), timestamp=now_iso(), cwd=str(cwd), parent_session=parent_session)
        return self._add(InMemorySessionStorage(header))

    def open(self, id: str) -> Session:
        """A session by its id. Raises SessionError (`not_found`)."""
        return Session(self._storage(id))

    def list(self, cwd: Path | None = None) -> list[SessionHeader]:
        """The headers of the sessions of one working directory, or all; newest first."""
        headers = [storage.header for storage in self._sessions.values()]
        return [header for header in reversed(headers) if cwd is None or header.cwd == str(cwd)]

    def delete(self, id: str) -> None:
        """Delete a session. Raises SessionError (`not_found`)."""
        self._storage(id)
        del self._sessions[id]

    def fork(
        self, source: str, *, entry_id: str | None = None, position: str = "before", cwd: Path | None = None
    ) -> Session:
        """A new session with the entries of another; see `JsonlSessionRepo.fork`."""
        storage = self._storage(source)
        header = replace(storage.header, id=new_id(), timestamp=now_iso(), parent_session=source)
        if cwd is not None:
            header = replace(header, cwd=str(cwd))
        if entry_id is None:
            return self._add(InMemorySessionStorage(header, storage.get_entries()))
        lines = branch_lines(storage, fork_leaf(storage, entry_id, position))
        return self._add(InMemorySessionStorage(header, [decode_entry(line) for line in lines]))

    def _add(self, storage: InMemorySessionStorage) -> Session:
        self._sessions[storage.header.id] = storage
        return Session(storage)

    def _storage(self, id: str) -> InMemorySessionStorage:
        if id not in self._sessions:
            raise SessionError("not_found", f"there is no session {id}")
        return self._sessions[id]


def _to_trash(path: Path) -> bool:
    from send2trash import send2trash

    try:
        send2trash(path)
    except OSError:
        # No trash on this file system or for this user: the caller confirmed, and the file is deleted.
        return False
    return True


def _is_ours(path: Path) -> bool:
    with open_file(path) as file:
        return not is_foreign(file.readline(1 << 16), file.readline(1 << 16))


def _id_of(path: Path) -> str:
    return path.stem.rpartition("_")[2]


def _matches(id: str, part: str) -> bool:
    return bool(part) and (id.startswith(part) or id.endswith(part))
