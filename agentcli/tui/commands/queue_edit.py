"""QueueEdit: a message that waited is in the editor to be changed, and goes back to its place in the queue."""

from typing import TYPE_CHECKING

from msgspec import Struct

from agentcli.tui.widgets.queue_bar import QueuedKind

if TYPE_CHECKING:
    from agentcli.tui.session_controller import SessionController


class QueueEdit(Struct, frozen=True):
    kind: QueuedKind
    position: int
    text: str
    """As it was."""
    draft: str
    """What was in the editor before."""

    @classmethod
    def begin(cls, chat: "SessionController", id: str, draft: str) -> "QueueEdit | None":
        """Take a message out of its queue; None if it waits no more."""
        place = chat.place_of(id)
        row = next((row for row in chat.waiting if row.id == id), None)
        if place is None or row is None:
            return None
        chat.take_back(id)
        return cls(*place, row.text, draft)

    def put_back(self, chat: "SessionController", text: str) -> bool:
        """Have a text wait in the message's place; if nothing runs any more, it starts a run. False if it cannot be."""
        waits = chat.runtime.is_busy
        if not chat.send(text, follow_up=self.kind is QueuedKind.FOLLOW_UP):
            return False
        if waits:
            queue = chat.queue(self.kind)
            queue.move(queue.items[-1].id, self.position)
        return True
