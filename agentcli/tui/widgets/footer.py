"""Footer: directory, session, activity, model and usage, in two lines or one."""

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from agentcli.tui.painting.clean import one_line
from agentcli.tui.status import Status

ROOMY = 16
"""Rows of the terminal from which on the footer takes two lines."""
WARN_AT, ALARM_AT = 0.7, 0.9
"""Of the window."""


class Footer(Widget):
    """The status line."""

    DEFAULT_CSS = """
    Footer {
        height: 2;
        padding: 0 1;
        background: $background;
        color: $text-muted;
        &.-short { height: 1; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.status = Status()
        self._hint = ""
        self._flash: Timer | None = None

    @property
    def activity(self) -> str:
        """What the agent is doing, as shown."""
        return self.status.activity

    def show(self, status: Status) -> None:
        """Show a status."""
        if status != self.status:
            self.status = status
            self.refresh()

    def flash(self, text: str, seconds: float = 4.0) -> None:
        """Show a text in place of the activity for some seconds."""
        if self._flash is not None:
            self._flash.stop()
        self._hint = text
        self._flash = self.set_timer(seconds, self._fade)
        self.refresh()

    def _fade(self) -> None:
        self._hint, self._flash = "", None
        self.refresh()

    def use_rows(self, rows: int) -> None:
        """Take one line or two, by the rows of the terminal."""
        self.set_class(rows < ROOMY, "-short")

    def on_resize(self, event: events.Resize) -> None:
        """Lay out again."""
        self.refresh()

    def render(self) -> Content:
        """The lines."""
        width, status = self.size.width, self.status
        activity = (one_line(self._hint or status.activity), "$text")
        used = (f"{status.context}", _tone(status.fullness))
        if self.has_class("-short"):
            return _line(_first_that_fits([(status.model,), ("",)], width, activity[0]), [activity, used], width)
        above = _first_that_fits(_places(status), width, activity[0])
        spent = [used, (status.tokens, "$text-muted")]
        below = _first_that_fits([(status.model,)], width, "".join(text for text, _ in spent))
        return Content("\n").join([_line(above, [activity], width), _line(below, spent, width)])


def _places(status: Status) -> list[tuple[str, ...]]:
    """The directory and the session, from the longest to the shortest form."""
    short = f"…/{status.folder.rpartition('/')[2]}"
    return [
        (status.place, status.session),
        (f"{short} ({status.branch})" if status.branch else short, status.session),
        (short, status.session),
        (short,),
    ]


def _first_that_fits(choices: list[tuple[str, ...]], width: int, right: str) -> str:
    joined = [" · ".join(one_line(part) for part in parts if part) for parts in choices]
    room = width - cell_len(right) - 2
    return next((text for text in joined if cell_len(text) <= room), joined[-1])


def _line(left: str, right: list[tuple[str, str]], width: int) -> Content:
    """Both ends of a line. The right end is cut last."""
    filled = [part for part in right if part[0]]
    end = Content(" · ").join([Content.styled(text, style) for text, style in filled])
    room = width - end.cell_length - 2
    start = Content(left).truncate(room, ellipsis=True) if room > 3 else Content("")
    gap = " " * max(width - start.cell_length - end.cell_length, 0)
    return Content.assemble(start, gap, end).truncate(max(width, 1), ellipsis=True)


def _tone(fullness: float) -> str:
    if fullness >= ALARM_AT:
        return "$text-error"
    return "$text-warning" if fullness >= WARN_AT else "$text-muted"
