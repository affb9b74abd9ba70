"""InMemorySessionStorage: a session that ends with the process."""

from agentcli.sessions.entries import Entry, EntryHead, SessionHeader


class InMemorySessionStorage:
    def __init__(self, header: SessionHeader) -> None:
        self.header = header
        self._entries: dict[str, Entry] = {}

    def heads(self) -> list[EntryHead]:
        return [head_of(entry) for entry in self._entries.values()]

    def get_entry(self, id: str) -> Entry | None:
        return self._entries.get(id)

    def append_entry(self, entry: Entry) -> None:
        self._entries[entry.id] = entry

    def sync(self) -> None:
        """Nothing outlives the process."""

    def close(self) -> None:
        """There is nothing to let go of."""


def head_of(entry: Entry) -> EntryHead:
    type = getattr(entry, "type", None) or entry.__struct_config__.tag
    return EntryHead(str(type), entry.id, entry.parent_id)
