"""Project: the files of a repository that say how agentcli works in it, and whether the person trusts them.

`.agentcli.toml` holds settings; `.agentcli/SYSTEM.md` and `.agentcli/APPEND_SYSTEM.md` are instructions. Of each, the
nearest counts, from the working folder up to the repository's root. Each is read once: what was judged is what is used.
"""

from pathlib import Path

from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.config.paths import config_file, home, project_folders
from agentcli.files.project_fence import ProjectFence, fence_of
from agentcli.files.reading import read_bytes
from agentcli.files.repository import repository_problems

SETTINGS_NAME = ".agentcli.toml"
SYSTEM_NAME = ".agentcli/SYSTEM.md"
APPEND_NAME = ".agentcli/APPEND_SYSTEM.md"

MAX_BYTES = 1 << 18
"""Of a file. To parse as much TOML takes less than a second, whatever it says."""


class ProjectFile(Struct, frozen=True):
    name: str
    """One of the names above."""
    path: Path
    data: bytes
    trusted: bool


class Project(Struct, frozen=True):
    files: dict[str, ProjectFile] = {}
    notices: list[str] = []
    """What could not be read, a line each."""

    def trusted_text(self, name: str) -> str | None:
        """The content of a trusted file; None if there is none, or it is not trusted."""
        file = self.files.get(name)
        return file.data.decode("utf-8-sig", "replace").strip() if file is not None and file.trusted else None


def read_project(cwd: Path, *, trust: bool = False) -> Project:
    """Args:
    trust: trust every file as it is, this once.
    """
    files: dict[str, ProjectFile] = {}
    notices: list[str] = repository_problems(cwd)
    fence = fence_of(cwd)
    for name in (SETTINGS_NAME, SYSTEM_NAME, APPEND_NAME):
        found = _nearest(name, cwd, fence, notices)
        if found is None:
            continue
        # hashlib (3 ms), for those who have no such file.
        from agentcli.config.trust import is_trusted

        path, data = found
        try:
            files[name] = ProjectFile(name, path, data, trust or is_trusted(path, data))
        except ConfigError as error:
            notices.append(f"{path} is ignored: {error}")
    return Project(files, notices)


def _nearest(name: str, cwd: Path, fence: ProjectFence, notices: list[str]) -> tuple[Path, bytes] | None:
    """The nearest file of this name that can be read, and its content; None if there is none."""
    own = {home(), config_file().parent}
    for folder in project_folders(cwd):
        path = folder / name
        # A person who works in their own home folder: that `.agentcli` is theirs, and read as such.
        if path.parent in own:
            continue
        try:
            return path, read_bytes(path, MAX_BYTES, fence)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            notices.append(f"{path} cannot be read, so it is ignored: {error.strerror}")
    return None
