"""QueueController: changes queued messages as the queue bar asks; one of them may be in the editor to be changed."""

from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from agentcli.transcript.queue import QueuedKind
from agentcli.tui.app_context import AppContext
from agentcli.tui.widgets.queue_bar import QueueBar

if TYPE_CHECKING:
    from agentcli.tui.session_controller import SessionController


class _Edit(Struct, frozen=True):
    kind: QueuedKind
    position: int
    text: str
    """The message before the edit."""
    draft: str
    """The editor's text before the edit."""


class QueueController:
    """Connects the queue bar with the queues of the agent, and with the editor.

    Args:
        app: whose session, queue bar and editor are used.
    """

    def __init__(self, app: AppContext) -> None:
        self._app = app
        self._edit: _Edit | None = None

    @property
    def draft(self) -> str | None:
        """The draft that was set aside for an edit; None without one."""
        return self._edit.draft if self._edit else None

    def focus(self) -> None:
        """Give the focus to the queue bar."""
        if self._app.queue.rows:
            self._app.queue.focus()
        else:
            self._app.footer.flash("nothing waits")

    def dequeue(self) -> None:
        """Take the last queued message back into the editor."""
        controller = self._app.controller
        if controller is not None and (waiting := controller.queue.waiting):
            controller.queue.take_back(waiting[-1].id)
            self._app.prepend_to_draft([waiting[-1].text])
            self._app.show_state()

    def handle(self, message: QueueBar.Change) -> None:
        """Make the change that the queue bar asks for."""
        if (controller := self._app.controller) is not None:
            match message:
                case QueueBar.EditAsked(id=id):
                    self._begin_edit(controller, id)
                case QueueBar.RemoveAsked(id=id):
                    controller.queue.take_back(id)
                case QueueBar.MoveAsked(id=id, position=position):
                    controller.queue.move(id, position)
                case QueueBar.SwitchAsked(id=id):
                    controller.queue.switch_kind(id)
                case _:
                    assert_never(message)
        self._app.show_state()

    def end_edit(self, text: str | None = None) -> bool:
        """Queue the edited message in its place, or start a run if nothing is running any more; show the draft again.

        Args:
            text: the changed message; None leaves it as it was.

        Returns:
            Whether a message was being edited.
        """
        app, controller, edit = self._app, self._app.controller, self._edit
        if edit is None or controller is None:
            return False
        self._edit = None
        app.editor.put(edit.draft)
        text = edit.text if text is None else text
        is_queued = controller.runtime.is_busy
        if not controller.send(text, follow_up=edit.kind is QueuedKind.FOLLOW_UP):
            app.prepend_to_draft([text])
        elif is_queued:
            queue = controller.queue.of_kind(edit.kind)
            queue.move(queue.items[-1].id, edit.position)
        return True

    def _begin_edit(self, controller: "SessionController", id: str) -> None:
        """Show a message in the editor in place of the draft, which comes back when it is sent."""
        app, place = self._app, controller.queue.place_of(id)
        row = next((row for row in controller.queue.waiting if row.id == id), None)
        if place is None or row is None:
            return
        controller.queue.take_back(id)
        self._edit = _Edit(*place, row.text, app.editor.text)
        app.editor.put(row.text)
        app.editor.focus()
        app.footer.flash("Enter puts it back into its place, Esc leaves it as it was")
