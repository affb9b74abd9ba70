"""CommandContext: what commands work with: the app, its session, and ways to ask and notify the user."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual.screen import ModalScreen

from agentcli.tui.app_context import AppContext
from agentcli.tui.screens.picker import Picker, PickerRow

if TYPE_CHECKING:
    from agentcli.runtime.runtime import Runtime
    from agentcli.tui.session_controller import SessionController


class CommandContext:
    """What a command's handler is called with.

    Args:
        app: whose screen and editor the commands work on.
        controller: whose session.
    """

    def __init__(self, app: AppContext, controller: "SessionController") -> None:
        self.app = app
        self.controller = controller

    @property
    def runtime(self) -> "Runtime":
        """The runtime of the session that is shown now; `/new` and the like replace it."""
        return self.controller.runtime

    async def ask(self, screen: ModalScreen[Any]) -> Any:
        """Open a screen, in a worker. Returns what was chosen there; None if nothing was."""
        return await self.app.push_screen_wait(screen)

    async def pick(
        self,
        title: str,
        rows: Sequence[PickerRow[str]],
        *,
        current: str | None = None,
        on_highlight: Callable[[str], None] | None = None,
        preview: Callable[[str], str] | None = None,
        empty: str = "nothing to choose from",
    ) -> str | None:
        """Open a `Picker`, whose arguments these are, and return the chosen value; None if it was closed."""
        return await self.ask(
            Picker(
                title,
                rows,
                keymap=self.app.keymap,
                palette=self.app.palette,
                current=current,
                on_highlight=on_highlight,
                preview=preview,
                empty=empty,
            )
        )

    def notify(self, *lines: str) -> None:
        """Add notices to the transcript, where they can be read later too."""
        for line in lines:
            self.controller.notice(line)

    def flash(self, text: str) -> None:
        """Show a text in the footer for a few seconds."""
        self.app.footer.flash(text)
