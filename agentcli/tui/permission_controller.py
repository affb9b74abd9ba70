"""PermissionController: shows permission requests, and sends the user's answers to the runtime."""

from typing import TYPE_CHECKING

from textual import events

from agentcli.tui.app_context import AppContext
from agentcli.tui.widgets.permission_prompt import ROOMY, Choice

if TYPE_CHECKING:
    from agentcli.runtime.events import PermissionRequestEvent


class PermissionController:
    """Connects the permission prompt with the runtime and the two editors.

    Args:
        app: whose editors and prompt are used.
    """

    def __init__(self, app: AppContext) -> None:
        self._app = app

    @property
    def _requests(self) -> "list[PermissionRequestEvent]":
        """The open requests, oldest first."""
        return self._app.controller.transcript.requests if self._app.controller else []

    def show(self) -> None:
        """Show the first open request, if there is one."""
        app = self._app
        before = app.permission.request
        app.permission.show(self._requests, draft=bool(app.editor.text.strip()), writing=app.reason.display)
        if app.permission.request is not before:
            # A reason whose request was answered elsewhere is not thrown away.
            unsent = app.reason.text if app.reason.display else ""
            self.write_reason(False)
            app.reason.put("")
            app.prepend_to_draft([unsent])
        asked = app.permission.request is not None
        for widget in (app.editor, app.reason):
            widget.set_class(asked, "-asked")
        app.queue.set_class(asked and app.size.height < ROOMY, "-no-room")

    def handle_event(self, event: events.Event) -> bool:
        """Handle a key that answers the request. Other typing delays when keys are answers again.

        Returns:
            Whether the event was an answer.
        """
        app = self._app
        typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        covered = len(app.screen_stack) > 1
        if not typed or covered or not self._requests or app.reason.display:
            return False
        if isinstance(event, events.Key) and (choice := app.permission.choice_for(event)):
            self.answer(choice)
            return True
        if isinstance(event, events.Paste):
            app.permission.wait()
        return False

    def answer(self, choice: Choice, reason: str | None = None) -> None:
        """Answer the request that is shown, at once: the next key may be for the next one.

        Args:
            choice: of the user.
            reason: why the call is denied; None opens the editor for it if `choice` is `REASON`.
        """
        app = self._app
        request = app.permission.request
        if app.controller is None or request is None:
            return
        if choice is Choice.REASON and reason is None:
            self.write_reason(True)
            return
        denied = choice in (Choice.DENY, Choice.REASON)
        app.controller.answer(request.id, allow=not denied, remember=Choice.ONCE if denied else choice, reason=reason)
        app.show_state()

    def write_reason(self, writing: bool) -> None:
        """Show the editor for reasons in place of the editor, or the other way round."""
        app = self._app
        if writing == app.reason.display:
            return
        shown, hidden = (app.reason, app.editor) if writing else (app.editor, app.reason)
        shown.display = True
        # Not `focus`, which takes effect later: the next letter is for the shown editor.
        app.main.set_focus(shown)
        hidden.display = False
        self.show()

    def stop_writing(self) -> None:
        """Go back to the choices."""
        self.write_reason(False)
        self._app.permission.wait()
