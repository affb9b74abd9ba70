"""Private files: written whole or not at all, readable by their owner only, and by one process at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentcli.agent.errors import ConfigError
from agentcli.config.paths import make_private


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Read and write `path` while no other process does: its folder is locked. The folder is made if need be."""
    folder = os.open(make_private(path.parent), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


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
        temporary.unlink(missing_ok=True)
        raise ConfigError(f"{path} cannot be written: {error.strerror}", hint="look at its folder") from None
