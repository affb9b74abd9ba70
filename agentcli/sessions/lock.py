"""SessionLock: one writer a session, told to others by its pid.

The lock is the operating system's, on a file beside the session, so it ends with its process however that ends. Where
there is no `fcntl` (Windows), `msvcrt` locks the first byte.
"""

import os
from pathlib import Path

from agentcli.agent.errors import SessionError


class SessionLock:
    """Held from `__init__` to `release`.

    Raises:
        SessionError: `locked`, when another process holds it; the message has its pid.
    """

    def __init__(self, session: Path) -> None:
        self.path = session.with_name(session.name + ".lock")
        while True:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if not _try_lock(self._descriptor):
                owner = os.pread(self._descriptor, 32, 1).decode("ascii", "replace").strip("\0\n ") or "unknown"
                os.close(self._descriptor)
                hint = f"close it there, or fork it: agentcli sessions fork {session.stem.rpartition('_')[2]}"
                raise SessionError("locked", f"the session {session.name} is open in process {owner}", hint=hint)
            if self._is_still_there():
                break
            os.close(self._descriptor)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f" {os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        if self._descriptor < 0:
            return
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1

    def _is_still_there(self) -> bool:
        """Whether the file that was locked is the one at the path: its last owner may just have removed it."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except FileNotFoundError:
            return False


def _try_lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
