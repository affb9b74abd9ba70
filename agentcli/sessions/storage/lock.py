"""SessionLock: one writer for each session; others learn its pid.

The lock is the operating system's, on a file beside the session, so it ends with its process however that ends. Where
there is no `fcntl` (Windows), `msvcrt` locks the first byte. On a file system without locks the session is opened
unlocked.
"""

import contextlib
import errno
import os
from pathlib import Path

from agentcli.agent.errors import SessionError

HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})
"""Errors by which a system refuses a lock that another process holds. Any other means that it has no locks."""


class SessionLock:
    """A lock that is held from `__init__` to `release`.

    Args:
        session: the session file.

    Raises:
        SessionError: `locked`, when another process holds it; the message has its pid.
        OSError: the file beside the session cannot be made.
    """

    def __init__(self, session: Path) -> None:
        self.path: Path = session.with_name(session.name + ".lock")
        self.problem = ""
        """Why there is no lock, as one line; empty if the lock is held."""
        self.other_owner: int | None = None
        """Without a lock: the process that seems to have the session open, by the pid in the lock file."""
        while True:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                _lock(self._descriptor)
            except OSError as error:
                owner = self._owner()
                if error.errno in HELD:
                    os.close(self._descriptor)
                    hint = f"close it there, or fork it: agentcli sessions fork {session.stem.rpartition('_')[2]}"
                    problem = f"the session {session.name} is open in process {owner or 'unknown'}"
                    raise SessionError("locked", problem, hint=hint) from None
                self._note_no_lock(session, owner, error)
            if self._is_still_there():
                break
            os.close(self._descriptor)
        if self.other_owner is None:
            # The pid is only for messages to others; a full disk is reported by the first write to the session.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)
                os.pwrite(self._descriptor, f" {os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock and remove its file. May be called twice."""
        if self._descriptor < 0:
            return
        if self.other_owner is None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1

    def _note_no_lock(self, session: Path, owner: int | None, error: OSError) -> None:
        self.problem = f"the session {session.name} cannot be locked: {error.strerror}; open it in one place at a time"
        if owner is not None and owner != os.getpid() and _is_alive(owner):
            self.other_owner = owner
            self.problem += f" (process {owner} seems to have it open)"

    def _owner(self) -> int | None:
        pid = os.pread(self._descriptor, 32, 1).decode("ascii", "replace").strip("\0\n ")
        return int(pid) if pid.isdecimal() else None

    def _is_still_there(self) -> bool:
        """Whether the locked file is still the one at the path: its last owner may just have removed it."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except FileNotFoundError:
            return False


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
