"""InMemorySessionRepo: sessions that end with the process, with the same calls as the folder of sessions."""

from pathlib import Path

from msgspec.structs import replace

from agentcli.agent.errors import SessionError
from agentcli.sessions.codec import decode_entry
from agentcli.sessions.copying import branch_lines, fork_leaf
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.session import Session
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage


class InMemorySessionRepo:
    """For tests and for programs that keep nothing. Sessions are named by their id."""

    def __init__(self) -> None:
        self._sessions: dict[str, InMemorySessionStorage] = {}

    def create(self, cwd: Path = Path("/"), *, parent_session: str | None = None) -> Session:
        header = SessionHeader(id=new_id(), timestamp=now_iso(), cwd=str(cwd), parent_session=parent_session)
        return self._add(InMemorySessionStorage(header))

    def open(self, id: str) -> Session:
        """Raises SessionError (`not_found`)."""
        return Session(self._storage(id))

    def list(self, cwd: Path | None = None) -> list[SessionHeader]:
        """The sessions of one working folder, or all; newest first."""
        headers = [storage.header for storage in self._sessions.values()]
        return [header for header in reversed(headers) if cwd is None or header.cwd == str(cwd)]

    def delete(self, id: str) -> None:
        """Raises SessionError (`not_found`)."""
        self._storage(id)
        del self._sessions[id]

    def fork(
        self, source: str, *, entry_id: str | None = None, position: str = "before", cwd: Path | None = None
    ) -> Session:
        """See `JsonlSessionRepo.fork`."""
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
