"""TerminalNotifier: the terminal's title, and a notification when a long run has ended. Only clean text is sent."""

from collections.abc import Callable

from agentcli.config.settings import Notify
from agentcli.tui.painting.clean import one_line
from agentcli.tui.status import Status


class TerminalNotifier:
    """Sets the title and notifies.

    Args:
        write: sends bytes to the terminal.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._title = ""
        self.notify = Notify.BELL
        self.notify_after = 20.0
        """Seconds that a run has to take for its end to be worth a note."""

    def show(self, status: Status) -> None:
        """Show the activity and the session in the title."""
        what = status.session or status.folder.rpartition("/")[2]
        working = status.activity not in ("", "ready")
        title = one_line(f"{'● ' if working else ''}agentcli · {what}", 80)
        if title != self._title:
            self._title = title
            self._write(f"\x1b]2;{title}\x07")

    def again(self) -> None:
        """Send the title again with the next `show`, as another program had the terminal meanwhile."""
        self._title = ""

    def run_ended(self, seconds: float, status: Status) -> None:
        """Notify of the end of a run that took so long."""
        if seconds < self.notify_after or self.notify is Notify.OFF:
            return
        if self.notify in (Notify.BELL, Notify.BOTH):
            self._write("\x07")
        if self.notify in (Notify.OSC9, Notify.BOTH):
            text = one_line(f"agentcli is done: {status.session or status.folder}", 80)
            self._write(f"\x1b]9;{text}\x07")
