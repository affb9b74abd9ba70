"""EventBatcher: the one listener between the runtime's event stream and the widgets.

It joins deltas and drops live output that newer output replaces, so that the screen is updated at most 25 times a
second, however fast the model is. The order of events is kept.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from textual.message import Message

from agentcli.agent.assistant_events import TextDeltaEvent, ThinkingDeltaEvent, ToolCallDeltaEvent
from agentcli.agent.events import MessageUpdateEvent, ToolExecutionUpdateEvent
from agentcli.runtime.events import BashExecutionUpdateEvent

INTERVAL_S = 0.04
SHARE = 3
"""Painting takes at most this part (1/SHARE) of the time."""

_DELTAS = (TextDeltaEvent, ThinkingDeltaEvent, ToolCallDeltaEvent)


class EventBatcher:
    """Collects events and posts them in batches, the next one not before the last is `done`.

    Args:
        post: receives each `Batch`; the app's `post_message`.
    """

    class Batch(Message):
        """Events in order; consecutive deltas of one block are one event."""

        def __init__(self, events: list[Any], batcher: "EventBatcher") -> None:
            super().__init__()
            self.events = events
            self.batcher = batcher

    def __init__(self, post: Callable[[Message], Any]) -> None:
        self._post = post
        self._events: list[Any] = []
        self._pieces: list[str] | None = None
        """Deltas to be joined into the last event."""
        self._next = 0.0
        self._posted_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._is_painting = False

    def __call__(self, event: Any) -> None:
        """Receive an event."""
        if isinstance(event, MessageUpdateEvent) and isinstance(event.assistant_message_event, _DELTAS):
            self._take_delta(event)
        elif self._is_overtaken(event):
            self._events[-1] = event
        else:
            self._join()
            self._events.append(event)
        if self._timer is None and not self._is_painting:
            self._schedule()

    def done(self) -> None:
        """Note that the last batch has been painted, so that the next one may be posted."""
        now = time.monotonic()
        self._is_painting = False
        self._next = max(self._posted_at + INTERVAL_S, now + (now - self._posted_at) * (SHARE - 1))
        if self._events and self._timer is None:
            self._schedule()

    def close(self) -> None:
        """Drop what was not posted, and post nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._events.clear()

    def _take_delta(self, event: MessageUpdateEvent) -> None:
        delta = event.assistant_message_event
        last = self._events[-1] if self._events else None
        if isinstance(last, MessageUpdateEvent):
            before = last.assistant_message_event
            if type(before) is type(delta) and before.content_index == delta.content_index:  # type: ignore[union-attr]
                if self._pieces is None:
                    self._pieces = [before.delta]  # type: ignore[union-attr]
                self._pieces.append(delta.delta)  # type: ignore[union-attr]
                return
        self._join()
        self._events.append(event)

    def _join(self) -> None:
        """Make the deltas of the last event one."""
        if self._pieces is None:
            return
        last = self._events[-1]
        joined = replace(last.assistant_message_event, delta="".join(self._pieces))
        self._events[-1] = MessageUpdateEvent(last.message, joined)
        self._pieces = None

    def _is_overtaken(self, event: Any) -> bool:
        """Whether this event replaces the last one: newer output of the same call or command."""
        match event, self._events[-1] if self._events else None:
            case ToolExecutionUpdateEvent(), ToolExecutionUpdateEvent() as last:
                return last.tool_call_id == event.tool_call_id
            case BashExecutionUpdateEvent(), BashExecutionUpdateEvent() as last:
                return last.id == event.id
            case _:
                return False

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(max(self._next - time.monotonic(), 0.0), self._flush)

    def _flush(self) -> None:
        self._timer = None
        self._join()
        events, self._events = self._events, []
        self._is_painting = True
        self._posted_at = time.monotonic()
        self._post(self.Batch(events, self))
