"""ProjectFence: which files of a project agentcli reads by itself: those that are in it, and its user's.

A repository may be anybody's: a link in it to `~/.ssh/id_rsa` or `/proc/self/environ` must not reach the model. What
counts is where a file really is, and who owns it. The user's own folder (`~/.agentcli`) has no such fence: its links
may lead anywhere.
"""

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from agentcli.files.reading import FileProblem
from agentcli.files.repository import repository_root

_OF_THE_SYSTEM = tuple(Path(name) for name in ("/proc", "/sys", "/dev"))


def _nothing(path: Path) -> str | None:
    return None


class ProjectFence(Struct, frozen=True):
    """`judge` of `reading.read_bytes`, for the files of one working folder."""

    folders: tuple[Path, ...]
    """Real paths; a file has to be below one of them."""
    place: str
    """What they are, in words."""
    denied: Callable[[Path], str | None] = _nothing
    """The rule that denies a path, if one does."""

    def __call__(self, path: Path, status: os.stat_result) -> None:
        """Raises FileProblem if an open file is not to be read. `status` is of what is open."""
        real = Path(os.path.realpath(path))
        if problem := self._problem(path, real, status):
            raise FileProblem(problem, path)

    def _problem(self, path: Path, real: Path, status: os.stat_result) -> str:
        if not self.encloses(real):
            return f"it leads out of {self.place}, to {real}"
        if not os.path.samestat(os.stat(real), status):  # noqa: PTH116
            return "it was replaced while it was opened"
        if status.st_uid not in _owners():
            return f"it belongs to another user (uid {status.st_uid})"
        rule = self.denied(real) or self.denied(path)
        return f"the rule {rule} denies it" if rule else ""

    def encloses(self, real: Path) -> bool:
        """Whether a real path is inside of the project."""
        inside = any(real.is_relative_to(folder) for folder in self.folders)
        return inside and not any(real.is_relative_to(folder) for folder in _OF_THE_SYSTEM)


def fence_of(cwd: Path, denied: Callable[[Path], str | None] = _nothing) -> ProjectFence:
    """The fence of a working folder: its repository, or the folder alone."""
    root = repository_root(cwd)
    folders = (cwd,) if root is None else (cwd, root)
    place = "the working folder" if root is None else "the repository"
    return ProjectFence(tuple(Path(os.path.realpath(folder)) for folder in folders), place, denied)


def _owners() -> set[int]:
    """Whose files are read: the user's, root's, and those of who became root with sudo."""
    owners = {os.geteuid(), 0}
    if os.geteuid() == 0 and (behind := os.environ.get("SUDO_UID", "")).isdecimal():
        owners.add(int(behind))
    return owners
