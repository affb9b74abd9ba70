"""The app as a process in a pseudo terminal, for what only a terminal shows."""

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pyte

from tests.tui.drive import write_script
from tests.waiting import wait_until

_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=?][0-9;:]*[$]?[a-zA-Z]")


class PtyApp:
    """Args:
    folder: where it works; its home is beside it.
    answers: of the scripted model.
    program: Python that makes and runs another app, in place of the command.
    mode: of permissions.
    """

    def __init__(
        self,
        folder: Path,
        *answers: list[dict[str, Any]],
        size: tuple[int, int] = (80, 24),
        options: tuple[str, ...] = (),
        program: str = "",
        mode: str = "auto",
    ) -> None:
        script = write_script(folder / "script.jsonl", *answers)
        self.columns, self.rows = size
        env = {
            name: value for name, value in os.environ.items() if not name.startswith(("TEXTUAL", "COLUMNS", "LINES"))
        }
        env |= {"AGENTCLI_HOME": str(folder.parent / "home"), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        command = ["-m", "agentcli", "--model", f"scripted:{script}", "--permission-mode", mode, *options]
        argv = ["-c", program] if program else command
        self.raw = b""
        self.process = pexpect.spawn(
            sys.executable, argv, cwd=str(folder), env=env, dimensions=(self.rows, self.columns), timeout=30
        )
        self._screen = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = 0

    def read(self, seconds: float = 0.1) -> None:
        """Take what it writes for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                self.raw += self.process.read_nonblocking(1 << 16, timeout=left)
            except pexpect.TIMEOUT:
                return
            except pexpect.EOF:
                return

    def screen(self) -> str:
        data, self._fed = self.raw[self._fed :], len(self.raw)
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
        return "\n".join(line.rstrip() for line in self._screen.display)

    def until(self, holds: str | Callable[[str], Any], seconds: float = 30.0) -> str:
        """Wait until the screen holds a text, or something is true of it. Returns the screen."""

        def came() -> bool:
            self.read()
            return holds in self.screen() if isinstance(holds, str) else holds(self.screen())

        wait_until(came, seconds, self.screen)
        return self.screen()

    def ready(self) -> "PtyApp":
        self.until(lambda shown: "sk anything" in shown and "ready" in shown)
        return self

    def write(self, data: str | bytes) -> None:
        self.process.send(data)

    def resize(self, columns: int, rows: int) -> None:
        self.process.setwinsize(rows, columns)
        if rows and columns:
            self._screen.resize(rows, columns)

    def wait(self, seconds: float = 15.0) -> int:
        """The exit code, once it has ended; negative for a signal."""

        def ended() -> bool:
            self.read(0.05)
            return not self.process.isalive()

        wait_until(ended, seconds, self.screen)
        self.read(0.2)
        status = self.process.exitstatus
        return status if status is not None else -self.process.signalstatus

    def hang_up(self) -> None:
        """Close the terminal under the app."""
        self.process.ptyproc.fileobj.close()
        self.process.closed = self.process.ptyproc.closed = True

    def kill(self) -> None:
        if not self.process.closed:
            self.process.close(force=True)
