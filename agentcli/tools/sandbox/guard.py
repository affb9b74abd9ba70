"""Guard: what a sandboxed command must not have changed or made, put back when it has ended.

Where the system itself keeps these files as they are, nothing is left to do but for links, and for files that were not
there before. What is taken away is kept beside, as `NAME.set-aside`: the user may have written it meanwhile.

A command may exchange any directory on the way for a link to somewhere else, so every path is taken apart and followed
by file descriptors, from a directory that commands cannot move (see openat(2)).
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agentcli.tools.sandbox.policy import SandboxPolicy

_MOST_BYTES = 1 << 20
"""A larger file is known by its number, size and time; another one in its place is moved aside."""
_MOST_FILES = 500
_MOST_LINES = 10
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_RUN = re.compile(r"\.set-aside(-\d+)?$|\.sample$")
"""What was moved aside, and the examples among git's hooks."""


class _State(Struct, frozen=True):
    """What lies at a path, links not followed."""

    kind: int
    """As `stat.S_IFMT` has it."""
    mode: int = 0
    content: bytes | None = None
    """Of a file; the target of a link."""
    identity: tuple[int, int, int] | None = None
    """Number, size and time of change of a file that is too large to be kept."""


class Guard:
    """Args:
    keeps_protected: whether the back end itself keeps what is there; then who changes it is not a command.
    """

    def __init__(self, policy: SandboxPolicy, *, keeps_protected: bool) -> None:
        self._policy = policy
        self._keeps_protected = keeps_protected
        self._bases: list[Path] = []
        self._before: dict[Path, _State] | None = None
        self._after: dict[Path, _State] | None = None
        """As it was left when it was last looked at."""
        self._anchors: list[Path] = []
        self._absent: list[Path] = []

    def note(self) -> list[str]:
        """Take what is there now for right. Before a command, if no other one runs.

        Returns:
            A line for each path that has changed since the last command, whoever did it.
        """
        policy = self._policy
        self._bases = policy.folders()
        there = policy.protected()
        self._absent = [path for path in policy.run_later() if path not in there]
        if self._keeps_protected:
            # A link cannot be mounted over.
            there = [path for path in there if path.is_symlink()]
        self._anchors = [] if self._keeps_protected else policy.anchors()
        self._before = {path: state for path in there for path, state in self._states(path)}
        changed = [] if self._after is None else _changed(self._after, self._before)
        return [
            f"{path} has changed between two commands. Unless the user did it, look at what it says"
            for path in changed[:_MOST_LINES]
        ]

    def forget(self) -> None:
        """From now on nothing is put back."""
        self._before = None

    def restore(self) -> list[str]:
        """Put back what is not as it was noted, and say so, a line each."""
        before = self._before
        if before is None:
            return []
        lines = [self._restored_anchor(path) for path in self._anchors]
        lines += [self._set_aside(path) for path in self._absent if self._state(path) is not None]
        for path, state in before.items():
            now = self._state(path)
            if now != state:
                lines.append(self._put_back(path, now, state))
            if state.kind == stat.S_IFDIR:
                made = (child for child in self._children(path) if child not in before)
                lines += [self._set_aside(child) for child in made]
        if not self._keeps_protected:
            self._after = {path: state for path in before if (state := self._state(path)) is not None}
        lines = [line for line in lines if line]
        more = len(lines) - _MOST_LINES
        return [*lines[:_MOST_LINES], f"and {more} more"] if more > 0 else lines

    def _restored_anchor(self, path: Path) -> str:
        """A directory on the way that is gone holds nothing that is run; what is no directory leads elsewhere."""
        now = self._state(path)
        return self._set_aside(path) if now is not None and now.kind != stat.S_IFDIR else ""

    def _states(self, path: Path) -> Iterator[tuple[Path, _State]]:
        """What lies at a path, and all below it."""
        pending = [path]
        for number, each in enumerate(pending):
            state = self._state(each)
            if state is None or number > _MOST_FILES:
                continue
            yield each, state
            if state.kind == stat.S_IFDIR:
                pending += self._children(each)

    def _children(self, directory: Path) -> list[Path]:
        try:
            with self._opened(directory, _DIRECTORY) as descriptor:
                return [directory / name for name in _names(descriptor) if not _NOT_RUN.search(name)]
        except OSError:
            return []

    def _state(self, path: Path) -> _State | None:
        """None if nothing is there, or the way to it leads through something else than directories."""
        try:
            with self._parent(path) as parent:
                status = os.lstat(path.name, dir_fd=parent)
                kind, mode = stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode)
                if kind == stat.S_IFLNK:
                    return _State(kind, 0, os.fsencode(os.readlink(path.name, dir_fd=parent)))
                if kind != stat.S_IFREG:
                    return _State(kind, mode)
                if status.st_size > _MOST_BYTES:
                    return _State(kind, mode, None, (status.st_ino, status.st_size, status.st_mtime_ns))
                descriptor = os.open(path.name, _READ, dir_fd=parent)
                with open(descriptor, "rb") as file:  # noqa: PTH123
                    return _State(kind, mode, file.read(_MOST_BYTES + 1))
        except OSError:
            return None

    @contextlib.contextmanager
    def _parent(self, path: Path) -> Iterator[int]:
        """The directory that a path lies in, open. Raises OSError if a link is on the way."""
        with self._opened(path.parent, _DIRECTORY) as descriptor:
            yield descriptor

    @contextlib.contextmanager
    def _opened(self, directory: Path, flags: int) -> Iterator[int]:
        base = next((base for base in self._bases if base == directory or base in directory.parents), None)
        if base is None:
            raise FileNotFoundError(str(directory))
        descriptor = os.open(base, flags)
        try:
            for name in directory.relative_to(base).parts:
                inner = os.open(name, flags, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    def _set_aside(self, path: Path) -> str:
        try:
            aside = self._moved_aside(path)
        except OSError as error:
            return f"A command in the sandbox has made {path}, and it cannot be moved away: {error.strerror}"
        return f"A command in the sandbox has made {path}, which says what runs later: it is now {aside}"

    def _moved_aside(self, path: Path) -> str:
        """Give what lies at a path a name beside that nothing runs: hooks are found by their names alone."""
        with self._parent(path) as parent:
            names = _names(parent)
            aside, number = f"{path.name}.set-aside", 2
            while aside in names:
                aside, number = f"{path.name}.set-aside-{number}", number + 1
            os.rename(path.name, aside, src_dir_fd=parent, dst_dir_fd=parent)
            return aside

    def _put_back(self, path: Path, now: _State | None, state: _State) -> str:
        aside = ""
        try:
            with self._parent(path) as parent:
                only_mode = now is not None and (now.kind, now.content) == (state.kind, state.content)
                if only_mode and state.kind != stat.S_IFLNK and now is not None and now.identity == state.identity:
                    self._set_mode(path, parent, state)
                    return ""
                if now is not None:
                    aside = self._moved_aside(path)
                _make(path.name, parent, state)
        except (FileNotFoundError, NotADirectoryError):
            return ""  # all of it is gone, and with it what would be run
        except OSError as error:
            return f"A command in the sandbox has changed {path}, and it cannot be put back: {error.strerror}"
        kept = f"; what it left is {aside}" if aside else ""
        if state.kind == stat.S_IFREG and state.content is None:
            return f"A command in the sandbox has changed {path}, which is too large to be put back{kept}"
        return f"A command in the sandbox has changed {path}, which says what runs later: it is put back{kept}"

    def _set_mode(self, path: Path, parent: int, state: _State) -> None:
        descriptor = os.open(path.name, _READ, dir_fd=parent)
        try:
            os.fchmod(descriptor, state.mode)
        finally:
            os.close(descriptor)


def _make(name: str, parent: int, state: _State) -> None:
    match state.kind:
        case stat.S_IFDIR:
            os.mkdir(name, 0o700, dir_fd=parent)
            descriptor = os.open(name, _DIRECTORY, dir_fd=parent)
        case stat.S_IFLNK:
            os.symlink(os.fsdecode(state.content or b""), name, dir_fd=parent)
            return
        case stat.S_IFREG if state.content is not None:
            descriptor = os.open(name, _CREATE, 0o600, dir_fd=parent)
            with open(descriptor, "wb", closefd=False) as file:
                file.write(state.content)
        case _:
            return  # a socket, a pipe, a large file: gone
    try:
        os.fchmod(descriptor, state.mode)
    finally:
        os.close(descriptor)


def _names(directory: int) -> list[str]:
    return sorted(os.listdir(directory))


def _changed(before: dict[Path, _State], now: dict[Path, _State]) -> list[Path]:
    return [path for path in sorted({*before, *now}) if before.get(path) != now.get(path)]
