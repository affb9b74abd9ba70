"""SessionStorage: the tree of a session's entries, wherever their content is kept.

It keeps the place of every entry (`EntryHead`), the leaf, the labels and the name; a subclass adds the content. An
entry whose parent is missing, or would close a cycle, follows the entry written before it; a repeated id gets a suffix.
So no entry is lost, whatever happened to the file.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, assert_never

from agentcli.agent.errors import SessionError
from agentcli.sessions.entries import (
    OFF_TREE,
    CompactionEntry,
    ContextEntry,
    DataEntry,
    Entry,
    EntryHead,
    LabelEntry,
    LeafEntry,
    SessionHeader,
    SessionInfoEntry,
    SettingEntry,
    head_of,
)
from agentcli.sessions.ids import new_id, now_iso

if TYPE_CHECKING:
    from agentcli.sessions.stats import SessionStats


class SessionStorage(ABC):
    """Base of the storages.

    Each call blocks for one small read or write. Its cost does not depend on the session's length unless it says so.
    """

    def __init__(self, header: SessionHeader) -> None:
        self.header = header
        self.notices: list[str] = []
        """Problems met when the session was opened, for the user."""
        self.labels: dict[str, str] = {}
        """Labels by entry id."""
        self.name: str | None = None
        self.on_append: Callable[[Entry], None] | None = None
        """Called with every entry after it was kept, in order."""
        self.orphans: list[str] = []
        """Ids of entries whose parent is missing, or descends from them."""
        self._leaf_id: str | None = None
        self._heads: dict[str, EntryHead] = {}

    @abstractmethod
    def get_entry(self, id: str) -> Entry | None:
        """One entry in full."""

    def get_some(self, ids: Iterable[str]) -> Iterator[Entry]:
        """Several entries in full, in order; unknown ids are left out."""
        return (entry for id in ids if (entry := self.get_entry(id)) is not None)

    @abstractmethod
    def _keep(self, entry: Entry) -> None:
        """Keep one entry: whole, or not at all and raise SessionError (`storage`)."""

    @abstractmethod
    def sync(self) -> None:
        """Make what was appended survive a power failure."""

    @abstractmethod
    def close(self) -> None:
        """Release the file and its lock. May be called twice."""

    def get_metadata(self) -> SessionHeader:
        """The header of the session."""
        return self.header

    def create_entry_id(self) -> str:
        """A new id, unique and ordered by time (UUIDv7)."""
        return new_id()

    def append_entry(self, entry: Entry) -> None:
        """Add one entry; it is the new leaf if its kind moves the leaf.

        Raises:
            SessionError: `storage`, when it cannot be kept, or `duplicate_id`; then nothing has changed.
        """
        if entry.id in self._heads:
            raise SessionError("duplicate_id", f"session {self.header.id} has an entry {entry.id} already")
        self._keep(entry)
        self._heads[entry.id] = head_of(entry)
        self._apply(entry)
        if self.on_append is not None:
            self.on_append(entry)

    def get_leaf_id(self) -> str | None:
        """The entry that the next one follows; None before the first."""
        return self._leaf_id

    def set_leaf_id(self, leaf_id: str | None) -> None:
        """Continue from another entry. Kept as a `LeafEntry`, so that it survives the process.

        Raises:
            SessionError: `not_found`, `storage`.
        """
        if leaf_id is not None:
            self.require(leaf_id)
        self.append_entry(
            LeafEntry(id=self.create_entry_id(), parent_id=self._leaf_id, timestamp=now_iso(), target_id=leaf_id)
        )

    def require(self, id: str) -> EntryHead:
        """The head of an entry. Raises SessionError (`not_found`)."""
        head = self._heads.get(id)
        if head is None:
            raise SessionError(
                "not_found", f"there is no entry {id} in session {self.header.id}", hint="see: agentcli sessions tree"
            )
        return head

    def find_id(self, part: str) -> str:
        """The id of the entry that is named by its id, or by a unique beginning or end of it.

        Raises:
            SessionError: `not_found`, `ambiguous`.
        """
        if part in self._heads:
            return part
        found = [id for id in self._heads if part and (id.startswith(part) or id.endswith(part))]
        if len(found) > 1:
            raise SessionError("ambiguous", f"{part} may be any of {', '.join(found[:5])}", hint="give more of the id")
        return found[0] if found else self.require(part).id

    def heads(self) -> list[EntryHead]:
        """The head of every entry, in the order in which they were appended."""
        return list(self._heads.values())

    def get_head(self, id: str) -> EntryHead | None:
        """The head of an entry; None if there is none with this id."""
        return self._heads.get(id)

    def get_entries(self) -> list[Entry]:
        """Every entry in full, in order. Reads the whole session."""
        return list(self.get_some(self._heads))

    def find_entries(self, type: str) -> list[Entry]:
        """Every entry of a type, on any branch, in order."""
        return list(self.get_some([head.id for head in self._heads.values() if head.type == type]))

    def get_label(self, id: str) -> str | None:
        """The label of an entry, if it has one."""
        return self.labels.get(id)

    def get_session_name(self) -> str | None:
        """The name of the session, if it has one."""
        return self.name

    def get_path(self, leaf_id: str | None) -> list[EntryHead]:
        """The heads from the root to an entry. Linear in the path's length."""
        path: list[EntryHead] = []
        head = self._heads.get(leaf_id) if leaf_id is not None else None
        while head is not None:
            path.append(head)
            head = self._heads.get(head.parent_id) if head.parent_id is not None else None
        path.reverse()
        return path

    def get_path_to_root_or_compaction(self, leaf_id: str | None) -> list[Entry]:
        """The entries that the context at `leaf_id` is made of, oldest first.

        These are the latest compaction, what it kept, and what came after it; without one, the whole path.
        """
        path = self.get_path(leaf_id)
        return list(self.get_some(self.context_part(path)[1]))

    def context_part(self, path: list[EntryHead]) -> tuple[int, list[str]]:
        """Where the part of a path begins that the context is made of, and the ids of the entries of the context.

        The ids are those of the part, preceded by that of a prompt which the latest compaction kept.
        """
        start, prompt_id = self._kept_part(path)
        prompts = [head.id for head in path[:start] if head.id == prompt_id] if prompt_id is not None else []
        return start, [*prompts, *(head.id for head in path[start:])]

    def _kept_part(self, path: list[EntryHead]) -> tuple[int, str | None]:
        latest = next((index for index in reversed(range(len(path))) if path[index].type == "compaction"), None)
        entry = self.get_entry(path[latest].id) if latest is not None else None
        if latest is None or not isinstance(entry, CompactionEntry):
            return 0, None
        if entry.retained_tail is not None:
            return latest, None
        kept = entry.first_kept_entry_id
        start = next((index for index in range(latest) if path[index].id == kept), latest)
        return start, entry.kept_prompt_id

    def get_session_stats(self) -> "SessionStats":
        """What the session took on every branch: messages, tools, tokens, money, time. Reads the whole session."""
        from agentcli.sessions.stats import collect_stats

        heads = self.heads()
        return collect_stats(heads, self.get_some([head.id for head in heads]))

    def _restore_state(self) -> None:
        """After `_connect`: place the orphans; find the leaf, the labels and the name."""
        if self.orphans:
            self._place_orphans()
        for head in self._heads.values():
            if head.type in ("label", "session_info"):
                entry = self.get_entry(head.id)
                if isinstance(entry, LabelEntry | SessionInfoEntry):
                    self._apply(entry)
        self._leaf_id = self._find_leaf()

    def _connect(self, heads: Iterable[EntryHead]) -> None:
        """Register the places of entries that are kept already, in the order in which they were appended."""
        known = self._heads
        renamed: dict[str, str] = {}
        doubtful: list[EntryHead] = []
        for head in heads:
            parent_id = head.parent_id
            if head.id not in known and not renamed and (parent_id is None or parent_id in known):
                known[head.id] = head
                continue
            id, parent_id = head.id, renamed.get(head.parent_id or "", head.parent_id)
            if id in known:
                id = renamed[head.id] = _unused_id(id, known)
            if parent_id is not None and parent_id not in known:
                doubtful.append(EntryHead(head.type, id, parent_id))
                parent_id = None
            known[id] = EntryHead(head.type, id, parent_id)
        for head in doubtful:
            if head.parent_id in known and not self._descends(head.parent_id, head.id):
                known[head.id] = head
            else:
                self.orphans.append(head.id)

    def _place_orphans(self) -> None:
        """Each follows the leaf of the time when it was written; the file's first entry is a root."""
        orphans = set(self.orphans)
        seen: set[str | None] = {None}
        awaited: set[str | None] = set()
        """Parents that come after a child: only those can be ancestors of what was written before them."""
        leaf: str | None = None
        for head in self.heads():
            seen.add(head.id)
            if head.parent_id not in seen:
                awaited.add(head.parent_id)
            if head.id in orphans and leaf is not None and not (head.id in awaited and self._descends(leaf, head.id)):
                self._heads[head.id] = EntryHead(head.type, head.id, leaf)
            if head.type not in OFF_TREE:
                leaf = head.id
            elif head.type == "leaf":
                entry = self.get_entry(head.id)
                if isinstance(entry, LeafEntry) and (entry.target_id is None or entry.target_id in self._heads):
                    leaf = entry.target_id

    def _descends(self, id: str, ancestor: str) -> bool:
        return any(head.id == ancestor for head in self.get_path(id))

    def _find_leaf(self) -> str | None:
        for head in reversed(self._heads.values()):
            if head.type not in OFF_TREE:
                return head.id
            if head.type == "leaf":
                entry = self.get_entry(head.id)
                if isinstance(entry, LeafEntry) and (entry.target_id is None or entry.target_id in self._heads):
                    return entry.target_id
        return None

    def _apply(self, entry: Entry) -> None:
        """Update the leaf, the labels and the name."""
        match entry:
            case ContextEntry() | SettingEntry() | DataEntry():
                self._leaf_id = entry.id
            case LeafEntry():
                self._leaf_id = entry.target_id
            case LabelEntry():
                self.labels.pop(entry.target_id, None)
                if entry.label:
                    self.labels[entry.target_id] = entry.label
            case SessionInfoEntry():
                self.name = entry.name or None
            case _:
                assert_never(entry)


def _unused_id(id: str, taken: dict[str, EntryHead]) -> str:
    number = 2
    while f"{id}~{number}" in taken:
        number += 1
    return f"{id}~{number}"
