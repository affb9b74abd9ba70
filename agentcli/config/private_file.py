"""Private files: written whole or not at all, readable by their owner only, and by one process at a time."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentcli.agent.errors import ConfigError, CredentialsError
from agentcli.config.paths import make_private
from agentcli.files.reading import Judge, read_bytes

_unlocked: dict[Path, str] = {}
"""Folders on file systems without locks, and what is to be said of each."""


def read_private(
    path: Path,
    most: int,
    judge: Judge | None = None,
    *,
    failure: type[ConfigError | CredentialsError] = ConfigError,
    hint: str = "correct or remove it",
) -> bytes | None:
    """The content of a file of the user's own, of at most `most` bytes; None if there is none.

    Raises:
        ConfigError: it cannot be read; or `failure`. The message is `FILE:1: …`.
    """
    try:
        return read_bytes(path, most, judge)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failure(f"{path}:1: cannot be read: {error.strerror}", hint=hint) from None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Read and write `path` while no other process does: its folder is locked. The folder is made if need be.

    Where the file system has no locks it goes on without, and `unlocked_notices` says so.

    Raises:
        ConfigError: the folder cannot be made or opened.
    """
    folder = make_private(path.parent)
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"cannot look into {folder}: {error.strerror}", hint="set AGENTCLI_HOME") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            text = f"{folder} cannot be locked: {error.strerror}; change things there in one place at a time"
            _unlocked.setdefault(folder, text)
        yield
    finally:
        os.close(descriptor)


def unlocked_notices() -> list[str]:
    """A line for each folder that was written to without a lock, each told once."""
    lines = [text for text in _unlocked.values() if text]
    _unlocked.update(dict.fromkeys(_unlocked, ""))
    return lines


def write_private(path: Path, data: bytes) -> None:
    """Replace the content of `path`, through a link to what it names. The file is 0600 from its first byte on.

    Raises:
        ConfigError: it cannot be written; what was there is unchanged.
    """
    target = path.resolve()
    # A name that nobody can guess, as of tempfile.mkstemp, whose module costs 5 ms of every start.
    temporary = make_private(target.parent) / f".{target.name}.{os.urandom(8).hex()}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise ConfigError(f"{path} cannot be written: {error.strerror}", hint="look at its folder") from None
