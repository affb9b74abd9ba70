"""Compactor: when a conversation is compacted, and how. `sessions.compaction` plans it, `summarizer` has it written.

A compaction is whole or it never was: until its summary is there, and unless it can be kept, session and agent stay as
they are.
"""

import asyncio
import logging
from collections.abc import Sequence
from enum import StrEnum

from msgspec.structs import asdict, replace

from agentcli.agent.abort import Aborted, AbortSignal
from agentcli.agent.agent import AgentState
from agentcli.agent.context import AgentContext
from agentcli.agent.emitter import Emit
from agentcli.agent.errors import AgentcliError, ProviderError, SessionError
from agentcli.agent.events import MessageEndEvent
from agentcli.agent.hooks import AgentLoopTurnUpdate, PrepareNextTurnContext
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    CompactionSummaryMessage,
    StopReason,
    ToolResultMessage,
)
from agentcli.agent.queues import MessageQueues
from agentcli.config.settings import CompactionSettings
from agentcli.runtime.compaction.summarizer import Summarizer, bill
from agentcli.runtime.compaction.summary_prompts import HISTORY, TURN_PREFIX, TURN_PREFIX_HEADING, UPDATE
from agentcli.runtime.compaction.token_estimate import context_messages, input_tokens
from agentcli.runtime.compaction.window import Window
from agentcli.runtime.compaction.window_fit import WindowFit
from agentcli.runtime.events import CompactionEndEvent, CompactionStartEvent
from agentcli.runtime.recorder import SessionRecorder
from agentcli.runtime.repair import drop_failed_turn
from agentcli.sessions.compaction.files import with_file_lists, without_file_lists
from agentcli.sessions.compaction.plan import CompactionPlan, first_unseen, is_answer, plan_compaction
from agentcli.sessions.compaction.token_estimate import estimate_tokens
from agentcli.sessions.entries import CompactionEntry, MessageEntry

_log = logging.getLogger("agentcli.runtime")

MOST_OVERFLOWS = 3
"""So many requests in a row may be refused as too long before the person is told: compacted, cut, cut again."""

_WORTH = 0.05
"""A summary has to stand for so much of the context at least, or it would soon be asked for again."""

_SHORTER = 0.9
"""A summary may be so long for what it stands for."""

_OVERFLOW_SLACK = 200
"""Tokens by which a summary may be longer than what it stands for: then the guess was wrong, for it did not fit."""

_NEARLY_FULL = 0.99
"""An answer that is cut off before its first token, with so much of the window used, is an overflow."""


class CompactionReason(StrEnum):
    MANUAL = "manual"
    THRESHOLD = "threshold"
    OVERFLOW = "overflow"


