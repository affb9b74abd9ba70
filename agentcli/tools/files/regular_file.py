"""open_regular: opens a file for reading, if it is one; what else it may be is told before anything can block."""

import os
import stat
from pathlib import Path

from agentcli.agent.errors import ToolError
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.paths import display_path, kind_of, readable


def open_regular(place: FilePlace, cwd: Path) -> int:
    """A descriptor of a regular file. Raises `ToolError` that says what else the path is."""
    path = place.path
    try:
        status = path.stat()
        _check_kind(path, status.st_mode, cwd)
        # A FIFO that takes the file's place right now must not block us.
        descriptor = place.open(os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise ToolError(
            f"{readable(path)} cannot be read: {error.strerror or error}", hint=_permission_hint(error)
        ) from error
    try:
        _check_kind(path, os.fstat(descriptor).st_mode, cwd)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _permission_hint(error: OSError) -> str:
    return "no permission" if isinstance(error, PermissionError) else ""


def _check_kind(path: Path, mode: int, cwd: Path) -> None:
    if stat.S_ISDIR(mode):
        raise ToolError(f"{display_path(path, cwd)} is a folder, not a file. {_listing(path)}")
    if not stat.S_ISREG(mode):
        raise ToolError(
            f"{readable(path)} is {kind_of(mode)}, not a regular file", hint="read reads regular files only"
        )
    if str(path).startswith(("/dev/fd/", "/dev/std")) or "/proc/self/fd/" in str(path):
        raise ToolError(f"{readable(path)} is an open descriptor of agentcli, not a regular file")


def _listing(folder: Path, most: int = 30) -> str:
    try:
        with os.scandir(folder) as entries:
            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries)
    except OSError as error:
        return f"It cannot be listed: {error.strerror}"
    if not names:
        return "It is empty."
    more = f" … and {len(names) - most:,} more" if len(names) > most else ""
    return f"It holds: {readable(', '.join(names[:most]))}{more}"
