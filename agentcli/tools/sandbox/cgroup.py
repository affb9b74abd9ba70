"""Cgroup: a limit on the processes and the memory of all sandboxed commands together, where cgroups allow it.

Version 2, in the nearest group above that this user may change; version 1 for root. Elsewhere there is no such limit.
"""

import contextlib
import os
from pathlib import Path

MOST_PROCESSES = 4096
_ROOT = Path("/sys/fs/cgroup")
_JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 126; shift; done; shift; exec "$@"'


class Cgroup:
    """Args:
    root: where cgroups are mounted.
    own: `/proc/self/cgroup`.
    """

    def __init__(self, root: Path = _ROOT, own: Path = Path("/proc/self/cgroup")) -> None:
        self._root = root
        self._own = own
        self.folders: list[Path] = []
        """The groups that were made; none if that is not allowed."""

    def make(self) -> None:
        with contextlib.suppress(OSError):
            lines = [line.split(":", 2) for line in self._own.read_text("utf-8").splitlines()]
            for _, controllers, path in lines:
                if not controllers:
                    self._make_in_2(path)
                elif controllers in ("pids", "memory"):
                    parent = self._root / controllers / path.lstrip("/")
                    name, value = _LIMITS_1[controllers]
                    self._make(parent, {name: value})

    def prefix(self) -> list[str]:
        """What a command begins with so that it runs in the groups."""
        if not self.folders:
            return []
        places = [str(folder / "cgroup.procs") for folder in self.folders]
        return ["/bin/sh", "-c", _JOIN, "sh", *places, "--"]

    def remove(self) -> None:
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        self.folders = []

    def _make_in_2(self, path: str) -> None:
        place = self._root / path.lstrip("/")
        for parent in (place, *place.parents):
            if not parent.is_relative_to(self._root):
                return
            with contextlib.suppress(OSError):
                given = (parent / "cgroup.subtree_control").read_text("utf-8").split()
                limits = {_LIMITS_2[name][0]: _LIMITS_2[name][1] for name in _LIMITS_2 if name in given}
                if limits and os.access(parent / "cgroup.procs", os.W_OK) and self._make(parent, limits):
                    return

    def _make(self, parent: Path, limits: dict[str, str]) -> bool:
        folder = parent / f"agentcli-{os.getpid()}-{os.urandom(3).hex()}"
        try:
            folder.mkdir()
        except OSError:
            return False
        try:
            for name, value in limits.items():
                (folder / name).write_text(value, "utf-8")
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
            return False
        self.folders.append(folder)
        return True


def _most_memory() -> str:
    return str(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4)


_LIMITS_1 = {"pids": ("pids.max", str(MOST_PROCESSES)), "memory": ("memory.limit_in_bytes", _most_memory())}
_LIMITS_2 = {"pids": ("pids.max", str(MOST_PROCESSES)), "memory": ("memory.max", _most_memory())}
