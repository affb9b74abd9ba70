"""KnownFiles: which state of a file the model has seen, so that `write` does not wipe out what it does not know.

The rule: a file that the tools have read, written or edited in this session is remembered as it was then, and so is one
that the user attached. `write` replaces a file only in a state that is known; any other it refuses, and the model is
told to read it, or to use `edit`. `edit` works on what is on disk; it never makes an outside change count as seen.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct


class FileState(Struct, frozen=True):
    """What tells one state of a file from another."""

    mtime_ns: int
    size: int
    inode: int


def state_of(status: os.stat_result) -> FileState:
    return FileState(status.st_mtime_ns, status.st_size, status.st_ino)


class ReadTracker:
    """Paths are real paths. Safe to use from several threads."""

    def __init__(self) -> None:
        self.recall: Callable[[], Iterable[tuple[str, int]]] = tuple
        """What else the model has seen, as the conversation tells it: paths, and when (Unix milliseconds)."""
        self._states: dict[Path, FileState | None] = {}
        """None for a file that has changed since it was seen, whatever is on disk now."""

    def seen(self, real: Path, status: os.stat_result) -> None:
        """The model knows this state of the file."""
        self._states[real] = state_of(status)

    def missed(self, real: Path) -> None:
        """The file has changed since the model saw it."""
        self._states[real] = None

    def knows(self, real: Path, status: os.stat_result) -> bool | None:
        """Whether the model has seen this state; None if it never saw the file."""
        if real in self._states:
            return self._states[real] == state_of(status)
        seen_at = max((at for path, at in self.recall() if os.path.realpath(path) == str(real)), default=None)
        if seen_at is None:
            return None
        return max(status.st_mtime_ns, status.st_ctime_ns) // 1_000_000 <= seen_at
