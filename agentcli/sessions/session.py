"""Session: the tree of a conversation, and the place in it where the conversation goes on (the leaf)."""

from typing import Any

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AgentMessage, Usage, UserContent
from agentcli.sessions.context import SessionContext, SessionContextBuildOptions, build_session_context
from agentcli.sessions.entries import (
    OFF_TREE,
    ActiveToolsChangeEntry,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionHeader,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.storage import SessionStorage


class Session:
    """Every `append_…` puts its entry after the leaf, makes it the leaf (labels and names do not), returns its id."""

    def __init__(
        self, storage: SessionStorage, options: SessionContextBuildOptions = SessionContextBuildOptions()
    ) -> None:
        self.storage = storage
        self.options = options
        self.labels: dict[str, str] = {}
        self.name: str | None = None
        self._leaf_id: str | None = None
        for head in storage.heads():
            if head.type not in OFF_TREE:
                self._leaf_id = head.id
            elif (entry := storage.get_entry(head.id)) is not None:
                self._apply(entry)

    @property
    def header(self) -> SessionHeader:
        return self.storage.header

    @property
    def id(self) -> str:
        return self.header.id

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one follows; None before the first."""
        return self._leaf_id

    def append_message(self, message: AgentMessage) -> str:
        return self._append(MessageEntry(**self._base(), message=message))

    def append_thinking_level_change(self, thinking_level: str) -> str:
        return self._append(ThinkingLevelChangeEntry(**self._base(), thinking_level=thinking_level))

    def append_model_change(self, provider: str, model_id: str) -> str:
        return self._append(ModelChangeEntry(**self._base(), provider=provider, model_id=model_id))

    def append_active_tools_change(self, active_tool_names: list[str]) -> str:
        return self._append(ActiveToolsChangeEntry(**self._base(), active_tool_names=active_tool_names))

    def append_compaction(
        self,
        summary: str,
        first_kept_entry_id: str | None,
        tokens_before: int,
        *,
        details: Any = None,
        usage: Usage | None = None,
        retained_tail: list[AgentMessage] | None = None,
        from_hook: bool = False,
    ) -> str:
        entry = CompactionEntry(
            **self._base(),
            summary=summary,
            first_kept_entry_id=first_kept_entry_id,
            tokens_before=tokens_before,
            details=details,
            usage=usage,
            retained_tail=retained_tail,
            from_hook=from_hook,
        )
        return self._append(entry)

    def append_custom(self, custom_type: str, data: Any = None) -> str:
        return self._append(CustomEntry(**self._base(), custom_type=custom_type, data=data))

    def append_custom_message(
        self, custom_type: str, content: str | list[UserContent], *, display: bool = True, details: Any = None
    ) -> str:
        return self._append(
            CustomMessageEntry(
                **self._base(), custom_type=custom_type, content=content, display=display, details=details
            )
        )

    def append_label(self, target_id: str, label: str | None) -> str:
        self._require(target_id)
        return self._append(LabelEntry(**self._base(), target_id=target_id, label=label))

    def append_session_info(self, name: str | None) -> str:
        """Name the session; None or an empty name takes the name away."""
        return self._append(SessionInfoEntry(**self._base(), name=" ".join(name.split()) if name else None))

    def move_to(
        self,
        entry_id: str | None,
        *,
        summary: str | None = None,
        details: Any = None,
        usage: Usage | None = None,
        from_hook: bool = False,
    ) -> str | None:
        """Go on from another entry (None: from before the first). What follows is a new branch; nothing is lost.

        With a summary of the branch that is left, it is appended there; returns its id.

        Raises:
            SessionError: `not_found`.
        """
        left = self._leaf_id
        if entry_id is not None:
            self._require(entry_id)
        self._append(LeafEntry(**self._base(), target_id=entry_id))
        if summary is None:
            return None
        entry = BranchSummaryEntry(
            **self._base(),
            from_id=entry_id or "",
            abandoned_leaf_id=left,
            summary=summary,
            details=details,
            usage=usage,
            from_hook=from_hook,
        )
        return self._append(entry)

    def get_branch(self, leaf_id: str | None = None) -> list[Entry]:
        """The entries from the root to the leaf (or another entry). An unknown parent is taken for the root."""
        parents = {head.id: head.parent_id for head in self.storage.heads()}
        path: list[str] = []
        seen: set[str] = set()
        id = leaf_id or self._leaf_id
        while id is not None and id in parents and id not in seen:
            seen.add(id)
            path.append(id)
            id = parents[id]
        entries = (self.storage.get_entry(id) for id in reversed(path))
        return [entry for entry in entries if entry is not None]

    def build_context(self, options: SessionContextBuildOptions = SessionContextBuildOptions()) -> SessionContext:
        return build_session_context(self.get_branch(), self.options.merged(options))

    def sync(self) -> None:
        """Make sure that everything so far outlives a power cut. Slow: milliseconds to tenths of a second."""
        self.storage.sync()

    def close(self) -> None:
        self.storage.close()

    def _base(self) -> dict[str, Any]:
        return {"id": new_id(), "parent_id": self._leaf_id, "timestamp": now_iso()}

    def _append(self, entry: Entry) -> str:
        self.storage.append_entry(entry)
        self._apply(entry)
        return entry.id

    def _apply(self, entry: Entry) -> None:
        """What an entry says about the session beside its place in the tree."""
        match entry:
            case LeafEntry():
                self._leaf_id = entry.target_id
            case LabelEntry():
                self.labels.pop(entry.target_id, None)
                if entry.label:
                    self.labels[entry.target_id] = entry.label
            case SessionInfoEntry():
                self.name = entry.name
            case _:
                self._leaf_id = entry.id

    def _require(self, id: str) -> None:
        if self.storage.get_entry(id) is None:
            raise SessionError("not_found", f"there is no entry {id} in session {self.id}")
