"""An app that shows one screen over nothing, and keeps what it gives back."""

from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen

from agentcli.tui.colors.palette import Palette
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.commands.table import ACTIONS
from tests.tui.drive import screen

KEYMAP = Keymap(actions=ACTIONS)
PALETTE = Palette({})
NOT_YET = object()


class FakeApp(App[None], inherit_bindings=False):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, shown: Screen[Any]) -> None:
        super().__init__()
        self.shown = shown
        self.result: Any = NOT_YET

    async def on_mount(self) -> None:
        def keep(result: Any) -> None:
            self.result = result

        await self.push_screen(self.shown, keep)


def lines(pilot: Pilot[Any]) -> list[str]:
    """The rows of the panel, without its frame."""
    return [line.strip("│╭╮╰╯─ ") for line in screen(pilot).splitlines() if line.strip("│╭╮╰╯─ ")]


def chosen(pilot: Pilot[Any]) -> str:
    """The row of the list that is marked; the first mark is that of the line."""
    return [line for line in lines(pilot) if line.startswith("❯")][-1]
