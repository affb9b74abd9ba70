"""SessionChoice: which session a run goes on with, and in which folder. The app makes one before its first paint."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentcli.agent.errors import UsageError

if TYPE_CHECKING:
    from agentcli.sessions.session import Session


class SessionChoice(Struct, frozen=True, kw_only=True):
    """New, unless one of these says otherwise."""

    continue_: bool = False
    """The folder's last session."""
    reference: str | None = None
    """A path, an id, or a part of one."""
    in_memory: bool = False
    cwd: Path | None = None
    """The folder that was asked for; None is the current one, or the session's own."""
    opened: "Session | None" = None
    """A session that is open already, for programs that make their own. The runtime closes it."""


def working_folder(chosen: Path | None) -> Path:
    """The folder to work in, absolute.

    Raises:
        UsageError: it does not exist, or is no folder.
    """
    try:
        folder = Path.cwd() if chosen is None else Path.cwd() / chosen.expanduser()
    except FileNotFoundError:
        if chosen is None or not chosen.is_absolute():
            raise UsageError("the current folder does not exist any more", hint="cd to another one") from None
        folder = chosen
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"the folder {folder} {problem}", hint="give another with --cwd")
    return folder
