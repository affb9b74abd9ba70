"""ProjectFence: the files of a project that agentcli reads on its own: those inside it that its user owns.

A repository is untrusted: a link in it to `~/.ssh/id_rsa` or `/proc/self/environ` must not reach the model. The real
path of a file and its owner decide. The user's own directory (`~/.agentcli`) has no fence: its links may lead anywhere.
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
    """A `judge` for `reading.read_bytes`, for the files of one working directory."""

    folders: tuple[Path, ...]
    """Real paths; a file has to be below one of them."""
    place: str
    """What the directories are, for messages."""
    denied: Callable[[Path], str | None] = _nothing
    """Gives the rule that denies a path, if one does."""

    def __call__(self, path: Path, status: os.stat_result) -> None:
        """Raises FileProblem if an open file must not be read. `status` is that of the open file."""
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
        """Whether a real path is inside the project."""
        inside = any(real.is_relative_to(folder) for folder in self.folders)
        return inside and not any(real.is_relative_to(folder) for folder in _OF_THE_SYSTEM)


def fence_of(cwd: Path, denied: Callable[[Path], str | None] = _nothing) -> ProjectFence:
    """The fence of a working directory: its repository, or the directory alone."""
    root = repository_root(cwd)
    folders = (cwd,) if root is None else (cwd, root)
    place = "the working folder" if root is None else "the repository"
    return ProjectFence(tuple(Path(os.path.realpath(folder)) for folder in folders), place, denied)


def _owners() -> set[int]:
    """Owners whose files are read: the user, root, and the user who became root with sudo."""
    owners = {os.geteuid(), 0}
    if os.geteuid() == 0 and (behind := os.environ.get("SUDO_UID", "")).isdecimal():
        owners.add(int(behind))
    return owners
