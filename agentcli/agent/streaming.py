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
from agentcli.agent.assistant_events import AssistantMessageEvent, DoneEvent, ErrorEvent, StartEvent
from agentcli.agent.context import AgentContext, Context, StreamFn
from agentcli.agent.errors import AgentcliError, BadResponseError
from agentcli.agent.events import AgentEvent, MessageEndEvent, MessageStartEvent, MessageUpdateEvent
from agentcli.agent.loop_config import AgentLoopConfig
from agentcli.agent.messages import StopReason
from agentcli.agent.partial import PartialMessage


async def resolved(value: Any) -> Any:
    """The value, awaited if it wants to be: hooks may be sync or async."""
    return await value if inspect.isawaitable(value) else value


async def stream_assistant_response(
    context: AgentContext, config: AgentLoopConfig, *, signal: AbortSignal, stream_fn: StreamFn
) -> AsyncGenerator[AgentEvent, None]:
    """Ask the model once: `message_start`, `message_update`*, `message_end`. Does not touch `context`."""
    partial: PartialMessage | None = None
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
                    case StartEvent():
                        partial = cast("PartialMessage", event.partial)
                        yield MessageStartEvent(partial.snapshot())
                    case DoneEvent() | ErrorEvent():
                        message = event.message if isinstance(event, DoneEvent) else event.error
                        if partial is None:
                            yield MessageStartEvent(message)
                        yield MessageEndEvent(message)
                        return
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
