"""in_thread: blocking work beside the event loop that learns when nobody waits for it any more."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from agentcli.agent.abort import AbortSignal
from agentcli.agent.threads import to_thread

T = TypeVar("T")

Stopped = Callable[[], bool]
"""Asked by the work now and then: True means that its result is not wanted any more."""


async def in_thread(work: Callable[[Stopped], T], signal: AbortSignal) -> T:
    """`work(stopped)` in a thread. `stopped()` comes true on an abort, and when the wait for the work is cancelled."""
    is_cancelled = False
    try:
        return await to_thread(work, lambda: signal.aborted or is_cancelled)
    except asyncio.CancelledError:
        is_cancelled = True
        raise
