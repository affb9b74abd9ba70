"""Limits: how much one prompt may take: turns, tokens, money, time."""

import asyncio
from collections.abc import Callable
from enum import StrEnum

from agentcli.runtime.events import usage_of
from agentcli.runtime.options import RuntimeOptions


class Limit(StrEnum):
    MAX_TURNS = "max_turns"
    MAX_TOKENS = "max_tokens"
    MAX_COST = "max_cost"
    TIMEOUT = "timeout"


class Limits:
    """Everything counts that was paid for: answers that failed, what tools took, summaries.

    Args:
        options: the limits.
    """

    def __init__(self, options: RuntimeOptions) -> None:
        self.reached: Limit | None = None
        """Which limit stopped the prompt with work left to do."""
        self._options = options
        self._turns = self._tokens = 0
        self._cost = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def text(self) -> str | None:
        """Why the prompt was stopped, as one line."""
        options = self._options
        match self.reached:
            case Limit.MAX_TURNS:
                return f"stopped after {self._turns} turn{'' if self._turns == 1 else 's'}, as asked"
            case Limit.MAX_TOKENS:
                return f"stopped after {self._tokens:,} tokens; the limit is {options.max_tokens:,}"
            case Limit.MAX_COST:
                return f"stopped after ${self._cost:.4f}; the limit is ${options.max_cost:g}"
            case Limit.TIMEOUT:
                return _out_of_time(options.timeout or 0.0)
            case None:
                return None

    def begin(self, abort: Callable[[str], None]) -> None:
        """A prompt begins.

        Args:
            abort: called with the reason when the time is up.
        """
        self.reached = None
        self._turns = self._tokens = 0
        self._cost = 0.0
        self.end()
        if self._options.timeout is not None:
            self._timer = asyncio.get_running_loop().call_later(self._options.timeout, self._time_is_up, abort)

    def end(self) -> None:
        """Nothing of the prompt is left: the clock stops."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def count_turn(self) -> None:
        self._turns += 1

    def stop(self, work_left: bool) -> bool:
        """Whether a limit ends the prompt here. With nothing left to do it has ended by itself."""
        if self.reached is None and work_left:
            self.reached = self._exceeded()
        return self.reached is not None

    def _exceeded(self) -> Limit | None:
        options = self._options
        if options.max_turns is not None and self._turns >= options.max_turns:
            return Limit.MAX_TURNS
        if options.max_tokens is not None and self._tokens >= options.max_tokens:
            return Limit.MAX_TOKENS
        if options.max_cost is not None and self._cost >= options.max_cost:
            return Limit.MAX_COST
        return None

    def _time_is_up(self, abort: Callable[[str], None]) -> None:
        self.reached = self.reached or Limit.TIMEOUT
        abort(_out_of_time(self._options.timeout or 0.0))

    def on_event(self, event: object, signal: object) -> None:
        if (usage := usage_of(event)) is not None:
            self._tokens += usage.counted
            self._cost += usage.cost.total


def _out_of_time(seconds: float) -> str:
    return f"stopped after {seconds:g} s, as asked"
