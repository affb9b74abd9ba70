"""A tool call: its name and arguments, state, duration and result."""

from agentcli.transcript.items import CallState, CommandItem, ToolItem, detail
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.call_text import asked_lines, ending, summary, title
from agentcli.tui.items.changes import Line, diff_lines, first_lines
from agentcli.tui.items.item import Foldable
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.rows import Row, Run, wrapped

LIVE_LINES, LIVE_LINES_UNFOLDED = 6, 40
"""Lines of the output while the call runs."""
RESULT_LINES = 10
CHANGED_LINES = 30
"""Lines of a diff or a new file."""
UNFOLDED_LINES = 2_000
_QUIET = {"read", "ls", "find"}
SHOWN_SECONDS = 0.1
"""The duration of shorter calls is not shown."""
_LINE_CHARS = 2_000
"""Characters of one line that are laid out at most."""


_MARKS = {
    CallState.WRITING: ("○", Tone.DIM),
    CallState.WAITING: ("○", Tone.DIM),
    CallState.ASKING: ("●", Tone.RUNNING),
    CallState.RUNNING: ("●", Tone.RUNNING),
    CallState.DONE: ("✓", Tone.OK),
    CallState.FAILED: ("✗", Tone.ERROR),
    CallState.CANCELLED: ("✗", Tone.ERROR),
}


class ToolPanel(Foldable):
    """A tool call, or a shell command of the user."""

    def __init__(self, item: ToolItem) -> None:
        super().__init__()
        self.item = item
        self.label, self.note = item.name, ""
        """Shown in place of the name, and after the title."""
        if isinstance(item, CommandItem):
            is_private = item.exclude_from_context
            self.label, self.note = ("!!", "the model is not told") if is_private else ("!", "the model is told")

    @property
    def _is_command(self) -> bool:
        """Whether the end of its output matters most."""
        return self.item.name == "bash"

    @property
    def _is_quiet(self) -> bool:
        """Whether its result needs no more than a line when all is well."""
        return self.item.name in _QUIET

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        mark, tone = _MARKS[self.item.state]
        first, feed, rest = title(self.item, self.expanded).partition("\n")
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
        if self.item.state is CallState.DONE and self._is_quiet and not self.expanded:
            return 2
        shown = self.item.diff or self.item.text
        most = UNFOLDED_LINES if self.expanded else CHANGED_LINES if self.item.diff else RESULT_LINES
        return 1 + min(shown.count("\n") + 1, most)

    def _status(self) -> list[str]:
        seconds = self.item.seconds or 0.0
        match self.item.state:
            case CallState.WRITING if self.item.written:
                return [f"writing, {self.item.written:,} characters"]
            case CallState.WRITING | CallState.WAITING:
                return []
            case CallState.ASKING | CallState.RUNNING:
                return [f"{seconds:.0f} s"] if seconds else []
            case CallState.DONE | CallState.FAILED | CallState.CANCELLED:
                return [*([f"{seconds:.1f} s"] if seconds >= SHOWN_SECONDS else []), *ending(self.item.details)]

    def _body(self) -> list[Line]:
        """The lines under the title."""
        if self.item.state is CallState.DONE and (diff := self.item.diff):
            return self._cut(diff_lines(diff))
        asked = self._cut(asked_lines(self.item, self.expanded))
        match self.item.state:
            case CallState.WRITING | CallState.WAITING:
                return asked
            case CallState.DONE if self.item.name == "write" or (self._is_quiet and not self.expanded):
                words = summary(self.item)
                # The content before is not known: the text may not be a change.
                new = [] if detail(self.item.details, "created") is False else asked
                return [*([(one_line(words), Tone.DIM)] if words else []), *new]
            case CallState.FAILED | CallState.CANCELLED if self.item.name in ("write", "edit") and not self.expanded:
                return self._output()
            case CallState.ASKING | CallState.RUNNING | CallState.DONE | CallState.FAILED | CallState.CANCELLED:
                return [*asked, *self._output()]

    def _output(self) -> list[Line]:
        """The lines of the text that are shown, and how many are not."""
        text = self.item.text.strip("\n")
        if not text:
            return []
        has_failed = self.item.state in (CallState.FAILED, CallState.CANCELLED)
        tone = Tone.ERROR if has_failed and not self._is_command else Tone.DIM
        most = self._most()
        total = text.count("\n") + 1
        if self._is_command or not self.item.is_over:
            lines = text.rsplit("\n", most)[-most:]
            before = [(f"… {total - len(lines):,} earlier lines", Tone.QUOTE)] if total > len(lines) else []
            return [*before, *((line, tone) for line in lines)]
        lines = text.split("\n", most)[:most]
        after = [(f"… {total - len(lines):,} more lines", Tone.QUOTE)] if total > len(lines) else []
        return [*((line, tone) for line in lines), *after]

    def _most(self) -> int:
        """How many lines of the text are shown."""
        if self.item.is_over:
            return UNFOLDED_LINES if self.expanded else RESULT_LINES
        return LIVE_LINES_UNFOLDED if self.expanded else LIVE_LINES

    def _cut(self, lines: list[Line]) -> list[Line]:
        return first_lines(lines, UNFOLDED_LINES if self.expanded else CHANGED_LINES)


def _short(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]} … ({len(line) - _LINE_CHARS:,} characters more)"
