"""FilePlace: a file that is found once and then held by its folder, so that no link put in its way leads elsewhere.

Links are followed when the place is made; that path is what was judged. The folder is opened from the root down,
following nothing, and everything that happens to the file goes through that descriptor, following nothing either.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path
from types import TracebackType

from agentcli.agent.errors import ToolError
from agentcli.tools.files.paths import readable

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
"""`O_PATH`: a folder on the way may be one that we may pass through but not list."""


class FilePlace:
    """Use it in a `with`: what it has opened is closed at its end. Blocks. Its methods raise `OSError`.

    Args:
        path: the file as it was named, for messages; it need not exist.
        real: where that leads, if it is known.
    """

    def __init__(self, path: Path, real: Path | None = None) -> None:
        self.path = path
        self.real: Path = real or Path(os.path.realpath(path))
        self._name = self.real.name or "."
        self._folder: int | None = None

    def __enter__(self) -> "FilePlace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._folder is not None:
            os.close(self._folder)
            self._folder = None

    def status(self) -> os.stat_result | None:
        """What is there now; None if there is nothing. Raises `ToolError` if it is a link by now."""
        try:
            status = os.stat(self._name, dir_fd=self._held(), follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(status.st_mode):
            raise self.moved()
        return status

    def open(self, flags: int) -> int:
        """A descriptor of the file itself. Raises `ToolError` if it is a link by now."""
        try:
            return os.open(self._name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._held())
        except OSError:
            self.status()
            raise

    def is_writable(self) -> bool:
        return os.access(self._name, os.W_OK, dir_fd=self._held())

    def make_folder(self) -> None:
        """Make the folders on the way that are not there yet."""
        if self._folder is None:
            self._folder = self._open_folder(make=True)

    def make_temporary(self, mode: int) -> tuple[str, int]:
        """Name and descriptor of a new file in the same folder."""
        name = f".agentcli-{os.urandom(8).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return name, os.open(name, flags, mode, dir_fd=self._held())

    def take(self, temporary: str) -> None:
        """Let the temporary file be the file."""
        os.replace(temporary, self._name, src_dir_fd=self._held(), dst_dir_fd=self._held())

    def drop(self, temporary: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=self._held())

    def moved(self) -> ToolError:
        """The error of a path that leads elsewhere than it did when it was judged."""
        with contextlib.suppress(FileNotFoundError):
            self.path.stat()  # a circle of links was one before
        return moved(self.path)

    def _held(self) -> int:
        if self._folder is None:
            self._folder = self._open_folder(make=False)
        return self._folder

    def _open_folder(self, *, make: bool) -> int:
        folder = os.open(self.real.anchor, _FOLDER)
        for part in self.real.parts[1:-1]:
            try:
                try:
                    inner = self._open_in(folder, part)
                except FileNotFoundError:
                    if not make:
                        raise
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                    inner = self._open_in(folder, part)
            finally:
                os.close(folder)
            folder = inner
        return folder

    def _open_in(self, folder: int, name: str) -> int:
        try:
            return os.open(name, _FOLDER, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise self.moved() from None
            raise NotADirectoryError(errno.ENOTDIR, f"{readable(name)} in its path is not a folder") from None


def moved(path: Path) -> ToolError:
    return ToolError(
        f"{readable(path)} was not touched: the path has changed since the call was judged, and leads elsewhere now",
        hint="make the call again",
    )
