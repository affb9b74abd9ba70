"""Events that the runtime adds to the agent's stream."""

from msgspec import Struct

from agentcli.agent.messages import AgentMessage


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


class AgentSettledEvent(Struct, frozen=True, tag_field="type", tag="agent_settled"):
    """Nothing automatic remains: no run, no retry."""

    aborted: bool


RuntimeEvent = QueueUpdateEvent | RetryStartEvent | RetryEndEvent | EntryAppendedEvent | NoticeEvent | AgentSettledEvent
