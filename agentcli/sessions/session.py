"""Session: the tree of a conversation, and the entry from which the conversation continues (the leaf)."""

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agentcli.agent.messages import AgentMessage, AssistantMessage, Usage, UserContent
from agentcli.sessions.context import SessionContext, SessionContextBuildOptions, build_session_context
from agentcli.sessions.entries import (
    SETTING_TYPES,
    ActiveToolsChangeEntry,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    EntryHead,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionHeader,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)
from agentcli.sessions.ids import now_iso
from agentcli.sessions.storage.storage import SessionStorage

if TYPE_CHECKING:
    from agentcli.sessions.stats import SessionStats


class Session:
    """A conversation in a storage.

    Every `append_…` appends an entry after the leaf and returns its id; the entry is the new leaf, but for labels and
    names. They raise SessionError (`storage`) if the entry cannot be kept; then nothing has changed.

    Args:
        storage: where the entries are kept.
        options: for `build_context`, before those of each call.
    """

    def __init__(
        self, storage: SessionStorage, options: SessionContextBuildOptions = SessionContextBuildOptions()
    ) -> None:
        self.storage = storage
        self.options = options

    @property
    def header(self) -> SessionHeader:
        """The file's first line: id, working directory, time of creation, parent session."""
        return self.storage.header

    @property
    def id(self) -> str:
        """The id of the session, as `--session` takes it."""
        return self.header.id

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one follows; None before the first."""
        return self.storage.get_leaf_id()

    @property
    def labels(self) -> dict[str, str]:
        """Labels by entry id."""
        return self.storage.labels

    @property
    def name(self) -> str | None:
        """The name that a user gave the session, if any."""
        return self.storage.name

    def append_message(self, message: AgentMessage) -> str:
        """Append a message of the conversation. The first user message creates the file of a new session."""
        return self._append(MessageEntry(**self._base(), message=message))

    def append_thinking_level_change(self, thinking_level: str) -> str:
        """Append a change of the wanted thinking level (`agent.models.ThinkingLevel`), whatever the model supports."""
        return self._append(ThinkingLevelChangeEntry(**self._base(), thinking_level=thinking_level))

    def append_model_change(self, provider: str, model_id: str, thinks: bool | None = None) -> str:
        """Append a change of the model.

        Args:
            provider: name of the provider.
            model_id: the provider's id of the model.
            thinks: whether the model can think, if no list describes it.
        """
        declared = UNSET if thinks is None else thinks
        return self._append(ModelChangeEntry(**self._base(), provider=provider, model_id=model_id, thinks=declared))

    def append_active_tools_change(self, active_tool_names: list[str]) -> str:
        """Append a change of the active tools to exactly these."""
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
        kept_prompt_id: str | None = None,
    ) -> str:
        """Append a summary that replaces what came before it in the context.

        Args:
            summary: the text.
            first_kept_entry_id: the earlier entries from this one on stay in the context.
            tokens_before: estimated size of the context before.
            details: further data, such as the lists of files.
            usage: of the requests for the summary.
            retained_tail: messages that stay instead of the kept entries.
            from_hook: whether an extension wrote the summary.
            kept_prompt_id: a prompt before the first kept entry that stays in the context too.
        """
        entry = CompactionEntry(
            **self._base(),
            summary=summary,
            first_kept_entry_id=first_kept_entry_id,
            tokens_before=tokens_before,
            details=details,
            usage=usage,
            retained_tail=retained_tail,
            from_hook=from_hook,
            kept_prompt_id=kept_prompt_id,
        )
        return self._append(entry)

    def append_custom(self, custom_type: str, data: Any = None) -> str:
        """Append an extension's own data (JSON types), which is not part of the context."""
        return self._append(CustomEntry(**self._base(), custom_type=custom_type, data=data))

    def append_custom_message(
        self, custom_type: str, content: str | list[UserContent], *, display: bool = True, details: Any = None
    ) -> str:
        """Append an extension's own message, which the model reads as the user's. `display`: whether users see it."""
        return self._append(
            CustomMessageEntry(
                **self._base(), custom_type=custom_type, content=content, display=display, details=details
            )
        )

    def append_label(self, target_id: str, label: str | None) -> str:
        """Label an entry; None or an empty label removes the label. Raises SessionError also with `not_found`."""
        self.storage.require(target_id)
        return self._append(LabelEntry(**self._base(), target_id=target_id, label=label))

    def append_session_info(self, name: str | None) -> str:
        """Name the session; None or an empty name removes the name."""
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
        """Continue from another entry. What follows is a new branch; nothing is lost.

        Args:
            entry_id: the new leaf; None is before the first entry.
            summary: of the branch that is left; it is appended after the new leaf.
            details: further data of the summary.
            usage: of the requests for the summary.
            from_hook: whether an extension wrote the summary.

        Returns:
            The id of the summary's entry; None without a summary.

        Raises:
            SessionError: `not_found`.
        """
        left = self.leaf_id
        self.storage.set_leaf_id(entry_id)
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

    def get_entry(self, id: str) -> Entry | None:
        """One entry, on any branch; None if there is none with this id."""
        return self.storage.get_entry(id)

    def get_entries(self) -> list[Entry]:
        """Every entry, on any branch, in the order in which they were appended. Reads the whole session."""
        return self.storage.get_entries()

    def find_entries(self, type: str) -> list[Entry]:
        """Every entry of a type (`message`, `label` …), on any branch, in order."""
        return self.storage.find_entries(type)

    def get_label(self, id: str) -> str | None:
        """The label of an entry, if it has one."""
        return self.storage.get_label(id)

    def get_stats(self) -> "SessionStats":
        """What the session took on every branch: messages, tools, tokens, money, time. Reads the whole session."""
        return self.storage.get_session_stats()

    def get_branch(self, leaf_id: str | None = None) -> list[Entry]:
        """The entries from the root to the leaf, or to another entry."""
        path = self.storage.get_path(leaf_id or self.leaf_id)
        return list(self.storage.get_some([head.id for head in path]))

    def build_context(self, options: SessionContextBuildOptions = SessionContextBuildOptions()) -> SessionContext:
        """The context at the leaf, from which the agent continues. Decodes only the entries that it is made of."""
        path = self.storage.get_path(self.leaf_id)
        start, ids = self.storage.context_part(path)
        entries = list(self.storage.get_some(ids))
        return build_session_context([*self._state_before(path[:start]), *entries], self.options.merged(options))

    def sync(self) -> None:
        """Make everything so far survive a power failure. Slow: milliseconds to tenths of a second."""
        self.storage.sync()

    def close(self) -> None:
        """Release the file and its lock. May be called twice."""
        self.storage.close()

    def _state_before(self, path: list[EntryHead]) -> list[Entry]:
        """The last entry of each setting on a path, and the last answer: the state after what was compacted."""
        wanted = {*SETTING_TYPES, "message"}
        found: list[Entry] = []
        for head in reversed(path):
            if head.type not in wanted:
                continue
            entry = self.storage.get_entry(head.id)
            if isinstance(entry, MessageEntry) and not isinstance(entry.message, AssistantMessage):
                continue
            if entry is not None:
                wanted.discard(head.type)
                found.append(entry)
        return found[::-1]

    def _base(self) -> dict[str, Any]:
        return {"id": self.storage.create_entry_id(), "parent_id": self.leaf_id, "timestamp": now_iso()}

    def _append(self, entry: Entry) -> str:
        self.storage.append_entry(entry)
        return entry.id
