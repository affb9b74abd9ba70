"""Process trees: every process that a command has started, found and ended, also those that left its session.

Each command's environment carries a mark, which its descendants inherit. On Linux `/proc` is searched for it; elsewhere
`psutil` does that; a Linux without `/proc` has process groups only. A descendant that cleared its environment is still
found by its session, its process group or its parent. Only one that has cut all four ties is not.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from agentcli.agent.text import one_line

_PROC = Path("/proc")
_PROBE_AT_MOST = 256
_AT_WORK_S = 0.05
"""What lies between fork and exec takes less of the processor than this."""
_FREEZE_ROUNDS = 20
_KILL_AT_MOST_S = 10.0
_LOOKS_IN_VAIN = 8
_KILL_PAUSES_S = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.128, 0.128)
_END_PAUSE_S = 0.01
"""Whatever ends together with the shell is gone after this long."""
_START_AT_MOST_S = 5.0
"""How long processes are given to start their own program."""
_MANY_LEFT = 100
"""More processes are not waited for."""
_NAME_WIDTH = 100


class ProcessTag(Struct, frozen=True):
    """The environment variable that a command and its descendants carry."""

    name: str
    value: str
    """Empty finds every value of the name."""

    def is_in(self, environ: bytes) -> bool:
        """Whether an environment, as `/proc/PID/environ` has it, holds the mark."""
        item = f"{self.name}={self.value}".encode()
        end = b"\0" if self.value else b""
        return environ.startswith(item + end) or b"\0" + item + end in environ


class Marking(Protocol):
    def is_in(self, environ: bytes) -> bool: ...


class Process(Struct, frozen=True):
    pid: int
    parent: int
    group: int
    session: int
    started: float
    """When it was started; the unit differs from system to system."""
    is_marked: bool


def find_tree(mark: Marking, roots: set[int], *, younger_than: int = 0) -> list[Process]:
    """The living processes that carry the mark, are in a session or group of `roots`, or descend from one.

    Args:
        roots: pids of shells, each the leader of its own session; only those that were not reaped yet.
        younger_than: a pid; only processes that were started after it are looked at, if that can be told.
    """
    found: dict[int, Process] = {}
    children: dict[int, list[Process]] = {}
    for process in _processes(mark, younger_than):
        children.setdefault(process.parent, []).append(process)
        if process.is_marked or process.session in roots or process.group in roots or process.pid in roots:
            found[process.pid] = process
    waiting = list(found)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child.pid not in found:
                found[child.pid] = child
                waiting.append(child.pid)
    found.pop(os.getpid(), None)
    return sorted(found.values(), key=lambda process: process.pid)


def send(processes: Iterable[Process], number: int) -> None:
    """Send a signal to each; one that has just ended, or is not ours to signal, is passed over."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)


def still_alive(processes: Iterable[Process]) -> list[Process]:
    """Those of the processes that live on: the same ones, not others that got their pids."""
    return [process for process in processes if _started(process.pid) == process.started]


