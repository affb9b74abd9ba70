"""A tool call: what is called, how it stands, how long it takes, and what comes of it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, cast

from agentcli.tui.clean import one_line, shown
from agentcli.tui.items.call_text import Call, argument_lines, title
from agentcli.tui.items.diff import diff_runs
from agentcli.tui.palette import Palette, Tone
from agentcli.tui.rows import Row, Run, wrapped

LIVE_LINES = 6
"""Of the output while it grows."""
RESULT_LINES = 10
DIFF_LINES = 60
SHOWN_SECONDS = 0.1
"""Shorter calls do not say how long they took."""
_LINE_CHARS = 2_000
"""More of one line is not laid out."""


class CallState(StrEnum):
    WRITING = "writing"
    """The model writes its arguments."""
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


_MARKS = {
    CallState.WRITING: ("○", Tone.DIM),
    CallState.WAITING: ("○", Tone.DIM),
    CallState.RUNNING: ("●", Tone.RUNNING),
    CallState.DONE: ("✓", Tone.OK),
    CallState.FAILED: ("✗", Tone.ERROR),
}


class ToolPanel:
    """Args:
    name: of the tool.
    """

    def __init__(self, name: str, arguments: Mapping[str, Any] | None = None) -> None:
        self.call = Call(name, arguments or {})
        self.state = CallState.WRITING
        self.text = ""
        """What the tool has said, as the model reads it."""
        self.details: Any = None
        self.written = 0
        """Characters of arguments that have come."""
        self._started: float | None = None
        self.seconds: float | None = None

    @property
    def is_over(self) -> bool:
        return self.state in (CallState.DONE, CallState.FAILED)

    def write(self, delta: str) -> None:
        """More of the arguments has come."""
        self.written += len(delta)

    def set_arguments(self, arguments: Mapping[str, Any]) -> None:
        self.call = Call(self.call.name, arguments)
        if self.state is CallState.WRITING:
            self.state = CallState.WAITING

    def start(self, now: float) -> None:
        self.state = CallState.RUNNING
        self._started = now

    def tick(self, now: float) -> None:
        """Let the clock go on, in whole seconds."""
        if self._started is not None and not self.is_over:
            self.seconds = float(int(now - self._started))

    def update(self, text: str, details: Any) -> None:
        if not self.is_over:
            self.text, self.details = text, details

    def finish(self, text: str, details: Any, is_error: bool, now: float | None = None) -> None:
        self.state = CallState.FAILED if is_error else CallState.DONE
        self.text, self.details = text, details
        if self._started is not None and now is not None:
            self.seconds = now - self._started

    def rows(self, width: int, palette: Palette) -> list[Row]:
        mark, tone = _MARKS[self.state]
        head: list[Run] = [
            (f"{mark} ", palette[tone]),
            (self.call.name, palette[Tone.STRONG]),
            (f" {title(self.call)}", palette[Tone.TEXT]),
            (self._status(), palette[Tone.DIM]),
        ]
        rows = wrapped(head, width, rest=[("  ", palette[Tone.TEXT])], keep_spaces=True)
        gutter = [("  │ ", palette[Tone.DIM])]
        for runs, keep in self._body(palette):
            rows += wrapped(runs, width, first=gutter, rest=gutter, keep_spaces=keep)
        return rows

    def guess(self, width: int) -> int:
        return 1 + min(self.text.count("\n") + 1, RESULT_LINES)

    def _status(self) -> str:
        match self.state:
            case CallState.WRITING if self.written:
                return f"  writing, {self.written:,} characters"
            case CallState.WRITING | CallState.WAITING:
                return ""
            case CallState.RUNNING:
                return f"  {self.seconds:.0f} s" if self.seconds else ""
            case _:
                return f"  {self.seconds:.1f} s" if self.seconds is not None and self.seconds >= SHOWN_SECONDS else ""

    def _body(self, palette: Palette) -> list[tuple[list[Run], bool]]:
        """Runs of the rows under the title, and whether their spaces count."""
        dim = palette[Tone.DIM]
        body = [([(line, dim)], True) for line in argument_lines(self.call)]
        if self.state in (CallState.WRITING, CallState.WAITING):
            return body
        if self.state is CallState.DONE and isinstance(diff := detail(self.details, "diff"), str) and diff:
            return [*body, *[([run], True) for run in diff_runs(diff, DIFF_LINES, palette)]]
        if self.state is CallState.DONE and self.call.is_quiet:
            return [*body, ([(one_line(self._summary()), dim)], False)] if self._summary() else body
        tone = Tone.ERROR if self.state is CallState.FAILED and not self.call.is_command else Tone.DIM
        lines, hidden_before, hidden_after = self._shown_lines()
        if hidden_before:
            body.append(([(f"… {hidden_before:,} earlier lines", palette[Tone.QUOTE])], False))
        body += [([(line, palette[tone])], True) for line in lines]
        if hidden_after:
            body.append(([(f"… {hidden_after:,} more lines", palette[Tone.QUOTE])], False))
        return body

    def _shown_lines(self) -> tuple[list[str], int, int]:
        """The lines of the text that are shown, and how many before and after are not."""
        text = self.text.strip("\n")
        if not text:
            return [], 0, 0
        most = RESULT_LINES if self.is_over else LIVE_LINES
        total = text.count("\n") + 1
        if self.call.is_command or not self.is_over:
            lines = text.rsplit("\n", most)[-most:]
            before, after = total - len(lines), 0
        else:
            lines = text.split("\n", most)[:most]
            before, after = 0, total - len(lines)
        return [shown(_short(line)) for line in lines], before, after

    def _summary(self) -> str:
        """What a reader of files did, in a line: the content itself is in the model's context, not on the screen."""
        first, last, total = (detail(self.details, name) for name in ("first_line", "last_line", "total_lines"))
        if self.call.name == "read" and first and last and "offset" not in self.call.arguments:
            return f"lines {first}-{last}" + (f" of {total}" if total else "")
        return self.text.partition("\n")[0] if self.call.name != "read" else ""


def detail(details: Any, name: str) -> Any:
    """A field of a result's details, which are a Struct while the tool runs and a dict once they were stored."""
    if isinstance(details, Mapping):
        return cast("Mapping[str, Any]", details).get(name)
    return getattr(details, name, None)


def _short(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]} … ({len(line) - _LINE_CHARS:,} characters more)"
