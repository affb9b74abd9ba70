"""Where agentcli keeps things: `~/.agentcli`, or wherever `AGENTCLI_HOME` says."""

import os
from pathlib import Path

from agentcli.agent.errors import ConfigError
from agentcli.files.repository import repository_root


def home() -> Path:
    """The folder that holds settings and sessions. It need not exist; reading makes no folder.

    Raises:
        ConfigError: there is no home folder to be found, and AGENTCLI_HOME is not set; or what is there is a file.
    """
    try:
        chosen = os.environ.get("AGENTCLI_HOME")
        folder = Path(chosen).expanduser().absolute() if chosen else Path.home() / ".agentcli"
    except RuntimeError:
        raise ConfigError("this user has no home folder", hint="set HOME or AGENTCLI_HOME") from None
    if folder.is_file():
        raise ConfigError(f"{folder} is a file, and agentcli needs a folder there", hint="set AGENTCLI_HOME")
    return folder


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
    try:
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            raise NotADirectoryError(20, "it is not a folder")
    except OSError as error:
        raise ConfigError(f"cannot make the folder {folder}: {error.strerror}", hint="set AGENTCLI_HOME") from None
    return folder
