"""Message queues: what the person said while the agent works, waiting for its moment."""

import itertools
from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.messages import AgentMessage

_numbers = itertools.count(1)


class QueueMode(StrEnum):
    """How much one drain delivers."""

    ALL = "all"
    ONE_AT_A_TIME = "one-at-a-time"


class QueuedMessage(Struct, frozen=True):
    id: str
    """Unique in this process; stays with the message while it waits, wherever it is moved."""
    message: AgentMessage


class PendingMessageQueue:
    """Messages in the order in which they will be delivered.

    Args:
        mode: how much one `drain` delivers.
        on_change: called after every change.
    """

    def __init__(self, mode: QueueMode = QueueMode.ONE_AT_A_TIME, on_change: Callable[[], None] | None = None) -> None:
        self.mode = mode
        self.on_change = on_change
        self._items: list[QueuedMessage] = []

    def __len__(self) -> int:
        return len(self._items)

    @property
    def items(self) -> list[QueuedMessage]:
        """What waits, next first."""
        return list(self._items)

    def enqueue(self, message: AgentMessage) -> str:
        """Put a message at the end. Returns its id."""
        item = QueuedMessage(f"q{next(_numbers)}", message)
        self._items.append(item)
        self._changed()
        return item.id

    def drain(self) -> list[AgentMessage]:
        """Take what is to be delivered now: everything, or the first, as `mode` says."""
        count = len(self._items) if self.mode == QueueMode.ALL else 1
        taken, self._items = self._items[:count], self._items[count:]
        if taken:
            self._changed()
        return [item.message for item in taken]

    def edit(self, id: str, message: AgentMessage) -> None:
        """Replace a waiting message. Raises KeyError if it no longer waits."""
        index = self._index(id)
        self._items[index] = replace(self._items[index], message=message)
        self._changed()

    def move(self, id: str, position: int) -> None:
        """Move a waiting message to a place: 0 is next, past the end is last. Raises KeyError if it no longer waits."""
        item = self._items.pop(self._index(id))
        self._items.insert(max(position, 0), item)
        self._changed()

    def remove(self, id: str) -> AgentMessage:
        """Take a waiting message back. Raises KeyError if it no longer waits."""
        item = self._items.pop(self._index(id))
        self._changed()
        return item.message

    def clear(self) -> list[AgentMessage]:
        """Take everything back, next first."""
        taken, self._items = self._items, []
        if taken:
            self._changed()
        return [item.message for item in taken]

    def _index(self, id: str) -> int:
        for index, item in enumerate(self._items):
            if item.id == id:
                return index
        raise KeyError(id)

    def _changed(self) -> None:
        if self.on_change:
            self.on_change()


class MessageQueues:
    """The two queues of an agent.

    Args:
        steering_mode, follow_up_mode: how much one drain of each delivers.
        on_change: called after every change of either.
    """

    def __init__(
        self,
        steering_mode: QueueMode = QueueMode.ONE_AT_A_TIME,
        follow_up_mode: QueueMode = QueueMode.ONE_AT_A_TIME,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        self.steering: PendingMessageQueue = PendingMessageQueue(QueueMode(steering_mode), on_change)
        self.follow_up: PendingMessageQueue = PendingMessageQueue(QueueMode(follow_up_mode), on_change)

    def __bool__(self) -> bool:
        """Whether any message waits."""
        return bool(self.steering) or bool(self.follow_up)
