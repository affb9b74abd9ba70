"""Trash: how a session is taken away, so that it can be taken back where the system has a trash."""

from pathlib import Path

from agentcli.agent.errors import SessionError
from agentcli.sessions.storage.jsonl_storage import read_header, storage_error
from agentcli.sessions.storage.lock import SessionLock


def remove_session(path: Path) -> bool:
    """Take a session's file away, and what was set aside of it. Returns whether it went to the trash.

    Raises:
        SessionError: `locked`, when it is open, here or elsewhere; `not_found`, `not_a_session`, `storage`.
    """
    try:
        read_header(path)
    except SessionError as error:
        if error.code != "old_format":
            raise
    try:
        lock = SessionLock(path)
        try:
            trashed = _to_trash(path)
            if not trashed:
                path.unlink()
            path.with_name(path.name + ".torn").unlink(missing_ok=True)
        finally:
            lock.release()
    except OSError as error:
        raise storage_error(path, error) from None
    return trashed


def _to_trash(path: Path) -> bool:
    # 15 ms, and only who deletes needs it.
    from send2trash import send2trash

    try:
        send2trash(path)
    except OSError:
        # No trash on this file system or for this user: the caller was asked, and the file goes for good.
        return False
    return True
