"""Summarizer: asks the session's model for summaries, one request after the other, with the runtime's retries.

A summary is whole or it is an error: what is empty, cut off or a tool call is never used.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from msgspec import Struct

from agentcli.agent.abort import AbortSignal, interruptible
from agentcli.agent.agent import Agent
from agentcli.agent.assistant_events import DoneEvent, ErrorEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import BadResponseError, ContextOverflowError, ProviderError, UsageError
from agentcli.agent.messages import AgentMessage, AssistantMessage, StopReason, Usage, UsageCost, text_of, user_message
from agentcli.agent.models import Model, clamp_thinking_level
from agentcli.agent.streaming import resolved
from agentcli.config.settings import RetrySettings
from agentcli.runtime.events import RetryEndEvent, RetryStartEvent
from agentcli.runtime.retry import retry_delay
from agentcli.runtime.summary_prompts import SYSTEM, UPDATE, summary_prompt
from agentcli.sessions.compaction_text import conversation_parts, split_conversation
from agentcli.sessions.ids import new_id

CHARACTERS_PER_TOKEN = 3
"""Fewer than the usual guess of four: a request for a summary that is itself too long would be no help."""
SMALLEST_PIECE = 4000
"""Characters of conversation in one request, at least."""
_PASSED_ON = ("headers", "metadata", "thinking_budgets", "transport", "max_retry_delay_ms", "on_payload", "on_response")


class Summary(Struct, frozen=True):
    text: str
    usage: Usage


class Summarizer:
    """Args:
    agent: its model, thinking level, stream function and key are used; nothing of it is changed.
    retry: how often a request that failed is made again.
    asks_providers: whether the agent's stream function goes by the model's wire API. The offline pilot then answers
        for itself, and is not asked: it writes no summaries.
    """

    def __init__(self, agent: Agent, retry: RetrySettings, *, asks_providers: bool = True) -> None:
        self.agent = agent
        self.retry = retry
        self.asks_providers = asks_providers

    async def summarize(
        self,
        messages: Sequence[AgentMessage],
        task: str,
        signal: AbortSignal,
        *,
        room: int,
        previous: str | None = None,
        instructions: str = "",
    ) -> Summary:
        """The summary of a conversation. One that is longer than `room` tokens is summarised piece by piece.

        Raises:
            ProviderError, ConfigError: there is no summary.
            Aborted: the signal fired.
        """
        if self.asks_providers and self.agent.state.model.api == "offline":
            raise UsageError("the offline pilot writes no summaries", hint="choose a model: agentcli models")
        parts = conversation_parts(messages)
        most = max(room * CHARACTERS_PER_TOKEN, SMALLEST_PIECE)
        while True:
            try:
                return await self._in_pieces(split_conversation(parts, most), task, signal, previous, instructions)
            except ContextOverflowError:
                # The window is smaller than the catalog says, or the guess was wrong.
                longest = min(most, sum(len(part) for part in parts))
                if longest <= SMALLEST_PIECE:
                    raise
                most = max(longest // 2, SMALLEST_PIECE)

    async def _in_pieces(
        self, pieces: list[str], task: str, signal: AbortSignal, previous: str | None, instructions: str
    ) -> Summary:
        usage = Usage()
        for number, piece in enumerate(pieces):
            now = task if number == 0 else UPDATE
            prompt = summary_prompt(piece, now, previous=previous, instructions=instructions)
            summary = await self._ask_again(prompt, signal)
            previous, usage = summary.text, add_usage(usage, summary.usage)
        return Summary(previous or "", usage)

    async def _ask_again(self, prompt: str, signal: AbortSignal) -> Summary:
        """Ask, and again as often as the settings and the kind of failure allow."""
        attempt = 0
        while True:
            try:
                summary = await self._ask(prompt, signal)
            except ProviderError as error:
                delay = retry_delay(error, attempt + 1, self.retry)
                if delay is None:
                    if attempt:
                        await self.agent.emit(RetryEndEvent(False, attempt, str(error)))
                    raise
                attempt += 1
                await self.agent.emit(RetryStartEvent(attempt, self.retry.max_retries, delay, str(error)))
                with interruptible(signal):
                    await asyncio.sleep(delay)
            else:
                if attempt:
                    await self.agent.emit(RetryEndEvent(True, attempt))
                return summary

    async def _ask(self, prompt: str, signal: AbortSignal) -> Summary:
        state = self.agent.state
        context = Context(SYSTEM, [user_message(prompt)])
        with interruptible(signal):
            options = await self._options(state.model, signal)
            stream = aiter(await resolved(self.agent.stream_function(state.model, context, options)))
            message = await _last_message(stream)
        return Summary(_checked_text(message), message.usage)

    async def _options(self, model: Model, signal: AbortSignal) -> StreamOptions:
        """As the session's requests are, but with no cache to write to and no conversation to belong to."""
        key = await resolved(self.agent.get_api_key(model.provider)) if self.agent.get_api_key else None
        passed = {name: value for name, value in self.agent.options.items() if name in _PASSED_ON}
        return StreamOptions(
            signal=signal,
            api_key=key or self.agent.options.get("api_key"),
            reasoning=clamp_thinking_level(model, self.agent.state.thinking_level),
            session_id=new_id(),
            cache_retention="none",
            **passed,
        )


async def _last_message(stream: AsyncIterator) -> AssistantMessage:
    try:
        async for event in stream:
            match event:
                case DoneEvent():
                    return event.message
                case ErrorEvent():
                    raise BadResponseError(event.error.error_message or "the summary failed")
                case _:
                    pass
    finally:
        if close := getattr(stream, "aclose", None):
            await close()
    raise BadResponseError("the summary stopped before its end")


def _checked_text(message: AssistantMessage) -> str:
    if message.stop_reason == StopReason.LENGTH:
        raise ProviderError("the summary was cut off at the model's output limit", hint="try another model")
    if message.tool_calls or message.stop_reason != StopReason.DONE:
        raise ProviderError("the model did not answer with a summary", hint="try again, or another model")
    text = text_of(message.content).strip()
    if not text:
        raise ProviderError("the summary was empty", hint="try again, or another model")
    return text


def add_usage(one: Usage, other: Usage) -> Usage:
    cost = UsageCost(
        one.cost.input + other.cost.input,
        one.cost.output + other.cost.output,
        one.cost.cache_read + other.cost.cache_read,
        one.cost.cache_write + other.cost.cache_write,
        one.cost.total + other.cost.total,
    )
    return Usage(
        one.input + other.input,
        one.output + other.output,
        one.cache_read + other.cache_read,
        one.cache_write + other.cache_write,
        one.total_tokens + other.total_tokens,
        cost,
    )
