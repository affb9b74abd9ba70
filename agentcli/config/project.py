"""Project: the files of a repository that configure agentcli, and whether the user trusts them.

`.agentcli.toml` contains settings: those of every directory from the repository's root down to the working directory
apply. `.agentcli/SYSTEM.md` and `.agentcli/APPEND_SYSTEM.md` are instructions; of each, the nearest applies. Each is
read once, so that the content that was checked is the content that is used.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.config.paths import SETTINGS_NAME, config_file, home, project_folders, trust_file
from agentcli.config.settings import PermissionSettings
from agentcli.files.project_fence import ProjectFence, fence_of
from agentcli.files.reading import read_bytes
from agentcli.files.repository import repository_problems

SYSTEM_NAME = ".agentcli/SYSTEM.md"
APPEND_NAME = ".agentcli/APPEND_SYSTEM.md"

MAX_BYTES = 1 << 18
"""Of a file. Any TOML of this size is parsed in less than a second."""


class ProjectFile(Struct, frozen=True):
    """A file of the project, as it was read."""

    name: str
    """One of the names above."""
    path: Path
    data: bytes
    trusted: bool


class Project(Struct, frozen=True):
    """The files of a project that concern agentcli."""

    files: list[ProjectFile] = []
    """The nearest to the repository's root first."""
    rules: dict[Path, PermissionSettings] = {}
    """The deny and ask rules that trusted files, here and above, had when they were trusted."""
    notices: list[str] = []
    """A line for each file that could not be read."""

    @property
    def settings(self) -> list[ProjectFile]:
        """The files of settings."""
        return [file for file in self.files if file.name == SETTINGS_NAME]

    def trusted_text(self, name: str) -> str | None:
        """The content of a trusted file; None if there is none, or it is not trusted."""
        file = next((file for file in reversed(self.files) if file.name == name), None)
        return file.data.decode("utf-8-sig", "replace").strip() if file is not None and file.trusted else None


def read_project(cwd: Path, *, trust: bool = False) -> Project:
    """Read the project's files.

    Args:
        cwd: the working directory.
        trust: trust every file as it is, for this call.
    """
    notices: list[str] = repository_problems(cwd)
    fence = fence_of(cwd)
    found = [*reversed(list(_readable(SETTINGS_NAME, cwd, fence, notices)))]
    for name in (SYSTEM_NAME, APPEND_NAME):
        found += list(islice(_readable(name, cwd, fence, notices), 1))
    files: list[ProjectFile] = []
    rules: dict[Path, PermissionSettings] = {}
    if found or trust_file().exists():
        from agentcli.config.trust import is_trusted, kept_rules  # only with such files

        try:
            rules = kept_rules(cwd)
            files = [ProjectFile(*file, trust or is_trusted(*file[1:])) for file in found]
        except ConfigError as error:
            # Nothing is trusted.
            files = [ProjectFile(*file, trust) for file in found]
            notices.append(str(error))
    return Project(files, rules, notices)


def _readable(name: str, cwd: Path, fence: ProjectFence, notices: list[str]) -> Iterator[tuple[str, Path, bytes]]:
    """The files of this name that can be read: name, path and content, the nearest first."""
    own = {home(), config_file().parent}
    for folder in project_folders(cwd):
        path = folder / name
        # In the home directory itself, `.agentcli` is the user's own, not a project's.
        if path.parent in own:
            continue
        try:
            data = read_bytes(path, MAX_BYTES, fence)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            notices.append(f"{path} cannot be read, so it is ignored: {error.strerror}")
            continue
        if os.path.realpath(path) != os.path.join(os.path.realpath(folder), name):  # noqa: PTH118
            notices.append(f"{path} is ignored: it is a link, and could be borrowed from a folder that is trusted")
            continue
        yield name, path, data
