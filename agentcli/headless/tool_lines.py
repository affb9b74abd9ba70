"""Tool lines: one live line a tool call on a terminal, with how long it takes and how it ended."""

import time
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from agentcli.agent.events import ToolExecutionEndEvent, ToolExecutionStartEvent, ToolExecutionUpdateEvent
from agentcli.agent.messages import text_of
from agentcli.agent.text import one_line

_SHOWN = ("command", "path", "pattern", "job")
"""The arguments that say what a call is about, most telling first."""


class _Line:
    def __init__(self, name: str, about: str, started: float) -> None:
        self.name = name
        self.about = about
        self.started = started
        self.last = ""
        """The last line of what the tool has said."""
        self.seconds: float | None = None
        self.is_error = False

    def render(self, now: float) -> Text:
        seconds = now - self.started if self.seconds is None else self.seconds
        mark, style = ("…", "yellow") if self.seconds is None else ("✗", "red") if self.is_error else ("✓", "green")
        line = Text.assemble(
            (f"{mark} ", style), (self.name, "bold"), f" {self.about}", no_wrap=True, overflow="ellipsis"
        )
        line.append(f" {seconds:.1f} s", "dim")
        if self.last and (self.seconds is None or self.is_error):
            line.append(f"  {self.last}", "dim")
        return line


class ToolLines:
    """Draws on a terminal from the first call of a turn until `stop`."""

    def __init__(self, stream: TextIO) -> None:
        self.console: Console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._live: Live | None = None
        self._lines: dict[str, _Line] = {}

    def show(
        self, event: ToolExecutionStartEvent | ToolExecutionUpdateEvent | ToolExecutionEndEvent, now: float
    ) -> None:
        match event:
            case ToolExecutionStartEvent():
                about = next((str(event.args[name]) for name in _SHOWN if name in event.args), "")
                self._lines[event.tool_call_id] = _Line(event.tool_name, one_line(about), now)
                self._start()
            case ToolExecutionUpdateEvent():
                self._lines[event.tool_call_id].last = _last_line(text_of(event.partial_result.content))
            case ToolExecutionEndEvent():
                line = self._lines[event.tool_call_id]
                line.seconds = now - line.started
                line.is_error = event.is_error
                line.last = _last_line(text_of(event.result.content))

    def stop(self) -> None:
        """Leave the lines as they are and give the terminal back."""
        if self._live:
            self._live.stop()
            self._live = None
        self._lines.clear()

    def _start(self) -> None:
        if self._live is None:
            self._live = Live(console=self.console, get_renderable=self._render, refresh_per_second=8)
            self._live.start()

    def _render(self) -> Group:
        now = time.monotonic()
        return Group(*(line.render(now) for line in self._lines.values()))


def _last_line(text: str) -> str:
    lines = text.rstrip()[-1000:].splitlines()
    return one_line(lines[-1], 80) if lines else ""
