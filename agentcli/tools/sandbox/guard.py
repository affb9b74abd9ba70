"""Guard: what a sandboxed command must not have changed or made, put back when it has ended.

Where the system itself keeps these files as they are, nothing is left to do but for those that were not there before.
What is taken away is kept beside, as `NAME.set-aside`: it may have been the person who wrote it meanwhile.
"""

import contextlib
import os
from pathlib import Path

from agentcli.files.reading import read_bytes
from agentcli.tools.sandbox.policy import SandboxPolicy

_MOST_BYTES = 1 << 20
"""A file that is larger is only watched for being there."""
_MOST_FILES = 500

_State = tuple[int, bytes | None]
"""The mode of a file, and what it holds; None if that is too much, or no file."""


class Guard:
    """Args:
    keeps_protected: whether the back end itself keeps what is there; then who changes it is not a command.
    """

    def __init__(self, policy: SandboxPolicy, *, keeps_protected: bool) -> None:
        self._policy = policy
        self._keeps_protected = keeps_protected
        self._before: dict[Path, _State] | None = None
        self._watched: list[Path] = []
        self._absent: list[Path] = []

    def note(self) -> None:
        """Take what is there now for right. Before a command, if no other one runs."""
        names = [path for path in self._policy.run_later() if path.parent.is_dir()]
        self._absent = [path for path in names if not os.path.lexists(path)]
        there = [] if self._keeps_protected else dict.fromkeys([*names, *self._policy.protected()])
        self._watched = [path for path in there if path not in self._absent]
        self._before = self._state()

    def forget(self) -> None:
        """From now on nothing is put back."""
        self._before = None

    def restore(self) -> list[str]:
        """Put back what is not as it was noted, and say so, a line each."""
        if self._before is None:
            return []
        lines = [_set_aside(path) for path in self._absent if os.path.lexists(path)]
        before, after = self._before, self._state()
        lines += [_set_aside(path) for path in sorted(after) if path not in before]
        for path, state in before.items():
            if after.get(path) != state:
                if path.parent in self._watched and path.parent.parent.is_dir():
                    path.parent.mkdir(exist_ok=True)
                lines.append(_put_back(path, *state))
        return [line for line in lines if line]

    def _state(self) -> "dict[Path, _State]":
        """The files that are watched, and those in folders that are, with what they hold."""
        found: dict[Path, _State] = {}
        for path in self._watched:
            for file in _files_in(path):
                with contextlib.suppress(OSError):
                    mode = file.lstat().st_mode
                    found[file] = mode, None
                    found[file] = mode, read_bytes(file, _MOST_BYTES)
        return found


def _files_in(path: Path) -> list[Path]:
    if path.is_symlink() or not path.is_dir():
        return [path]
    found: list[Path] = []
    for folder, _, names in os.walk(path):
        found += [Path(folder, name) for name in names]
        if len(found) > _MOST_FILES:
            break
    return found


def _set_aside(path: Path) -> str:
    aside = _free(path)
    try:
        path.rename(aside)
    except OSError as error:
        return f"A command in the sandbox has made {path}, and it cannot be moved away: {error.strerror}"
    return f"A command in the sandbox has made {path}, which says what runs later: it is now {aside.name}"


def _put_back(path: Path, mode: int, data: bytes | None) -> str:
    if data is None:
        return "" if os.path.lexists(path) else f"A command in the sandbox has removed {path}"
    aside = _free(path)
    try:
        if not path.parent.is_dir():
            return ""  # all of it is gone, and with it what would be run
        if os.path.lexists(path):
            path.rename(aside)
        path.write_bytes(data)
        path.chmod(mode & 0o777)
    except OSError as error:
        return f"A command in the sandbox has changed {path}, and it cannot be put back: {error.strerror}"
    kept = f"; what it left is {aside.name}" if os.path.lexists(aside) else ""
    return f"A command in the sandbox has changed {path}, which says what runs later: it is put back{kept}"


def _free(path: Path) -> Path:
    """A name beside that nothing runs: hooks are found by their names alone."""
    aside = path.with_name(f"{path.name}.set-aside")
    number = 2
    while os.path.lexists(aside):
        aside = path.with_name(f"{path.name}.set-aside-{number}")
        number += 1
    return aside
