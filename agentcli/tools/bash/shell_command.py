"""ShellCommand: one running shell command: its process, the thread that reads its output, and its end.

The thread does all that may block: starting, reading, writing the long output's file, waiting. A command is *settled*
when its shell has exited and its output has been quiet for 100 ms, at most 2 s after the exit; if nothing holds the
output any more, at once. Background children may go on after that; the thread reads on, with patience, until the last
has let go.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentcli.agent.errors import ToolError
from agentcli.agent.threads import to_thread
from agentcli.tools.bash.command_output import CommandOutput, OutputRate, Snapshot
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.bash.process_tree import (
    LeftRunning,
    Process,
    ProcessTag,
    can_look_often,
    find_tree,
    kill_all,
    left_running,
    send,
    send_to_group,
    still_alive,
)
from agentcli.tools.bash.shell_start import MOST_PROCESSES, ShellStart, count_tasks, start_failure

if TYPE_CHECKING:
    from agentcli.tools.sandbox.sandbox import Sandbox

UPDATE_INTERVAL_S = 0.1
"""Between two live views of an output: as often as a screen of text is worth drawing anew."""
QUIET_S = 0.1
SETTLE_AT_MOST_S = 2.0
KILL_GRACE_S = 1.5
"""Well within the time that the loop gives a tool to end after an abort."""

_MIN_CHUNK = 1 << 16
_MAX_CHUNK = 1 << 20
_POLL_S = 0.05
_POLL_SETTLED_S = 0.5
_MANY_TASKS = 500
"""A command that has started so many processes is not given time to end by itself."""
_BACKGROUND_FILE_BYTES = 16 << 20
"""How much of a background job's output is kept."""
_LOOKS_TO_A_SEARCH = 60
_PIPE_BYTES = 1 << 20


_log = logging.getLogger("agentcli.tools")


