"""ShutdownHandler: exits that Textual does not know: signals end the app in order, and an end that hangs is forced."""

import asyncio
import os
import signal
import sys
import termios
import threading
import traceback
from collections.abc import Callable

from rich.text import Text
from textual.worker import WorkerFailed

from agentcli.tui.painting.clean import clean

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PATIENCE_S = 5.0
"""Seconds that an orderly end may take."""

_RESET = (
    "\x1b[?2004l\x1b[?7h\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"
    "\x1b[23;2t\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Resets every mode that the driver sets."""


class ShutdownHandler:
    """Ends the app on signals.

    Args:
        kill: kills every child process at once.
        exit: ends the app, with an exit code.
    """

    def __init__(self, kill: Callable[[], None], exit: Callable[[int], None]) -> None:
        self._kill = kill
        self._exit = exit
        self._code: int | None = None
        self._watchdog: threading.Timer | None = None
        self._attributes: list[object] | None = None

    def watch(self) -> None:
        """Handle the signals from now on."""
        if threading.current_thread() is not threading.main_thread():
            return
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self.leave, 128 + number)

    def leave(self, code: int) -> None:
        """Kill the children and end with this exit code. A second call does not wait for an orderly end."""
        self._kill()
        if self._code is not None:
            self._cut_short()
        self._code = code
        self._watchdog = threading.Timer(PATIENCE_S, self._cut_short)
        self._watchdog.daemon = True
        self._watchdog.start()
        self._exit(code)

    def done(self) -> None:
        """Note that the app has ended in order."""
        if self._watchdog is not None:
            self._watchdog.cancel()

    def _cut_short(self) -> None:
        """Restore the terminal as well as possible, and exit."""
        restore_terminal()
        os._exit(self._code if self._code is not None else 1)


def restore_terminal() -> None:
    """Undo the driver's modes without the driver, which may hang."""
    try:
        descriptor = sys.__stderr__.fileno() if sys.__stderr__ else 2
        os.set_blocking(descriptor, False)
        os.write(descriptor, _RESET.encode())
        attributes = termios.tcgetattr(descriptor)
        attributes[3] |= termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG
        attributes[0] |= termios.ICRNL | termios.IXON
        termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
    except (OSError, termios.error, ValueError):
        # The terminal was closed: there is nothing to restore.
        return


def crash_report(error: BaseException) -> Text:
    """What is printed of an unexpected exception."""
    if isinstance(error, WorkerFailed):
        error = error.error
    return Text(clean("".join(traceback.format_exception(error))).rstrip())
