"""QueueBar: the queued messages, a line each, above the editor. While it has the focus, keys and the mouse edit it.

It changes no queue itself: it posts what the user asks for, and shows what `show` is given. Until then the change is
shown as done, for the next key may come before that.
"""

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from agentcli.transcript.queue import SWITCHABLE, QueuedKind, QueuedText
from agentcli.tui.commands.actions import Where
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.painting.clean import one_line

MAX_LINES = 5
"""Messages in view at once; one fewer with the focus here, when there are more hints."""
HINT_ROWS = 12
"""A terminal of fewer rows has no room for the line of hints."""

ROOMY = 20
"""Rows of the terminal from which on the hints may take two lines."""


_MEANINGS = {
    QueuedKind.STEER: "after the running tools",
    QueuedKind.FOLLOW_UP: "when done",
    QueuedKind.EARLY: "when agentcli is ready",
}
_ACTIONS = (
    (("queue_edit",), "edit"),
    (("queue_remove",), "remove"),
    (("queue_move_up", "queue_move_down"), "move"),
    (("queue_switch",), "steer or follow-up"),
    (("queue_leave",), "back"),
)
_ELSEWHERE = (("edit_queue", "edits"), ("abort", "stops and takes all back"), ("dequeue", "takes the last back"))
"""What the editor's keys do with the queue."""


