"""InMemorySessionStorage: a session that ends with the process."""

from collections.abc import Iterable

from msgspec.structs import replace

from agentcli.sessions.entries import Entry, SessionHeader, head_of
from agentcli.sessions.storage.storage import SessionStorage


class InMemorySessionStorage(SessionStorage):
    """Args:
    entries: what the session begins with, in order.
    """

    def __init__(self, header: SessionHeader, entries: Iterable[Entry] = ()) -> None:
        super().__init__(header)
        given = list(entries)
        self._connect(head_of(entry) for entry in given)
        self._entries: dict[str, Entry] = {
            head.id: replace(entry, id=head.id, parent_id=head.parent_id)
            for head, entry in zip(self._heads.values(), given, strict=True)
        }
        self._settle()

    def get_entry(self, id: str) -> Entry | None:
        return self._entries.get(id)

    def sync(self) -> None:
        """Nothing outlives the process."""

    def close(self) -> None:
        """There is nothing to let go of."""

    def _keep(self, entry: Entry) -> None:
        self._entries[entry.id] = entry
