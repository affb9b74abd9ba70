"""Retries: tries a failed request again, waits as the server asks, and tells the listeners. The only retry layer."""

import asyncio
from collections.abc import Awaitable, Callable

from agentcli.agent.abort import Aborted, AbortSignal, interruptible
from agentcli.agent.agent import AgentState
from agentcli.agent.emitter import Emit
from agentcli.agent.errors import ProviderError
from agentcli.agent.messages import AssistantMessage, StopReason
from agentcli.config.settings import RetrySettings
from agentcli.runtime.events import NoticeEvent, RetryEndEvent, RetryStartEvent
from agentcli.runtime.repair import drop_failed_turn
from agentcli.runtime.retry import retry_delay, too_long_a_wait


class Retries:
    """Whoever asks the model notes how it failed in `failure`; None is no failure that could be retried."""

    def __init__(self, state: AgentState, emit: Emit, settings: RetrySettings) -> None:
        self.failure: ProviderError | None = None
        self._state = state
        self._emit = emit
        self._settings = settings
        self._count = 0
        """Of the request that failed last, so far."""

    async def run_until_done(self, signal: AbortSignal, go_on: Callable[[], Awaitable[None]]) -> None:
        """While the last answer is a failure that may pass: wait, take it out of the context, and `go_on`."""
        while (message := self._failed()) is not None:
            delay = retry_delay(self.failure, self._count + 1, self._settings)
            if delay is None or signal.aborted:
                break
            self._count += 1
            error = message.error_message or ""
            await self._emit(RetryStartEvent(self._count, self._settings.max_retries, delay, error))
            try:
                with interruptible(signal):
                    await asyncio.sleep(delay)
            except Aborted:
                break
            drop_failed_turn(self._state.messages)
            await go_on()
        if wait := too_long_a_wait(self.failure, self._settings):
            await self._emit(NoticeEvent(wait))
        await self.end(success=False)

    async def end(self, *, success: bool) -> None:
        """The next failure is the first one again."""
        count, self._count = self._count, 0
        if count:
            failed = None if success else self._failed()
            await self._emit(RetryEndEvent(success, count, failed.error_message if failed else None))

    def _failed(self) -> AssistantMessage | None:
        """The last answer, if it is a failure."""
        messages = reversed(self._state.messages)
        last = next((message for message in messages if isinstance(message, AssistantMessage)), None)
        return last if last is not None and last.stop_reason == StopReason.ERROR else None
