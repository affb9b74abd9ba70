"""Waiting for what will come true, however busy the machine is; a test that waits in vain fails with what there was instead."""

import asyncio
import time
from collections.abc import Callable

PATIENCE_S = 30.0


def wait_until(holds: Callable[[], object], seconds: float = PATIENCE_S, seen: Callable[[], object] = str) -> None:
    """Wait for what happens outside this process: nothing else of it goes on meanwhile.

    Args:
        seen: what to say there was when it never came.
    """
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"never came:\n{seen()}"
        time.sleep(0.01)


async def until(holds: Callable[[], object], seconds: float = PATIENCE_S, seen: Callable[[], object] = str) -> None:
    """Wait for what happens in this process or outside of it; other tasks go on meanwhile."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"never came:\n{seen()}"
        await asyncio.sleep(0.002)
