"""Agent: the loop with a memory. It keeps the transcript and the queues, and tells its listeners what happens."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from agentcli.agent.abort import AbortController, AbortSignal
from agentcli.agent.context import AgentContext, StreamFn
from agentcli.agent.convert import convert_to_llm
from agentcli.agent.errors import AgentBusyError
from agentcli.agent.events import (
    AgentEndEvent,
    AgentEvent,
    MessageEndEvent,
    MessageStartEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
)
from agentcli.agent.hooks import (
    AfterToolCall,
    BeforeToolCall,
    ConvertToLlm,
    GetApiKey,
    PrepareNextTurn,
    ShouldStopAfterTurn,
    TransformContext,
)
from agentcli.agent.loop import AgentStream, agent_loop, agent_loop_continue, check_can_continue
from agentcli.agent.loop_config import AgentLoopConfig
from agentcli.agent.messages import AgentMessage, AssistantMessage, ImageContent, user_message
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.agent.partial import PartialMessage
from agentcli.agent.queues import PendingMessageQueue, QueueMode
from agentcli.agent.streaming import resolved
from agentcli.agent.tools import AgentTool, ToolExecutionMode

Listener = Callable[[Any, AbortSignal], Awaitable[None] | None]
"""Called with each event and the signal of the run that it belongs to."""

Input = str | AgentMessage | Sequence[AgentMessage]

_log = logging.getLogger("agentcli.agent")


class AgentState(Struct):
    """What an agent knows. Between runs everything but the last four fields may be set."""

    system_prompt: str
    model: Model
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
    """Args:
    model: who answers.
    stream_function: how it is asked.
    options: what every request is told beside the rest: fields of `AgentLoopConfig` by name (`session_id`,
        `thinking_budgets`, `transport`, `max_retry_delay_ms`, `on_payload`, `on_response`, `max_tokens` …).

    The hooks are described in `agent.hooks`. `prepare_next_turn_with_context` is the later name of
    `prepare_next_turn` and is asked in its place if both are given.
    """

    def __init__(
        self,
        *,
        model: Model,
        stream_function: StreamFn,
        system_prompt: str = "",
        thinking_level: ThinkingLevel = ThinkingLevel.OFF,
        tools: Sequence[AgentTool] = (),
        messages: Sequence[AgentMessage] = (),
        steering_mode: QueueMode = QueueMode.ONE_AT_A_TIME,
        follow_up_mode: QueueMode = QueueMode.ONE_AT_A_TIME,
        tool_execution: ToolExecutionMode = ToolExecutionMode.PARALLEL,
        convert_to_llm: ConvertToLlm = convert_to_llm,
        transform_context: TransformContext | None = None,
        get_api_key: GetApiKey | None = None,
        before_tool_call: BeforeToolCall | None = None,
        after_tool_call: AfterToolCall | None = None,
        should_stop_after_turn: ShouldStopAfterTurn | None = None,
        prepare_next_turn: PrepareNextTurn | None = None,
        prepare_next_turn_with_context: PrepareNextTurn | None = None,
        **options: Any,
    ) -> None:
        self.state = AgentState(system_prompt, model, thinking_level, list(tools), list(messages))
        self.stream_function = stream_function
        self.steering_queue = PendingMessageQueue(QueueMode(steering_mode))
        self.follow_up_queue = PendingMessageQueue(QueueMode(follow_up_mode))
        self.tool_execution = ToolExecutionMode(tool_execution)
        self.convert_to_llm = convert_to_llm
        self.transform_context = transform_context
        self.get_api_key = get_api_key
        self.before_tool_call = before_tool_call
        self.after_tool_call = after_tool_call
        self.should_stop_after_turn = should_stop_after_turn
        self.prepare_next_turn = prepare_next_turn
        self.prepare_next_turn_with_context = prepare_next_turn_with_context
        self.options = options
        self._listeners: dict[object, Listener] = {}
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
        key = object()
        self._listeners[key] = listener

        def unsubscribe() -> None:
            self._listeners.pop(key, None)

        return unsubscribe

    def prompt(self, input: Input, images: Sequence[ImageContent] = ()) -> asyncio.Task[None]:
        """Start a run with new messages. It goes on by itself; await the task for its end.

        What goes wrong in the run is in the transcript, not raised. Cancelling the task aborts the run in good order.

        Raises:
            AgentBusyError: a run is going on.
        """
        self._check_idle("prompt()")
        prompts = as_messages(input, images)
        return self._start(lambda config: agent_loop(
            prompts, self._context(), config, stream_fn=self.stream_function, signal=self.signal
        ))  # fmt: skip

    def continue_(self) -> asyncio.Task[None]:
        """Start a run from the transcript as it is.

        Raises:
            AgentBusyError: a run is going on.
            UsageError: the last message is the assistant's, or there is none.
        """
        self._check_idle("continue_()")
        check_can_continue(self.state.messages)
        return self._start(lambda config: agent_loop_continue(
            self._context(), config, stream_fn=self.stream_function, signal=self.signal
        ))  # fmt: skip

    def steer(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        """Queue a message for the next request of the run. Returns its id in `steering_queue`."""
        return self.steering_queue.enqueue(as_messages(input, images)[0])

    def follow_up(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        """Queue a message for when the run would end. Returns its id in `follow_up_queue`."""
        return self.follow_up_queue.enqueue(as_messages(input, images)[0])

    def has_queued_messages(self) -> bool:
        """Whether anything waits, in either queue."""
        return bool(self.steering_queue) or bool(self.follow_up_queue)

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
        """Hand an event to the listeners, as the loop's own are. For floors above that add events of their own."""
        for listener in list(self._listeners.values()):
            try:
                result = listener(event, self.signal)
                if result is not None:
                    await resolved(result)
            except Exception:
                _log.exception("a listener failed on %s", type(event).__name__)

    def _check_idle(self, call: str) -> None:
        if self.is_running:
            raise AgentBusyError(
                f"{call} while the agent is running",
                hint="use steer() to reach this run, follow_up() to go on after it, or abort() first",
            )

    def _context(self) -> AgentContext:
        return AgentContext(self.state.system_prompt, self.state.messages, self.state.tools)

    def _config(self) -> AgentLoopConfig:
        return AgentLoopConfig(
            model=self.state.model,
            reasoning=self.state.thinking_level,
            tool_execution=self.tool_execution,
            convert_to_llm=self.convert_to_llm,
            transform_context=self.transform_context,
            get_api_key=self.get_api_key,
            get_steering_messages=self.steering_queue.drain,
            get_follow_up_messages=self.follow_up_queue.drain,
            before_tool_call=self.before_tool_call,
            after_tool_call=self.after_tool_call,
            should_stop_after_turn=self.should_stop_after_turn,
            prepare_next_turn=self.prepare_next_turn_with_context or self.prepare_next_turn,
            **self.options,
        )

    def _start(self, open_stream: Callable[[AgentLoopConfig], AgentStream]) -> asyncio.Task[None]:
        self._controller = AbortController()
        self.state.error_message = None
        self.state.is_streaming = True
        run = asyncio.ensure_future(self._drive(open_stream(self._config())))
        self._run = run
        return asyncio.ensure_future(self._supervise(run))

    async def _drive(self, stream: AgentStream) -> None:
        try:
            async for event in stream:
                self._note(event)
                await self.emit(event)
        finally:
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
        """Keep the state true to what the listeners are about to hear."""
        state = self.state
        match event:
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
            case AgentEndEvent():
                pass
            case _:
                partial = getattr(event, "message", None)
                if isinstance(partial, PartialMessage):
                    state.streaming_message = partial


def as_messages(input: Input, images: Sequence[ImageContent]) -> list[AgentMessage]:
    """What a caller wants to say, as messages."""
    if isinstance(input, str):
        return [user_message(input, images)]
    if isinstance(input, Sequence):
        return list(input)
    return [input]
