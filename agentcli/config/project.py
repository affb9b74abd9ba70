"""Project: the files of a repository that say how agentcli works in it, and whether the person trusts them.

`.agentcli.toml` holds settings; `.agentcli/SYSTEM.md` and `.agentcli/APPEND_SYSTEM.md` are instructions. Of each, the
nearest counts, from the working folder up to the repository's root. Each is read once: what was judged is what is used.
"""

from pathlib import Path

from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.config.paths import config_file, home, project_folders

SETTINGS_NAME = ".agentcli.toml"
SYSTEM_NAME = ".agentcli/SYSTEM.md"
APPEND_NAME = ".agentcli/APPEND_SYSTEM.md"

MAX_BYTES = 1 << 20


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
    notices: list[str] = []
    for name in (SETTINGS_NAME, SYSTEM_NAME, APPEND_NAME):
        path = _find(name, cwd)
        if path is None:
            continue
        # hashlib (3 ms), for those who have no such file.
        from agentcli.config.trust import is_trusted

        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise ConfigError(f"{path} is larger than {MAX_BYTES >> 20} MiB")
            files[name] = ProjectFile(name, path, data, trust or is_trusted(path, data))
        except OSError as error:
            notices.append(f"{path} cannot be read, so it is ignored: {error.strerror}")
        except ConfigError as error:
            notices.append(f"{path} is ignored: {error}")
    return Project(files, notices)


def _find(name: str, cwd: Path) -> Path | None:
    own = {home(), config_file().parent}
    for folder in project_folders(cwd):
        path = folder / name
        # A person who works in their own home folder: that `.agentcli` is theirs, and read as such.
        if path.is_file() and path.parent not in own:
            return path
    return None
