"""The loop: prompts, model, tools, again, until the model has nothing more to do. One generator of events.

```
agent_start
  turn_start
    message_start/message_end                       each prompt, steering or follow-up message
    message_start, message_update*, message_end     the assistant message
    tool_execution_start                            in source order, as each call is prepared
    tool_execution_update*
    tool_execution_end                              in completion order
    message_start/message_end                       each tool result, in source order, when all are done
  turn_end(message, tool_results)
  … more turns, each opened by its own turn_start
agent_end(messages)
```

It knows no config file, no session and no screen; `AgentLoopConfig` holds its collaborators.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import msgspec

from agentcli.agent.abort import Aborted, AbortSignal, interruptible
from agentcli.agent.assistant_events import ErrorEvent
from agentcli.agent.call_ids import CallIds
from agentcli.agent.context import AgentContext, StreamFn
from agentcli.agent.errors import UsageError
from agentcli.agent.event_stream import EventStream
from agentcli.agent.events import (
    AgentEndEvent,
    AgentEvent,
    AgentStartEvent,
    MessageEndEvent,
    MessageStartEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from agentcli.agent.hooks import AgentLoopTurnUpdate, GetMessages, PrepareNextTurnContext
from agentcli.agent.loop_config import AgentLoopConfig
from agentcli.agent.messages import AgentMessage, AssistantMessage, StopReason
from agentcli.agent.partial import PartialMessage
from agentcli.agent.streaming import resolved, stream_assistant_response
from agentcli.agent.tool_calls import ABORTED_TEXT, FAILED_TEXT, TRUNCATED_TEXT, ToolBatch

MAX_TRUNCATED_TURNS = 3
"""So many answers in a row whose calls were cut off by the output limit end the run: the next would not fit either."""

AgentStream = EventStream[AgentEvent, list[AgentMessage]]


def agent_loop(
    prompts: list[AgentMessage],
    context: AgentContext,
    config: AgentLoopConfig,
    *,
    stream_fn: StreamFn,
    signal: AbortSignal | None = None,
) -> AgentStream:
    """Start a run with new messages. Its result is what the run added, prompts included; `context` stays as it is."""
    return EventStream(run_loop(prompts, context, config, signal or AbortSignal(), stream_fn), _added)


def agent_loop_continue(
    context: AgentContext, config: AgentLoopConfig, *, stream_fn: StreamFn, signal: AbortSignal | None = None
) -> AgentStream:
    """Go on from the transcript as it is. Raises UsageError unless it ends with a user message or a tool result."""
    check_can_continue(context.messages)
    return EventStream(run_loop([], context, config, signal or AbortSignal(), stream_fn), _added)


def check_can_continue(messages: list[AgentMessage]) -> None:
    if not messages:
        raise UsageError("there is nothing to continue: the transcript is empty", hint="call prompt()")
    if isinstance(messages[-1], AssistantMessage):
        raise UsageError("the last message is the assistant's, so there is nothing to answer", hint="call prompt()")


def _added(event: AgentEvent) -> list[AgentMessage]:
    if not isinstance(event, AgentEndEvent):
        raise RuntimeError("the run was given up before its end")
    return event.messages


async def run_loop(
    prompts: list[AgentMessage],
    context: AgentContext,
    config: AgentLoopConfig,
    signal: AbortSignal,
    stream_fn: StreamFn,
) -> AsyncGenerator[AgentEvent, None]:
    """The events of a run: turns until nothing is left to do, calls to answer and steering first, then follow-ups.

    Args:
        prompts: new messages; none to go on from the transcript as it is.
    """
    run = _Run(context, config, signal)
    yield AgentStartEvent()
    yield TurnStartEvent()
    for event in run.take_in(prompts):
        yield event
    try:
        pending = await _poll(config.get_steering_messages)
        while not run.is_over:
            if not run.in_turn:
                run.in_turn = True
                yield TurnStartEvent()
            for event in run.take_in(pending):
                yield event
            async with aclosing(run.ask(stream_fn)) as events:
                async for event in events:
                    if isinstance(event, MessageEndEvent):
                        run.take_answer(event.message)
                    yield event
            batch = run.batch()
            async with aclosing(run.answer_calls(batch)) as events:
                async for event in events:
                    yield event
            yield run.end_turn(batch)
            if await run.is_last_turn(batch):
                break
            pending = await _poll(config.get_steering_messages)
            if not pending and not run.has_more_tool_calls:
                pending = await _poll(config.get_follow_up_messages)
                run.is_over = not pending
    except Exception as error:
        for event in run.fail(error):
            yield event
    yield AgentEndEvent(run.new_messages)


class _Run:
    """What one run carries from turn to turn."""

    def __init__(self, context: AgentContext, config: AgentLoopConfig, signal: AbortSignal) -> None:
        self.context = AgentContext(context.system_prompt, list(context.messages), list(context.tools))
        self.config = config
        self.signal = signal
        self.new_messages: list[AgentMessage] = []
        self.in_turn = True
        """Whether a turn_start waits for its turn_end."""
        self.has_more_tool_calls = True
        """Whether the calls of the last answer were run, so that the model has to read their results."""
        self.is_over = False
        self._answer: AssistantMessage | None = None
        """Of this turn."""
        self._truncated_turns = 0
        self._call_ids = CallIds()

    def take_in(self, messages: list[AgentMessage]) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        for message in messages:
            self._add(message)
            events += [MessageStartEvent(message), MessageEndEvent(message)]
        return events

    def ask(self, stream_fn: StreamFn) -> AsyncGenerator[AgentEvent, None]:
        """One answer of the model. Its end goes to `take_answer`."""
        if self.config.prepare_request:
            self._apply(self.config.prepare_request())
        return stream_assistant_response(
            self.context, self.config, signal=self.signal, stream_fn=stream_fn, call_ids=self._call_ids
        )

    def take_answer(self, message: AgentMessage) -> None:
        self._answer = cast("AssistantMessage", message)
        self._add(message)

    def batch(self) -> ToolBatch:
        """The calls of the answer."""
        assert self._answer is not None, "every stream ends with its message"
        return ToolBatch(self._answer, self.context, self.config, self.signal)

    def answer_calls(self, batch: ToolBatch) -> AsyncGenerator[AgentEvent, None]:
        """The results of a message's calls. What was cut off, at the limit or by a failure, never runs."""
        match batch.message.stop_reason:
            case StopReason.ABORTED:
                return batch.refuse(ABORTED_TEXT, run=False)
            case StopReason.ERROR:
                return batch.refuse(FAILED_TEXT, run=False)
            case StopReason.LENGTH:
                return batch.refuse(TRUNCATED_TEXT)
            case _:
                return batch.run()

    def end_turn(self, batch: ToolBatch) -> TurnEndEvent:
        for result in batch.messages:
            self._add(result)
        self.in_turn = False
        self.has_more_tool_calls = bool(batch.calls) and not batch.terminate
        return TurnEndEvent(batch.message, batch.messages)

    async def is_last_turn(self, batch: ToolBatch) -> bool:
        """Let the caller prepare the next turn, and ask whether there is to be one."""
        message = batch.message
        if message.stop_reason in (StopReason.ERROR, StopReason.ABORTED) or self.signal.aborted:
            return True
        truncated = message.stop_reason == StopReason.LENGTH and bool(batch.calls)
        self._truncated_turns = self._truncated_turns + 1 if truncated else 0
        ended = PrepareNextTurnContext(message, batch.messages, self.context, self.new_messages)
        try:
            with interruptible(self.signal):
                if self.config.prepare_next_turn:
                    self._apply(await resolved(self.config.prepare_next_turn(ended, self.signal)))
                if self.config.should_stop_after_turn and await resolved(self.config.should_stop_after_turn(ended)):
                    return True
        except Aborted:
            return True
        return self._truncated_turns >= MAX_TRUNCATED_TURNS or self.signal.aborted

    def _apply(self, update: AgentLoopTurnUpdate | None) -> None:
        if update is None:
            return
        if update.context is not None:
            self.context = update.context
        if update.tools is not None:
            self.context.tools = list(update.tools)
        if update.model is not None:
            self.config = msgspec.structs.replace(self.config, model=update.model)
        if update.thinking_level is not None:
            self.config = msgspec.structs.replace(self.config, reasoning=update.thinking_level)

    def fail(self, error: Exception) -> list[AgentEvent]:
        """Close the run after a hook between two turns raised: the error is the last assistant message."""
        events: list[AgentEvent] = [] if self.in_turn else [TurnStartEvent()]
        ending = PartialMessage(self.config.model).error(error)[-1]
        assert isinstance(ending, ErrorEvent)
        self._add(ending.error)
        events += [MessageStartEvent(ending.error), MessageEndEvent(ending.error), TurnEndEvent(ending.error, [])]
        return events

    def _add(self, message: AgentMessage) -> None:
        self.context.messages.append(message)
        self.new_messages.append(message)


async def _poll(get_messages: GetMessages | None) -> list[AgentMessage]:
    return list(await resolved(get_messages())) if get_messages else []