class Compactor:
    """One at a time: the caller sees to that.

    Without an answer of the model in between, there is one compaction by the threshold and one after an overflow. One
    that gains nothing is none.

    Args:
        state, queues: of the agent.
        recorder: what writes the agent's messages into the session.
        fit: cuts what no compaction can make room for.
    """

    def __init__(
        self,
        state: AgentState,
        queues: MessageQueues,
        emit: Emit,
        recorder: SessionRecorder,
        summarizer: Summarizer,
        settings: CompactionSettings,
        window: Window,
        fit: WindowFit,
    ) -> None:
        self._state = state
        self._queues = queues
        self._emit = emit
        self.recorder = recorder
        self.session = recorder.session
        self.summarizer = summarizer
        self.settings = settings
        self.window = window
        self.fit = fit
        self._failed = False
        """Whether an automatic compaction failed in this prompt: it is not tried again and again."""
        self._compacted = False
        """Whether there was one since the last answer."""
        self._overflows = 0
        """How many requests were refused since the last answer."""

    def begin_prompt(self) -> None:
        self._failed = self._compacted = False
        self._overflows = 0

    def is_due(self, coming: Sequence[AgentMessage] = ()) -> bool:
        """Whether the context, with what is about to come, leaves less than the reserve."""
        if not self.settings.enabled or self._failed or self._compacted:
            return False
        return self.window.tokens() + self.window.estimate(coming) > self.window.limit

    def is_overflow(self, message: AssistantMessage | None) -> bool:
        """Whether an answer failed because the request did not fit into the window."""
        if message is None:
            return False
        if message.stop_reason == StopReason.ERROR:
            return message.error_kind == "overflow"
        used = input_tokens(message.usage)
        nothing_said = message.stop_reason == StopReason.LENGTH and not message.usage.output and not message.content
        return nothing_said and used >= self._state.model.context_window * _NEARLY_FULL

    async def make_room(self, signal: AbortSignal) -> bool:
        """After an overflow: take out of the context what did not fit. Returns whether to make the request again."""
        messages = list(self._state.messages)
        drop_failed_turn(messages)
        self._overflows += 1
        if self._overflows > MOST_OVERFLOWS:
            return False
        is_first = self._overflows == 1
        before = self.window.tokens(messages)
        # The window may be smaller than the catalog says, or its server may count more than is guessed.
        self.window.refuse(before, 0.75 if is_first else 0.5)
        if is_first and self.settings.enabled:
            end = await self.run(CompactionReason.OVERFLOW, signal)
            if end is not None and (end.will_retry or end.aborted):
                return end.will_retry
        if not await self.fit.cut(messages):
            return False
        drop_failed_turn(self._state.messages)
        return not signal.aborted

    async def run(
        self, reason: CompactionReason, signal: AbortSignal, *, instructions: str = "", before_prompt: bool = False
    ) -> CompactionEndEvent | None:
        """Compact now. Returns what the event at its end says; None if there is nothing that could be gained.

        Failures are told in the event and not raised: the conversation can go on as it is.

        Args:
            instructions: what the summary shall attend to.
            before_prompt: whether a prompt is about to come, so that the one before it need not be kept.
        """
        try:
            leaf = self._leaf(reason)
            plan = self._plan(leaf, keep_prompt=not before_prompt)
        except SessionError as error:
            if reason != CompactionReason.MANUAL and error.code in ("nothing_to_compact", "already_compacted"):
                return None
            await self._emit(CompactionStartEvent(reason))
            return await self._end(CompactionEndEvent(reason=reason, error_message=str(error)))
        if not self._is_worth(reason, plan):
            return None
        before = self.window.tokens()
        await self._emit(CompactionStartEvent(reason, before, self.window.limit, plan.message_count))
        end = await self._compact(reason, signal, instructions, leaf, plan)
        return await self._end(replace(end, tokens_before=before, message_count=plan.message_count))

    async def prepare_next_turn(self, ended: PrepareNextTurnContext, signal: AbortSignal) -> AgentLoopTurnUpdate | None:
        """Between a tool batch and the next request: compact if the results fill the window."""
        goes_on = ended.message.tool_calls or bool(self._queues)
        if not goes_on or not self.is_due():
            return None
        work = asyncio.ensure_future(self.run(CompactionReason.THRESHOLD, signal))
        try:
            end = await asyncio.shield(work)
        except asyncio.CancelledError:
            # Aborted: the compaction hears of it by itself, and ends in order before the run does.
            await asyncio.wait([work])
            raise
        if end is None or end.summary is None:
            return None
        state = self._state
        return AgentLoopTurnUpdate(context=AgentContext(state.system_prompt, list(state.messages), list(state.tools)))

    def on_event(self, event: object, signal: object) -> None:
        match event:
            case MessageEndEvent(message=AssistantMessage() as message) if is_answer(message):
                self._compacted = False
                self._overflows = 0
                self.window.accept(message)
            case _:
                pass

    async def _end(self, event: CompactionEndEvent) -> CompactionEndEvent:
        if event.reason != CompactionReason.MANUAL:
            self._compacted = self._compacted or event.summary is not None
            self._failed = self._failed or event.summary is None
        await self._emit(event)
        return event

    async def _compact(
        self,
        reason: CompactionReason,
        signal: AbortSignal,
        instructions: str,
        leaf: str | None,
        plan: CompactionPlan,
    ) -> CompactionEndEvent:
        self.summarizer.take_spent()
        try:
            text = await self._summarize(plan, signal, instructions)
            if signal.aborted:
                raise Aborted
            text = with_file_lists(text, plan.files)
            self._check_gain(reason, plan, text)
            after = self._store(reason, leaf, plan, text)
        except Aborted:
            usage = bill(self.session, self.summarizer, "compaction", "aborted")
            return CompactionEndEvent(reason=reason, aborted=True, usage=usage)
        except AgentcliError as error:
            usage = bill(self.session, self.summarizer, "compaction", str(error))
            return CompactionEndEvent(reason=reason, error_message=str(error), usage=usage)
        except Exception as error:
            _log.exception("a compaction failed")
            usage = bill(self.session, self.summarizer, "compaction", type(error).__name__)
            return CompactionEndEvent(reason=reason, error_message=f"{type(error).__name__}: {error}", usage=usage)
        return CompactionEndEvent(
            reason=reason,
            summary=text,
            first_kept_entry_id=plan.first_kept_entry_id,
            tokens_after=after,
            usage=self.summarizer.take_spent(),
            will_retry=reason == CompactionReason.OVERFLOW,
        )

    def _is_worth(self, reason: CompactionReason, plan: CompactionPlan) -> bool:
        """Whether enough leaves the context. After an overflow: of what is not rather to be cut."""
        match reason:
            case CompactionReason.THRESHOLD:
                return plan.tokens * self.window.ratio >= self.window.limit * _WORTH
            case CompactionReason.OVERFLOW:
                messages = self._state.messages
                return (
                    plan.tokens * self.window.ratio >= self.window.estimate(messages[first_unseen(messages) :]) * _WORTH
                )
            case _:
                return True

    def _check_gain(self, reason: CompactionReason, plan: CompactionPlan, text: str) -> None:
        """Raises ProviderError if the summary is no shorter than what it stands for."""
        leaving = plan.tokens + sum(
            estimate_tokens(self.window.shown(message))
            for message in self._state.messages
            if isinstance(message, CompactionSummaryMessage)
        )
        size = estimate_tokens(CompactionSummaryMessage(text))
        most = leaving + _OVERFLOW_SLACK if reason == CompactionReason.OVERFLOW else int(leaving * _SHORTER)
        if reason != CompactionReason.MANUAL and size >= most:
            said = f"the summary is no shorter than what it stands for ({size:,} tokens for {leaving:,})"
            raise ProviderError(said, hint="try another model for it")

    def _store(self, reason: CompactionReason, leaf: str | None, plan: CompactionPlan, text: str) -> int:
        """Write the compaction, and go on from it. Returns the tokens of the context then."""
        state, session = self._state, self.session
        before = self.window.tokens()
        if leaf != session.leaf_id:
            session.move_to(leaf)
        session.append_compaction(
            text,
            plan.first_kept_entry_id,
            before,
            details={**asdict(plan.files), "reason": str(reason), "message_count": plan.message_count},
            usage=self.summarizer.spent,
            kept_prompt_id=plan.kept_prompt_id,
        )
        state.messages = context_messages(session.build_context())
        self.window.carry_over(state.messages)
        return self.window.tokens()

    def _leaf(self, reason: CompactionReason) -> str | None:
        """The entry that the compaction follows: the leaf, or after an overflow the one before the answer that failed.

        Raises:
            SessionError: the session lacks messages that could not be written.
        """
        self.recorder.flush()
        leaf = self.session.leaf_id
        if reason != CompactionReason.OVERFLOW:
            return leaf
        for head in reversed(self.session.storage.get_path(leaf)):
            match self.session.get_entry(head.id):
                case MessageEntry(message=AssistantMessage() as message) if not is_answer(message):
                    leaf = head.parent_id
                case MessageEntry(message=ToolResultMessage()):
                    pass
                case MessageEntry() | CompactionEntry():
                    break
                case _:
                    pass
        return leaf

    def _plan(self, leaf: str | None, *, keep_prompt: bool) -> CompactionPlan:
        path = self.session.storage.get_path_to_root_or_compaction(leaf)
        window = self.window
        keep = int(window.keep / window.ratio)
        most = int(max(window.limit - window.fixed, 0) * 3 / 4 / window.ratio)
        return plan_compaction(
            path, keep_recent=keep, most_kept=max(most, keep), keep_prompt=keep_prompt, shown=window.shown_like
        )

    async def _summarize(self, plan: CompactionPlan, signal: AbortSignal, instructions: str) -> str:
        """The history's summary, then that of the turn's beginning: one request at a time, for small local servers."""
        room = int(self.window.limit / self.window.ratio)
        texts: list[str] = []
        previous = without_file_lists(plan.previous_summary) if plan.previous_summary else None
        if plan.history:
            task = UPDATE if previous else HISTORY
            texts.append(
                await self.summarizer.summarize(
                    plan.history, task, signal, room=room, previous=previous, instructions=instructions
                )
            )
        elif previous:
            texts.append(previous)
        if plan.turn_prefix:
            summary = await self.summarizer.summarize(
                plan.turn_prefix, TURN_PREFIX, signal, room=room, instructions=instructions
            )
            texts.append(f"{TURN_PREFIX_HEADING}\n\n{summary}")
        return "\n\n".join(texts)
