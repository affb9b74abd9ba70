"""Reading: the one way to open and read a file whose content agentcli does not control.

Settings, instructions, themes, keys, histories, sessions: each may be a FIFO, a device, a link to either, or endless.
Only a regular file is read, without blocking, up to a limit. The type is checked before the path is opened (opening a
device may have an effect) and again on the open file (the path may lead elsewhere by then).

The package is a layer between `agent`, which does no input or output, and `tools`, `sessions`, `config` and
`providers`, which all read files and may not import each other.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

Judge = Callable[[Path, os.stat_result], None]
"""Checks an open file by its path and status; raises `FileProblem` if it must not be read."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class FileProblem(OSError):
    """A file is not read for a reason other than an error of the system.

    Args:
        reason: a clause that follows the path and a colon: `it is a FIFO (named pipe)`. It is also the `strerror`, so
            that one `except OSError` covers every reason.
        path: the file, if the message is to contain it.
    """

    def __init__(self, reason: str, path: Path | None = None) -> None:
        super().__init__(0, reason, str(path) if path is not None else None)
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.filename} cannot be read: {self.reason}" if self.filename else self.reason


def open_regular(path: Path, judge: Judge | None = None) -> int:
    """A descriptor of a regular file, which the caller closes. Never blocks.

    Raises:
        FileProblem: it is not a regular file, or `judge` refuses it.
        OSError: the system refuses; `FileNotFoundError` if there is no such file.
    """
    require_regular(path, path.stat())
    descriptor = os.open(path, OPEN_FLAGS)
    try:
        status = os.fstat(descriptor)
        require_regular(path, status)
        if judge is not None:
            judge(path, status)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_file(path: Path, judge: Judge | None = None) -> BinaryIO:
    """The file for reading in parts, as `open_regular` opens it."""
    return os.fdopen(open_regular(path, judge), "rb")


def require_regular(path: Path, status: os.stat_result) -> None:
    """Raises FileProblem unless it is a regular file. Also for callers that open a file to write to it."""
    if not stat.S_ISREG(status.st_mode):
        raise FileProblem(f"it is {kind_of(status.st_mode)}", path)


def read_beginning(path: Path, most: int, judge: Judge | None = None) -> tuple[bytes, bool]:
    """The first `most` bytes of a file, and whether there are more. Raises as `open_regular` does."""
    with open_file(path, judge) as file:
        # `read` returns None if a file of the system has no data yet.
        data = file.read(most + 1) or b""
    return data[:most], len(data) > most


def read_bytes(path: Path, most: int, judge: Judge | None = None) -> bytes:
    """The content of a file of at most `most` bytes.

    Raises:
        FileProblem: it is larger, or for the reasons of `open_regular`.
        OSError: the system refuses; `FileNotFoundError` if there is no such file.
    """
    data, is_longer = read_beginning(path, most, judge)
    if is_longer:
        raise FileProblem(f"it is larger than {_size(most)}", path)
    return data


def decode(data: bytes) -> tuple[str, bool]:
    """The text of a file, UTF-8 or UTF-16 with a BOM; and whether all of it could be decoded.

    What cannot be decoded becomes U+FFFD.

    Raises:
        FileProblem: it contains NUL characters, so it is not text.
    """
    text = data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig", "replace")
    if "\0" in text:
        raise FileProblem("it is binary, not text")
    return text, "\ufffd" not in text or "\ufffd".encode() in data


def kind_of(mode: int) -> str:
    """The type of a file that is not a regular file, for messages; from `st_mode`."""
    match stat.S_IFMT(mode):
        case stat.S_IFIFO:
            return "a FIFO (named pipe)"
        case stat.S_IFSOCK:
            return "a socket"
        case stat.S_IFCHR:
            return "a character device"
        case stat.S_IFBLK:
            return "a block device"
        case stat.S_IFDIR:
            return "a folder"
        case _:
            return "not a regular file"


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"
