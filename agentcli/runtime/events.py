"""Events that the runtime adds to the agent's stream."""

from typing import Any

from msgspec import Struct

from agentcli.agent.events import MessageEndEvent
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    ToolResultMessage,
    Usage,
)
from agentcli.agent.models import ThinkingLevel


class QueueUpdateEvent(Struct, frozen=True, tag_field="type", tag="queue_update"):
    """What waits now, whole, next first."""

    steering: list[AgentMessage]
    follow_up: list[AgentMessage]


class RetryStartEvent(Struct, frozen=True, tag_field="type", tag="retry_start"):
    attempt: int
    """1 is the first retry."""
    max_attempts: int
    delay: float
    """Seconds until the next try."""
    error_message: str


class RetryEndEvent(Struct, frozen=True, tag_field="type", tag="retry_end"):
    success: bool
    attempt: int
    final_error: str | None = None


class EntryAppendedEvent(Struct, frozen=True, tag_field="type", tag="entry_appended"):
    entry_id: str


class NoticeEvent(Struct, frozen=True, tag_field="type", tag="notice"):
    """Something the person should know, as one line. Nothing stops for it."""

    text: str


class CompactionStartEvent(Struct, frozen=True, tag_field="type", tag="compaction_start"):
    reason: str
    """`manual`, `threshold` (the context comes near the window) or `overflow` (the server refused its length)."""
    tokens_before: int = 0
    """Of the context: as the server counted them, and estimated for what is new."""
    limit: int = 0
    """Tokens above which the context is compacted by itself."""
    message_count: int = 0
    """How many messages are summarised; 0 if there is nothing that could be."""


class CompactionEndEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="compaction_end"):
    """How a compaction ended: with a summary, aborted, or with an error. Without a summary nothing has changed."""

    reason: str
    summary: str | None = None
    first_kept_entry_id: str | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    """Estimated."""
    usage: Usage | None = None
    """What the summary took; also what one took that failed."""
    message_count: int = 0
    """How many messages the summary stands for."""
    aborted: bool = False
    will_retry: bool = False
    """Whether the request that was too long is made again."""
    error_message: str | None = None


class SpentEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="spent"):
    """A request that is no part of the conversation took something: the summary of a branch, or the attempt at one."""

    reason: str
    """What it was for: `branch_summary`."""
    usage: Usage


class SessionMovedEvent(Struct, frozen=True, tag_field="type", tag="session_changed"):
    """The conversation goes on from another place of its session: the transcript is another one."""

    leaf_id: str | None


class PermissionRequestEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="permission_request"):
    """A call waits for the person. Answer with `Runtime.answer_permission`; `permission_end` says that it is over."""

    id: str
    tool_call_id: str
    tool_name: str
    arguments: dict[str, Any]
    """What will run: prepared and validated."""
    about: str
    """What is asked about, as one line: the command or the part of it that matters, or the tool and the path."""
    because: str
    """Why it is asked: the rule, or the mode."""
    suggested_rules: list[str] = []
    """Rules that `session` and `always` add, and that keep the like from being asked again; none if no rule can."""


class PermissionEndEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="permission_end"):
    """A request is answered, or nobody needs the answer any more because the run was aborted."""

    id: str
    allowed: bool
    remember: str = "once"


class ModelChangedEvent(Struct, frozen=True, tag_field="type", tag="model_changed"):
    """Another model answers from the next request on."""

    provider: str
    model_id: str
    thinking_level: ThinkingLevel


class ThinkingLevelChangedEvent(Struct, frozen=True, tag_field="type", tag="thinking_level_changed"):
    """The same model is asked to think more or less from the next request on."""

    thinking_level: ThinkingLevel


class SessionInfoChangedEvent(Struct, frozen=True, tag_field="type", tag="session_info_changed"):
    name: str | None
    """What the session is called now; None is no name."""


class BashExecutionStartEvent(Struct, frozen=True, tag_field="type", tag="bash_execution_start"):
    """A command that the person typed has begun. It is no part of a run, and may go on beside one."""

    id: str
    command: str
    exclude_from_context: bool


class BashExecutionUpdateEvent(Struct, frozen=True, tag_field="type", tag="bash_execution_update"):
    id: str
    output: str
    """All so far, or its end if it is long: in place of what was told before."""


class BashExecutionEndEvent(Struct, frozen=True, tag_field="type", tag="bash_execution_end"):
    """It has ended. While a run goes on, the message comes into the conversation when that has settled."""

    id: str
    message: BashExecutionMessage


class AgentSettledEvent(Struct, frozen=True, tag_field="type", tag="agent_settled"):
    """Nothing automatic remains: no run, no retry."""

    aborted: bool


RuntimeEvent = (
    QueueUpdateEvent
    | RetryStartEvent
    | RetryEndEvent
    | EntryAppendedEvent
    | NoticeEvent
    | CompactionStartEvent
    | CompactionEndEvent
    | SpentEvent
    | SessionMovedEvent
    | PermissionRequestEvent
    | PermissionEndEvent
    | ModelChangedEvent
    | ThinkingLevelChangedEvent
    | SessionInfoChangedEvent
    | BashExecutionStartEvent
    | BashExecutionUpdateEvent
    | BashExecutionEndEvent
    | AgentSettledEvent
)


def usage_of(event: object) -> Usage | None:
    """The usage that an event of the stream reports: of an answer, a tool or a summary; None for all other events."""
    match event:
        case MessageEndEvent(message=AssistantMessage(usage=usage)):
            return usage
        case MessageEndEvent(message=ToolResultMessage(usage=usage)) | CompactionEndEvent(usage=usage):
            return usage
        case SpentEvent(usage=usage):
            return usage
        case _:
            return None
