"""A line from agentcli itself: something to know, a retry, or what went wrong and what to do."""

from enum import StrEnum

from agentcli.tui.items.item import guess_rows
from agentcli.tui.palette import Palette, Tone
from agentcli.tui.rows import Row, wrapped


class NoticeKind(StrEnum):
    INFO = "info"
    RETRY = "retry"
    ERROR = "error"


_LOOKS = {
    NoticeKind.INFO: ("ℹ ", Tone.DIM),
    NoticeKind.RETRY: ("↻ ", Tone.WARNING),
    NoticeKind.ERROR: ("✗ ", Tone.ERROR),
}


class Notice:
    """Args:
    text: may be changed; tell the transcript.
    hint: what to do about it.
    """

    def __init__(self, text: str, kind: NoticeKind = NoticeKind.INFO, hint: str = "") -> None:
        self.text = text
        self.kind = kind
        self.hint = hint

    def rows(self, width: int, palette: Palette) -> list[Row]:
        mark, tone = _LOOKS[self.kind]
        runs = [(self.text, palette[tone]), (f"\n{self.hint}" if self.hint else "", palette[Tone.DIM])]
        return wrapped(runs, width, first=[(mark, palette[tone])])

    def guess(self, width: int) -> int:
        return guess_rows(f"{self.text}\n{self.hint}" if self.hint else self.text, width)
