"""The guard of ignore files: finds those that reading would hang on or never end with: FIFOs, devices.

ripgrep opens every ignore file there is, whatever it is.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from agentcli.agent.errors import ToolError
from agentcli.tools.files.paths import kind_of, readable

_NAMES = (".gitignore", ".ignore", ".rgignore", ".git/info/exclude")


def check_ignore_files(folder: Path) -> None:
    """Look at the ignore files that hold for a search of `folder`, but for those below it. Raises `ToolError`."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 (no home stays as it is)
    settings = (os.path.expanduser("~/.gitconfig"), f"{config}/git/config", f"{config}/git/ignore")  # noqa: PTH111
    above = (f"{place}/{name}" for place in (folder, *folder.parents) for name in _NAMES)
    for path in (*above, *settings):
        _check(path)


def check_ignore_files_below(folder: Path, seconds: float) -> None:
    """The same below `folder`, the nearest first, as far as one gets in `seconds`."""
    end = time.monotonic() + seconds
    for place in _folders(str(folder)):
        for name in _NAMES:
            _check(f"{place}/{name}")
        if time.monotonic() > end:
            return


def _folders(top: str) -> Iterator[str]:
    waiting = deque([top])
    while waiting:
        place = waiting.popleft()
        yield place
        try:
            with os.scandir(place) as entries:
                waiting.extend(entry.path for entry in entries if entry.name != ".git" and _is_folder(entry))
        except OSError:
            continue


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _check(path: str) -> None:
    try:
        status = os.stat(path)  # noqa: PTH116 (called for every folder of a tree)
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return
    if stat.S_ISCHR(status.st_mode) and Path(path).samefile(os.devnull):
        return
    raise ToolError(
        f"nothing can be searched here: the ignore file {readable(path)} is {kind_of(status.st_mode)}",
        hint="remove it, or search a folder that it does not hold for",
    )
