"""Compactor: when a conversation is compacted, and how. `sessions.compaction` plans it, `summarizer` has it written.

A compaction is whole or it never was: until its summary is there, and unless it can be kept, session and agent stay as
they are.
"""

import asyncio
import logging
from collections.abc import Sequence
from enum import StrEnum

from msgspec.structs import asdict

from agentcli.agent.abort import Aborted, AbortSignal
from agentcli.agent.agent import Agent
from agentcli.agent.context import AgentContext
from agentcli.agent.errors import AgentcliError, SessionError
from agentcli.agent.hooks import AgentLoopTurnUpdate, PrepareNextTurnContext
from agentcli.agent.messages import AgentMessage, AssistantMessage, StopReason, ToolResultMessage, Usage
from agentcli.config.settings import CompactionSettings
from agentcli.runtime.events import CompactionEndEvent, CompactionStartEvent
from agentcli.runtime.recorder import SessionRecorder
from agentcli.runtime.summarizer import Summarizer, Summary, add_usage
from agentcli.runtime.summary_prompts import HISTORY, TURN_PREFIX, TURN_PREFIX_HEADING, UPDATE
from agentcli.runtime.token_estimate import ContextTokens, messages_to_go_on_with
from agentcli.sessions.compaction import CompactionPlan, plan_compaction
from agentcli.sessions.compaction_files import with_file_lists, without_file_lists
from agentcli.sessions.entries import MessageEntry
from agentcli.sessions.token_estimate import estimate_all

_log = logging.getLogger("agentcli.runtime")

_NEARLY_FULL = 0.99
"""An answer that is cut off before its first token, with so much of the window used, is an overflow."""


class CompactionReason(StrEnum):
    MANUAL = "manual"
    THRESHOLD = "threshold"
    OVERFLOW = "overflow"


