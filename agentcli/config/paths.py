"""Where agentcli keeps things: `~/.agentcli`, or wherever `AGENTCLI_HOME` says."""

import os
import stat
from pathlib import Path

from agentcli.agent.errors import ConfigError
from agentcli.files.repository import repository_root

SETTINGS_NAME = ".agentcli.toml"
"""The settings of a project."""

HOME_VARIABLE = "AGENTCLI_HOME"
"""The variable that moves the home directory; not a setting."""

_NOWHERE = Path(os.devnull) / "agentcli"
"""The home of those who have none: nothing is in it, and nothing can be made in it."""


def home() -> Path:
    """The folder that holds settings and sessions. It need not exist; reading makes no folder.

    Where `home_problem` has something to say it is one in which nothing is and nothing can be made.
    """
    return _home()[0]


def home_problem() -> str | None:
    """Why there is no home to read settings from and to keep sessions in, as one line; None if there is one."""
    return _home()[1]


def require_home() -> None:
    """Raises ConfigError if there is no home that can be used."""
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
        pass  # it is made when there is something to put there
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        return _NOWHERE, f"the home folder {folder} cannot be used: {problem} (set AGENTCLI_HOME)"
    return folder, None


def config_file() -> Path:
    return home() / "config.toml"


def auth_file() -> Path:
    return home() / "auth.toml"


def trust_file() -> Path:
    return home() / "trust.json"


def shared_skills_folder() -> Path | None:
    """`~/.agents/skills`, which agents of other makes read too; None without a home folder."""
    try:
        return Path.home() / ".agents" / "skills"
    except RuntimeError:
        return None


def project_folders(cwd: Path) -> list[Path]:
    """From the working folder up to the repository's root; outside of a repository, the working folder alone."""
    root = repository_root(cwd)
    if root is None:
        return [cwd]
    return [folder for folder in (cwd, *cwd.parents) if folder.is_relative_to(root)]


def sessions_folder() -> Path:
    return home() / "sessions"


def make_private(folder: Path) -> Path:
    """Make a folder that only its owner can look into, parents included. Returns it.

    Raises:
        ConfigError: it cannot be made.
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