def send_to_group(group: int, number: int) -> bool:
    """Send a signal to a process group; False if it has no member that we may signal. Signal 0 only asks."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_all(find: Callable[[], Iterable[Process]]) -> list[Process]:
    """End what `find` finds as one, until that is nothing: first all are stopped, so that none forks, then killed.

    Returns what is left. Blocks until all are gone: at most about half a second if they do not become fewer (one that
    waits for a disk cannot end before that answers), and 10 s if they do, or if others come in their place. A look may
    miss one that starts another and ends meanwhile: that nothing is left, several looks have to find.
    """
    deadline = time.monotonic() + _KILL_AT_MOST_S
    pauses, fewest = iter(_KILL_PAUSES_S), sys.maxsize
    killed: set[int] = set()
    in_vain = 0
    while True:
        processes = list(find())
        if not processes:
            in_vain += 1
            if not killed or in_vain == _LOOKS_IN_VAIN:
                return []
            time.sleep(_KILL_PAUSES_S[0])
            continue
        in_vain = 0
        processes = _stopped(processes, find)
        _send_to_all(processes, signal.SIGKILL)
        if len(processes) < fewest or not any(process.pid in killed for process in processes):
            pauses, fewest = iter(_KILL_PAUSES_S), len(processes)
        killed.update(process.pid for process in processes)
        pause = next(pauses, None)
        if pause is None or time.monotonic() > deadline:
            return processes
        time.sleep(pause)


def _stopped(processes: list[Process], find: Callable[[], Iterable[Process]]) -> list[Process]:
    """The processes, and what they had started meanwhile, all of them stopped."""
    known: set[int] = set()
    for _ in range(_FREEZE_ROUNDS):
        new = [process for process in processes if process.pid not in known]
        if not new:
            break
        known.update(process.pid for process in new)
        _send_to_all(new, signal.SIGSTOP)
        processes = list(find())
    return processes


def _send_to_all(processes: list[Process], number: int) -> None:
    """Send a signal to each process, and to their process groups, all of which get it at one moment."""
    own_session, own_group = os.getsid(0), os.getpgrp()
    for group in {process.group for process in processes if process.session != own_session}:
        if group not in (0, 1, own_group):
            send_to_group(group, number)
    send(processes, number)


def is_at_work(pid: int) -> bool:
    """Whether a process does what it was started for, and is not on its way there: between fork and exec, or ending.

    It waits for something, or has used more of the processor than that takes. True too if this cannot be told.
    """
    if _has_proc():
        try:
            fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return True
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return fields[0] not in (b"R", b"D") or used >= _AT_WORK_S
    if not _has_psutil():
        return True
    import psutil  # 7 ms, and not on Linux

    try:
        return time.time() - psutil.Process(pid).create_time() >= 2 * _AT_WORK_S
    except psutil.Error:
        return True


def command_of(pid: int, width: int = 100) -> str:
    """The command line of a process in at most `width` characters; empty if it has ended."""
    if not _has_proc():
        return _command_by_psutil(pid)[:width] if _has_psutil() else ""
    try:
        raw = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return ""
    return shown_command(raw.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace"))[:width]


def shown_command(text: str) -> str:
    """A command line without control characters, as `command_of` gives it."""
    return "".join(char if char.isprintable() else " " for char in text)


def _started(pid: int) -> float | None:
    """When a process was started, in the unit of `Process.started`; None if it is no more."""
    if _has_proc():
        try:
            fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return None
        return None if fields[0] in (b"Z", b"X") else int(fields[19])
    if not _has_psutil():
        return None
    import psutil  # 7 ms, and not on Linux

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def can_look_often() -> bool:
    """Whether a search costs little. Without `/proc` every process of the system is asked for its environment."""
    return _has_proc()


def _has_proc() -> bool:
    return sys.platform == "linux" and _PROC.joinpath("self").exists()


def _has_psutil() -> bool:
    return sys.platform != "linux"


def _processes(mark: Marking, younger_than: int) -> Iterator[Process]:
    if _has_proc():
        return _from_proc(mark, younger_than)
    return _from_psutil(mark) if _has_psutil() else iter(())


def _from_proc(mark: Marking, younger_than: int) -> Iterator[Process]:
    for pid in _candidates(younger_than):
        folder = f"/proc/{pid}"
        try:
            with open(f"{folder}/stat", "rb") as file:  # noqa: PTH123 (thousands of these: Path costs as much again)
                # The name in the second field may hold anything, blanks and parentheses too.
                fields = file.read().rpartition(b")")[2].split()
            if fields[0] in (b"Z", b"X"):
                continue
            is_marked = False
            # Processes of other users do not show their environment.
            with contextlib.suppress(PermissionError), open(f"{folder}/environ", "rb") as file:  # noqa: PTH123
                is_marked = mark.is_in(file.read())
        except (FileNotFoundError, ProcessLookupError, IndexError):
            continue
        yield Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]), is_marked)


def _candidates(younger_than: int) -> Iterator[int]:
    """Pids to look at. Pids are given out in order, and the kernel tells the last one, so mostly there are few."""
    newest = _newest_pid()
    if younger_than and younger_than <= newest <= younger_than + _PROBE_AT_MOST:
        yield from range(younger_than + 1, newest + 1)
    else:
        if newest < younger_than:  # they have begun anew
            younger_than = 0
        with os.scandir(_PROC) as entries:
            yield from [int(entry.name) for entry in entries if entry.name.isdigit() and int(entry.name) > younger_than]
    # What was started meanwhile: a process that starts another and ends is else never met.
    for _ in range(_FREEZE_ROUNDS):
        before, newest = newest, _newest_pid()
        if not before < newest <= before + _PROBE_AT_MOST:
            break
        yield from range(before + 1, newest + 1)


def _newest_pid() -> int:
    return int(_PROC.joinpath("loadavg").read_bytes().split()[-1])


def _from_psutil(mark: Marking) -> Iterator[Process]:
    import psutil  # 7 ms, and not on Linux

    for process in psutil.process_iter():
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            group, session = os.getpgid(process.pid), os.getsid(process.pid)
            parent, started = process.ppid(), process.create_time()
        except (psutil.Error, OSError):
            continue
        environ = b""
        with contextlib.suppress(psutil.Error, OSError):
            environ = b"".join(os.fsencode(f"{name}={value}\0") for name, value in process.environ().items())
        is_marked = mark.is_in(environ)
        yield Process(process.pid, parent, group, session, started, is_marked)


def _command_by_psutil(pid: int) -> str:
    import psutil  # 7 ms, and not on Linux

    try:
        return shown_command(" ".join(psutil.Process(pid).cmdline()))
    except psutil.Error:
        return ""


class LeftRunning(Struct, frozen=True):
    processes: list[Process] = []
    names: dict[int, str] = {}
    """The command line of each process, by pid; of a part of the shell itself, which has none, the command's text."""


def left_running(find: Callable[[], list[Process]], shell_line: str, text: str) -> LeftRunning:
    """Wait until what is found is no more on its way to its own program, or to its end; then say what it is.

    Args:
        shell_line: the command line of the shell, which a child has too until it runs its own program.
        text: the command.
    """
    found = find()
    if not found:
        return LeftRunning()
    shell_line = shown_command(shell_line)
    deadline = time.monotonic() + _START_AT_MOST_S
    while found and len(found) <= _MANY_LEFT:
        time.sleep(_END_PAUSE_S)
        found = find()
        if all(is_at_work(process.pid) for process in found) or time.monotonic() > deadline:
            break
    named = {process.pid: command_of(process.pid, len(shell_line)) for process in found[:_MANY_LEFT]}
    alive = still_alive(found)
    own_name = one_line(text, _NAME_WIDTH)
    names = {pid: own_name if line == shell_line else line[:_NAME_WIDTH] for pid, line in named.items()}
    return LeftRunning(alive, names)
