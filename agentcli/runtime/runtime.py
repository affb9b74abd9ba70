"""Runtime: an agent that works in a folder, with its tools, its model and its session. What every face is built on."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

from msgspec import Struct

from agentcli.agent.abort import AbortController, Aborted, interruptible
from agentcli.agent.agent import Agent, Input, Listener
from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamFn, StreamOptions
from agentcli.agent.errors import AgentBusyError, ProviderError
from agentcli.agent.hooks import PrepareNextTurnContext
from agentcli.agent.messages import AgentMessage, AssistantMessage, ImageContent, StopReason, ToolResultMessage
from agentcli.agent.models import Model
from agentcli.agent.streaming import resolved
from agentcli.config.credentials import hidden_variables, key_variables, require_key
from agentcli.config.paths import home, sessions_folder
from agentcli.config.settings import Settings
from agentcli.providers.catalog import Catalog
from agentcli.providers.http import HttpClients
from agentcli.providers.stream_client import StreamClient
from agentcli.runtime.context_files import find_context_files
from agentcli.runtime.events import AgentSettledEvent, NoticeEvent, QueueUpdateEvent, RetryEndEvent, RetryStartEvent
from agentcli.runtime.model_choice import choose_model
from agentcli.runtime.recorder import SessionRecorder
from agentcli.runtime.repair import missing_results
from agentcli.runtime.retry import retry_delay, too_long_a_wait
from agentcli.runtime.session_choice import SessionChoice, open_session
from agentcli.runtime.system_prompt import build_system_prompt, prompt_parts
from agentcli.sessions.context import ModelChoice, SessionContext
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.tools.toolset import ToolOptions, Toolset, create_toolset


class RuntimeOptions(Struct, frozen=True, kw_only=True):
    settings: Settings = Settings()
    model: str | None = None
    """As `--model` takes it."""
    session: SessionChoice = SessionChoice()
    max_turns: int | None = None
    """Of one prompt; None is no limit."""
    stream_fn: StreamFn | None = None
    """Asks the model in place of the providers, for programs that bring their own."""


class Runtime:
    """Made by `Runtime.create`; `close()` it when done. It belongs to one event loop."""

    @classmethod
    def create(cls, options: RuntimeOptions = RuntimeOptions()) -> "Runtime":
        """Open the session, choose the model and make the tools. Nothing is sent or written yet.

        Raises:
            UsageError, ConfigError, SessionError: what was asked for cannot be had.
        """
        settings = options.settings
        session, cwd = open_session(options.session, JsonlSessionRepo(sessions_folder()))
        try:
            context = session.build_context()
            catalog = Catalog(settings.provider_overrides(), settings.models)
            decision = choose_model(catalog, settings, options.model, context)
        except BaseException:
            session.close()
            raise
        tool_options = ToolOptions(
            cwd=cwd,
            hidden_env=hidden_variables(catalog.provider(name) for name in settings.providers),
            extra_env={"AI_AGENT": "agentcli"},
            bash_timeout_s=settings.bash_timeout,
            spill_dir=home() / "spill" / session.id,
            image_input="image" in decision.model.input,
        )
        toolset = create_toolset(tool_options)
        context_files, file_notices = find_context_files(home(), cwd)
        client = StreamClient(HttpClients(key_source=lambda name: " or ".join(key_variables(catalog.provider(name)))))
        agent = Agent(
            model=decision.model,
            thinking_level=decision.thinking_level,
            stream_fn=client,
            system_prompt=build_system_prompt(prompt_parts(cwd, context_files)),
            tools=toolset.tools,
            messages=context.messages,
            steering_mode=settings.steering_mode,
            follow_up_mode=settings.follow_up_mode,
            session_id=session.id,
        )
        notices = [*settings.warnings, *getattr(session.storage, "notices", []), *file_notices]
        if decision.notice:
            notices.append(decision.notice)
        return cls(options, agent, SessionRecorder(agent, session), context, catalog, toolset, client, cwd, notices)

    def __init__(
        self,
        options: RuntimeOptions,
        agent: Agent,
        recorder: SessionRecorder,
        context: SessionContext,
        catalog: Catalog,
        toolset: Toolset,
        client: StreamClient,
        cwd: Path,
        notices: list[str],
    ) -> None:
        self.options = options
        self.agent = agent
        self.session = recorder.session
        self.catalog = catalog
        self.cwd = cwd
        self.notices = notices
        """What the person should know before the first prompt, a line each."""
        self.reached_max_turns = False
        """Whether the last prompt was stopped by `max_turns` with work left to do."""
        self._recorder = recorder
        self._recorded_model = context.model
        self._recorded_level = context.thinking_level
        self._toolset = toolset
        self._client = client
        self._controller = AbortController()
        self._working: asyncio.Task[None] | None = None
        self._turns = 0
        self._retries = 0
        """Of the request that failed last, so far."""
        self._failure: ProviderError | None = None
        agent.stream_fn = self._stream
        agent.get_api_key = self._key_for
        agent.should_stop_after_turn = self._is_last_turn
        agent.steering_queue.on_change = agent.follow_up_queue.on_change = self._queue_changed
        self._emitting: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is worked on, retries and their waits included."""
        return self._working is not None and not self._working.done()

    @property
    def last_message(self) -> AssistantMessage | None:
        """The last assistant message of the transcript."""
        messages = reversed(self.agent.state.messages)
        return next((message for message in messages if isinstance(message, AssistantMessage)), None)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event of the agent and of the runtime. Returns `unsubscribe`."""
        return self.agent.subscribe(listener)

    def require_ready(self) -> None:
        """Raises CredentialsError if the model needs a key and there is none."""
        self._key_for(self.agent.state.model.provider)

    def prompt(self, input: Input, images: Sequence[ImageContent] = ()) -> asyncio.Task[None]:
        """Work on a prompt until nothing automatic remains. It goes on by itself; await the task for its end.

        Raises:
            AgentBusyError: another prompt is worked on.
        """
        if self.is_busy:
            hint = "use steer() to reach this run, follow_up() to go on after it, or abort() first"
            raise AgentBusyError("prompt() while the agent is running", hint=hint)
        self._controller = AbortController()
        self._turns = 0
        self.reached_max_turns = False
        self._working = asyncio.ensure_future(self._work(input, images))
        return self._working

    def steer(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        return self.agent.steer(input, images)

    def follow_up(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        return self.agent.follow_up(input, images)

    def abort(self, reason: str = "aborted by the user") -> None:
        """Stop the run, or the wait before a retry. What is queued stays queued."""
        self._controller.abort(reason)
        self.agent.abort(reason)

    async def wait_for_idle(self) -> None:
        if self._working is not None:
            await asyncio.wait([self._working])

    async def close(self) -> None:
        """End what is running, the children included, and let go of files and connections."""
        self.abort("agentcli ended")
        await self.wait_for_idle()
        await self._toolset.close()
        await self._recorder.settle()
        await self._client.aclose()
        self.session.close()

    def kill_now(self) -> None:
        """Kill every child process at once, for an exit that cannot wait."""
        self._toolset.kill_now()

    async def _work(self, input: Input, images: Sequence[ImageContent]) -> None:
        self._prepare_session()
        await self._run(lambda: self.agent.prompt(input, images))
        await self._retry()
        while not self._is_over() and (queued := self._queued()):
            await self._run(lambda messages=queued: self.agent.prompt(messages))
            await self._retry()
        await self._recorder.settle()
        await self.agent.emit(AgentSettledEvent(self._controller.signal.aborted))

    def _queued(self) -> list[AgentMessage]:
        """What came too late for the run that just ended."""
        return self.agent.steering_queue.drain() or self.agent.follow_up_queue.drain()

    async def _run(self, start: Callable[[], asyncio.Task[None]]) -> None:
        run = start()
        if self._controller.signal.aborted:
            self.agent.abort(self._controller.signal.reason)
        await run

    def _is_over(self) -> bool:
        """Whether what is queued has to wait for the person: after an abort, a failure, or a limit."""
        failed = (message := self.last_message) is not None and message.stop_reason == StopReason.ERROR
        return self._controller.signal.aborted or failed or self.reached_max_turns

    async def _retry(self) -> None:
        """Try a failed request again, as often as the settings and the kind of failure allow."""
        while (message := self.last_message) and message.stop_reason == StopReason.ERROR:
            delay = retry_delay(self._failure, self._retries + 1, self.options.settings.retry)
            if delay is None or self._controller.signal.aborted:
                break
            self._retries += 1
            maximum = self.options.settings.retry.max_retries
            await self.agent.emit(RetryStartEvent(self._retries, maximum, delay, message.error_message or ""))
            if not await self._wait(delay):
                break
            self._drop_failed_turn()
            await self._run(self.agent.continue_)
        if wait := too_long_a_wait(self._failure, self.options.settings.retry):
            await self.notify(wait)
        await self._end_retries(success=False)

    async def _end_retries(self, *, success: bool) -> None:
        """The next failure is the first one again."""
        retries, self._retries = self._retries, 0
        if retries:
            error = self.last_message.error_message if self.last_message and not success else None
            await self.agent.emit(RetryEndEvent(success, retries, error))

    async def _wait(self, seconds: float) -> bool:
        """Wait; False if it was aborted."""
        try:
            with interruptible(self._controller.signal):
                await asyncio.sleep(seconds)
        except Aborted:
            return False
        return True

    def _drop_failed_turn(self) -> None:
        """Take the failed answer, and what answered its calls, out of the context. The session keeps them."""
        messages = self.agent.state.messages
        while messages and isinstance(messages[-1], AssistantMessage | ToolResultMessage):
            last = messages.pop()
            if isinstance(last, AssistantMessage):
                break

    def _prepare_session(self) -> None:
        """Before the first message: answer calls that a killed process left open, and note a change of model."""
        for result in missing_results(self.agent.state.messages):
            self.session.append_message(result)
            self.agent.state.messages.append(result)
        state = self.agent.state
        model = ModelChoice(state.model.provider, state.model.id)
        if self._recorded_model != model:
            self.session.append_model_change(model.provider, model.model_id)
            self._recorded_model = model
        if self._recorded_level != state.thinking_level:
            self.session.append_thinking_level_change(state.thinking_level)
            self._recorded_level = state.thinking_level

    async def _stream(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Ask the model, and remember how it failed: whether to retry is decided after the run."""
        self._failure = None
        try:
            stream_fn = self.options.stream_fn or self._client
            async for event in await resolved(stream_fn(model, context, options)):
                yield event
        except ProviderError as error:
            self._failure = error
            raise

    def _key_for(self, provider: str) -> str | None:
        return require_key(self.catalog.provider(provider))

    async def _is_last_turn(self, ended: PrepareNextTurnContext) -> bool:
        """Asked after each turn that did not fail."""
        await self._end_retries(success=True)
        self._turns += 1
        limit = self.options.max_turns
        if limit is None or self._turns < limit or not ended.message.tool_calls:
            return False
        self.reached_max_turns = True
        return True

    def _queue_changed(self) -> None:
        """Tell the listeners. The change itself is synchronous, so the telling is a task of its own."""
        steering = [item.message for item in self.agent.steering_queue.items]
        follow_up = [item.message for item in self.agent.follow_up_queue.items]
        task = asyncio.ensure_future(self.agent.emit(QueueUpdateEvent(steering, follow_up)))
        self._emitting.add(task)
        task.add_done_callback(self._emitting.discard)

    async def notify(self, text: str) -> None:
        """Tell every listener one line."""
        await self.agent.emit(NoticeEvent(text))
