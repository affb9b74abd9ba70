"""Private files: read within bounds; written whole or not at all, readable by their owner only, and under a lock."""

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
"""Directories on file systems without locks, and the warning about each."""


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
    """Lock the directory of `path` against other processes, to read and then write the file. It is created if missing.

    On a file system without locks there is none, and `unlocked_notices` returns a warning.

    Raises:
        ConfigError: the directory cannot be created or opened.
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
    """A warning for each directory that was written to without a lock, each returned once."""
    lines = [text for text in _unlocked.values() if text]
    _unlocked.update(dict.fromkeys(_unlocked, ""))
    return lines


def write_private(path: Path, data: bytes) -> None:
    """Replace the content of `path`, or of the file that it links to. The file has mode 0600 from the start.

    Raises:
        ConfigError: it cannot be written; its content is unchanged.
    """
    target = path.resolve()
    # An unpredictable name, as of tempfile.mkstemp, which is slow to import.
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
