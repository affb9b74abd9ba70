"""Where agentcli keeps things: `~/.agentcli`, or wherever `AGENTCLI_HOME` says."""

import os
from pathlib import Path

from agentcli.agent.errors import ConfigError


def home() -> Path:
    """The folder that holds settings and sessions. It need not exist; reading makes no folder.

    Raises:
        ConfigError: there is no home folder to be found, and AGENTCLI_HOME is not set.
    """
    if chosen := os.environ.get("AGENTCLI_HOME"):
        return Path(chosen).expanduser().absolute()
    try:
        return Path.home() / ".agentcli"
    except RuntimeError:
        raise ConfigError("this user has no home folder", hint="set HOME or AGENTCLI_HOME") from None


def config_file() -> Path:
    return home() / "config.toml"


def sessions_folder() -> Path:
    return home() / "sessions"


def make_private(folder: Path) -> Path:
    """Make a folder that only its owner can look into, parents included. Returns it.

    Raises:
        ConfigError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot make the folder {folder}: {error.strerror}", hint="set AGENTCLI_HOME") from None
    return folder
