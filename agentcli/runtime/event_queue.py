"""EventQueue: events of calls that are not async. They are emitted one after another, in the order of the calls."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any


class EventQueue:
    """Args:
    emit: tells the listeners an event.
    """

    def __init__(self, emit: Callable[[Any], Awaitable[None]]) -> None:
        self._emit = emit
        self._events: deque[Any] = deque()
        self._telling: asyncio.Task[None] | None = None

    def put(self, event: Any) -> None:
        self._events.append(event)
        if self._telling is None or self._telling.done():
            self._telling = asyncio.ensure_future(self._tell())

    async def empty(self) -> None:
        """Return when everything is told. A listener that calls this while it is told does not wait for itself."""
        while self._telling is not None and not self._telling.done() and self._telling is not asyncio.current_task():
            await asyncio.wait([self._telling])

    async def _tell(self) -> None:
        while self._events:
            await self._emit(self._events.popleft())
