"""Desk: what commands work with: the app, its chat, and ways to ask the person and to tell them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual.screen import ModalScreen

from agentcli.tui.app_context import AppContext
from agentcli.tui.screens.picker import Picker, PickerRow

if TYPE_CHECKING:
    from agentcli.tui.session_controller import SessionController


class CommandContext:
    """Args:
    app: whose screen and editor the commands work on.
    chat: whose conversation.
    """

    def __init__(self, app: AppContext, chat: "SessionController") -> None:
        self.app = app
        self.chat = chat

    async def ask(self, screen: ModalScreen[Any]) -> Any:
        """Open a screen. Returns what was chosen there; None if nothing was. Only in a worker."""
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
        """See `Picker`."""
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

    def tell(self, text: str) -> None:
        """Say something in the conversation, to be read later too."""
        self.chat.conversation.notice(text)

    def tell_all(self, lines: list[str]) -> None:
        for line in lines:
            self.tell(line)

    def flash(self, text: str) -> None:
        """Say something in the footer for a while."""
        self.app.footer.flash(text)