class ShellCommand:
    """Args:
    text: the command, for people.
    start: what is started, in a session of its own.
    mark: stands in its environment too; by it the processes are found again.
    prepare: called in the thread before the start; what it raises is the command's failure.
    on_output: called in the event loop's thread with the end of the output, at most every 100 ms.
    """

    def __init__(
        self,
        text: str,
        start: ShellStart,
        *,
        mark: ProcessTag,
        output: CommandOutput,
        spill: SpillFolder,
        on_output: Callable[[Snapshot], None] | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self.text = text
        self.mark = mark
        self.output = output
        self.pid: int = 0
        self.return_code: int | None = None
        """Of the shell; `-n` if signal n killed it. None while it runs."""
        self.left: LeftRunning = LeftRunning()
        """What the shell had left running when the command settled."""
        self.end_note: str = ""
        """Why it was stopped, if it was."""
        self.unended: list[Process] = []
        """What lived on when all was to be killed."""
        self.is_slowed: bool = False
        """It printed faster than the output of a background job is read."""
        self.started_at: float = time.monotonic()
        self.ended_at: float | None = None
        self._start = start
        self._spill = spill
        self._on_output = on_output
        self._prepare = prepare
        self._tasks_before = count_tasks()
        self._rate: OutputRate | None = None
        """None reads as fast as it comes."""
        self._group = 0
        """The process group of the shell, as long as it is known to have members: 0 before and after."""
        self._loop = asyncio.get_running_loop()
        self.settled: asyncio.Future[None] = self._loop.create_future()
        """Done when the command is settled; raises what kept it from starting."""
        self.closed: asyncio.Future[None] = self._loop.create_future()
        """Done when the shell has exited and nothing holds its output any more."""
        # A signal handler may come upon its own thread in the middle of these.
        self._reaping, self._killing = threading.RLock(), threading.RLock()
        self._seen: dict[int, Process] = {}
        """What was found alive of the tree when it was last looked at."""
        self._must_die = self._must_end_soon = self._must_end = False
        self._is_settled = self._is_closing = self._is_over = False
        self._has_let_go = False
        """The shell has exited and nothing holds its output; `closed` tells so a moment later."""

    @property
    def sandbox(self) -> "Sandbox | None":
        return self._start.sandbox

    @property
    def duration_s(self) -> float:
        return (self.ended_at or time.monotonic()) - self.started_at

    @property
    def is_alive(self) -> bool:
        """Whether the shell, or anything it left running, lives on."""
        return not self._has_let_go or bool(still_alive(self.left.processes))

    @property
    def has_group(self) -> bool:
        """Whether the process group of the shell has members, which may be others than those it left running."""
        return bool(self._group) and send_to_group(self._group, 0)

    def start(self) -> None:
        """Raises `ToolError` if there is no thread for it."""
        try:
            threading.Thread(target=self._run, name=f"command {self.mark.value}", daemon=True).start()
        except RuntimeError as error:
            raise start_failure(error, {}) from None

    def go_to_background(self) -> None:
        """From now on the output is kept and read with measure."""
        if self._rate is None:
            self.output.limit_file(_BACKGROUND_FILE_BYTES)
            self._rate = OutputRate(time.monotonic())

    async def wait_until_gone(self, seconds: float) -> bool:
        """Wait until nothing of the command is alive, at most so many seconds; whether that came true."""
        deadline = self._loop.time() + seconds
        while self.is_alive and (left := deadline - self._loop.time()) > 0:
            if self._has_let_go:
                await asyncio.sleep(min(left, 0.1))
            else:
                await asyncio.wait([self.closed], timeout=left)
        return not self.is_alive

    async def stop(self) -> None:
        """TERM to the whole tree, KILL to what is left after the grace. There is none for what has forked very much."""
        if not self._must_die and not await to_thread(self._has_forked_much):
            await to_thread(self._terminate)
            deadline = self._loop.time() + KILL_GRACE_S
            while (left := deadline - self._loop.time()) > 0:
                if not self.closed.done():
                    await asyncio.wait([self.closed], timeout=left)
                elif await to_thread(self.processes):
                    await asyncio.sleep(min(left, 0.1))
                else:
                    return
        await to_thread(self.kill_now)
        await asyncio.wait([self.closed], timeout=0.5)

    def kill_now(self) -> None:
        """KILL to the whole tree, without waiting for anything."""
        self._must_die = True
        with self._killing:
            self._signal_group(signal.SIGSTOP)  # at one moment: none of it forks while the rest is looked for
            self.processes()
            self._signal_group(signal.SIGKILL)
            self.unended = kill_all(self.processes)

    def abandon(self) -> None:
        """Stop reading soon, whoever still holds the output."""
        self._must_end = True

    def processes(self) -> list[Process]:
        """What is alive of the tree. Looks through all processes: call it in a thread."""
        with self._reaping:
            found = find_tree(self.mark, self._roots())
        # One that was found by its parent only must be remembered: it is not found again when the parent is gone.
        alive = {process.pid: process for process in (*still_alive(self._seen.values()), *found)}
        self._seen = alive
        return list(alive.values())

    def _roots(self) -> set[int]:
        return {self._group} if self._group else set[int]()

    def _signal_group(self, number: int) -> None:
        with self._reaping:
            if self._group:
                send_to_group(self._group, number)

    def _has_forked_much(self) -> bool:
        return self._stop_if_more_than(_MANY_TASKS) > 0

    def _stop_if_more_than(self, most: int) -> int:
        """How many processes the tree has, if those are more: then its group is stopped. 0 if not."""
        if count_tasks() - self._tasks_before <= most:
            return 0
        self._signal_group(signal.SIGSTOP)
        count = len(self.processes())
        if count <= most:
            self._signal_group(signal.SIGCONT)
            return 0
        return count

    def _terminate(self) -> None:
        self._must_end_soon = True
        processes = self.processes()
        if not self.pid:
            self._must_die = True
        # All at once, so that no shell goes on to its next command.
        group = self._group
        self._signal_group(signal.SIGTERM)
        send([process for process in processes if process.group != group], signal.SIGTERM)

    def _run(self) -> None:
        """The thread. Whatever goes wrong in it ends the waiting for the command."""
        try:
            if self._prepare is not None:
                self._prepare()
            if self._must_die:
                raise ToolError("it was stopped before it began")
            with self._start.spawn(self._spill) as process:
                self.pid = self._group = process.pid
                if self._must_die:
                    self.kill_now()
                self._read(process)
        except Exception as error:
            self._has_let_go = True
            self._tell(_fail, self.settled, start_failure(error, self._start.env))
        if not self._is_closing:
            self._tell(_set, self.closed)
        self._watch_group()
        if self._start.sandbox is not None and self.pid and not self._is_over:
            self._start.sandbox.check(is_over=True)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        with contextlib.suppress(OSError, AttributeError):  # only makes it faster; not every system can
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        poller = select.poll()
        poller.register(pipe, select.POLLIN | select.POLLHUP)
        last_output = last_update = last_look = self.started_at
        is_new, room = False, _MIN_CHUNK
        while not self._must_end:
            if self._is_readable(poller):
                chunk = os.read(pipe, room)
                if not chunk:
                    break
                if len(chunk) == room:
                    room = min(2 * room, _MAX_CHUNK)
                self.output.feed(chunk)
                is_new = True
                last_output = time.monotonic()
                if self._rate is not None:
                    self._rate.take(len(chunk), last_output)
            now = time.monotonic()
            if now - last_look >= _POLL_S:
                last_look = now
                self._look(process)
            if is_new and now - last_update >= UPDATE_INTERVAL_S:
                is_new, last_update = False, now
                self._update()
            self._settle_if_quiet(now, last_output)
        self.output.end()
        if self.return_code is None:
            self._reap_if_exited(process, 0)
        self._has_let_go = True
        if not self._is_settled:
            self._settle(self.closed)

    def _is_readable(self, poller: select.poll) -> bool:
        """Wait until there is output, or for a short while; and that in any case if too much has come already."""
        longest = _POLL_SETTLED_S if self._is_settled else _POLL_S
        if self._rate is not None and not self._must_end_soon and not self._must_die:
            wait = self._rate.wait_s(time.monotonic())
            if wait > 0:
                self.is_slowed = True
                time.sleep(min(wait, longest))
                return False
        return bool(poller.poll(longest * 1000))

    def _look(self, process: "subprocess.Popen[bytes]") -> None:
        if self.return_code is None:
            self._reap_if_exited(process, os.WNOHANG)
        self._note_empty_group()
        self._end_if_too_many()

    def _note_empty_group(self) -> None:
        """Its number may soon be another's. It is asked for so often that this cannot have happened meanwhile."""
        with self._reaping:
            if self._group and self.return_code is not None and not send_to_group(self._group, 0):
                self._group = 0

    def _end_if_too_many(self) -> None:
        if self._must_die:
            return
        if count := self._stop_if_more_than(MOST_PROCESSES):
            self.end_note = f"Ended because it had started {count:,} processes and the limit is {MOST_PROCESSES:,}"
            self.kill_now()
        # If others have started most of them: look again when there are some hundreds more.
        self._tasks_before = max(self._tasks_before, count_tasks() - MOST_PROCESSES + _MANY_TASKS)

    def _watch_group(self) -> None:
        """Stay as long as something of the group lives, though nothing of it prints."""
        self._note_empty_group()
        looks = 0
        while self._group and not self._must_end:
            if (looks % _LOOKS_TO_A_SEARCH == 0 or looks == 1) and not self.processes():
                self._group = 0  # only dead ones are left, which nobody has taken away yet
                return
            looks += 1
            time.sleep(_POLL_SETTLED_S)
            self._note_empty_group()
            self._end_if_too_many()

    def _reap_if_exited(self, process: "subprocess.Popen[bytes]", flags: int) -> None:
        """Note the shell's end; without WNOHANG, wait for it first, in a way that others may still signal it."""
        with contextlib.suppress(ChildProcessError):  # somebody else has reaped it: its code is not to be known
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | flags) is None:
                return
        with self._reaping:
            self.return_code = process.wait()
        self.ended_at = time.monotonic()
        self.go_to_background()
        self._note_empty_group()

    def _settle_if_quiet(self, now: float, last_output: float) -> None:
        if self._is_settled or self.return_code is None or self.ended_at is None:
            return
        is_quiet = now - max(last_output, self.ended_at) >= QUIET_S
        if is_quiet or now - self.ended_at >= SETTLE_AT_MOST_S:
            self._settle()

    def _settle(self, *others: asyncio.Future[None]) -> None:
        """Tell that the command is settled; `others` come true at the same moment."""
        self._is_settled = True
        self._is_closing = bool(others)
        # Looked at before anybody is told: what the user changes after that is not the command's doing.
        self._is_over = self.return_code is not None and not self._group
        if self._start.sandbox is not None:
            self._start.sandbox.check(is_over=self._is_over)
        self.left = self._left_running()
        self._seen |= {process.pid: process for process in self.left.processes}
        self._tell(_set, self.settled, *others)

    def _left_running(self) -> LeftRunning:
        roots = self._roots()
        if not roots and not can_look_often():
            return LeftRunning()
        shell_line = " ".join(self._start.argv)
        return left_running(lambda: find_tree(self.mark, roots, younger_than=self.pid), shell_line, self.text)

    def _update(self) -> None:
        if self._on_output is not None and not self._is_settled:
            self._tell(self._on_output, self.output.live())

    def _tell(self, callback: Callable[..., object], *arguments: object) -> None:
        # When the loop is closed agentcli is ending, and nobody listens any more.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)


def _set(*futures: asyncio.Future[None]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)


def _fail(future: asyncio.Future[None], error: Exception) -> None:
    if future.done():
        _log.error("a command could not be read on: %s", error, exc_info=error)
        return
    future.set_exception(error)
    future.exception()  # it is no fault if nobody asks, for the call may have been cancelled
