"""One assistant message: from the conversation to a request, and from the model's stream to message events.

Nothing raises out of here but the cancellation of the whole task. Whatever fails, in a hook, in the provider or on the
way, becomes an assistant message with `stop_reason` `error` (or `aborted`) that holds what had streamed.
"""

import inspect
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, cast

import msgspec

from agentcli.agent.abort import Aborted, AbortSignal, interruptible
from agentcli.agent.assistant_events import (
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    StartEvent,
    TextDeltaEvent,
    ThinkingDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from agentcli.agent.call_ids import CallIds, with_ids
from agentcli.agent.context import AgentContext, Context, StreamFn
from agentcli.agent.errors import AgentcliError, BadResponseError
from agentcli.agent.events import AgentEvent, MessageEndEvent, MessageStartEvent, MessageUpdateEvent
from agentcli.agent.loop_config import AgentLoopConfig
from agentcli.agent.messages import AssistantMessage, StopReason
from agentcli.agent.partial import PartialMessage


async def resolved(value: Any) -> Any:
    """The value, awaited if it wants to be: hooks may be sync or async."""
    return await value if inspect.isawaitable(value) else value


class _Calls:
    """Gives the calls of one message ids that no other call of the conversation has.

    Args:
        taken: those of the conversation; it is read when there is a call.
    """

    def __init__(self, context: AgentContext, taken: CallIds) -> None:
        self._context = context
        self._taken = taken
        self._ids: dict[int, str] = {}

    def start(self, event: ToolCallStartEvent, partial: PartialMessage) -> ToolCallStartEvent:
        self._taken.read(self._context.messages)
        id = self._ids[event.content_index] = self._taken.assign(event.id)
        if id == event.id:
            return event
        partial.rename_call(event.content_index, id)
        return msgspec.structs.replace(event, id=id)

    def end(self, event: ToolCallEndEvent) -> ToolCallEndEvent:
        call, id = event.tool_call, self._ids.get(event.content_index)
        if id is None or id == call.id:
            return event
        return msgspec.structs.replace(event, tool_call=msgspec.structs.replace(call, id=id))

    def whole(self, message: AssistantMessage) -> AssistantMessage:
        if len(self._ids) < len(message.tool_calls):
            self._taken.read(self._context.messages)
        return with_ids(message, self._ids, self._taken)


async def stream_assistant_response(
    context: AgentContext,
    config: AgentLoopConfig,
    *,
    signal: AbortSignal,
    stream_fn: StreamFn,
    call_ids: CallIds | None = None,
) -> AsyncGenerator[AgentEvent, None]:
    """Ask the model once: `message_start`, `message_update`*, `message_end`. Does not touch `context`.

    Args:
        call_ids: what a run knows of the ids of the conversation's calls, so that each request need not find it out.
    """
    partial: PartialMessage | None = None
    calls = _Calls(context, call_ids or CallIds())
    waiting = interruptible(signal)
    failure: tuple[BaseException, StopReason]
    try:
        async with AsyncExitStack() as stack:
            with waiting:
                stream = await _open_stream(context, config, signal, stream_fn)
            if close := getattr(stream, "aclose", None):
                stack.push_async_callback(close)
            while True:
                with waiting:
                    event = await anext(stream)
                if signal.aborted:
                    raise Aborted
                match event:
                    case TextDeltaEvent() | ThinkingDeltaEvent() if partial is not None:
                        # Nearly all are these.
                        yield MessageUpdateEvent(partial, event)
                    case StartEvent():
                        partial = cast("PartialMessage", event.partial)
                        yield MessageStartEvent(partial.snapshot())
                    case DoneEvent() | ErrorEvent():
                        message = calls.whole(event.message if isinstance(event, DoneEvent) else event.error)
                        if partial is None:
                            yield MessageStartEvent(message)
                        yield MessageEndEvent(message)
                        return
                    case ToolCallStartEvent() if partial is not None:
                        yield MessageUpdateEvent(partial, calls.start(event, partial))
                    case ToolCallEndEvent() if partial is not None:
                        yield MessageUpdateEvent(partial, calls.end(event))
                    case _ if partial is not None:
                        yield MessageUpdateEvent(partial, event)
                    case _:
                        raise BadResponseError(f"the provider sent `{type(event).__name__}` before its start event")
    except Aborted:
        failure = (AgentcliError(signal.reason), StopReason.ABORTED)
    except StopAsyncIteration:
        failure = (BadResponseError("the answer stopped before its end"), StopReason.ERROR)
    except Exception as error:
        failure = (error, StopReason.ERROR)
    for event in _close(partial, config, *failure):
        yield event


async def _open_stream(
    context: AgentContext, config: AgentLoopConfig, signal: AbortSignal, stream_fn: StreamFn
) -> AsyncIterator[AssistantMessageEvent]:
    messages = context.messages
    if config.transform_context:
        messages = await resolved(config.transform_context(messages, signal))
    llm_context = Context(context.system_prompt, await resolved(config.convert_to_llm(messages)), context.tools)
    api_key = await resolved(config.get_api_key(config.model.provider)) if config.get_api_key else None
    options = msgspec.structs.replace(config, signal=signal, api_key=api_key or config.api_key)
    return aiter(await resolved(stream_fn(config.model, llm_context, options)))


def _close(
    partial: PartialMessage | None, config: AgentLoopConfig, error: BaseException, reason: StopReason
) -> list[AgentEvent]:
    """The events that end a message which did not end by itself."""
    events: list[AgentEvent] = []
    if partial is None:
        partial = PartialMessage(config.model)
        events.append(MessageStartEvent(partial.snapshot()))
    for event in partial.error(error, reason):
        events.append(
            MessageEndEvent(event.error) if isinstance(event, ErrorEvent) else MessageUpdateEvent(partial, event)
        )
    return events
