"""Drafts: unsent text on disk, so that no crash loses it.

Each process has a file of its own in the directory of the working directory, and a lock beside it that ends with the
process: a draft whose lock is free was left behind, and the next process claims it.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

from agentcli.agent.errors import AgentcliError, SessionError
from agentcli.agent.threads import to_thread
from agentcli.config.masking import mask
from agentcli.config.paths import make_private
from agentcli.config.private_file import write_private
from agentcli.files.reading import read_bytes
from agentcli.sessions.ids import new_id
from agentcli.sessions.storage.lock import SessionLock

WRITE_AFTER_S = 0.5
"""Seconds from a change until it is saved, together with the changes made meanwhile."""
SUFFIX = ".draft"
MAX_BYTES = 64 << 20


class Drafts:
    """The drafts of one working directory.

    Args:
        folder: where they are; created with the first draft.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problem = ""
        """Why drafts are not kept, as one line; empty if they are."""
        self._path: Path | None = None
        self._lock: SessionLock | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._saving: asyncio.Future[None] | None = None
        self._wanted = self._written = ""
        self._writing = threading.Lock()

    def claim(self) -> str:
        """The latest draft that a process left behind; empty if there is none. It is ours now. Blocks."""
        try:
            left = sorted(self.folder.glob(f"*{SUFFIX}"), key=_modified, reverse=True)
        except OSError as error:
            self.problem = f"drafts in {self.folder} cannot be read: {error.strerror}"
            return ""
        self._sweep()
        return next((text for path in left if (text := self._claim(path))), "")

    def changed(self, read: Callable[[], str]) -> None:
        """Save the draft within `WRITE_AFTER_S`.

        Args:
            read: returns the draft at the time of writing.
        """
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(WRITE_AFTER_S, self._write_soon, read)

    def save(self, text: str) -> None:
        """Save this now. Blocks; a failure becomes the `problem`."""
        self._wanted = mask(text)
        self._write()

    def close(self, text: str) -> None:
        """Save the draft and release it: the next process finds it. Blocks."""
        if self._timer is not None:
            self._timer.cancel()
        self.save(text)
        if self._lock is not None:
            self._lock.release()

    def _sweep(self) -> None:
        """Remove the locks of processes that were killed after their draft was sent."""
        for lock in self.folder.glob(f"*{SUFFIX}.lock"):
            if not (path := lock.with_suffix("")).exists():
                with contextlib.suppress(SessionError, OSError):
                    SessionLock(path).release()

    def _claim(self, path: Path) -> str:
        try:
            lock = SessionLock(path)
        except SessionError:
            return ""  # another process has it
        except OSError as error:
            self.problem = f"the draft {path} cannot be taken: {error.strerror}"
            return ""
        if lock.other_owner is not None:
            lock.release()
            return ""  # another process seems to have it; the file system has no locks to be sure
        try:
            text = read_bytes(path, MAX_BYTES).decode("utf-8", "replace")
        except FileNotFoundError:
            text = ""  # it was sent just now
        except OSError as error:
            self.problem = f"the draft {path} cannot be read: {error.strerror}"
            lock.release()
            return ""
        if not text.strip():
            path.unlink(missing_ok=True)
            lock.release()
            return ""
        self._path, self._lock = path, lock
        self._wanted = self._written = text
        return text

    def _write_soon(self, read: Callable[[], str]) -> None:
        self._timer = None
        self._saving = asyncio.ensure_future(to_thread(self.save, read()))

    def _write(self) -> None:
        with self._writing:
            text = self._wanted
            if text == self._written:
                return
            try:
                path = self._path or self._new_path()
                if text.strip():
                    write_private(path, text.encode())
                else:
                    path.unlink(missing_ok=True)
            except (OSError, AgentcliError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                self.problem = f"the draft is not kept: {reason}"
                return
            self._written = text

    def _new_path(self) -> Path:
        path = make_private(self.folder) / f"{new_id()}{SUFFIX}"
        self._lock = SessionLock(path)
        self._path = path
        return path


def _modified(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0
