"""Wire: from a runtime's events to the lines that programs read, the same for `run --output events` and for RPC.

Nothing here grows with the length of the conversation: each line says what is new. What makes up the session is told
as it is kept: its header first, then every entry.
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from msgspec import Struct

from agentcli.agent.assistant_events import (
    AssistantMessageEvent,
    TextEndEvent,
    ThinkingEndEvent,
    ToolCallEndEvent,
)
from agentcli.agent.events import (
    AgentEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionUpdateEvent,
    TurnEndEvent,
)
from agentcli.agent.messages import AgentMessage, AssistantMessage, text_of
from agentcli.config.masking import hold_back, mask
from agentcli.headless.growing_text import GrowingText
from agentcli.headless.json_lines import JsonLines
from agentcli.headless.serialized_events import (
    AgentEnd,
    BashExecutionUpdate,
    Delta,
    EntryAppended,
    MessageStart,
    MessageUpdate,
    QueueUpdate,
    TextChange,
    TextEnd,
    ThinkingEnd,
    ToolCallEnd,
    ToolExecutionUpdate,
    TurnEnd,
)
from agentcli.runtime.events import (
    BashExecutionEndEvent,
    BashExecutionUpdateEvent,
    EntryAppendedEvent,
    QueueUpdateEvent,
)
from agentcli.runtime.runtime import Runtime
from agentcli.sessions.entries import Entry


class EventSerializer:
    """Args:
    runtime: whose events are written, from the session's header on, until `detach`.
    room: waits while the reader is slow; the agent waits with it.
    """

    def __init__(self, runtime: Runtime, lines: JsonLines, room: Callable[..., Awaitable[None]]) -> None:
        self._runtime = runtime
        self._lines = lines
        self._outputs: dict[str, GrowingText] = {}
        """By the id of the call, or of the command."""
        self._queued: dict[str, AgentMessage] = {}
        lines.write(runtime.session.header)
        runtime.session.storage.on_append = self._appended
        self._unsubscribe = [runtime.subscribe(self), runtime.subscribe(lambda event, signal: room(signal))]

    def __call__(self, event: Any, signal: object) -> None:
        for record in self._records(event):
            self._lines.write(record)

    def detach(self) -> None:
        """Write nothing more of this runtime."""
        self._runtime.session.storage.on_append = None
        for unsubscribe in self._unsubscribe:
            unsubscribe()

    def _appended(self, entry: Entry) -> None:
        self._lines.write(EntryAppended(entry))  # pyright: ignore[reportArgumentType]  # unknown kinds are only read

    def _records(self, event: Any) -> Iterator[Struct]:
        match event:
            case MessageUpdateEvent():
                yield from map(MessageUpdate, self._new(event.assistant_message_event))
            case MessageStartEvent():
                yield MessageStart(event.message.role)
            case ToolExecutionUpdateEvent():
                text = text_of(event.partial_result.content)
                yield ToolExecutionUpdate(event.tool_call_id, event.tool_name, self._output(event.tool_call_id, text))
            case ToolExecutionEndEvent():
                self._outputs.pop(event.tool_call_id, None)
                yield event
            case BashExecutionUpdateEvent():
                yield BashExecutionUpdate(event.id, self._output(event.id, event.output))
            case BashExecutionEndEvent():
                self._outputs.pop(event.id, None)
                yield event
            case TurnEndEvent():
                yield TurnEnd(event.message.stop_reason if isinstance(event.message, AssistantMessage) else None)
            case AgentEndEvent():
                yield AgentEnd()
            case QueueUpdateEvent():
                yield self._queue()
            case EntryAppendedEvent():
                return  # The storage has told it, with what it holds.
            case _:
                yield event

    def _new(self, event: AssistantMessageEvent) -> Iterator[Delta]:
        match event:
            case TextEndEvent():
                yield TextEnd(event.content_index)
            case ThinkingEndEvent():
                yield ThinkingEnd(event.content_index)
            case ToolCallEndEvent():
                yield ToolCallEnd(event.content_index)
            case _:
                yield event  # pyright: ignore[reportReturnType]  # the ends of whole messages are no updates

    def _output(self, id: str, text: str) -> TextChange:
        text = mask(text)
        return self._outputs.setdefault(id, GrowingText()).become(text[: len(text) - hold_back(text)])

    def _queue(self) -> QueueUpdate:
        """What waits at this moment, which may be later than the event: the next one says it again."""
        agent = self._runtime.agent
        steering, follow_up = agent.steering_queue.items, agent.follow_up_queue.items
        waiting = {item.id: item.message for item in [*steering, *follow_up]}
        new = {id: message for id, message in waiting.items() if self._queued.get(id) is not message}
        self._queued = waiting
        return QueueUpdate([item.id for item in steering], [item.id for item in follow_up], new)
