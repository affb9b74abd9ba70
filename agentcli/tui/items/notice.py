"""A line from agentcli itself: something to know, a retry, or what went wrong and what to do."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Foldable, guess_rows
from agentcli.tui.painting.rows import Row, Run, wrapped

NOTICE_LINES = 5
"""So many notices that follow each other are shown, the last ones."""


class NoticeKind(StrEnum):
    INFO = "info"
    RETRY = "retry"
    ERROR = "error"


_LOOKS = {
    NoticeKind.INFO: ("ℹ ", Tone.DIM),
    NoticeKind.RETRY: ("↻ ", Tone.WARNING),
    NoticeKind.ERROR: ("✗ ", Tone.ERROR),
}


class _Told(Struct, frozen=True):
    text: str
    hint: str
    subject: str
    times: int = 1


class Notice(Foldable):
    """One notice, or several that follow each other.

    Args:
        text: may be changed; tell the transcript.
        hint: what to do about it.
        subject: what it is about, if a later one takes its place: the model, the session's name.
    """

    def __init__(self, text: str, kind: NoticeKind = NoticeKind.INFO, hint: str = "", *, subject: str = "") -> None:
        super().__init__()
        self.kind = kind
        self._told = [_Told(text, hint, subject)]

    @property
    def text(self) -> str:
        return self._told[-1].text

    @text.setter
    def text(self, text: str) -> None:
        last = self._told[-1]
        self._told[-1] = _Told(text, last.hint, last.subject)

    def take(self, other: "Notice") -> bool:
        """Say what `other`, which comes right after this one, says too. False if it has to stand for itself."""
        if other.kind is not self.kind or self.kind is NoticeKind.RETRY:
            return False
        for new in other._told:
            last = self._told[-1]
            if (new.text, new.hint) == (last.text, last.hint):
                self._told[-1] = _Told(new.text, new.hint, new.subject, last.times + new.times)
                continue
            if self.kind is NoticeKind.ERROR:
                return False
            self._told = [told for told in self._told if not new.subject or told.subject != new.subject]
            self._told.append(new)
        return True

    def rows(self, width: int, palette: Palette) -> list[Row]:
        mark, tone = _LOOKS[self.kind]
        first = [(mark, palette[tone])]
        hidden = 0 if self.expanded else max(len(self._told) - NOTICE_LINES, 0)
        rows: list[Row] = []
        if hidden:
            rows = wrapped([(f"… {hidden:,} earlier notices", palette[Tone.QUOTE])], width, first=first)
        for told in self._told[hidden:]:
            rows += wrapped(self._runs(told, palette), width, first=first)
        return rows

    def guess(self, width: int) -> int:
        told: Sequence[_Told] = self._told if self.expanded else self._told[-NOTICE_LINES:]
        return sum(guess_rows(one.text, width) + (guess_rows(one.hint, width) if one.hint else 0) for one in told)

    def _runs(self, told: _Told, palette: Palette) -> list[Run]:
        _, tone = _LOOKS[self.kind]
        times = f" (×{told.times})" if told.times > 1 else ""
        return [(told.text, palette[tone]), (times + (f"\n{told.hint}" if told.hint else ""), palette[Tone.DIM])]
