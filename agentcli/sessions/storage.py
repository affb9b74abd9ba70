"""SessionStorage: what a session needs of the place where its entries are kept."""

from typing import Protocol

from agentcli.sessions.entries import Entry, EntryHead, SessionHeader


class SessionStorage(Protocol):
    """Entries by id, in the order in which they were appended. Each call is one small read or write, and blocks."""

    @property
    def header(self) -> SessionHeader: ...

    def heads(self) -> list[EntryHead]:
        """The head of every entry, in order."""
        ...

    def get_entry(self, id: str) -> Entry | None: ...

    def append_entry(self, entry: Entry) -> None:
        """Add one entry: it is kept whole or, with a SessionError, not at all."""
        ...

    def sync(self) -> None:
        """Make sure that what was appended outlives a power cut."""
        ...

    def close(self) -> None:
        """Let go of what the storage holds. It may be called twice."""
        ...
