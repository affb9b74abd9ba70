"""Tool lines: one live line a tool call on a terminal, with how long it takes and how it ended."""

import time
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from agentcli.agent.text import one_line
from agentcli.transcript.calls import CallEvent, Calls
from agentcli.transcript.item_list import ItemList
from agentcli.transcript.items import CallState, ToolItem

_SHOWN = ("command", "path", "pattern", "job")
"""The arguments that say what a call is about, most telling first."""


def _line(item: ToolItem, now: float) -> Text:
    seconds = item.seconds if item.is_over else now - (item.started or now)
    has_failed = item.state in (CallState.FAILED, CallState.CANCELLED)
    mark, style = ("…", "yellow") if not item.is_over else ("✗", "red") if has_failed else ("✓", "green")
    about = next((str(item.arguments[name]) for name in _SHOWN if name in item.arguments), "")
    line = Text.assemble(
        (f"{mark} ", style), (item.name, "bold"), f" {one_line(about)}", no_wrap=True, overflow="ellipsis"
    )
    line.append(f" {seconds or 0.0:.1f} s", "dim")
    if (not item.is_over or has_failed) and (last := _last_line(item.text)):
        line.append(f"  {last}", "dim")
    return line


class ToolLines:
    """Draws on a terminal from the first call of a turn until `stop`."""

    def __init__(self, stream: TextIO) -> None:
        self.console: Console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._live: Live | None = None
        self._calls = Calls(ItemList())

    def show(self, event: CallEvent, now: float) -> None:
        """Update the line of a call.

        Args:
            event: of its execution.
            now: of the monotonic clock, in seconds.
        """
        self._calls.apply(event, now)
        self._start()

    def stop(self) -> None:
        """Leave the lines as they are and give the terminal back."""
        if self._live:
            self._live.stop()
            self._live = None
        self._calls = Calls(ItemList())

    def _start(self) -> None:
        if self._live is None:
            self._live = Live(console=self.console, get_renderable=self._render, refresh_per_second=8)
            self._live.start()

    def _render(self) -> Group:
        now = time.monotonic()
        return Group(*(_line(item, now) for item in self._calls.open_items))


def _last_line(text: str) -> str:
    lines = text.rstrip()[-1000:].splitlines()
    return one_line(lines[-1], 80) if lines else ""
