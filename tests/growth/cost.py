"""What a piece of work costs, counted: Python instructions, and the peak of allocated memory. The same on any machine.

What happens inside of a C function counts as nothing here; `tests/benchmarks` times that.
"""

import asyncio
import gc
import inspect
import sys
import threading
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType
from typing import Any

DOUBLE = 2.1
"""Twice as much may cost so many times as much: twice, and a twentieth for what goes in steps (buffers that grow)."""
SAME = 1.1
"""What does not depend on the size may cost so many times as much with twice the size."""

Work = Callable[[], Awaitable[object] | object]
Prepare = Callable[[int], Work]
Count = Callable[[Work], Awaitable[int]]


async def instructions(work: Work) -> int:
    """The Python instructions of some work, in all threads that it starts."""
    count = 0

    def one(*_: object) -> None:
        nonlocal count
        count += 1

    gc.collect()
    gc.disable()  # Nobody knows when it comes, and what it finalizes would be counted.
    # Tracing begins with a thread: one that is there already, idle in a pool, would work uncounted.
    loop, threads = asyncio.get_running_loop(), ThreadPoolExecutor(4)
    loop.set_default_executor(threads)
    try:
        with _monitored(one) if sys.version_info >= (3, 12) else _traced(one):
            await _done(work)
    finally:
        gc.enable()
        loop.set_default_executor(ThreadPoolExecutor(4))
        threads.shutdown()
    return count


@contextmanager
def _monitored(one: Callable[..., None]) -> Iterator[None]:
    """Call `one` for every instruction. Tracing loses some of them since Python 3.12."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    id = monitoring.PROFILER_ID
    monitoring.use_tool_id(id, "growth")
    monitoring.register_callback(id, monitoring.events.INSTRUCTION, one)
    monitoring.set_events(id, monitoring.events.INSTRUCTION)
    try:
        yield
    finally:
        monitoring.set_events(id, 0)
        monitoring.register_callback(id, monitoring.events.INSTRUCTION, None)
        monitoring.free_tool_id(id)


@contextmanager
def _traced(one: Callable[..., None]) -> Iterator[None]:
    """Call `one` for every instruction. Python 3.11 has nothing else."""

    def enter(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return step

    def step(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if event == "opcode":
            one()
        return step

    before = sys.gettrace()
    threading.settrace(enter)
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]


async def memory(work: Work) -> int:
    """The bytes that some work has allocated at its peak, beyond what there was before."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        await _done(work)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


async def assert_doubles(
    prepare: Prepare, size: int, *, most: float = DOUBLE, counts: Sequence[Count] = (instructions, memory)
) -> None:
    """Twice the size costs at most so many times as much.

    Args:
        prepare: makes the work of a size. What it does itself is not counted.
    """
    await _done(prepare(1))  # What is paid once a process is paid.
    for count in counts:
        small, large = await count(prepare(size)), await count(prepare(2 * size))
        times = large / small
        said = f"{count.__name__}: {small:,} for {size:,}, {large:,} for {2 * size:,}: {times:.2f} times as much"
        assert times <= most, said


async def assert_same(prepare: Prepare, size: int, counts: Sequence[Count] = (instructions, memory)) -> None:
    """The work costs the same whatever it is done on: `prepare` makes work on something of a size, and of twice that."""
    await assert_doubles(prepare, size, most=SAME, counts=counts)


async def _done(work: Work) -> None:
    waiting = work()
    if inspect.isawaitable(waiting):
        await waiting
