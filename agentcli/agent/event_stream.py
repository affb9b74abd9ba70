"""EventStream: the events of one piece of work, and its result when they are over."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Generic, TypeVar

Event = TypeVar("Event")
Result = TypeVar("Result")


class EventStream(Generic[Event, Result]):
    """Iterate it, or await `result()`, or do both, in either order; one iteration only.

    The work goes on as its events are taken: whoever iterates sets the pace, and `result()` takes what is left.

    Args:
        events: the work, as a generator of its events.
        result_of: what the last event says the result is.
    """

    def __init__(self, events: AsyncGenerator[Event, None], result_of: Callable[[Event], Result]) -> None:
        self._events = events
        self._result_of = result_of
        self._last: Event | None = None
        self._iterated = False
        self._finished: asyncio.Future[None] | None = None
        self._over = False

    async def __aiter__(self) -> AsyncIterator[Event]:
        if self._iterated:
            raise RuntimeError("an EventStream can be iterated once")
        self._iterated = True
        try:
            async for event in self._events:
                self._last = event
                yield event
        finally:
            await self._events.aclose()
            self._over = True
            if self._finished and not self._finished.done():
                self._finished.set_result(None)

    async def result(self) -> Result:
        """The result, once the work is over. Raises RuntimeError if it was given up before its end."""
        if not self._iterated:
            async for _ in self:
                pass
        elif not self._over:
            self._finished = self._finished or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._finished)
        if self._last is None:
            raise RuntimeError("the stream ended without an event")
        return self._result_of(self._last)
