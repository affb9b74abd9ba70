"""InMemorySessionStorage: a session that ends with the process."""

from collections.abc import Iterable

from msgspec.structs import replace

from agentcli.sessions.entries import Entry, SessionHeader, head_of
from agentcli.sessions.storage.storage import SessionStorage


class InMemorySessionStorage(SessionStorage):
    """A storage without a file.

    Args:
        header: of the session.
        entries: the entries that the session begins with, in order.
    """

    def __init__(self, header: SessionHeader, entries: Iterable[Entry] = ()) -> None:
        super().__init__(header)
        given = list(entries)
        self._connect(head_of(entry) for entry in given)
        self._entries: dict[str, Entry] = {
            head.id: replace(entry, id=head.id, parent_id=head.parent_id)
            for head, entry in zip(self._heads.values(), given, strict=True)
        }
        self._restore_state()

    def get_entry(self, id: str) -> Entry | None:
        """One entry in full."""
        return self._entries.get(id)

    def sync(self) -> None:
        """Does nothing: no entry survives the process."""

    def close(self) -> None:
        """Does nothing: there is no file."""

    def _keep(self, entry: Entry) -> None:
        self._entries[entry.id] = entry
