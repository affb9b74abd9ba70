"""A tool call: its name and arguments, state, duration and result."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from agentcli.agent.messages import BashExecutionMessage
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.call_text import Call, asked_lines, title
from agentcli.tui.items.changes import Line, diff_lines, first_lines
from agentcli.tui.items.item import Foldable
from agentcli.tui.items.result import detail, ending, summary
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.rows import Row, Run, wrapped

LIVE_LINES, LIVE_LINES_UNFOLDED = 6, 40
"""Lines of the output while the call runs."""
RESULT_LINES = 10
CHANGED_LINES = 30
"""Lines of a diff or a new file."""
UNFOLDED_LINES = 2_000
SHOWN_SECONDS = 0.1
"""The duration of shorter calls is not shown."""
_LINE_CHARS = 2_000
"""Characters of one line that are laid out at most."""


class CallState(StrEnum):
    """How far a call is."""

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


class ToolPanel(Foldable):
    """A tool call.

    Args:
        name: of the tool.
        arguments: of the call, as far as they are known.
        label: shown in place of the name.
        note: shown after the title.
    """

    def __init__(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, label: str = "", note: str = ""
    ) -> None:
        super().__init__()
        self.call = Call(name, arguments or {})
        self.label = label or name
        self.note = note
        self.state = CallState.WRITING
        self.text = ""
        """The output, as the model reads it."""
        self.details: Any = None
        self.written = 0
        """Characters of the arguments received so far."""
        self._started: float | None = None
        self.seconds: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether the call has ended."""
        return self.state in (CallState.DONE, CallState.FAILED)

    def write(self, delta: str) -> None:
        """Count a delta of the arguments."""
        self.written += len(delta)

    def set_arguments(self, arguments: Mapping[str, Any]) -> None:
        """Show the arguments, which are complete."""
        self.call = Call(self.call.name, arguments)
        if self.state is CallState.WRITING:
            self.state = CallState.WAITING

    def start(self, now: float) -> None:
        """Note that the call runs. `now` is of the monotonic clock, in seconds."""
        self.state = CallState.RUNNING
        self._started = now

    def tick(self, now: float) -> None:
        """Update the running time, in whole seconds."""
        if self._started is not None and not self.is_over:
            self.seconds = float(int(now - self._started))

    def update(self, text: str, details: Any) -> None:
        """Show live output."""
        if not self.is_over:
            self.text, self.details = text, details

    def finish(self, text: str, details: Any, is_error: bool, now: float | None = None) -> None:
        """Show the result.

        Args:
            text: the result as the model reads it.
            details: the result's details.
            is_error: whether the call failed.
            now: of the clock that `start` had; None if the call was not seen running.
        """
        self.state = CallState.FAILED if is_error else CallState.DONE
        self.text, self.details = text, details
        if self._started is not None and now is not None:
            self.seconds = now - self._started
        elif isinstance(milliseconds := detail(details, "duration_ms"), int):
            self.seconds = milliseconds / 1000

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        mark, tone = _MARKS[self.state]
        first, feed, rest = title(self.call, self.expanded).partition("\n")
        head: list[Run] = [
            (f"{mark} ", palette[tone]),
            (one_line(self.label), palette[Tone.STRONG]),
            (f" {first}" if first else "", palette[Tone.TEXT]),
            *((f"  {words}", palette[Tone.DIM]) for words in (", ".join(self._status()), self.note) if words),
            (feed + rest, palette[Tone.TEXT]),
        ]
        rows = wrapped(head, width, rest=[("  ", palette[Tone.TEXT])], keep_spaces=True)
        self.title_rows = len(rows)
        gutter = [("  │ ", palette[Tone.DIM])]
        for text, tone in self._body():
            rows += wrapped([(_short(text), palette[tone])], width, first=gutter, rest=gutter, keep_spaces=True)
        return rows

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        if self.state is CallState.DONE and self.call.is_quiet and not self.expanded:
            return 2
        shown = self._diff() or self.text
        most = UNFOLDED_LINES if self.expanded else CHANGED_LINES if self._diff() else RESULT_LINES
        return 1 + min(shown.count("\n") + 1, most)

    def _status(self) -> list[str]:
        seconds = self.seconds or 0.0
        match self.state:
            case CallState.WRITING if self.written:
                return [f"writing, {self.written:,} characters"]
            case CallState.WRITING | CallState.WAITING:
                return []
            case CallState.RUNNING:
                return [f"{seconds:.0f} s"] if seconds else []
            case CallState.DONE | CallState.FAILED:
                return [*([f"{seconds:.1f} s"] if seconds >= SHOWN_SECONDS else []), *ending(self.details)]

    def _body(self) -> list[Line]:
        """The lines under the title."""
        if self.state is CallState.DONE and (diff := self._diff()):
            return self._cut(diff_lines(diff))
        asked = self._cut(asked_lines(self.call, self.expanded))
        match self.state:
            case CallState.WRITING | CallState.WAITING:
                return asked
            case CallState.DONE if self.call.name == "write" or (self.call.is_quiet and not self.expanded):
                words = summary(self.call, self.text, self.details)
                # The content before is not known: the text may not be a change.
                new = [] if detail(self.details, "created") is False else asked
                return [*([(one_line(words), Tone.DIM)] if words else []), *new]
            case CallState.FAILED if self.call.name in ("write", "edit") and not self.expanded:
                return self._output()
            case _:
                return [*asked, *self._output()]

    def _output(self) -> list[Line]:
        """The lines of the text that are shown, and how many are not."""
        text = self.text.strip("\n")
        if not text:
            return []
        tone = Tone.ERROR if self.state is CallState.FAILED and not self.call.is_command else Tone.DIM
        most = self._most()
        total = text.count("\n") + 1
        if self.call.is_command or not self.is_over:
            lines = text.rsplit("\n", most)[-most:]
            before = [(f"… {total - len(lines):,} earlier lines", Tone.QUOTE)] if total > len(lines) else []
            return [*before, *((line, tone) for line in lines)]
        lines = text.split("\n", most)[:most]
        after = [(f"… {total - len(lines):,} more lines", Tone.QUOTE)] if total > len(lines) else []
        return [*((line, tone) for line in lines), *after]

    def _most(self) -> int:
        """How many lines of the text are shown."""
        if self.is_over:
            return UNFOLDED_LINES if self.expanded else RESULT_LINES
        return LIVE_LINES_UNFOLDED if self.expanded else LIVE_LINES

    def _cut(self, lines: list[Line]) -> list[Line]:
        return first_lines(lines, UNFOLDED_LINES if self.expanded else CHANGED_LINES)

    def _diff(self) -> str:
        diff = detail(self.details, "diff")
        return diff if isinstance(diff, str) else ""


def user_command(command: str, exclude_from_context: bool) -> ToolPanel:
    """The panel of a shell command of the user, before it runs."""
    label, note = ("!!", "the model is not told") if exclude_from_context else ("!", "the model is told")
    panel = ToolPanel("bash", label=label, note=note)
    panel.set_arguments({"command": command})
    return panel


def finish_user_command(panel: ToolPanel, message: BashExecutionMessage, now: float | None = None) -> None:
    """Show the result of a shell command of the user.

    Args:
        panel: of the command.
        message: the result.
        now: see `ToolPanel.finish`.
    """
    text = message.output.rstrip("\n")
    if message.truncated and message.full_output_path:
        text += f"\n[all of it is in {message.full_output_path}]"
    details = {"exit_code": message.exit_code, "aborted": message.cancelled}
    panel.finish(text, details, message.cancelled or bool(message.exit_code), now)


def _short(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]} … ({len(line) - _LINE_CHARS:,} characters more)"
