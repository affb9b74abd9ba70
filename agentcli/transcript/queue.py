"""QueueEditor: the messages that wait for the agent, as one list that a user can change."""

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from agentcli.agent.messages import AgentMessage, CustomMessage, UserMessage, text_of
from agentcli.agent.queues import PendingMessageQueue

if TYPE_CHECKING:
    from agentcli.agent.agent import Agent


class QueuedKind(StrEnum):
    """When a queued message is sent. The value is shown."""

    STEER = "steer"
    FOLLOW_UP = "follow-up"
    EARLY = "at the start"
    """Submitted before the runtime was created; it is in no queue of the agent."""


SWITCHABLE = (QueuedKind.STEER, QueuedKind.FOLLOW_UP)


class QueuedText(Struct, frozen=True):
    """A queued message."""

    id: str
    kind: QueuedKind
    text: str


class QueueEditor:
    """Changes the two queues of an agent.

    Args:
        agent: whose queues.
    """

    def __init__(self, agent: "Agent") -> None:
        self._agent = agent

    @property
    def waiting(self) -> list[QueuedText]:
        """The queued messages, next first; those of a kind stand together."""
        return [
            QueuedText(item.id, kind, queued_text(item.message))
            for kind in SWITCHABLE
            for item in self.of_kind(kind).items
        ]

    def of_kind(self, kind: QueuedKind) -> PendingMessageQueue:
        """The agent's queue of a kind."""
        return self._agent.steering_queue if kind is QueuedKind.STEER else self._agent.follow_up_queue

    def place_of(self, id: str) -> tuple[QueuedKind, int] | None:
        """The kind of a queued message and its position in that queue; None if it is not queued any more."""
        for kind in SWITCHABLE:
            ids = [item.id for item in self.of_kind(kind).items]
            if id in ids:
                return kind, ids.index(id)
        return None

    def take_back(self, id: str) -> AgentMessage | None:
        """Remove a message from its queue; None if it is not queued any more."""
        place = self.place_of(id)
        return self.of_kind(place[0]).remove(id) if place else None

    def take_all_back(self) -> list[str]:
        """Remove all messages, and return their texts."""
        return [queued_text(message) for message in self._agent.clear_all_queues()]

    def move(self, id: str, position: int) -> None:
        """Move a message to a position in its queue; 0 is next."""
        if place := self.place_of(id):
            self.of_kind(place[0]).move(id, position)

    def switch_kind(self, id: str) -> None:
        """Move a queued message to the end of the other queue."""
        if place := self.place_of(id):
            other = QueuedKind.FOLLOW_UP if place[0] is QueuedKind.STEER else QueuedKind.STEER
            self.of_kind(other).enqueue(self.of_kind(place[0]).remove(id))


def queued_text(message: AgentMessage) -> str:
    """The text of a queued message."""
    return text_of(message.content) if isinstance(message, UserMessage | CustomMessage) else ""
