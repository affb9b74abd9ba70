"""Summarizer: asks the session's model for summaries, one request after the other, with the runtime's retries.

A summary is whole or it is an error: what is empty, cut off or a tool call is never used, but paid for.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from typing import cast

from agentcli.agent.abort import AbortSignal, interruptible
from agentcli.agent.agent import AgentState
from agentcli.agent.assistant_events import DoneEvent, ErrorEvent, StartEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.emitter import Emit
from agentcli.agent.errors import BadResponseError, ContextOverflowError, ProviderError, SessionError, UsageError
from agentcli.agent.messages import AgentMessage, AssistantMessage, StopReason, Usage, text_of, user_message
from agentcli.agent.models import Model, clamp_thinking_level
from agentcli.agent.partial import PartialMessage
from agentcli.agent.streaming import resolved
from agentcli.config.settings import RetrySettings
from agentcli.runtime.compaction.summary_prompts import SYSTEM, UPDATE, summary_prompt
from agentcli.runtime.model_requests import ModelRequests
from agentcli.runtime.retry import Retry
from agentcli.sessions.compaction.text import conversation_parts, shorten, shorten_all, split_conversation
from agentcli.sessions.ids import new_id
from agentcli.sessions.session import Session
from agentcli.sessions.stats import SPENT, spent_data

_log = logging.getLogger("agentcli.runtime")

CHARACTERS_PER_TOKEN = 3
"""Fewer than the usual guess of four: a request for a summary that is itself too long would be no help."""
SMALLEST_PIECE = 4000
"""Characters of conversation in one request, at least."""
MOST_PIECES = 6
"""A conversation that would take more requests is cut before it is summarised."""
_SMALL_ROOM = 16_000
"""Tokens. With less room a summary is asked to be short."""
_TOO_LONG = "they are too many for a summary"


class Summarizer:
    """Asks for one summary after the other.

    Args:
        state: of the agent whose model and thinking level are used; nothing of it is changed.
        requests: ask the model. The offline pilot, if it is one of its providers, writes no summaries.
        settings: how often a request that failed is made again.
    """

    def __init__(self, state: AgentState, requests: ModelRequests, emit: Emit, settings: RetrySettings) -> None:
        self._state = state
        self._requests = requests
        self.emit = emit
        self._settings = settings
        self._spent = Usage()
        self._heard: AssistantMessage | PartialMessage | None = None
        """What has come of the answer to the last request."""

    @property
    def spent(self) -> Usage | None:
        """What the requests took since `take_spent` was called, failed ones included; None if that is nothing."""
        return self._spent if self._spent != Usage() else None

    def take_spent(self) -> Usage | None:
        """The same, once."""
        spent, self._spent = self.spent, Usage()
        return spent

    async def summarize(
        self,
        messages: Sequence[AgentMessage],
        task: str,
        signal: AbortSignal,
        *,
        room: int,
        previous: str | None = None,
        instructions: str = "",
    ) -> str:
        """The summary of a conversation. One that is longer than `room` tokens is summarised piece by piece.

        Args:
            previous: the summary that the conversation goes on from.
            instructions: what it shall attend to.

        Raises:
            ProviderError, ConfigError: there is no summary.
            Aborted: the signal fired.
        """
        if self._requests.asks_providers and self._state.model.api == "offline":
            raise UsageError("the offline pilot writes no summaries", hint="choose a model: agentcli models")
        words = room // 8 if room < _SMALL_ROOM else None
        most = max(room * CHARACTERS_PER_TOKEN, SMALLEST_PIECE)
        rest = shorten_all(conversation_parts(messages), most * MOST_PIECES, _TOO_LONG)
        while rest:
            held = shorten(previous, most // 3, _TOO_LONG) if previous else ""
            piece, *later = split_conversation(rest, most - len(held))
            prompt = summary_prompt(piece, task, previous=held, instructions=instructions, words=words)
            try:
                previous = await self._ask_again(prompt, signal)
            except ContextOverflowError:
                # The window is smaller than the catalog says, or the guess was wrong.
                longest = min(most, len(piece) + len(held))
                if longest <= SMALLEST_PIECE:
                    raise
                most = max(longest // 2, SMALLEST_PIECE)
                rest = shorten_all([piece, *later], most * MOST_PIECES, _TOO_LONG)
            else:
                rest, task = later, UPDATE
        return previous or ""

    async def _ask_again(self, prompt: str, signal: AbortSignal) -> str:
        """Ask, and again as often as the settings and the kind of failure allow."""
        retry = Retry(self._settings, self.emit)
        while True:
            try:
                summary = await self._ask(prompt, signal)
            except ProviderError as error:
                if not await retry.wait(error, str(error), signal):
                    await retry.end(success=False, text=str(error))
                    raise
            else:
                await retry.end(success=True)
                return summary

    async def _ask(self, prompt: str, signal: AbortSignal) -> str:
        state = self._state
        context = Context(SYSTEM, [user_message(prompt)])
        self._heard = None
        try:
            with interruptible(signal):
                options = await self._options(state.model, signal)
                stream = aiter(self._requests.stream(state.model, context, options))
                message = await self._last_message(stream)
        finally:
            if self._heard is not None:
                self._spent = self._spent + self._heard.usage
        return _checked_text(message)

    async def _last_message(self, stream: AsyncIterator) -> AssistantMessage:
        try:
            async for event in stream:
                match event:
                    case StartEvent():
                        self._heard = cast("PartialMessage", event.partial)
                    case DoneEvent():
                        self._heard = event.message
                        return event.message
                    case ErrorEvent():
                        self._heard = event.error
                        raise _failure(event.error)
                    case _:
                        pass
        finally:
            if close := getattr(stream, "aclose", None):
                await close()
        raise BadResponseError("the summary stopped before its end")

    async def _options(self, model: Model, signal: AbortSignal) -> StreamOptions:
        """As the session's requests are, but with no cache to write to and no conversation to belong to."""
        return StreamOptions(
            signal=signal,
            api_key=await resolved(self._requests.key_for(model.provider)),
            reasoning=clamp_thinking_level(model, self._state.thinking_level),
            session_id=new_id(),
            cache_retention="none",
        )


def bill(session: Session, summarizer: Summarizer, what: str, error: str) -> Usage | None:
    """Note in the session what a summary took that failed; returns it.

    Args:
        what: what it was for.
        error: what became of it.
    """
    if (usage := summarizer.take_spent()) is not None:
        try:
            session.append_custom(SPENT, spent_data(what, error, usage))
        except SessionError:
            _log.warning("what a failed summary took could not be written", exc_info=True)
    return usage


def _failure(message: AssistantMessage) -> ProviderError:
    kind = ContextOverflowError if message.error_kind == ContextOverflowError.kind else BadResponseError
    return kind(message.error_message or "the summary failed")


def _checked_text(message: AssistantMessage) -> str:
    if message.stop_reason == StopReason.LENGTH:
        if not message.content and not message.usage.output:
            raise ContextOverflowError("the request for a summary filled the model's window")
        raise ProviderError("the summary was cut off at the model's output limit", hint="try another model")
    if message.tool_calls or message.stop_reason != StopReason.DONE:
        raise ProviderError("the model did not answer with a summary", hint="try again, or another model")
    text = text_of(message.content).strip()
    if not text:
        raise ProviderError("the summary was empty", hint="try again, or another model")
    return text