class Compactor:
    """One at a time: the caller sees to that.

    Args:
        recorder: what writes the agent's messages into the session.
    """

    def __init__(
        self, agent: Agent, recorder: SessionRecorder, summarizer: Summarizer, settings: CompactionSettings
    ) -> None:
        self.agent = agent
        self.recorder = recorder
        self.session = recorder.session
        self.summarizer = summarizer
        self.settings = settings
        self._tokens = ContextTokens()
        self._failed = False
        """Whether an automatic compaction failed in this prompt: it is not tried again and again."""

    @property
    def reserve(self) -> int:
        """Tokens that stay free for the answer: what the settings say, but no more than half of the window."""
        return min(self.settings.reserve_tokens, self.agent.state.model.context_window // 2)

    @property
    def limit(self) -> int:
        """Tokens that a context may have without being compacted."""
        return self.agent.state.model.context_window - self.reserve

    def begin_prompt(self) -> None:
        self._failed = False

    def is_due(self, coming: Sequence[AgentMessage] = ()) -> bool:
        """Whether the context, with what is about to come, leaves less than the reserve."""
        if not self.settings.enabled or self._failed:
            return False
        return self.tokens() + estimate_all(coming) > self.limit

    def tokens(self) -> int:
        state = self.agent.state
        return self._tokens.of(state.messages, state.system_prompt, state.tools)

    def is_overflow(self, message: AssistantMessage | None) -> bool:
        """Whether an answer failed because the request did not fit into the window."""
        if message is None or not self.settings.enabled:
            return False
        if message.stop_reason == StopReason.ERROR:
            return message.error_kind == "overflow"
        used = message.usage.input + message.usage.cache_read + message.usage.cache_write
        nothing_said = message.stop_reason == StopReason.LENGTH and not message.usage.output and not message.content
        return nothing_said and used >= self.agent.state.model.context_window * _NEARLY_FULL

    async def run(
        self, reason: CompactionReason, signal: AbortSignal, *, instructions: str = ""
    ) -> CompactionEndEvent | None:
        """Compact now. Returns what the event at its end says; None if there is nothing that could be compacted.

        Failures are told in the event and not raised: the conversation can go on as it is.
        """
        try:
            leaf = await self._leaf(reason)
            plan = self._plan(leaf, reason)
        except SessionError as error:
            if reason == CompactionReason.THRESHOLD and error.code in ("nothing_to_compact", "already_compacted"):
                return None
            await self.agent.emit(CompactionStartEvent(reason))
            return await self._end(CompactionEndEvent(reason=reason, error_message=str(error)))
        await self.agent.emit(CompactionStartEvent(reason))
        return await self._end(await self._compact(reason, signal, instructions, leaf, plan))

    async def prepare_next_turn(self, ended: PrepareNextTurnContext, signal: AbortSignal) -> AgentLoopTurnUpdate | None:
        """Between a tool batch and the next request: compact if the results fill the window."""
        goes_on = ended.message.tool_calls or self.agent.has_queued_messages()
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
        state = self.agent.state
        return AgentLoopTurnUpdate(context=AgentContext(state.system_prompt, list(state.messages), list(state.tools)))

    async def _end(self, event: CompactionEndEvent) -> CompactionEndEvent:
        self._failed = self._failed or (event.summary is None and event.reason != CompactionReason.MANUAL)
        await self.agent.emit(event)
        return event

    async def _compact(
        self,
        reason: CompactionReason,
        signal: AbortSignal,
        instructions: str,
        leaf: str | None,
        plan: CompactionPlan,
    ) -> CompactionEndEvent:
        before = self.tokens()
        try:
            summary = await self._summarize(plan, signal, instructions)
            if signal.aborted:
                raise Aborted
            text = with_file_lists(summary.text, plan.files)
            if leaf != self.session.leaf_id:
                self.session.move_to(leaf)
            details = asdict(plan.files)
            kept = plan.first_kept_entry_id
            self.session.append_compaction(text, kept, before, details=details, usage=summary.usage)
        except Aborted:
            return CompactionEndEvent(reason=reason, aborted=True)
        except AgentcliError as error:
            return CompactionEndEvent(reason=reason, error_message=str(error))
        except Exception as error:
            _log.exception("a compaction failed")
            return CompactionEndEvent(reason=reason, error_message=f"{type(error).__name__}: {error}")
        self.agent.state.messages = messages_to_go_on_with(self.session.build_context())
        return CompactionEndEvent(
            reason=reason,
            summary=text,
            first_kept_entry_id=kept,
            tokens_before=before,
            tokens_after=self.tokens(),
            usage=summary.usage,
            will_retry=reason == CompactionReason.OVERFLOW,
        )

    async def _leaf(self, reason: CompactionReason) -> str | None:
        """The entry that the compaction follows: the leaf, or after an overflow the one before the answer that failed.

        Raises:
            SessionError: the session lacks messages that could not be written.
        """
        self.recorder.flush()
        leaf = self.session.leaf_id
        if reason != CompactionReason.OVERFLOW:
            return leaf
        for head in reversed(self.session.storage.get_path(leaf)):
            entry = self.session.get_entry(head.id)
            if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
                return head.parent_id
            if not (isinstance(entry, MessageEntry) and isinstance(entry.message, ToolResultMessage)):
                break
        return leaf

    def _plan(self, leaf: str | None, reason: CompactionReason) -> CompactionPlan:
        path = self.session.storage.get_path_to_root_or_compaction(leaf)
        keep = min(self.settings.keep_recent_tokens, self.limit // 2)
        if reason == CompactionReason.OVERFLOW:
            # The window may be smaller than the catalog says: keep half of what did not fit, at most.
            keep = min(keep, self.tokens() // 2)
        return plan_compaction(path, keep_recent=keep, most_kept=max(self.limit * 3 // 4, keep))

    async def _summarize(self, plan: CompactionPlan, signal: AbortSignal, instructions: str) -> Summary:
        """The history's summary, then that of the turn's beginning: one request at a time, for small local servers."""
        texts: list[str] = []
        usage = Usage()
        previous = without_file_lists(plan.previous_summary) if plan.previous_summary else None
        if plan.history:
            task = UPDATE if previous else HISTORY
            summary = await self.summarizer.summarize(
                plan.history, task, signal, room=self.limit, previous=previous, instructions=instructions
            )
            texts.append(summary.text)
            usage = add_usage(usage, summary.usage)
        elif previous:
            texts.append(previous)
        if plan.turn_prefix:
            summary = await self.summarizer.summarize(
                plan.turn_prefix, TURN_PREFIX, signal, room=self.limit, instructions=instructions
            )
            texts.append(f"{TURN_PREFIX_HEADING}\n\n{summary.text}")
            usage = add_usage(usage, summary.usage)
        return Summary("\n\n".join(texts), usage)
