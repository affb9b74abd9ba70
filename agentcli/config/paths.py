"""Paths: the home directory of agentcli (`~/.agentcli`, or `AGENTCLI_HOME`) and what is in it."""

import os
import stat
from pathlib import Path

from agentcli.agent.errors import ConfigError
from agentcli.files.repository import repository_root

SETTINGS_NAME = ".agentcli.toml"
"""The settings file of a project."""

HOME_VARIABLE = "AGENTCLI_HOME"
"""The variable that moves the home directory; not a setting."""

_NOWHERE = Path(os.devnull) / "agentcli"
"""Stands for a missing home directory: it is empty, and nothing can be created in it."""


def home() -> Path:
    """The directory of settings and sessions. It may not exist, and is not created.

    If `home_problem` returns a problem, it is a path under which nothing exists and nothing can be created.
    """
    return _home()[0]


def home_problem() -> str | None:
    """Why the home directory cannot be used, as one line; None if it can."""
    return _home()[1]


def require_home() -> None:
    """Raises ConfigError if the home directory cannot be used."""
    if problem := home_problem():
        raise ConfigError(problem)


def _home() -> tuple[Path, str | None]:
    chosen = os.environ.get(HOME_VARIABLE)
    try:
        folder = Path(chosen).expanduser().absolute() if chosen else Path.home() / ".agentcli"
    except RuntimeError:
        return _NOWHERE, "this user has no home folder (set HOME or AGENTCLI_HOME)"
    except FileNotFoundError:
        return _NOWHERE, f"{chosen} starts in a folder that is gone (set AGENTCLI_HOME to a whole path)"
    try:
        if not stat.S_ISDIR(folder.stat().st_mode):
            return _NOWHERE, f"{folder} is a file, and agentcli needs a folder there (set AGENTCLI_HOME)"
        if not os.access(folder, os.X_OK):
            raise PermissionError(13, os.strerror(13))
    except (FileNotFoundError, NotADirectoryError):
        pass  # it is created with the first file
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        return _NOWHERE, f"the home folder {folder} cannot be used: {problem} (set AGENTCLI_HOME)"
    return folder, None


def config_file() -> Path:
    """The settings of the user."""
    return home() / "config.toml"


def auth_file() -> Path:
    """The stored keys."""
    return home() / "auth.toml"


def trust_file() -> Path:
    """The list of trusted project files."""
    return home() / "trust.json"


def shared_skills_folder() -> Path | None:
    """`~/.agents/skills`, which other agents read too; None without a home directory."""
    try:
        return Path.home() / ".agents" / "skills"
    except RuntimeError:
        return None


def project_folders(cwd: Path) -> list[Path]:
    """The working directory and those above it up to the root of its repository; without one, only the former."""
    root = repository_root(cwd)
    if root is None:
        return [cwd]
    return [folder for folder in (cwd, *cwd.parents) if folder.is_relative_to(root)]


def sessions_folder() -> Path:
    """The directory of session files."""
    return home() / "sessions"


def make_private(folder: Path) -> Path:
    """Create a directory that only its owner can read, with its parents. Returns it.

    Raises:
        ConfigError: it cannot be created.
    """
    if folder.is_relative_to(_NOWHERE):
        require_home()
    try:
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            raise NotADirectoryError(20, "it is not a folder")
    except OSError as error:
        raise ConfigError(f"cannot make the folder {folder}: {error.strerror}", hint="set AGENTCLI_HOME") from None
    return folder
