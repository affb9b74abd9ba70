"""SearchTarget: where grep and find look: a folder to work in, and what in it is searched."""

import stat
from pathlib import Path

from msgspec import Struct

from agentcli.agent.errors import ToolError
from agentcli.tools.files.paths import display_path, find_file, kind_of, readable


class SearchTarget(Struct, frozen=True):
    folder: Path
    name: str
    """`.` for all of the folder, or the name of one file in it."""
    prefix: str
    """What stands before a path relative to `folder`, so that it can be given to another tool as it is shown."""


def search_target(path: str | None, cwd: Path) -> SearchTarget:
    """Raises `ToolError` if there is nothing to search."""
    found = find_file(path or ".", cwd)
    mode = found.stat().st_mode
    folder = found if stat.S_ISDIR(mode) else found.parent
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise ToolError(f"{readable(found)} is {kind_of(mode)}, which is not searched")
    shown = display_path(folder, cwd)
    prefix = "" if folder == cwd or shown == "." else f"{shown.rstrip('/')}/"
    return SearchTarget(folder, "." if stat.S_ISDIR(mode) else found.name, prefix)