class QueueBar(Widget, can_focus=True):
    """Shows the queued messages above the editor, and edits the queue while it has the focus.

    Args:
        keymap: all keys of the app, for the hints.
    """

    DEFAULT_CSS = """
    QueueBar {
        height: auto;
        display: none;
        padding: 0 1;
        background: $background;
        color: $text-muted;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        &.-no-room { max-height: 0; }
    }
    """

    class Asked(Message):
        """A change of one message is asked for."""

        def __init__(self, id: str) -> None:
            super().__init__()
            self.id = id

    class EditAsked(Asked):
        """The message is to be changed in the editor."""

    class RemoveAsked(Asked):
        """The message is to be removed."""

    class SwitchAsked(Asked):
        """The message is to be moved to the other queue."""

    class MoveAsked(Asked):
        """The message is to be moved within its queue.

        Args:
            id: of the message.
            position: among those of its kind; 0 is next.
        """

        def __init__(self, id: str, position: int) -> None:
            super().__init__(id)
            self.position = position

    Change = EditAsked | RemoveAsked | SwitchAsked | MoveAsked

    class Left(Message):
        """The focus is to go back to the editor: the user is done here, or the queue is empty."""

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self.keymap = keymap
        self.rows: list[QueuedText] = []
        self._place = 0
        """Which row is highlighted while the focus is here."""
        self._first = 0
        """The first row in view."""
        self._switched = ""
        """The text of the message that is being moved to the other queue: it comes back under another id."""

    @property
    def highlighted(self) -> QueuedText | None:
        """The highlighted message; None while the focus is elsewhere."""
        return self.rows[self._place] if self.has_focus and self._place < len(self.rows) else None

    def show(self, waiting: Sequence[QueuedText]) -> None:
        """Show queued messages.

        Args:
            waiting: next first; those of a kind stand together.
        """
        if (rows := list(waiting)) == self.rows:
            return
        before, self.rows = self.rows, rows
        self._place = self._place_now(before)
        self.display = bool(rows)
        self.refresh(layout=True)
        if not rows and self.has_focus:
            self.post_message(self.Left())

    def _place_now(self, before: list[QueuedText]) -> int:
        """Where the highlighted message is now; a neighbour, if it is not queued any more."""
        if self._place >= len(before):
            return 0
        was = before[self._place]
        places = {row.id: place for place, row in enumerate(self.rows)}
        if was.id in places:
            return places[was.id]
        known = {row.id for row in before}
        moved = [place for place, row in enumerate(self.rows) if row.id not in known and row.text == self._switched]
        if moved and was.text == self._switched:
            self._switched = ""
            return moved[0]
        after = [places[row.id] for row in before[self._place + 1 :] if row.id in places]
        return after[0] if after else max(len(self.rows) - 1, 0)

    # Keys and mouse

    def on_key(self, event: events.Key) -> None:
        """Ask for the change that the key means."""
        action = self.keymap.action(event.key, Where.QUEUE)
        row = self.highlighted
        if action is None or row is None:
            return
        event.stop()
        event.prevent_default()
        match action.name:
            case "queue_up":
                self._highlight(self._place - 1)
            case "queue_down":
                self._highlight(self._place + 1)
            case "queue_edit":
                self.post_message(self.EditAsked(row.id))
            case "queue_remove":
                self.post_message(self.RemoveAsked(row.id))
                self.show([other for other in self.rows if other is not row])
            case "queue_move_up":
                self._move(row, -1)
            case "queue_move_down":
                self._move(row, 1)
            case "queue_switch" if row.kind in SWITCHABLE:
                self._switched = row.text
                self.post_message(self.SwitchAsked(row.id))
            case "queue_leave":
                self.post_message(self.Left())
            case _:
                pass

    def _highlight(self, place: int) -> None:
        self._place = min(max(place, 0), max(len(self.rows) - 1, 0))
        self.refresh()

    def _move(self, row: QueuedText, by: int) -> None:
        of_kind = [other.id for other in self.rows if other.kind is row.kind]
        position = of_kind.index(row.id) + by
        if 0 <= position < len(of_kind):
            self.post_message(self.MoveAsked(row.id, position))
            rows = list(self.rows)
            rows.insert(self._place + by, rows.pop(self._place))
            self.show(rows)

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked message."""
        event.stop()
        if event.y < self._lines():
            self._highlight(self._first + event.y)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Highlight the next message."""
        event.stop()
        self._highlight(self._place + 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Highlight the message before."""
        event.stop()
        self._highlight(self._place - 1)

    def on_focus(self, event: events.Focus) -> None:
        """Show the hints for the keys here."""
        self.refresh(layout=True)

    def on_blur(self, event: events.Blur) -> None:
        """Show the hints for the editor."""
        self._place = 0
        self.refresh(layout=True)

    # Painting

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The messages in view and the hints."""
        return self._lines() + len(self._hints(width))

    def render(self) -> Content:
        """The messages in view and the hints."""
        lines, width = self._lines(), max(self.size.width, 1)
        self._first = max(min(self._first, self._place, len(self.rows) - lines), self._place - lines + 1, 0)
        shown = [self._line(place, width) for place in range(self._first, min(self._first + lines, len(self.rows)))]
        return Content("\n").join([*shown, *map(Content, self._hints(width))])

    def _lines(self) -> int:
        """How many messages are in view: few where the terminal is small."""
        return min(len(self.rows), MAX_LINES - self.has_focus, max(self.app.size.height // 5, 1))

    def _line(self, place: int, width: int) -> Content:
        row = self.rows[place]
        is_highlighted = row is self.highlighted
        text = f"{'❯' if is_highlighted else ' '} {row.kind}: {one_line(row.text, width)}"
        return Content.styled(text, "reverse") if is_highlighted else Content(text)

    def _hints(self, width: int) -> list[str]:
        """The count, the meaning of each kind, and the keys; as much as there is room for."""
        if self.app.size.height < HINT_ROWS:
            return []
        if (row := self.highlighted) is not None:
            about = [f"{self._place + 1} of {len(self.rows)}", f"{row.kind}: {_MEANINGS[row.kind]}"]
            keys = [f"{key} {does}" for names, does in _ACTIONS if (key := self._keys(*names))]
            return _fitted([*about, *keys], width, 2)
        count = [f"{len(self.rows)} queued"] if len(self.rows) > self._lines() else []
        meanings = [f"{kind}: {_MEANINGS[kind]}" for kind in dict.fromkeys(row.kind for row in self.rows)]
        keys = [f"{key} {does}" for name, does in _ELSEWHERE if (key := self._keys(name))]
        is_roomy = self._lines() < MAX_LINES and self.app.size.height >= ROOMY
        return _fitted([*count, *meanings, *keys], width, 2 if is_roomy else 1)

    def _keys(self, *names: str) -> str:
        """The first key of each of these actions."""
        return "/".join(key for name in names if (key := self.keymap.shown(name)))


def _fitted(parts: list[str], width: int, most: int) -> list[str]:
    """The parts in at most `most` lines, as many of them as there is room for."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else part
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        elif len(lines) < most and cell_len(part) <= width:
            lines.append(part)
    return lines
