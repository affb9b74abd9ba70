"""Terminal: a process in a pty of 120 x 40 that is read as fast as it writes, and what it has used so far."""

import fcntl
import os
import pty
import select
import struct
import termios
import time
from pathlib import Path

COLUMNS, ROWS = 120, 40


class Terminal:
    def __init__(self, argv: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.data = bytearray()
        self.started = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
                os.chdir(folder)
                os.execve(argv[0], argv, environment)
            finally:
                os._exit(127)

    def read_for(self, seconds: float, until: str | None = None) -> float | None:
        """Read so long, or until this was written. Returns when that was, in seconds, monotonic."""
        end = time.monotonic() + seconds
        begin = len(self.data)
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                continue
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:
                return None
            if not data:
                return None
            self.data += data
            if until and until.encode() in self.data[begin:]:
                return time.monotonic()
            if until and len(self.data) - begin > 1 << 12:
                begin = len(self.data) - 200
        return None

    def wait_for(self, text: str, seconds: float = 60.0) -> float:
        """When this was written. Raises TimeoutError if it never is."""
        seen = self.read_for(seconds, text)
        if seen is None:
            raise TimeoutError(f"{text!r} was never written, but {bytes(self.data[-500:])!r}")
        return seen

    def type(self, text: str) -> float:
        """Write to it. Returns when that was."""
        begun = time.monotonic()
        os.write(self.fd, text.encode())
        return begun

    def echo(self, key: str) -> float:
        """Seconds from a key to the key on the screen."""
        begun = self.type(key)
        return self.wait_for(key, 5) - begun

    @property
    def cpu(self) -> float:
        """Seconds of CPU that it has used, all its threads; the clock of another process as `clock_getcpuclockid` has it."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def memory(self, kind: str = "VmRSS") -> float:
        """Resident MiB: now (`VmRSS`) or at the peak (`VmHWM`)."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition(f"{kind}:")[2].split()[0]) / 1024

    def close(self) -> None:
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
