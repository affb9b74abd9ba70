"""Face: what the parts of the app may ask of the whole. `ChatApp` is the only one there is."""

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.screen import Screen

    from agentcli.tui.colors.current_theme import CurrentTheme
    from agentcli.tui.colors.palette import Palette
    from agentcli.tui.commands.keymap import Keymap
    from agentcli.tui.session_controller import SessionController
    from agentcli.tui.terminal.notifier import TerminalNotifier
    from agentcli.tui.widgets.editor import Editor
    from agentcli.tui.widgets.footer import Footer
    from agentcli.tui.widgets.permission_prompt import PermissionPrompt
    from agentcli.tui.widgets.queue_bar import QueueBar
    from agentcli.tui.widgets.reason_editor import ReasonEditor
    from agentcli.tui.widgets.transcript import Transcript


class AppContext(Protocol):
    chat: "SessionController | None"
    keymap: "Keymap"
    palette: "Palette"
    theming: "CurrentTheme"
    attention: "TerminalNotifier"
    transcript: "Transcript"
    queue: "QueueBar"
    permission: "PermissionPrompt"
    editor: "Editor"
    reason: "ReasonEditor"
    footer: "Footer"

    @property
    def main(self) -> "Screen[Any]":
        """The screen with the conversation, under whatever is open over it."""
        ...

    def show_state(self) -> None: ...

    def give_back(self, texts: list[str]) -> None:
        """Put texts before the draft."""
        ...

    def act(self, name: str, argument: str = "") -> None:
        """Do an action by its name."""
        ...

    # Of Textual's App.

    @property
    def size(self) -> "Size": ...

    @property
    def screen_stack(self) -> "Sequence[Screen[Any]]": ...

    async def push_screen_wait(self, screen: Any) -> Any: ...

    def run_worker(self, work: Coroutine[Any, Any, None], *, group: str) -> Any: ...

    def copy_to_clipboard(self, text: str) -> None: ...

    def action_suspend_process(self) -> None: ...

    def exit(self) -> None: ...
