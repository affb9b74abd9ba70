"""Liveness: how long an answer may make no progress. What counts is what it says, not bytes.

Comments, pings and empty deltas keep a connection open, and mean nothing. Only the time counts in which somebody waits
for the server: who reads slowly is not the server's fault. A clock looks a few times in that span, so that what comes
costs next to nothing.
"""

import asyncio
from collections.abc import Sequence

from agentcli.agent.assistant_events import (
    AssistantMessageEvent,
    TextStartEvent,
    ThinkingStartEvent,
    ToolCallStartEvent,
)
from agentcli.agent.errors import ProviderTimeoutError

LOOKS = 20
"""So often the clock looks in the shorter of the two spans; by so much of it an answer may be given up late."""

_STARTS = (TextStartEvent, ThinkingStartEvent, ToolCallStartEvent)


class Liveness:
    """Watches one answer, in the task that reads it, from its making to `close`.

    Args:
        first_token_s: seconds until the answer begins, from now on.
        idle_s: seconds from then on between one piece of the answer and the next.
        place: whose answer it is, for the error message.
    """

    def __init__(self, first_token_s: float, idle_s: float, place: str) -> None:
        self.waiting: bool = True
        """Whether the server is waited for, now."""
        self.events: Sequence[AssistantMessageEvent] = ()
        """Of the answer, the last that came."""
        self._limits = first_token_s, idle_s
        self._place = place
        self._began = False
        self._in_vain = 0
        """How often the clock has found nobody but the server to wait for, and nothing new."""
        self._step = max(min(first_token_s, idle_s) / LOOKS, 0.001)
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._fired = False
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(self._step, self._look)

    @property
    def _limit(self) -> float:
        return self._limits[self._began]

    def close(self) -> None:
        """Nothing is waited for any more."""
        self.waiting = False
        self._timer.cancel()

    def error(self) -> ProviderTimeoutError | None:
        """What the cancellation that has just been caught means, which is then taken back; None if it is another's."""
        if not self._fired or self._task.uncancel() > self._cancelling:
            return None
        setting, its = ("idle_timeout", "its") if self._began else ("first_token_timeout", "an")
        return ProviderTimeoutError(
            f"{self._place} sent nothing of {its} answer for {self._limit:g} s",
            hint=f"if it needs longer, set `{setting}`",
        )

    def _look(self) -> None:
        if self.events and (self._began or not all(isinstance(event, _STARTS) for event in self.events)):
            self._began = True
            self.events = ()
            self._in_vain = 0
        elif self.waiting:
            self._in_vain += 1
        if self._in_vain * self._step >= self._limit:
            self._fired = True
            self._task.cancel()
        else:
            self._timer = self._loop.call_later(self._step, self._look)
