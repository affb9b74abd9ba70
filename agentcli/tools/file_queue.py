"""FileQueue: calls that change one real file run in the order of the calls; calls on other files run beside them.

A call holds its place until its work has really ended, even if nobody waits for it any more: a cancelled write may
still be on its way to the disk.
"""

import asyncio
import contextlib
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agentcli.agent.abort import AbortSignal, interruptible
from agentcli.agent.threads import to_thread

T = TypeVar("T")


class FileQueue:
    """Belongs to the thread of the event loop."""

    def __init__(self) -> None:
        self._registering = asyncio.Lock()
        self._last: dict[str, asyncio.Future[None]] = {}
        """For each file with calls in the queue, the end of the last of them."""

    async def run(self, locate: Callable[[], Path], work: Callable[[], T], signal: AbortSignal) -> T:
        """Call `work` in a thread when the calls before it on the file that `locate` tells are done.

        `locate` is called in a thread too, at once; the file need not be there yet, for a call before may make it.
        An abort while the call waits raises `Aborted`; once `work` has begun, it is waited for.
        """
        async with self._registering:
            key = await to_thread(lambda: file_key(locate()))
            before = self._last.get(key)
            done = asyncio.get_running_loop().create_future()
            self._last[key] = done
        try:
            with interruptible(signal):
                if before is not None:
                    await asyncio.shield(before)
        except BaseException:
            self._when_done(before, lambda: self._leave(key, done))
            raise
        running = asyncio.ensure_future(to_thread(work))
        running.add_done_callback(lambda _: self._leave(key, done))
        remove = signal.on_abort(lambda: None)  # a listener is given the time to end by itself
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            running.add_done_callback(lambda task: task.cancelled() or task.exception())
            raise
        finally:
            remove()

    def _when_done(self, before: asyncio.Future[None] | None, then: Callable[[], None]) -> None:
        if before is None or before.done():
            then()
        else:
            before.add_done_callback(lambda _: then())

    def _leave(self, key: str, done: asyncio.Future[None]) -> None:
        if not done.done():
            done.set_result(None)
        if self._last.get(key) is done:
            del self._last[key]


def file_key(path: Path) -> str:
    """The same text for every name of one real file; names that a file system may hold to be the same share it too."""
    real = os.path.realpath(path)
    with contextlib.suppress(OSError):  # what is not there yet has no other name
        status = Path(real).stat()
        if status.st_nlink > 1:  # written in place, so its inode stays
            return f"{status.st_dev}:{status.st_ino}"
    return unicodedata.normalize("NFC", real).casefold()
