"""Threads: blocking work beside the event loop, also when the system has no more threads, processes or descriptors.

Work that gets no thread is done in the event loop's own: a short freeze is better than half an edit. What failed for
such a reason is a `ResourceError`, and is remembered: see `shortages`.
"""

import asyncio
import errno
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ResourceError

P = ParamSpec("P")
T = TypeVar("T")

Stopped = Callable[[], bool]
"""Asked by work in a thread now and then: true means that its result is not wanted any more."""

_WHAT = {
    errno.EAGAIN: "processes or threads",
    errno.ENOMEM: "memory",
    errno.EMFILE: "file descriptors for this process",
    errno.ENFILE: "file descriptors",
}
_HINT = "end what is not needed, or raise the limit (ulimit -a), and try again"

shortages: list[str] = []
"""One line for each kind of shortage that this process has met so far."""


async def to_thread(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """`asyncio.to_thread` that needs no new thread. The work is done once, whatever happens."""
    begun = threading.Lock()
    ended = threading.Event()

    def once() -> T | None:
        if not begun.acquire(blocking=False):
            return None
        try:
            return work(*arguments, **named)
        finally:
            ended.set()

    try:
        return await asyncio.to_thread(once)  # type: ignore[return-value]
    except RuntimeError as error:
        # The pool has put the work in its queue nevertheless, where one of its threads may still find it.
        if ended.is_set() or shortage(error) is None:
            raise
        if begun.acquire(blocking=False):
            return work(*arguments, **named)
        while not ended.is_set():  # noqa: ASYNC110 (of a thread, and hardly ever)
            await asyncio.sleep(0.01)
        raise


async def to_stoppable_thread(work: Callable[[Stopped], T], signal: AbortSignal) -> T:
    """`work(stopped)` in a thread. `stopped()` becomes true on an abort, and when nobody waits any more."""
    is_cancelled = False
    try:
        return await to_thread(work, lambda: signal.aborted or is_cancelled)
    except asyncio.CancelledError:
        is_cancelled = True
        raise


def run(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` that needs no new thread to end."""
    runner = asyncio.Runner()
    try:
        return runner.run(main)
    finally:
        try:
            runner.close()
        except RuntimeError as error:  # the pool was to be waited for in a thread; Python does that at its exit too
            if shortage(error) is None:
                raise


def shortage(error: BaseException) -> ResourceError | None:
    """What an exception says of something that the system has no more of; None if it says something else."""
    match error:
        case ResourceError():
            return error
        case MemoryError():
            what = _WHAT[errno.ENOMEM]
        case RuntimeError() if "can't start new thread" in str(error):
            what = _WHAT[errno.EAGAIN]
        case OSError() if error.errno in _WHAT:
            what = _WHAT[error.errno]
        case _:
            return None
    found = ResourceError(f"the system has no more {what}", hint=_HINT)
    if str(found) not in shortages:
        shortages.append(str(found))
    return found
