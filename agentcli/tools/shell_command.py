"""ShellCommand: one running shell command: its process, the thread that reads its output, and its end.

The thread does all that may block: starting, reading, writing the long output's file, waiting. A command is *settled*
when its shell has exited and its output has been quiet for 100 ms, at most 2 s after the exit; if nothing holds the
output any more, at once. Background children may go on after that; the thread reads on until the last has let go.
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
from collections.abc import Callable, Sequence
from pathlib import Path

from agentcli.tools.command_output import CommandOutput, Snapshot
from agentcli.tools.process_tree import (
    Mark,
    Process,
    can_look_often,
    command_of,
    find_tree,
    kill_all,
    send,
    send_to_group,
    still_alive,
)

UPDATE_INTERVAL_S = 0.05
QUIET_S = 0.1
SETTLE_AT_MOST_S = 2.0
KILL_GRACE_S = 1.5
"""Well within the time that the loop gives a tool to end after an abort."""

_MIN_CHUNK = 1 << 16
_MAX_CHUNK = 1 << 20
_POLL_S = 0.05
_POLL_SETTLED_S = 0.5
_LOOKS = 5
_DYING_S = 0.01
"""Whatever ends together with the shell is gone after this long."""
_PIPE_BYTES = 1 << 20


_log = logging.getLogger("agentcli.tools")


class ShellCommand:
    """Args:
    text: the command, for people.
    shell, arguments, cwd, env: what is started, in a session of its own.
    mark: stands in `env` too; by it the processes are found again.
    on_output: called in the event loop's thread with the end of the output, at most every 50 ms.
    """

    def __init__(
        self,
        text: str,
        shell: str,
        arguments: Sequence[str],
        cwd: Path,
        env: dict[str, str],
        *,
        mark: Mark,
        output: CommandOutput,
        on_output: Callable[[Snapshot], None] | None = None,
    ) -> None:
        self.text = text
        self.mark = mark
        self.output = output
        self.pid = 0
        self.return_code: int | None = None
        """Of the shell; `-n` if signal n killed it. None while it runs."""
        self.background: list[Process] = []
        """What the shell had left running when the command settled."""
        self.end_note = ""
        """Why it was stopped, if it was."""
        self.started_at = time.monotonic()
        self.ended_at: float | None = None
        self._shell = shell
        self._arguments = arguments
        self._cwd = cwd
        self._env = env
        self._on_output = on_output
        self._loop = asyncio.get_running_loop()
        self.settled: asyncio.Future[None] = self._loop.create_future()
        """Done when the command is settled; raises what kept it from starting."""
        self.closed: asyncio.Future[None] = self._loop.create_future()
        """Done when the shell has exited and nothing holds its output any more."""
        self._reaping = threading.Lock()
        self._seen: dict[int, Process] = {}
        """What was found alive of the tree when it was last looked at."""
        self._must_die = self._must_end = False
        self._is_settled = self._is_closing = False
        self._has_let_go = False
        """The shell has exited and nothing holds its output; `closed` tells so a moment later."""

    @property
    def duration_s(self) -> float:
        return (self.ended_at or time.monotonic()) - self.started_at

    @property
    def is_alive(self) -> bool:
        """Whether the shell, or anything it left running, lives on."""
        return not self._has_let_go or bool(still_alive(self.background))

    def start(self) -> None:
        threading.Thread(target=self._run, name=f"command {self.mark.value}", daemon=True).start()

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
        """TERM to the whole tree, KILL to what is left after the grace."""
        await asyncio.to_thread(self._terminate)
        deadline = self._loop.time() + KILL_GRACE_S
        while (left := deadline - self._loop.time()) > 0:
            if not self.closed.done():
                await asyncio.wait([self.closed], timeout=left)
            elif await asyncio.to_thread(self.processes):
                await asyncio.sleep(min(left, 0.1))
            else:
                return
        await asyncio.to_thread(self.kill_now)
        await asyncio.wait([self.closed], timeout=0.5)

    def kill_now(self) -> None:
        """KILL to the whole tree, without waiting for anything."""
        self._must_die = True
        processes = self.processes()
        with self._reaping:
            if self.pid and self.return_code is None:
                send_to_group(self.pid, signal.SIGKILL)
        send(processes, signal.SIGKILL)
        kill_all(self.processes)

    def abandon(self) -> None:
        """Stop reading soon, whoever still holds the output."""
        self._must_end = True

    def processes(self) -> list[Process]:
        """What is alive of the tree. Looks through all processes: call it in a thread."""
        with self._reaping:
            roots = {self.pid} if self.pid and self.return_code is None else set[int]()
            found = find_tree(self.mark, roots)
        # One that was found by its parent only must be remembered: it is not found again when the parent is gone.
        alive = {process.pid: process for process in (*still_alive(self._seen.values()), *found)}
        self._seen = alive
        return list(alive.values())

    def _terminate(self) -> None:
        processes = self.processes()
        with self._reaping:
            group = self.pid if self.pid and self.return_code is None else 0
            if not self.pid:
                self._must_die = True
            if group:
                # All at once, so that no shell goes on to its next command.
                send_to_group(group, signal.SIGTERM)
        send([process for process in processes if process.group != group], signal.SIGTERM)

    def _run(self) -> None:
        """The thread. Whatever goes wrong in it ends the waiting for the command."""
        try:
            with self._spawn() as process:
                self.pid = process.pid
                if self._must_die:
                    self.kill_now()
                self._read(process)
        except Exception as error:
            self._has_let_go = True
            self._tell(_fail, self.settled, error)
        if not self._is_closing:
            self._tell(_set, self.closed)

    def _spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [os.path.basename(self._shell), *self._arguments],  # noqa: PTH119 (the name alone is in messages)
            executable=self._shell,
            cwd=self._cwd,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )

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
            if poller.poll((_POLL_SETTLED_S if self._is_settled else _POLL_S) * 1000):
                chunk = os.read(pipe, room)
                if not chunk:
                    break
                if len(chunk) == room:
                    room = min(2 * room, _MAX_CHUNK)
                self.output.feed(chunk)
                is_new = True
                last_output = time.monotonic()
            now = time.monotonic()
            if self.return_code is None and now - last_look >= _POLL_S:
                last_look = now
                self._reap_if_exited(process, os.WNOHANG)
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

    def _reap_if_exited(self, process: subprocess.Popen[bytes], flags: int) -> None:
        """Note the shell's end; without WNOHANG, wait for it first, in a way that others may still signal it."""
        with contextlib.suppress(ChildProcessError):  # somebody else has reaped it: its code is not to be known
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | flags) is None:
                return
        with self._reaping:
            self.return_code = process.wait()
        self.ended_at = time.monotonic()

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
        self.background = self._left_running()
        self._seen |= {process.pid: process for process in self.background}
        self._tell(_set, self.settled, *others)

    def _left_running(self) -> list[Process]:
        """What the shell has left alive, once what ends with it is gone and what is new runs its own program."""
        roots = {self.pid} if send_to_group(self.pid, 0) else set[int]()
        if not roots and not can_look_often():
            return []
        found = find_tree(self.mark, roots, younger_than=self.pid)
        own = " ".join([Path(self._shell).name, *self._arguments])
        for _ in range(_LOOKS):
            if not found:
                break
            time.sleep(_DYING_S)
            found = find_tree(self.mark, roots, younger_than=self.pid)
            # Until it does, a child looks like its shell.
            if not any(own.startswith(command_of(process.pid) or own) for process in found):
                break
        return found

    def _update(self) -> None:
        if self._on_output is not None and not self._is_settled:
            self._tell(self._on_output, self.output.snapshot())

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
