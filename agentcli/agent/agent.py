"""Agent: the loop with a memory. It keeps the transcript and the queues, and tells its listeners what happens."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from agentcli.agent.abort import AbortController, AbortSignal
from agentcli.agent.context import AgentContext, StreamFn
from agentcli.agent.emitter import EventEmitter, Listener
from agentcli.agent.errors import AgentBusyError
from agentcli.agent.events import (
    AgentEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
)
from agentcli.agent.loop import check_can_continue, run_loop
from agentcli.agent.loop_config import AgentConfig, AgentLoopConfig
from agentcli.agent.messages import AgentMessage, AssistantMessage, ImageContent, user_message
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.agent.partial import PartialMessage
from agentcli.agent.queues import MessageQueues, PendingMessageQueue
from agentcli.agent.tools import AgentTool

__all__ = ["Agent", "AgentState", "Input", "Listener", "as_messages"]

Input = str | AgentMessage | Sequence[AgentMessage]


class AgentState(Struct, kw_only=True):
    """What an agent knows. Between runs everything but the last four fields may be set."""

    model: Model
    system_prompt: str = ""
    thinking_level: ThinkingLevel = ThinkingLevel.OFF
    tools: list[AgentTool] = []
    messages: list[AgentMessage] = []
    is_streaming: bool = False
    """Whether a run is going on; holds until the listeners of its `agent_end` are done."""
    streaming_message: PartialMessage | AssistantMessage | None = None
    pending_tool_calls: set[str] = set()
    """Ids of the calls that have started and not ended."""
    error_message: str | None = None
    """Of the last run, if it failed."""


class Agent:
    """Runs the loop on a transcript that it keeps.

    Args:
        state: model, system prompt, tools and transcript to begin with. It is kept, and changes as the agent works.
        stream_function: asks the model.
        config: hooks, and what every request is told.
        queues: of messages that wait for their moment.
        events: hands the events to the listeners.
    """

    def __init__(
        self,
        *,
        state: AgentState,
        stream_function: StreamFn,
        config: AgentConfig = AgentConfig(),
        queues: MessageQueues | None = None,
        events: EventEmitter | None = None,
    ) -> None:
        self.state = state
        self.stream_function = stream_function
        self.config = config
        self.queues: MessageQueues = MessageQueues() if queues is None else queues
        self.events: EventEmitter = EventEmitter() if events is None else events
        self.steering_queue: PendingMessageQueue = self.queues.steering
        self.follow_up_queue: PendingMessageQueue = self.queues.follow_up
        self._controller = AbortController()
        self._run: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a run goes on, the listeners of its last event included."""
        return self._run is not None and not self._run.done()

    @property
    def signal(self) -> AbortSignal:
        """The signal of the current run, or of the last one."""
        return self._controller.signal

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hand every event to `listener(event, signal)`, in order, after those who subscribed before; it is awaited.

        One that raises is logged and stops nothing. Returns `unsubscribe`.
        """
        return self.events.subscribe(listener)

    def prompt(self, input: Input, images: Sequence[ImageContent] = ()) -> asyncio.Task[None]:
        """Start a run with new messages. It goes on by itself; await the task for its end.

        What goes wrong in the run is in the transcript, not raised. Cancelling the task aborts the run in good order.

        Raises:
            AgentBusyError: a run is going on.
        """
        self._check_idle("prompt()")
        return self._start(as_messages(input, images))

    def continue_(self) -> asyncio.Task[None]:
        """Start a run from the transcript as it is.

        Raises:
            AgentBusyError: a run is going on.
            UsageError: the last message is the assistant's, or there is none.
        """
        self._check_idle("continue_()")
        check_can_continue(self.state.messages)
        return self._start([])

    def steer(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        """Queue a message for the next request of the run. Returns its id in `steering_queue`."""
        return self.steering_queue.enqueue(as_messages(input, images)[0])

    def follow_up(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        """Queue a message for when the run would end. Returns its id in `follow_up_queue`."""
        return self.follow_up_queue.enqueue(as_messages(input, images)[0])

    def has_queued_messages(self) -> bool:
        """Whether anything waits, in either queue."""
        return bool(self.queues)

    def clear_steering_queue(self) -> list[AgentMessage]:
        """Take back every steering message that waits, next first."""
        return self.steering_queue.clear()

    def clear_follow_up_queue(self) -> list[AgentMessage]:
        """Take back every follow-up that waits, next first."""
        return self.follow_up_queue.clear()

    def clear_all_queues(self) -> list[AgentMessage]:
        """Take back everything that waits: steering first, then follow-ups."""
        return [*self.steering_queue.clear(), *self.follow_up_queue.clear()]

    def abort(self, reason: str = "aborted by the user") -> None:
        """Stop the stream and the tools, and end the run without another turn. What is queued stays queued."""
        if self.is_running:
            self._controller.abort(reason)

    async def wait_for_idle(self) -> None:
        """Return when no run is going on."""
        while self._run is not None and not self._run.done():
            await asyncio.wait([self._run])

    def reset(self) -> None:
        """Forget the transcript and what is queued.

        Raises:
            AgentBusyError: a run is going on.
        """
        self._check_idle("reset()")
        self.clear_all_queues()
        self.state.messages = []
        self.state.error_message = None

    async def emit(self, event: Any) -> None:
        """Hand an event to the listeners, as the loop's own are. For layers above that add events of their own."""
        await self.events.emit(event)

    def _check_idle(self, call: str) -> None:
        if self.is_running:
            raise AgentBusyError(
                f"{call} while the agent is running",
                hint="use steer() to reach this run, follow_up() to go on after it, or abort() first",
            )

    def _context(self) -> AgentContext:
        return AgentContext(self.state.system_prompt, self.state.messages, self.state.tools)

    def _loop_config(self) -> AgentLoopConfig:
        fields = asdict(self.config)
        fields["prepare_next_turn"] = self.config.prepare_next_turn_with_context or self.config.prepare_next_turn
        fields["reasoning"] = self.state.thinking_level
        return AgentLoopConfig(
            model=self.state.model,
            get_steering_messages=self.steering_queue.drain,
            get_follow_up_messages=self.follow_up_queue.drain,
            **fields,
        )

    def _start(self, prompts: list[AgentMessage]) -> asyncio.Task[None]:
        self._controller = AbortController()
        self.events.signal = self.signal
        self.state.error_message = None
        self.state.is_streaming = True
        events = run_loop(prompts, self._context(), self._loop_config(), self.signal, self.stream_function)
        run = asyncio.ensure_future(self._drive(events))
        self._run = run
        return asyncio.ensure_future(self._supervise(run))

    async def _drive(self, events: AsyncGenerator[AgentEvent, None]) -> None:
        try:
            filter_events = self.config.filter_events or _unchanged
            async for happened in events:
                for event in filter_events(happened):
                    self._note(event)
                    await self.events.emit(event)
        finally:
            await events.aclose()
            self.state.is_streaming = False
            self.state.streaming_message = None
            self.state.pending_tool_calls = set()

    async def _supervise(self, run: asyncio.Task[None]) -> None:
        """Wait for the run; if the waiting is cancelled, end the run in order first."""
        try:
            await asyncio.shield(run)
        except asyncio.CancelledError:
            if not run.done():
                self.abort("cancelled")
                await asyncio.wait([run])
            raise

    def _note(self, event: AgentEvent) -> None:
        """Keep the state true to what the listeners are about to receive."""
        state = self.state
        match event:
            case MessageUpdateEvent():
                state.streaming_message = event.message
            case MessageStartEvent():
                if isinstance(event.message, AssistantMessage):
                    state.streaming_message = event.message
            case MessageEndEvent():
                state.messages.append(event.message)
                if isinstance(event.message, AssistantMessage):
                    state.streaming_message = None
                    state.error_message = event.message.error_message
            case ToolExecutionStartEvent():
                state.pending_tool_calls.add(event.tool_call_id)
            case ToolExecutionEndEvent():
                state.pending_tool_calls.discard(event.tool_call_id)
            case _:
                pass


def _unchanged(event: AgentEvent) -> tuple[AgentEvent]:
    return (event,)


def as_messages(input: Input, images: Sequence[ImageContent]) -> list[AgentMessage]:
    """What a caller wants to say, as messages."""
    if isinstance(input, str):
        return [user_message(input, images)]
    if isinstance(input, Sequence):
        return list(input)
    return [input]
