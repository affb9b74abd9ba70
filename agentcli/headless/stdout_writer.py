"""Outlet: the standard output that programs read. It waits for a slow reader without blocking the event loop.

A write that the reader has no room for stays here until there is; `room` makes whoever produces wait for it, so that
memory does not grow. While an outlet is open, what else would go to file descriptor 1 (a `print` of an extension, a
careless library) goes to stderr.
"""

import asyncio
import os
import select
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agentcli.agent.abort import AbortSignal

MOST_WAITING = 1 << 18
"""Bytes that may wait here before `room` waits."""


GRACE_S = 2.0
"""How long the reader may take for what still waits when a signal ends the process."""


class StdoutWriter:
    """Use `open_outlet`, and `close` it.

    Args:
        descriptor: where the bytes go. It is written to only when it says that it is ready.
        encoding: of texts; characters that it does not have become `?`.
    """

    def __init__(self, descriptor: int, encoding: str = "utf-8") -> None:
        self.broken: OSError | None = None
        """Why it takes no more: a closed pipe, a full disk."""
        self.on_broken: Callable[[], None] = _ignore
        """Called once when it takes no more."""
        self._descriptor = descriptor
        self._encoding = encoding
        self._waiting: deque[memoryview] = deque()
        self._size = 0
        self._is_watched = False
        self._hurried = False
        self._changed = asyncio.Event()
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._at_once = sys.maxsize if is_file else select.PIPE_BUF
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, text: str | bytes) -> None:
        """Write now, or as soon as there is room. What it does not take any more is dropped; see `broken`."""
        data = text.encode(self._encoding, "replace") if isinstance(text, str) else text
        if not data or self.broken:
            return
        self._waiting.append(memoryview(data))
        self._size += len(data)
        if not self._is_watched:
            self._pump()

    async def room(self, signal: AbortSignal | None = None) -> None:
        """Return when little waits; at once if the signal has fired or `hurry` was called."""
        await self._until(
            lambda: self._size <= MOST_WAITING or self._hurried or bool(signal and signal.aborted), signal
        )

    async def drain(self, signal: AbortSignal) -> bool:
        """Return when nothing waits any more, or soon after the signal. Says whether everything was written."""
        await self._until(lambda: not self._size or signal.aborted, signal)
        try:
            await asyncio.wait_for(self._until(lambda: not self._size, None), GRACE_S)
        except TimeoutError:
            return False
        return not self.broken

    def hurry(self) -> None:
        """From now on nobody waits in `room`: the end has come, and what is still said is little."""
        self._hurried = True
        self._changed.set()

    def close(self) -> None:
        self._unwatch()
        self._waiting.clear()
        self._size = 0
        os.close(self._descriptor)

    async def _until(self, holds: Callable[[], bool], signal: AbortSignal | None) -> None:
        if holds():
            return
        remove = signal.on_abort(self._changed.set) if signal else _ignore
        try:
            while not holds():
                self._changed.clear()
                await self._changed.wait()
        finally:
            remove()

    def _pump(self) -> None:
        """Write as much as goes without waiting; the event loop says when more does."""
        try:
            while self._waiting and self._poll.poll(0):
                part = self._waiting[0]
                written = os.write(self._descriptor, part[: self._at_once])
                self._size -= written
                self._waiting[0] = part[written:]
                if written == len(part):
                    self._waiting.popleft()
        except BlockingIOError:
            pass
        except OSError as error:
            self._break(error)
        if self._waiting and not self._is_watched:
            self._is_watched = True
            asyncio.get_running_loop().add_writer(self._descriptor, self._pump)
        elif not self._waiting:
            self._unwatch()
        self._changed.set()

    def _break(self, error: OSError) -> None:
        self.broken = error
        self._waiting.clear()
        self._size = 0
        self.on_broken()

    def _unwatch(self) -> None:
        if self._is_watched:
            self._is_watched = False
            asyncio.get_running_loop().remove_writer(self._descriptor)


@contextmanager
def open_outlet() -> Iterator[StdoutWriter]:
    """`with open_outlet() as outlet:` has stdout for itself; everybody else's stdout is stderr until the end."""
    sys.stdout.flush()
    stdout = sys.stdout.fileno()
    own = os.dup(stdout)
    outlet = StdoutWriter(own, sys.stdout.encoding)
    os.dup2(sys.stderr.fileno(), stdout)
    try:
        yield outlet
    finally:
        sys.stdout.flush()
        os.dup2(own, stdout)
        outlet.close()


def _ignore() -> None:
    """Nobody asked to be told."""
