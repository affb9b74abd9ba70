"""SpillFolder: where the full outputs lie that were too long for a result.

One private folder (0700) for each toolset, its name not to be guessed, made when it is first needed; files are 0600
from their first byte. The folder goes when agentcli ends, by `close()` or by a signal: a resumed session may name a
file that is gone, and its command can be run again. What a killed agentcli left behind is removed after a week.
"""

import contextlib
import os
import time
from pathlib import Path

_LEFTOVER_AGE_S = 7 * 86_400
_PREFIX = "agentcli-"


class SpillFolder:
    """Safe to use from several threads: every file has its own name."""

    def __init__(self, parent: Path | None) -> None:
        self._parent = parent
        self._path: Path | None = None

    @property
    def path(self) -> Path:
        """The folder, made now if need be. Raises `OSError` if it cannot be."""
        if self._path is None or not self._path.is_dir():
            parent = self._parent or Path(os.environ.get("TMPDIR") or "/tmp")
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_leftovers(parent)
            path = parent / f"{_PREFIX}{os.urandom(12).hex()}"
            path.mkdir(mode=0o700)
            self._path = path
        return self._path

    def create_file(self, kind: str) -> tuple[int, Path]:
        """A new file to write to: its descriptor and its path. Raises `OSError`."""
        path = self.path / f"{kind}-{os.urandom(6).hex()}.log"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(path, flags, 0o600), path

    def empty_folder(self) -> Path:
        """An empty private folder, for a command that has no folder of its own."""
        path = self.path / f"empty-{os.urandom(6).hex()}"
        path.mkdir(mode=0o700)
        return path

    def remove(self) -> None:
        """Remove the folder with all that is in it. It is made again if it is needed again."""
        if self._path is not None:
            _remove_tree(self._path)
            self._path = None


def _remove_leftovers(parent: Path) -> None:
    """Remove what agentcli processes of this user left here long ago."""
    oldest = time.time() - _LEFTOVER_AGE_S
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if status.st_uid == os.getuid() and status.st_mtime < oldest:
                    _remove_tree(Path(entry.path))


def _remove_tree(folder: Path) -> None:
    import shutil  # 2 ms

    shutil.rmtree(folder, ignore_errors=True)
