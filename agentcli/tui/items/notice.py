"""A notice from agentcli itself: information, a retry, or an error with what to do."""

from agentcli.transcript.items import NoticeItem, NoticeKind, NoticeLine, RetryItem
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Foldable, guess_rows
from agentcli.tui.painting.rows import Row, Run, wrapped

NOTICE_LINES = 5
"""How many consecutive notices are shown, the last ones."""

_LOOKS = {NoticeKind.INFO: ("ℹ ", Tone.DIM), NoticeKind.ERROR: ("✗ ", Tone.ERROR)}


class Notice(Foldable):
    """One notice, or several that follow each other."""

    def __init__(self, item: NoticeItem) -> None:
        super().__init__()
        self.item = item

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        mark, tone = _LOOKS[self.item.kind]
        first = [(mark, palette[tone])]
        lines = self.item.lines
        hidden = 0 if self.expanded else max(len(lines) - NOTICE_LINES, 0)
        rows: list[Row] = []
        if hidden:
            rows = wrapped([(f"… {hidden:,} earlier notices", palette[Tone.QUOTE])], width, first=first)
        for line in lines[hidden:]:
            rows += wrapped(self._runs(line, palette), width, first=first)
        return rows

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        lines = self.item.lines if self.expanded else self.item.lines[-NOTICE_LINES:]
        return sum(guess_rows(one.text, width) + (guess_rows(one.hint, width) if one.hint else 0) for one in lines)

    def _runs(self, line: NoticeLine, palette: Palette) -> list[Run]:
        _, tone = _LOOKS[self.item.kind]
        times = f" (×{line.times})" if line.times > 1 else ""
        return [(line.text, palette[tone]), (times + (f"\n{line.hint}" if line.hint else ""), palette[Tone.DIM])]


class Retry:
    """A request that failed and is made again: it counts down, and then says that it was made."""

    def __init__(self, item: RetryItem) -> None:
        self.item = item

    @property
    def text(self) -> str:
        """What is shown now."""
        item, left = self.item, self.item.left
        count = f"{item.attempt} of {item.max_attempts}"
        if left is None:
            return f"tried again ({count}) after: {item.error_message}"
        again = f"trying again in {left:.0f} s" if left >= 0.5 else "trying again"
        return f"{item.error_message}\n{again} ({count}; Esc stops)"

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        style = palette[Tone.WARNING]
        return wrapped([(self.text, style)], width, first=[("↻ ", style)])

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        return guess_rows(self.text, width)
