"""Asking: a request for permission is on the screen, and the person answers it, or writes why not."""

from textual import events

from agentcli.tui.app_context import AppContext
from agentcli.tui.widgets.permission_prompt import ROOMY, Choice


class PermissionController:
    """Args:
    app: whose editors and prompt are used.
    """

    def __init__(self, app: AppContext) -> None:
        self._app = app

    def show(self) -> None:
        """Bring the prompt up to date with what waits."""
        app = self._app
        before = app.permission.request
        requests = app.chat.requests if app.chat else []
        app.permission.show(requests, draft=bool(app.editor.text.strip()), writing=app.reason.display)
        if app.permission.request is not before:
            # A reason that nobody asks for any more is not thrown away.
            unsent = app.reason.text if app.reason.display else ""
            self.write_reason(False)
            app.reason.put("")
            app.give_back([unsent])
        asked = app.permission.request is not None
        for widget in (app.editor, app.reason):
            widget.set_class(asked, "-asked")
        app.queue.set_class(asked and app.size.height < ROOMY, "-no-room")

    def take(self, event: events.Event) -> bool:
        """Whether an event has answered the request. What is typed otherwise puts off when keys are answers."""
        app = self._app
        typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        covered = len(app.screen_stack) > 1
        if not typed or covered or app.chat is None or not app.chat.requests or app.reason.display:
            return False
        if isinstance(event, events.Key) and (choice := app.permission.take(event)):
            self.answer(choice)
            return True
        if isinstance(event, events.Paste):
            app.permission.wait()
        return False

    def answer(self, choice: Choice, reason: str | None = None) -> None:
        """Answer the request that is shown, at once: the next key may be for the next one."""
        app = self._app
        request = app.permission.request
        if app.chat is None or request is None:
            return
        if choice is Choice.REASON and reason is None:
            self.write_reason(True)
            return
        denied = choice in (Choice.DENY, Choice.REASON)
        app.chat.answer(request.id, allow=not denied, remember=Choice.ONCE if denied else choice, reason=reason)
        app.show_state()

    def write_reason(self, writing: bool) -> None:
        """Have the editor for reasons in place of the editor, or the other way round."""
        app = self._app
        if writing == app.reason.display:
            return
        shown, hidden = (app.reason, app.editor) if writing else (app.editor, app.reason)
        shown.display = True
        # Not `focus`, which comes late: the next letter is for the one that is shown.
        app.main.set_focus(shown)
        hidden.display = False
        self.show()

    def stop_writing(self) -> None:
        self.write_reason(False)
        self._app.permission.wait()
