"""A notice from agentcli itself: information, a retry, or an error with what to do."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from agentcli.agent.messages import AssistantMessage, StopReason, text_of
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Foldable, guess_rows
from agentcli.tui.painting.rows import Row, Run, wrapped

NOTICE_LINES = 5
"""How many consecutive notices are shown, the last ones."""


class NoticeKind(StrEnum):
    """What a notice is about. It decides its mark and colour."""

    INFO = "info"
    RETRY = "retry"
    ERROR = "error"


_LOOKS = {
    NoticeKind.INFO: ("ℹ ", Tone.DIM),
    NoticeKind.RETRY: ("↻ ", Tone.WARNING),
    NoticeKind.ERROR: ("✗ ", Tone.ERROR),
}


class _Line(Struct, frozen=True):
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
        self._lines = [_Line(text, hint, subject)]

    @property
    def text(self) -> str:
        """The last notice."""
        return self._lines[-1].text

    @text.setter
    def text(self, text: str) -> None:
        last = self._lines[-1]
        self._lines[-1] = _Line(text, last.hint, last.subject)

    def merge(self, other: "Notice") -> bool:
        """Show another notice in this one, if that is possible."""
        if other.kind is not self.kind or self.kind is NoticeKind.RETRY:
            return False
        for new in other._lines:
            last = self._lines[-1]
            if (new.text, new.hint) == (last.text, last.hint):
                self._lines[-1] = _Line(new.text, new.hint, new.subject, last.times + new.times)
                continue
            if self.kind is NoticeKind.ERROR:
                return False
            self._lines = [line for line in self._lines if not new.subject or line.subject != new.subject]
            self._lines.append(new)
        return True

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        mark, tone = _LOOKS[self.kind]
        first = [(mark, palette[tone])]
        hidden = 0 if self.expanded else max(len(self._lines) - NOTICE_LINES, 0)
        rows: list[Row] = []
        if hidden:
            rows = wrapped([(f"… {hidden:,} earlier notices", palette[Tone.QUOTE])], width, first=first)
        for line in self._lines[hidden:]:
            rows += wrapped(self._runs(line, palette), width, first=first)
        return rows

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        lines: Sequence[_Line] = self._lines if self.expanded else self._lines[-NOTICE_LINES:]
        return sum(guess_rows(one.text, width) + (guess_rows(one.hint, width) if one.hint else 0) for one in lines)

    def _runs(self, line: _Line, palette: Palette) -> list[Run]:
        _, tone = _LOOKS[self.kind]
        times = f" (×{line.times})" if line.times > 1 else ""
        return [(line.text, palette[tone]), (times + (f"\n{line.hint}" if line.hint else ""), palette[Tone.DIM])]


_AGAIN = "send “go on” to try again"
_LATER = "wait a little, then send “go on”"
_CONNECTION = "check the connection, then send “go on”"
_ADVICE = {
    "auth": "check the key of this provider (agentcli auth), or choose another model: /model",
    "credentials": "set the key it names, then send the prompt again; or choose another model: /model",
    "quota": "top up the account, or choose another model: /model",
    "rate_limit": _LATER,
    "overloaded": _LATER,
    "overflow": "summarise the older part: /compact; or start a new session: /new",
    "model_not_found": "choose another model: /model",
    "network": _CONNECTION,
    "timeout": _CONNECTION,
    "bad_response": _AGAIN,
    "bad_request": "go back to a place before it: /tree; or choose another model: /model",
    "refused": "say it in other words, or choose another model: /model",
}


def outcome_notice(message: AssistantMessage) -> Notice | None:
    """The notice about how an answer ended; None if it ended as usual."""
    match message.stop_reason:
        case StopReason.ERROR:
            hint = _ADVICE.get(message.error_kind or "", _AGAIN)
            return Notice(message.error_message or "the model failed", NoticeKind.ERROR, hint)
        case StopReason.ABORTED:
            return Notice(message.error_message or "aborted")
        case StopReason.LENGTH:
            return Notice("the answer was cut off at the model's output limit", NoticeKind.ERROR, "send “go on”")
        case StopReason.DONE if not text_of(message.content).strip() and not message.tool_calls:
            return Notice("the model gave an empty answer", NoticeKind.ERROR, _AGAIN)
        case _:
            return None
