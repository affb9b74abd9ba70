"""AppContext: what the parts of the app may use of the whole. `ChatApp` is its only implementation."""

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.screen import Screen

    from agentcli.tui.colors.current_theme import CurrentTheme
    from agentcli.tui.colors.palette import Palette
    from agentcli.tui.commands.keymap import Keymap
    from agentcli.tui.queue_controller import QueueController
    from agentcli.tui.session_controller import SessionController
    from agentcli.tui.terminal.notifier import TerminalNotifier
    from agentcli.tui.widgets.editor import Editor
    from agentcli.tui.widgets.footer import Footer
    from agentcli.tui.widgets.permission_prompt import PermissionPrompt
    from agentcli.tui.widgets.queue_bar import QueueBar
    from agentcli.tui.widgets.reason_editor import ReasonEditor
    from agentcli.tui.widgets.transcript import Transcript


class AppContext(Protocol):
    """The app as commands and controllers see it."""

    controller: "SessionController | None"
    keymap: "Keymap"
    palette: "Palette"
    theming: "CurrentTheme"
    notifier: "TerminalNotifier"
    queue_controller: "QueueController"
    transcript: "Transcript"
    queue: "QueueBar"
    permission: "PermissionPrompt"
    editor: "Editor"
    reason: "ReasonEditor"
    footer: "Footer"

    @property
    def main(self) -> "Screen[Any]":
        """The screen with the transcript, below the screens that are open over it."""
        ...

    def show_state(self) -> None:
        """Update all that is shown around the transcript: the queue, the footer, the permission prompt."""
        ...

    def prepend_to_draft(self, texts: list[str]) -> None:
        """Put texts that are not blank before the draft."""
        ...

    def act(self, name: str, argument: str = "") -> None:
        """Do an action of the table by its name."""
        ...

    # Of Textual's App.

    @property
    def size(self) -> "Size":
        """Of the terminal, in cells."""
        ...

    @property
    def screen_stack(self) -> "Sequence[Screen[Any]]":
        """The open screens, the topmost last."""
        ...

    async def push_screen_wait(self, screen: Any) -> Any:
        """Open a screen and wait for its result, in a worker."""
        ...

    def run_worker(self, work: Coroutine[Any, Any, None], *, group: str) -> Any:
        """Run a coroutine in a worker."""
        ...

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text, by way of the terminal."""
        ...

    def action_suspend_process(self) -> None:
        """Stop the process until the shell's `fg`."""
        ...

    def exit(self) -> None:
        """End the app."""
        ...
