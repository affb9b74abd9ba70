"""Context building: from the entries on one path of the tree to the messages and settings of the agent.

The latest compaction on the path replaces what precedes it: its summary comes first, then what it kept, then what came
after. (An earlier one would bring back what later ones have summarised.) A prompt whose turn continues is kept too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from msgspec import UNSET, Struct

from agentcli.agent.call_ids import with_own_ids
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
)
from agentcli.sessions.entries import (
    ActiveToolsChangeEntry,
    CompactionEntry,
    ContextEntry,
    CustomEntry,
    DataEntry,
    Entry,
    MarkEntry,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
)

EntryTransform = Callable[[list[Entry]], list[Entry]]
EntryProjector = Callable[[CustomEntry, int, list[Entry]], list[AgentMessage]]


class ModelChoice(Struct, frozen=True):
    """The model that a session uses."""

    provider: str
    model_id: str
    thinks: bool | None = None
    """Whether the model can think, if the session says so because no list describes the model."""

    def is_of(self, message: AssistantMessage) -> bool:
        """Whether this model wrote the message."""
        return self.model_id == message.model and self.provider == message.provider


class SessionContext(Struct, frozen=True):
    """The state of the conversation at the end of a path."""

    messages: list[AgentMessage]
    thinking_level: str | None
    """The level that is wanted, whatever the model supports; None if none was chosen on this path."""
    model: ModelChoice | None
    active_tool_names: list[str] | None
    kept: int = 0
    """How many messages, from the first on, are older than the latest compaction (its summary counts as one). Their
    `usage` counts the context before it."""


class SessionContextBuildOptions(Struct, frozen=True):
    """How an application changes the context."""

    entry_transforms: Sequence[EntryTransform] = ()
    """Each changes the list of entries that the context is made from."""
    entry_projectors: Mapping[str, EntryProjector] = {}
    """By `custom_type`: makes the messages that a `custom` entry adds to the context (none without a projector)."""

    def merged(self, other: "SessionContextBuildOptions") -> "SessionContextBuildOptions":
        """Both; the other's projector wins if both have one for a type."""
        return SessionContextBuildOptions(
            [*self.entry_transforms, *other.entry_transforms], {**self.entry_projectors, **other.entry_projectors}
        )


def build_session_context(
    path: Sequence[Entry], options: SessionContextBuildOptions = SessionContextBuildOptions()
) -> SessionContext:
    """The context at the end of a path. Linear in the path's length.

    Args:
        path: entries from the root on; what was compacted may be left out but for its settings.
        options: transforms and projectors.
    """
    thinking_level: str | None = None
    model: ModelChoice | None = None
    active_tool_names: list[str] | None = None
    for entry in path:
        match entry:
            case MessageEntry():  # first: nearly all are these
                message = entry.message
                if isinstance(message, AssistantMessage) and (model is None or not model.is_of(message)):
                    model = ModelChoice(message.provider, message.model)
            case ThinkingLevelChangeEntry():
                thinking_level = entry.thinking_level
            case ModelChangeEntry():
                thinks = None if entry.thinks is UNSET else entry.thinks
                model = ModelChoice(entry.provider, entry.model_id, thinks)
            case ActiveToolsChangeEntry():
                active_tool_names = list(entry.active_tool_names)
            case ContextEntry() | DataEntry() | MarkEntry():
                pass
            case _:
                assert_never(entry)
    entries = build_context_entries(path, options)
    latest = next((entry.id for entry in reversed(path) if isinstance(entry, CompactionEntry)), None)
    older = _ids_up_to(path, latest)
    messages: list[AgentMessage] = []
    kept = 0
    for index, entry in enumerate(entries):
        if isinstance(entry, MessageEntry):  # nearly all are these
            messages.append(entry.message)
        else:
            messages += entry_to_messages(entry, index, entries, options)
        if older and entry.id in older:
            kept = len(messages)
    return SessionContext(with_own_ids(messages), thinking_level, model, active_tool_names, kept)


def _ids_up_to(path: Sequence[Entry], last: str | None) -> set[str]:
    ids: set[str] = set()
    for entry in path if last is not None else ():
        ids.add(entry.id)
        if entry.id == last:
            break
    return ids


def build_context_entries(path: Sequence[Entry], options: SessionContextBuildOptions) -> list[Entry]:
    """The entries that the context is made of, after every transform."""
    entries = _from_latest_compaction(path)
    for transform in options.entry_transforms:
        entries = transform(entries)
    return entries


def _from_latest_compaction(path: Sequence[Entry]) -> list[Entry]:
    latest = next((index for index in reversed(range(len(path))) if isinstance(path[index], CompactionEntry)), None)
    if latest is None:
        return list(path)
    compaction = path[latest]
    assert isinstance(compaction, CompactionEntry)
    kept: list[Entry] = []
    if compaction.retained_tail is None and compaction.first_kept_entry_id is not None:
        before = path[:latest]
        first = next((i for i, entry in enumerate(before) if entry.id == compaction.first_kept_entry_id), latest)
        prompt = compaction.kept_prompt_id
        kept = [entry for entry in before[:first] if entry.id == prompt] if prompt is not None else []
        kept += [entry for entry in before[first:] if not isinstance(entry, CompactionEntry)]
    return [compaction, *kept, *path[latest + 1 :]]


def entry_to_messages(
    entry: Entry, index: int, entries: list[Entry], options: SessionContextBuildOptions
) -> list[AgentMessage]:
    """The messages that one entry adds to the context.

    Args:
        entry: the entry, one of those of the context.
        index: where it is in `entries`.
        entries: all entries of the context, for a projector.
        options: with the projectors.
    """
    if isinstance(entry, CustomEntry) and (projector := options.entry_projectors.get(entry.custom_type)) is not None:
        return projector(entry, index, entries)
    return entry.to_messages()
