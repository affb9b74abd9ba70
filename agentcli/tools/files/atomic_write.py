"""Atomic writing: a file holds its old content or its new one, never a part of either.

New content goes to a temporary file in the same folder, which then takes the old one's name; mode, owner, extended
attributes and links to the file stay. Where a rename cannot keep all that (a file with several hard links, an owner
that we may not give, a folder we may not write in, a mounted file), the file is written in place, what needs new space
first, and put back if that fails. Nothing is forced to the disk: a power cut may cost the newest content,
as with any editor that does not wait for the disk.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from agentcli.agent.errors import ToolError
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.paths import readable
from agentcli.tools.files.read_tracker import state_of

_CANNOT_RENAME = {errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV, errno.ETXTBSY}


def write_atomically(
    place: FilePlace, parts: Sequence[bytes | memoryview], before: os.stat_result | None
) -> os.stat_result:
    """Make `parts`, one after the other, the content of the file; its folder must exist.

    Args:
        before: the status of the content that `parts` are to replace; None if there was no file.

    Returns the file's new status.

    Raises:
        ToolError: it names the cause, also if the file is not as it was in `before`. The old content is untouched.
    """
    try:
        _check_unchanged(place, before)
        if before is not None and not place.is_writable():
            raise PermissionError(errno.EACCES, "the file is read-only")
        if before is not None and before.st_nlink > 1:
            return _write_in_place(place, parts)
        try:
            return _write_and_rename(place, parts, before)
        except OSError as error:
            if before is None or error.errno not in _CANNOT_RENAME:
                raise
            return _write_in_place(place, parts)
    except OSError as error:
        raise write_error(place.path, error) from error


def write_error(path: Path, error: OSError) -> ToolError:
    """The error of a write that failed, as the model reads it."""
    reason = error.strerror or str(error)
    hint = {
        errno.ENOSPC: "free some space, then try again",
        errno.EDQUOT: "free some space, then try again",
        errno.EFBIG: "the system's limit for the size of a file",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "no permission",
        errno.EPERM: "no permission",
        errno.ENAMETOOLONG: "use a shorter name",
    }.get(error.errno or 0, "")
    name = errno.errorcode.get(error.errno or 0, "")
    return ToolError(f"{readable(path)} was not written: {reason}{f' [{name}]' if name else ''}", hint=hint)


def _check_unchanged(place: FilePlace, before: os.stat_result | None) -> None:
    now = place.status()
    if now is not None and not stat.S_ISREG(now.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if (now and state_of(now)) != (before and state_of(before)):
        raise ToolError(
            f"{readable(place.path)} was not written: it has changed on disk just now", hint="read it, then try again"
        )


def _write_and_rename(
    place: FilePlace, parts: Sequence[bytes | memoryview], before: os.stat_result | None
) -> os.stat_result:
    # A new file gets what the umask leaves; the copy of a private file is private from its first byte.
    temporary, descriptor = place.make_temporary(0o666 if before is None else 0o600)
    try:
        try:
            _write_all(descriptor, parts)
            if before is not None:
                _copy_attributes(descriptor, place, before)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        _check_unchanged(place, before)
        place.take(temporary)
    except BaseException:
        place.drop(temporary)
        raise
    return after


def _write_all(descriptor: int, parts: Sequence[bytes | memoryview]) -> None:
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view[: 1 << 20]) :]


def _copy_attributes(descriptor: int, place: FilePlace, before: os.stat_result) -> None:
    """Owner, extended attributes, mode: in this order, for each may change the next."""
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    if hasattr(os, "listxattr"):
        # File systems that know no attributes, and attributes that only the system may set, are no reason to fail.
        with contextlib.suppress(OSError):
            old = place.open(os.O_RDONLY | os.O_NONBLOCK)
            try:
                for name in os.listxattr(old):
                    os.setxattr(descriptor, name, os.getxattr(old, name))
            finally:
                os.close(old)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _write_in_place(place: FilePlace, parts: Sequence[bytes | memoryview]) -> os.stat_result:
    """Overwrite the file itself. What is longer than the old content goes first, for only that needs new space."""
    new = b"".join(parts)
    descriptor = place.open(os.O_RDWR)
    try:
        old = _read_all(descriptor)
        try:
            _write_at(descriptor, new, len(old), len(new))
        except OSError:
            os.ftruncate(descriptor, len(old))
            raise
        try:
            _write_at(descriptor, new, 0, len(old))
            os.ftruncate(descriptor, len(new))
        except OSError:
            os.ftruncate(descriptor, len(old))
            _write_at(descriptor, old, 0, len(old))
            raise
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _read_all(descriptor: int) -> bytes:
    chunks: list[bytes] = []
    while chunk := os.read(descriptor, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def _write_at(descriptor: int, data: bytes, start: int, end: int) -> None:
    """Write a part of the data at its own place in the file."""
    os.lseek(descriptor, start, os.SEEK_SET)
    _write_all(descriptor, [memoryview(data)[start:end]])
