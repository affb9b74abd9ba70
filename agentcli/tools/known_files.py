"""KnownFiles: which state of a file the model has seen, so that `write` does not wipe out what others changed.

The rule: a file that the tools have read, written or edited is remembered as it was then. If it is different on disk
when `write` comes, the write is refused, and the model is told to read it again. A file that was never seen is
overwritten (the result says that it existed): the model was asked to put something there, and reading first would cost
a turn. `edit` always works on what is on disk; it never makes an outside change count as seen.
"""

import os
from pathlib import Path

from msgspec import Struct


class FileState(Struct, frozen=True):
    """What tells one state of a file from another."""

    mtime_ns: int
    size: int
    inode: int


def state_of(status: os.stat_result) -> FileState:
    return FileState(status.st_mtime_ns, status.st_size, status.st_ino)


class KnownFiles:
    """Paths are real paths. Safe to use from several threads."""

    def __init__(self) -> None:
        self._states: dict[str, FileState] = {}

    def seen(self, path: Path, status: os.stat_result) -> None:
        """The model knows this state of the file."""
        self._states[os.path.realpath(path)] = state_of(status)

    def is_stale(self, path: Path, status: os.stat_result) -> bool:
        """Whether the file has changed since the model last saw it; False if it never did."""
        known = self._states.get(os.path.realpath(path))
        return known is not None and known != state_of(status)
