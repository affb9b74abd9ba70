"""PermissionPrompt: the open permission request above the editor, and the keys that answer it.

The focus stays in the editor. The app offers each key to `choice_for` first; other keys go on to the editor.
"""

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Size
from textual.keys import Keys
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.commands.actions import Where
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.painting.request_rows import Stage, request_rows

if TYPE_CHECKING:
    from agentcli.runtime.events import PermissionRequestEvent

QUIET_S = 1.0
"""Seconds without typing before a key is an answer."""
EDITOR_ROWS, QUEUE_ROWS, OTHER_ROWS = 5, 6, 2
"""Rows of the other widgets at most while it is open (see the class `-asked`); OTHER is transcript and footer."""
ROOMY = 24
"""Rows of the terminal from which on the queue is shown too."""
SHARE = 0.6
"""Part of the terminal's rows, at most."""


class Choice(StrEnum):
    """An answer to a request."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"
    DENY = "deny"
    REASON = "reason"
    """Deny, and write why."""


CHOICES = {
    "allow_once": Choice.ONCE,
    "allow_session": Choice.SESSION,
    "allow_always": Choice.ALWAYS,
    "deny": Choice.DENY,
    "deny_reason": Choice.REASON,
}
"""The answer of each action of the keymap."""
READING = frozenset({"page_up", "page_down", "to_start", "to_end", "expand_tools", "expand_thinking"})
"""Actions whose keys are not typing."""


class PermissionPrompt(Widget):
    """Shows a request and interprets keys as answers.

    Args:
        keymap: the keys; by default those of widgets only.
    """

    DEFAULT_CSS = """
    PermissionPrompt {
        height: auto;
        display: none;
        background: $background;
    }
    """

    class ReadyChanged(Message):
        """Keys are answers now, or are not any more."""

    def __init__(self, keymap: Keymap | None = None) -> None:
        super().__init__()
        self.request: PermissionRequestEvent | None = None
        """The open request; None without one."""
        self.keymap = keymap or Keymap()
        self._more = 0
        self._draft = False
        self._writing = False
        self._palette = Palette({})
        self._ready_at: float | None = None
        """Since when keys are answers, on the monotonic clock; None while they are not."""
        self._timer: Timer | None = None
        self._rows: list[Strip] = []

    @property
    def is_ready(self) -> bool:
        """Whether keys are answers: nobody has typed for `QUIET_S`."""
        return self._ready_at is not None

    def set_palette(self, palette: Palette) -> None:
        """Paint with other styles."""
        self._palette = palette
        self.refresh(layout=True)

    def show(self, requests: "Sequence[PermissionRequestEvent]", *, draft: bool, writing: bool) -> None:
        """Show the first request; without any the prompt is hidden.

        Args:
            requests: open requests, oldest first.
            draft: whether something is written in the editor.
            writing: whether the user is writing a reason.
        """
        first, more = (requests[0] if requests else None), max(len(requests) - 1, 0)
        if first is self.request and (more, draft, writing) == (self._more, self._draft, self._writing):
            return
        self._more, self._draft, self._writing = more, draft, writing
        if first is not self.request:
            self.request = first
            self.display = first is not None
            self.wait()
        self.refresh(layout=True)

    def choice_for(self, key: events.Key) -> Choice | None:
        """The answer that a key gives; None if it is typing, which delays when keys are answers."""
        if self.request is None or key.key == Keys.Ignore:
            return None
        reads = self.keymap.action(key.key, Where.APP)
        if reads is not None and reads.name in READING:
            return None
        action = self.keymap.action(key.key, Where.PERMISSION)
        choice = CHOICES[action.name] if action is not None else None
        in_time = self._ready_at is not None and key.time > self._ready_at
        if choice is None or not in_time or self._is_without_meaning(choice, key.key):
            self.wait()
            return None
        return choice

    def wait(self) -> None:
        """Take no key as an answer until nobody has typed for `QUIET_S`."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(QUIET_S, self._be_ready) if self.request is not None else None
        self._set_ready(None)

    def _is_without_meaning(self, choice: Choice, key: str) -> bool:
        """Whether it answers nothing: Enter with a draft; a rule where none can be suggested."""
        if key == "enter":
            return self._draft
        rules = self.request.suggested_rules if self.request is not None else []
        return choice in (Choice.SESSION, Choice.ALWAYS) and not rules

    def _be_ready(self) -> None:
        self._set_ready(time.monotonic())

    def _set_ready(self, since: float | None) -> None:
        changed = (since is None) != (self._ready_at is None)
        self._ready_at = since
        if changed:
            self.refresh(layout=True)
            self.post_message(self.ReadyChanged())

    # Painting

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One line a row."""
        self._lay_out(width, room(viewport.height))
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        """The row at `y`."""
        style = self._palette[Tone.TEXT]
        if y >= len(self._rows):
            return Strip.blank(self.size.width, style)
        return self._rows[y].adjust_cell_length(self.size.width, style)

    def _lay_out(self, width: int, height: int) -> None:
        self._rows = []
        if self.request is not None and width > 0:
            self._rows = request_rows(
                self.request,
                self._more,
                Stage.REASON if self._writing else Stage.READY if self.is_ready else Stage.QUIET,
                draft=self._draft,
                width=width,
                height=height,
                palette=self._palette,
                keymap=self.keymap,
            )


def room(rows: int) -> int:
    """How many rows it may take of a terminal, so that the editor and the footer stay in view."""
    if rows < EDITOR_ROWS * 2:
        return max(rows - OTHER_ROWS - 1, 1)
    queue = QUEUE_ROWS if rows >= ROOMY else 0
    return min(int(rows * SHARE), rows - OTHER_ROWS - EDITOR_ROWS - queue)
