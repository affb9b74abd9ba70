"""Runtime: an agent that works in a folder, with its tools, its model and its session. What every face is built on."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from agentcli.agent.abort import AbortController, AbortSignal
from agentcli.agent.agent import Input, Listener, as_messages
from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import AgentBusyError, AuthError, ConfigError, ProviderError, SessionError
from agentcli.agent.hooks import PrepareNextTurnContext
from agentcli.agent.messages import AgentMessage, AssistantMessage, ImageContent, StopReason
from agentcli.agent.models import Model
from agentcli.agent.streaming import resolved
from agentcli.config.credentials import forget_key, is_quick, require_key
from agentcli.config.masking import mask, mask_data
from agentcli.config.paths import home, make_private, sessions_folder
from agentcli.config.settings import PermissionMode
from agentcli.runtime.compaction import CompactionReason, Compactor
from agentcli.runtime.events import (
    AgentSettledEvent,
    CompactionEndEvent,
    NoticeEvent,
    QueueUpdateEvent,
    SessionMovedEvent,
)
from agentcli.runtime.foundation import Foundation, lay_foundation
from agentcli.runtime.masking import masked_end, masked_error
from agentcli.runtime.navigation import Moved, adopt_context, move
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.refused_images import RefusedImages
from agentcli.runtime.repair import drop_failed_turn, missing_results
from agentcli.runtime.retries import Retries
from agentcli.runtime.summarizer import Summarizer
from agentcli.sessions.context import ModelChoice, SessionContext
from agentcli.tools.orphans import end_orphans

if TYPE_CHECKING:
    from agentcli.runtime.slash_commands import SlashCommand

T = TypeVar("T")


class Runtime:
    """Made by `Runtime.create`; `close()` it when done. It belongs to one event loop."""

    @classmethod
    def create(cls, options: RuntimeOptions = RuntimeOptions()) -> "Runtime":
        """Open the session, choose the model and make the tools. Nothing is sent or written yet.

        Raises:
            UsageError, ConfigError, SessionError: what was asked for cannot be had.
        """
        return cls(lay_foundation(options))

    def __init__(self, foundation: Foundation) -> None:
        options, agent = foundation.options, foundation.agent
        recorder, context = foundation.recorder, foundation.context
        self.options = options
        self.agent = agent
        self.session = recorder.session
        self.catalog = foundation.catalog
        self.cwd = foundation.cwd
        self.notices = foundation.notices
        """What the person should know before the first prompt, a line each."""
        self.reached_max_turns = False
        """Whether the last prompt was stopped by `max_turns` with work left to do."""
        self._recorder = recorder
        self._recorded_model = context.model
        self._recorded_level = context.thinking_level
        self._additions = foundation.additions
        self._toolset = foundation.toolset
        self._client = foundation.client
        self._controller = AbortController()
        self._working: asyncio.Task[Any] | None = None
        self._turns = 0
        self._retries = Retries(agent, options.settings.retry)
        self._summarizer = Summarizer(agent, options.settings.retry, asks_providers=options.stream_fn is None)
        self._compactor = Compactor(agent, recorder, self._summarizer, options.settings.compaction)
        self._images = RefusedImages(foundation.recorder.session, agent.convert_to_llm)
        agent.convert_to_llm = self._images.convert_to_llm
        agent.stream_function = self._stream
        agent.prepare_next_turn = self._compactor.prepare_next_turn
        agent.get_api_key = self._key_for
        agent.should_stop_after_turn = self._is_last_turn
        agent.steering_queue.on_change = agent.follow_up_queue.on_change = self._queue_changed
        self._emitting: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is worked on, retries and their waits included."""
        return self._working is not None and not self._working.done()

    @property
    def is_stored(self) -> bool:
        """Whether everything that was said is in the session; False after a failure to write that still lasts."""
        return self._recorder.is_complete

    @property
    def last_message(self) -> AssistantMessage | None:
        """The last assistant message of the transcript."""
        messages = reversed(self.agent.state.messages)
        return next((message for message in messages if isinstance(message, AssistantMessage)), None)

    @property
    def context_tokens(self) -> int:
        """About how many tokens the next request has, without what is said next."""
        return self._compactor.tokens()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event of the agent and of the runtime. Returns `unsubscribe`."""
        return self.agent.subscribe(listener)

    def require_ready(self) -> None:
        """Raises CredentialsError if the model needs a key and there is none."""
        require_key(self.catalog.provider(self.agent.state.model.provider))

    def prompt(self, input: Input, images: Sequence[ImageContent] = ()) -> asyncio.Task[None]:
        """Work on a prompt until nothing automatic remains. It goes on by itself; await the task for its end.

        A text may call a template, a skill or a command of an extension: `/name arguments`.

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

    async def compact(self, instructions: str = "") -> CompactionEndEvent | None:
        """Summarise the older part of the conversation now, with an eye to `instructions`.

        A run that is going on is aborted first, and not resumed; what is queued meanwhile is delivered after it.
        Returns how it ended: failures are told there and not raised.
        """

        async def work(signal: AbortSignal) -> CompactionEndEvent | None:
            self._compactor.begin_prompt()
            end = await self._compactor.run(CompactionReason.MANUAL, signal, instructions=instructions)
            if not signal.aborted and (queued := self._queued()):
                await self._ask(queued)
            return end

        return await self._alone(work, "stopped for a compaction")

    async def go_to(self, entry_id: str | None, *, summarize: bool = False, instructions: str = "") -> Moved:
        """Go on from another entry of the session; before it, if it is a message of the user. Nothing is lost.

        A run that is going on is aborted first.

        Args:
            entry_id: None is the beginning.
            summarize: tell the new branch what happened on the one that is left.
            instructions: what that summary shall attend to.

        Raises:
            SessionError: `not_found`, `storage`.
            ProviderError, ConfigError: there is no summary; nothing was moved.
        """

        async def work(signal: AbortSignal) -> Moved:
            summarizer, room = self._summarizer if summarize else None, self._compactor.limit
            moved = await move(self.session, entry_id, summarizer, signal, room=room, instructions=instructions)
            if moved.moved:
                await self._adopt(self.session.build_context())
            return moved

        return await self._alone(work, "stopped to go elsewhere in the session")

    def steer(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        return self.agent.steer(self._said(input), images)

    def follow_up(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        return self.agent.follow_up(self._said(input), images)

    def expand(self, text: str) -> str:
        """What `/template arguments` or `/skill:name arguments` stands for; any other text is left as it is."""
        return self._additions.expand(text)

    def commands(self) -> "list[SlashCommand]":
        """What a person can type after a slash: templates, skills, commands of extensions."""
        return self._additions.commands()

    @property
    def permission_mode(self) -> PermissionMode:
        """What happens to a call that no rule speaks of. It may be set; it holds from the next call on."""
        return self._additions.mode

    @permission_mode.setter
    def permission_mode(self, mode: PermissionMode) -> None:
        self._additions.use_mode(PermissionMode(mode))

    def answer_permission(self, id: str, verdict: str, remember: str = "once", reason: str | None = None) -> bool:
        """Answer a `PermissionRequestEvent`.

        Args:
            verdict: `allow` or `deny`.
            remember: `once`; `session` and `always` add the request's suggested rules, for now or for good.
            reason: what the model is told when the call is denied.

        Returns:
            Whether the request was still open.
        """
        return self._additions.answer(id, verdict, remember, reason)

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

    def prepare(self) -> None:
        """Do the slow part of the first request (imports, TLS) now. It may run in another thread; nothing is sent."""
        if self.options.stream_fn is None and self.agent.state.model.api not in self._additions.api.stream_fns:
            self._client.prepare(self.agent.state.model)

    def kill_now(self) -> None:
        """Kill every child process at once, for an exit that cannot wait."""
        self._toolset.kill_now()

    async def _alone(self, work: Callable[[AbortSignal], Coroutine[Any, Any, T]], reason: str) -> T:
        """Abort what is going on, wait for its end, and do this one thing; `abort()` reaches it."""
        while self.is_busy:
            self.abort(reason)
            await self.wait_for_idle()
        self._controller = AbortController()

        async def whole() -> T:
            try:
                return await work(self._controller.signal)
            finally:
                await self._finish()

        task = asyncio.ensure_future(whole())
        self._working = task
        return await asyncio.shield(task)

    async def _work(self, input: Input, images: Sequence[ImageContent]) -> None:
        if isinstance(input, str):
            text = await self._additions.run_command(input)
            if text is None:
                return await self._finish()
            input = text
        try:
            self._prepare_session()
        except SessionError as error:  # A full disk: the conversation goes on in memory.
            await self.notify(str(error))
        await self._ask([mask_data(message) for message in as_messages(input, images)])
        return await self._finish()

    def _said(self, input: str | AgentMessage) -> str | AgentMessage:
        return mask(self.expand(input)) if isinstance(input, str) else mask_data(input)

    async def _ask(self, messages: list[AgentMessage]) -> None:
        """Work on messages, and then on what came too late for the run."""
        while messages:
            self._compactor.begin_prompt()
            if self._compactor.is_due(messages):
                await self._compactor.run(CompactionReason.THRESHOLD, self._controller.signal)
            await self._run(lambda prompts=messages: self.agent.prompt(prompts))
            await self._retry()
            await self._recover_from_overflow()
            await self._recover_from_images()
            messages = [] if self._is_over() else self._queued()

    async def _finish(self) -> None:
        await self._recorder.settle()
        await self.agent.emit(AgentSettledEvent(self._controller.signal.aborted))

    async def _recover_from_overflow(self) -> None:
        """Once a prompt: if the request did not fit into the window, compact, and make it again."""
        if self._controller.signal.aborted or not self._compactor.is_overflow(self.last_message):
            return
        end = await self._compactor.run(CompactionReason.OVERFLOW, self._controller.signal)
        if end is not None and end.will_retry:
            await self._run(self.agent.continue_)
            await self._retry()

    async def _recover_from_images(self) -> None:
        """If the server refused an image, leave it out, and make the request again."""
        if self._images.note(self.last_message, self.agent.state.messages):
            await self.notify("the server refused an image, so the images so far are left out from now on")
            drop_failed_turn(self.agent.state.messages)
            await self._run(self.agent.continue_)
            await self._retry()

    async def _adopt(self, context: SessionContext) -> None:
        """Go on with another context of the session: its messages, model and thinking level."""
        adopt_context(self.agent, context, self.catalog, self.options.settings)
        self._recorded_model, self._recorded_level = context.model, context.thinking_level
        await self.agent.emit(SessionMovedEvent(self.session.leaf_id))

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
        await self._retries.work_off(self._controller.signal, lambda: self._run(self.agent.continue_))

    def _prepare_session(self) -> None:
        """Before the first message: answer calls that a killed process left open, and note a change of model."""
        # What cannot be made is told when the session cannot be written.
        with contextlib.suppress(ConfigError):
            make_private(home() if self.options.session.in_memory else sessions_folder())
        missing = missing_results(self.agent.state.messages)
        if missing:
            end_orphans()
        for result in missing:
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
        self._retries.failure = None
        try:
            added = self._additions.api.stream_fns.get(model.api)
            stream_fn = self.options.stream_fn or added or self._client
            async for event in await resolved(stream_fn(model, context, options)):
                yield masked_end(event)
        except ProviderError as error:
            self._retries.failure = error
            if isinstance(error, AuthError):
                forget_key(self.catalog.provider(model.provider))
            raise masked_error(error) from None

    def _key_for(self, name: str) -> "str | Awaitable[str | None] | None":
        """The key of a provider; in a thread, if a command or the keyring has to be asked."""
        provider = self.catalog.provider(name)
        return require_key(provider) if is_quick(provider) else asyncio.to_thread(require_key, provider)

    async def _is_last_turn(self, ended: PrepareNextTurnContext) -> bool:
        """Asked after each turn that did not fail."""
        await self._retries.end(success=True)
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
