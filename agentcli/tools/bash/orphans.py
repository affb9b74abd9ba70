"""Orphans: commands whose agentcli was killed before it could end them.

Every command carries a mark in its environment that names the process it belongs to. When that one is gone, the
command is nobody's, and the next agentcli that finds an interrupted conversation ends it.
"""

import os
import re
from pathlib import Path

from agentcli.tools.bash.process_tree import Process, find_tree, kill_all

MARK_PREFIX = "_AGENTCLI_MARK_"
_MARK = re.compile(rf"{MARK_PREFIX}(\d+)_".encode())


def mark_name() -> str:
    """The name of a variable that marks the commands of this process."""
    return f"{MARK_PREFIX}{os.getpid()}_{os.urandom(8).hex()}"


class _DeadOwner:
    """The mark of a command whose agentcli is gone."""

    def is_in(self, environ: bytes) -> bool:
        return any(not _is_alive(owner) for owner in {int(owner) for owner in _MARK.findall(environ)})


def end_orphans() -> list[int]:
    """End every command whose agentcli is gone. Returns their pids. Looks through all processes: about 10 ms."""
    ended: set[int] = set()

    def orphans() -> list[Process]:
        found = [process for process in find_tree(_DeadOwner(), set()) if _is_of_our_kind(process.pid)]
        ended.update(process.pid for process in found)
        return found

    kill_all(orphans)
    return sorted(ended)


def _is_of_our_kind(pid: int) -> bool:
    """Whether a process counts pids as we do: in a container, the owner's pid would mean another process."""
    try:
        return Path(f"/proc/{pid}/ns/pid").readlink() == Path("/proc/self/ns/pid").readlink()
    except FileNotFoundError:  # no Linux, or the process has just ended
        return not Path("/proc/self/ns").exists()
    except OSError:
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
