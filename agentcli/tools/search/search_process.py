"""Search processes: run ripgrep and take what it prints, in chunks, within limits of time and memory.

ripgrep opens every ignore file there is, whatever it is: those that reading would hang on or never end with (FIFOs,
devices) are found before.
"""

import os
import select
import stat
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.threads import to_thread
from agentcli.tools.bash.exit_status import signal_name
from agentcli.tools.files.paths import display_path, find_file, kind_of, readable
from agentcli.tools.search.ripgrep import ripgrep

MAX_MEMORY = 1 << 30
"""Bytes of address space of the process (Linux)."""
_KEPT_ENV = ("HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL")
_CHUNK = 1 << 16
_SILENT_S = 2.0
"""A process that prints nothing for so long may hang on an ignore file."""
_LOOK_S = 1.0
_MAX_ERRORS = 1 << 14
_SHOWN_ERRORS = 5
_IGNORE_FILES = (".gitignore", ".ignore", ".rgignore", ".git/info/exclude")

Take = Callable[[bytes], bool]
"""Takes a chunk of output; False if enough is there."""


class Ending(StrEnum):
    DONE = "done"
    STOPPED = "stopped"
    """Enough was there, or the search was aborted."""
    TIMEOUT = "timeout"
    MEMORY = "memory"


class SearchEnd(Struct, frozen=True):
    ending: Ending
    code: int
    """Exit code; negative for a signal."""
    errors: str
    """What the process wrote to stderr; of much, the beginning and the end."""

    def check(self, *, is_whole: bool) -> None:
        """Raise `ToolError` if the process failed: a bad pattern, a crash. Errors of single files are no failure.

        Args:
            is_whole: what was printed is complete, as far as that can be seen in it.
        """
        if self.ending is not Ending.DONE or (is_whole and self.code in (0, 1, 2)):
            return
        if self.code == 2 and self.errors:
            raise ToolError(_shortened(self.errors.partition("\n\nConsider enabling")[0].removeprefix("rg: ")))
        ended = f"was ended by {signal_name(-self.code)}" if self.code < 0 else f"failed with exit code {self.code}"
        raise ToolError(f"the search program rg {ended}: {_shortened(self.errors) or 'it gave no reason'}")

    def incomplete(self, seconds: float) -> str:
        """The note below a result that is not complete because of a limit."""
        limit = f"{seconds:g} s" if self.ending is Ending.TIMEOUT else f"{MAX_MEMORY >> 20} MiB of memory"
        return f"INCOMPLETE: the search was ended at its limit of {limit}. Search a smaller folder, or fewer files."

    def notes(self, prefix: str) -> list[str]:
        """What could not be searched, for the end of a result: at most one note."""
        lines = sorted({line.removeprefix("rg: ") for line in self.errors.splitlines() if line.startswith("rg: ")})
        told = [prefix + line.removeprefix("./").partition(" (os error")[0] for line in lines]
        more = f"; and at least {len(told) - _SHOWN_ERRORS:,} more" if len(told) > _SHOWN_ERRORS else ""
        return [f"Errors: {'; '.join(told[:_SHOWN_ERRORS])}{more}."] if told else []


