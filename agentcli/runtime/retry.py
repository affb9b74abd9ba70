"""Retry: when a failed request is made again, and after how long. The one policy, of prompts and of summaries."""

import asyncio
from datetime import datetime, timedelta

from agentcli.agent.abort import AbortSignal, interruptible
from agentcli.agent.emitter import Emit
from agentcli.agent.errors import ProviderError
from agentcli.config.settings import RetrySettings
from agentcli.runtime.events import RetryEndEvent, RetryStartEvent


class Retry:
    """Counts the retries of one request at a time, and tells the listeners.

    Args:
        settings: how many there are, and the seconds between them.
    """

    def __init__(self, settings: RetrySettings, emit: Emit) -> None:
        self._settings = settings
        self._emit = emit
        self._count = 0

    async def wait(self, error: ProviderError | None, text: str, signal: AbortSignal) -> bool:
        """Wait until a failed request may be made again.

        Args:
            error: how it failed; None is no failure that could pass.
            text: what the listeners are told of it.

        Returns:
            Whether to make it again; False at once if not.

        Raises:
            Aborted: the signal fired during the wait.
        """
        delay = retry_delay(error, self._count + 1, self._settings)
        if delay is None or signal.aborted:
            return False
        self._count += 1
        await self._emit(RetryStartEvent(self._count, self._settings.max_retries, delay, text))
        with interruptible(signal):
            await asyncio.sleep(delay)
        return True

    async def end(self, *, success: bool, text: str | None = None) -> None:
        """The request has ended, well or not: the next failure is a first one.

        Args:
            text: how it failed, for the listeners.
        """
        count, self._count = self._count, 0
        if count:
            await self._emit(RetryEndEvent(success, count, text))


def retry_delay(error: ProviderError | None, attempt: int, settings: RetrySettings) -> float | None:
    """Seconds to wait before retry number `attempt` (1 is the first), or None if there is to be none.

    What the server asks for counts, unless it asks for more than `max_delay`: then the user decides, not a timer.
    """
    if error is None or not error.retryable or attempt > settings.max_retries:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= settings.max_delay else None
    return min(settings.base_delay * 2 ** (attempt - 1), settings.max_delay)


def too_long_a_wait(error: ProviderError | None, settings: RetrySettings) -> str | None:
    """What to tell the user when the server asks for a wait that is left to them; None if it does not."""
    if error is None or error.retry_after is None or error.retry_after <= settings.max_delay:
        return None
    wait = timedelta(seconds=round(error.retry_after))
    again = datetime.now() + wait
    moment = f"{again:%H:%M}" if wait < timedelta(hours=12) else f"{again:%Y-%m-%d %H:%M}"
    return f"the server asks to wait {wait} (h:mm:ss); try again at {moment}"
