"""EventEmitter: hands the events of an agent to its listeners, one after another."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from agentcli.agent.abort import AbortSignal
from agentcli.agent.streaming import resolved

Listener = Callable[[Any, AbortSignal], Awaitable[None] | None]
"""Called with each event and the signal of the run that it belongs to."""

Emit = Callable[[Any], Awaitable[None]]
"""Hands an event to the listeners; see `EventEmitter.emit`."""

_log = logging.getLogger("agentcli.agent")


class EventEmitter:
    """The listeners of one agent, called in the order in which they subscribed."""

    def __init__(self) -> None:
        self.signal: AbortSignal = AbortSignal()
        """Of the current run, or of the last one."""
        self._listeners: dict[object, Listener] = {}

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """See `Agent.subscribe`."""
        key = object()
        self._listeners[key] = listener

        def unsubscribe() -> None:
            self._listeners.pop(key, None)

        return unsubscribe

    async def emit(self, event: Any) -> None:
        """Hand an event to every listener. One that raises is logged and stops nothing."""
        for listener in list(self._listeners.values()):
            try:
                result = listener(event, self.signal)
                if result is not None:
                    await resolved(result)
            except Exception:
                _log.exception("a listener failed on %s", type(event).__name__)