class SearchProcess:
    """One run of `rg`. `run` blocks, in a thread; `stop` may be called from any other.

    Args:
        arguments: without the program itself.
        seconds: after so long it is ended.
    """

    def __init__(self, arguments: Sequence[str], cwd: Path, seconds: float) -> None:
        self._arguments = arguments
        self._cwd = cwd
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the process, or keep it from being started."""
        self._is_stopped = True
        if self._process is not None:
            self._process.kill()

    def is_stopped(self) -> bool:
        return self._is_stopped

    def run(self, take: Take) -> SearchEnd:
        """Hand each chunk of output to `take` until that says False. Raises `ToolError` if nothing can be searched."""
        check_ignore_files(self._cwd)
        program = ripgrep()
        if self._is_stopped:
            return SearchEnd(Ending.STOPPED, 0, "")
        try:
            process = subprocess.Popen(
                [program, *self._arguments],
                cwd=self._cwd,
                env={name: os.environ[name] for name in _KEPT_ENV if name in os.environ},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            ripgrep.cache_clear()
            place = readable(str(error.filename or program))
            raise ToolError(f"the search cannot be started: {place}: {error.strerror or error}") from error
        with process:
            self._process = process
            try:
                return self._follow(process, take)
            finally:
                process.kill()

    def _follow(self, process: subprocess.Popen[bytes], take: Take) -> SearchEnd:
        if self._is_stopped:
            process.kill()
        _limit_memory(process.pid)
        errors = _Errors()
        is_whole = self._pump(process, take, errors)
        if not is_whole:
            process.kill()
        code = process.wait()
        text = errors.text()
        if self._is_stopped:
            return SearchEnd(Ending.STOPPED, code, text)
        if not is_whole or code < 0:
            check_ignore_files_below(self._cwd, _LOOK_S)
        if not is_whole:
            return SearchEnd(Ending.TIMEOUT, code, text)
        return SearchEnd(Ending.MEMORY if code < 0 and "memory allocation" in text else Ending.DONE, code, text)

    def _pump(self, process: subprocess.Popen[bytes], take: Take, errors: "_Errors") -> bool:
        """Read both outputs up to their ends, or until enough is there. False if time ran out."""
        assert process.stdout is not None and process.stderr is not None
        deadline = time.monotonic() + self._seconds
        outputs = {process.stdout.fileno(): take, process.stderr.fileno(): errors.take}
        poll = select.poll()
        for descriptor in outputs:
            poll.register(descriptor, select.POLLIN)
        has_looked = False
        while outputs:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            ready = poll.poll(min(left, _SILENT_S) * 1000)
            if not ready and not has_looked:
                has_looked = True
                check_ignore_files_below(self._cwd, _LOOK_S)
            for descriptor, _ in ready:
                data = os.read(descriptor, _CHUNK)
                if not data:
                    poll.unregister(descriptor)
                    del outputs[descriptor]
                elif not outputs[descriptor](data):
                    self.stop()
                    return True
        return True


async def search(process: SearchProcess, take: Take, signal: AbortSignal) -> SearchEnd:
    """Run a search beside the event loop; an abort, or a cancelled wait, ends it at once. Raises `ToolError`."""
    remove = signal.on_abort(process.stop)
    try:
        end = await to_thread(process.run, take)
    finally:
        remove()
        process.stop()
    if signal.aborted:
        raise ToolError("aborted by the user while searching")
    return end


class _Errors:
    """The beginning and the end of what a process says on stderr."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""

    def take(self, data: bytes) -> bool:
        if len(self._head) < _MAX_ERRORS:
            room = _MAX_ERRORS - len(self._head)
            self._head, data = self._head + data[:room], data[room:]
        self._tail = (self._tail + data)[-_MAX_ERRORS:]
        return True

    def text(self) -> str:
        return (self._head + self._tail).decode("utf-8", "replace").strip()


def _shortened(text: str, most: int = 1500) -> str:
    """The beginning and the end: an error quotes the pattern, and ends with what is wrong in it."""
    return text if len(text) <= 2 * most else f"{text[:most]} … {text[-most:]}"


def _limit_memory(pid: int) -> None:
    if sys.platform == "linux":
        import resource

        with suppress(OSError, ValueError):  # it has ended, or we have a lower limit ourselves
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
            resource.prlimit(pid, resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def check_ignore_files(folder: Path) -> None:
    """Look at the ignore files that hold for a search of `folder`, but for those below it. Raises `ToolError`."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 (no home stays as it is)
    settings = (os.path.expanduser("~/.gitconfig"), f"{config}/git/config", f"{config}/git/ignore")  # noqa: PTH111
    above = (f"{place}/{name}" for place in (folder, *folder.parents) for name in _IGNORE_FILES)
    for path in (*above, *settings):
        _check_ignore_file(path)


def check_ignore_files_below(folder: Path, seconds: float) -> None:
    """The same below `folder`, the nearest first, as far as one gets in `seconds`."""
    end = time.monotonic() + seconds
    for place in _folders_below(str(folder)):
        for name in _IGNORE_FILES:
            _check_ignore_file(f"{place}/{name}")
        if time.monotonic() > end:
            return


def _folders_below(top: str) -> Iterator[str]:
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


def _check_ignore_file(path: str) -> None:
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
