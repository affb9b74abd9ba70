"""RPC data: what responses hold, and the response itself."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from agentcli.agent.messages import AgentMessage
from agentcli.agent.models import Model, ModelCost, ThinkingLevel
from agentcli.agent.queues import QueuedMessage, QueueMode
from agentcli.config.settings import PermissionMode
from agentcli.runtime.events import PermissionRequestEvent
from agentcli.runtime.resources.slash_commands import SlashCommand
from agentcli.sessions.entries import KnownEntry


class Response(Struct, frozen=True, kw_only=True, tag_field="type", tag="response"):
    """One for each command, with its `id`."""

    id: str | int | float | UnsetType = UNSET
    command: str
    """Its name; `parse` for a line that names none."""
    success: bool
    data: Any = UNSET
    """What the command gives, if it gives anything and did not fail."""
    error: str | UnsetType = UNSET
    """What went wrong, as one line."""
    error_kind: str | UnsetType = UNSET
    """`usage`, `busy`, `session`, `credentials` …"""


class Disposition(Struct, frozen=True):
    disposition: Literal["started", "queued", "handled"]
    """`handled`: it was a command of an extension that has done all there is."""
    queue_id: str | None = None
    """Of a message that was queued."""


class Queues(Struct, frozen=True):
    steering: list[QueuedMessage]
    follow_up: list[QueuedMessage]


class Removed(Struct, frozen=True):
    message: AgentMessage


class ModelInfo(Struct, frozen=True):
    provider: str
    id: str
    name: str
    reasoning: bool
    input: list[str]
    """`text`, `image`."""
    context_window: int
    """Tokens."""
    max_tokens: int
    """Output tokens."""
    cost: ModelCost

    @classmethod
    def of(cls, model: Model) -> "ModelInfo":
        """Without what only the requests need: addresses, headers."""
        return cls(
            model.provider,
            model.id,
            model.name,
            model.reasoning,
            model.input,
            model.context_window,
            model.max_tokens,
            model.cost,
        )


class Models(Struct, frozen=True):
    models: list[ModelInfo]


class ModelChosen(Struct, frozen=True):
    model: ModelInfo
    thinking_level: ThinkingLevel


class Level(Struct, frozen=True):
    level: ThinkingLevel


class Levels(Struct, frozen=True):
    levels: list[ThinkingLevel]


class State(Struct, frozen=True, kw_only=True):
    model: ModelInfo
    thinking_level: ThinkingLevel
    """How much the model thinks."""
    wanted_thinking_level: ThinkingLevel
    """How much was asked for: another model may do more of it."""
    is_busy: bool
    """Whether anything is worked on: a run, a retry's wait, a compaction, a branch summary."""
    is_streaming: bool
    """Whether a run goes on."""
    is_compacting: bool
    is_bash_running: bool
    steering_mode: QueueMode
    follow_up_mode: QueueMode
    permission_mode: PermissionMode
    permission_requests: list[PermissionRequestEvent]
    """Those that wait for an answer."""
    auto_compaction_enabled: bool
    cwd: str
    session_id: str
    session_file: str | None
    """null: it is kept in memory only. The file appears with the first message."""
    session_name: str | None
    leaf_id: str | None
    """The entry that the next one follows."""
    message_count: int
    pending_message_count: int
    context_tokens: int
    """About so many has the next request, without what is said next."""
    reached_limit: str | None
    """Which limit stopped the last prompt: `max_turns`, `max_tokens`, `max_cost`, `timeout`."""


class Messages(Struct, frozen=True):
    messages: list[AgentMessage]


class Text(Struct, frozen=True):
    text: str | None


class SessionOpened(Struct, frozen=True):
    """The `session` line that came before says the same; the events after it are of this session."""

    session_id: str
    session_file: str | None
    undelivered: Queues
    """What was queued in the session that was left, and is not delivered any more."""
    text: str | None = None
    """Of a fork: what the user said there, to say it anew."""


class Entries(Struct, frozen=True):
    entries: list[KnownEntry]
    leaf_id: str | None


class TreeNode(Struct, frozen=True, kw_only=True):
    id: str
    parent_id: str | None
    """Of those in the list: what is left out is taken out of the middle too."""
    type: str
    text: str
    """The entry as one line."""
    label: str | None
    depth: int
    """How many branchings lie above."""
    on_path: bool
    """Whether it is on the active branch."""
    is_leaf: bool


class Tree(Struct, frozen=True):
    tree: list[TreeNode]
    leaf_id: str | None


class ForkMessage(Struct, frozen=True):
    entry_id: str
    text: str


class ForkMessages(Struct, frozen=True):
    messages: list[ForkMessage]


class MovedTo(Struct, frozen=True):
    moved: bool
    """False if it was aborted; then nothing has changed."""
    leaf_id: str | None
    text: str | None
    """What the user said at the place that was named, to say it anew."""


class ListedSession(Struct, frozen=True, kw_only=True):
    id: str
    path: str
    cwd: str
    created: str
    """ISO 8601 UTC."""
    modified: int
    """Unix milliseconds of the last message."""
    name: str | None
    first_message: str
    parent_session: str | None
    excerpt: str | None = None
    """Of a search: where it was found."""


class Sessions(Struct, frozen=True):
    sessions: list[ListedSession]


class Commands(Struct, frozen=True):
    commands: list[SlashCommand]


class Exported(Struct, frozen=True):
    path: str
