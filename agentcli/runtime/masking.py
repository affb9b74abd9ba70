"""Masking of what a runtime passes on: what tools say, while it grows and when it is done, and what models say."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from agentcli.agent.assistant_events import (
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    TextDeltaEvent,
    TextEndEvent,
    ThinkingDeltaEvent,
    ThinkingEndEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
)
from agentcli.agent.errors import AgentcliError, ToolError
from agentcli.agent.events import AgentEndEvent, AgentEvent, MessageEndEvent, MessageUpdateEvent, TurnEndEvent
from agentcli.agent.messages import AgentMessage, AssistantMessage, StopReason
from agentcli.agent.partial import PartialMessage
from agentcli.agent.streaming import resolved
from agentcli.agent.tools import AgentTool, AgentToolResult, OnUpdate
from agentcli.config.masking import hold_back, holds_key, mask, mask_data


class MaskedText:
    """A text that grows piece by piece, with every known key taken out before anybody sees it.

    What may be the beginning of a key waits until it is known whether it is one.
    """

    def __init__(self) -> None:
        self._held = ""

    def add(self, delta: str) -> str:
        """What can be shown now of the text so far and its next piece; empty if all of it has to wait."""
        text = mask(self._held + delta)
        shown = len(text) - hold_back(text)
        self._held = text[shown:]
        return text[:shown]

    def end(self) -> str:
        """What had to wait: the text goes no further, so it was no key."""
        held, self._held = self._held, ""
        return held


class MaskedEvents:
    """The events of an agent with every known key taken out: in deltas, and in answers that were cut off.

    Whole answers and results are masked before the loop has them: `masked_end`, `masked_tool`.
    """

    def __init__(self) -> None:
        self._texts: dict[int, MaskedText] = {}
        """By content index, of the blocks that are open."""
        self._cut_off: tuple[AgentMessage | None, AgentMessage | None] = (None, None)
        """The last answer that was cut off, as it was and as it is shown."""

    def __call__(self, event: AgentEvent) -> Iterable[AgentEvent]:
        """What is emitted for an event: nothing while a delta has to wait."""
        match event:
            case MessageUpdateEvent(
                assistant_message_event=TextDeltaEvent() | ThinkingDeltaEvent() | ToolCallDeltaEvent()
            ):
                return self._delta(event)
            case MessageUpdateEvent(assistant_message_event=TextEndEvent() as end):
                return self._end(event.message, end, TextDeltaEvent)
            case MessageUpdateEvent(assistant_message_event=ThinkingEndEvent() as end):
                return self._end(event.message, end, ThinkingDeltaEvent)
            case MessageUpdateEvent(assistant_message_event=ToolCallEndEvent() as end):
                return self._end(event.message, end, ToolCallDeltaEvent)
            case MessageEndEvent(message=AssistantMessage(stop_reason=StopReason.ERROR | StopReason.ABORTED)):
                self._cut_off = (event.message, mask_data(event.message))
                return (MessageEndEvent(self._shown(event.message)),)
            case TurnEndEvent():
                return (TurnEndEvent(self._shown(event.message), event.tool_results),)
            case AgentEndEvent():
                return (AgentEndEvent([self._shown(message) for message in event.messages]),)
            case _:
                return (event,)

    def _shown(self, message: AgentMessage) -> Any:
        raw, masked = self._cut_off
        return masked if message is raw else message

    def _delta(self, event: MessageUpdateEvent) -> Iterable[AgentEvent]:
        delta: Any = event.assistant_message_event
        text = self._texts.get(delta.content_index)
        if text is None:
            text = self._texts[delta.content_index] = MaskedText()
        shown = text.add(delta.delta)
        if shown == delta.delta:
            return (event,)
        return (MessageUpdateEvent(event.message, replace(delta, delta=shown)),) if shown else ()

    def _end(self, message: PartialMessage, end: Any, kind: type[Any]) -> Iterable[AgentEvent]:
        text = self._texts.pop(end.content_index, None)
        if text is not None and (held := text.end()):
            yield MessageUpdateEvent(message, kind(end.content_index, held))
        yield MessageUpdateEvent(message, mask_data(end))


def masked_end(event: AssistantMessageEvent) -> AssistantMessageEvent:
    """The end of an answer with every known key taken out of the message; other events as they are."""
    match event:
        case DoneEvent():
            return replace(event, message=mask_data(event.message))
        case ErrorEvent():
            return replace(event, error=mask_data(event.error))
        case _:
            return event


def masked_error(error: AgentcliError) -> AgentcliError:
    """The error, with every known key taken out of what it says."""
    error.message, error.hint = mask(error.message), mask(error.hint)
    return error


def masked_tool(tool: AgentTool) -> AgentTool:
    """The tool, with every known key taken out of what it says."""

    async def execute(
        tool_call_id: str, params: dict[str, Any], signal: Any, on_update: OnUpdate | None = None, context: Any = None
    ) -> AgentToolResult:
        def show(partial: AgentToolResult) -> None:
            if on_update is not None:
                on_update(mask_data(partial))

        try:
            result = await resolved(tool.execute(tool_call_id, params, signal, show, context))
        except Exception as error:
            if holds_key(str(error)):
                raise ToolError(mask(str(error))) from None
            raise
        return mask_data(result)

    return replace(tool, execute=execute)
