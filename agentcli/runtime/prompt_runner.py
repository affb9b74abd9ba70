"""PromptRunner: runs a prompt until nothing automatic remains: the run, what fails in it, what was queued late."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from agentcli.agent.abort import AbortController, Aborted, AbortSignal, interruptible
from agentcli.agent.agent import Agent, Input, as_messages
from agentcli.agent.errors import AgentBusyError, ConfigError
from agentcli.agent.messages import AgentMessage, AssistantMessage, ImageContent, StopReason
from agentcli.config.masking import mask_data
from agentcli.config.paths import home, home_problem, make_private, sessions_folder
from agentcli.runtime.additions import Additions
from agentcli.runtime.chosen_model import ChosenModel
from agentcli.runtime.compaction.compactor import CompactionReason, Compactor
from agentcli.runtime.events import AgentSettledEvent, NoticeEvent
from agentcli.runtime.limits import Limits
from agentcli.runtime.model_requests import ModelRequests
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.recorder import SessionRecorder
from agentcli.runtime.refused_images import RefusedImages
from agentcli.runtime.repair import answer_open_calls, drop_failed_turn
from agentcli.runtime.retry import Retry, too_long_a_wait
from agentcli.runtime.tool_sources import ToolSources
from agentcli.runtime.user_commands import UserCommands
from agentcli.tools.toolset import Toolset

T = TypeVar("T")

DOES_NOT_FIT = (
    "the request does not fit into the model's window, and nothing more can be summarised or cut; "
    "choose a model with a larger window (--model, /model), go back in the session, or begin a new one"
)


class PromptRunner:
    """One thing at a time: a prompt, or something that has the conversation to itself.

    Args:
        agent: runs the prompts.
        additions: know what a text stands for.
        sources: have their tools before a prompt is sent.
        recorder, requests, retry, compactor, model, images, limits: what is asked between requests.
        toolset: runs the user's commands.
    """

    def __init__(
        self,
        agent: Agent,
        options: RuntimeOptions,
        additions: Additions,
        sources: ToolSources,
        recorder: SessionRecorder,
        requests: ModelRequests,
        retry: Retry,
        compactor: Compactor,
        model: ChosenModel,
        images: RefusedImages,
        limits: Limits,
        toolset: Toolset,
    ) -> None:
        self.agent = agent
        self.limits = limits
        self.commands: UserCommands = UserCommands(agent, recorder, toolset.commands, lambda: self.is_busy)
        self._in_memory = options.session.in_memory
        self._is_configured = options.load is not None
        """Whether settings were read, and so what is wrong with their home was told."""
        self._additions = additions
        self._sources = sources
        self._recorder = recorder
        self._requests = requests
        self._retry = retry
        self._retry_settings = options.settings.retry
        self._compactor = compactor
        self._model = model
        self._images = images
        self._controller = AbortController()
        self._task: asyncio.Task[Any] | None = None
        self._leaves_queue = False
        """Whether what is queued waits for the person, because the last thing failed or was none of its kind."""

    @property
    def is_busy(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def last_message(self) -> AssistantMessage | None:
        messages = reversed(self.agent.state.messages)
        return next((message for message in messages if isinstance(message, AssistantMessage)), None)

    def start(self, input: Input, images: Sequence[ImageContent]) -> asyncio.Task[None]:
        """See `Runtime.prompt`."""
        if self.is_busy:
            hint = "use steer() to reach this run, follow_up() to go on after it, or abort() first"
            raise AgentBusyError("prompt() while the agent is running", hint=hint)
        had_queue = self.agent.has_queued_messages()
        return self._begin(lambda: self._run_until_done(input, images, had_queue))

    async def run_exclusive(self, work: Callable[[AbortSignal], Coroutine[Any, Any, T]], reason: str) -> T:
        """Abort what is going on, wait for its end, and do this one thing; `abort` reaches it."""
        while self.is_busy:
            self.abort(reason)
            await self.wait_for_idle()

        def begin() -> Coroutine[Any, Any, T]:
            self._leaves_queue = True
            return work(self._controller.signal)

        return await asyncio.shield(self._begin(begin))

    async def deliver_queue(self) -> None:
        """Work on what is queued, unless it waits for the person."""
        self._leaves_queue = False
        if messages := self._latecomers():
            await self._ask(messages)

    def abort(self, reason: str) -> None:
        self.limits.end()
        self._abort(reason)

    async def wait_for_idle(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])

    def _begin(self, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        self._controller = AbortController()
        self._leaves_queue = False
        self.limits.begin(self._abort)

        async def whole() -> T:
            try:
                return await work()
            except asyncio.CancelledError:
                self._abort("cancelled")
                raise
            except BaseException:
                self._leaves_queue = True
                raise
            finally:
                try:
                    await self._settle()
                finally:
                    self.limits.end()

        task = asyncio.ensure_future(whole())
        self._task = task
        return task

    async def _run_until_done(self, input: Input, images: Sequence[ImageContent], had_queue: bool) -> None:
        if isinstance(input, str):
            text = await self._prompt_of(input)
            if text is None:
                # What was there before waits for a prompt; what came during the command does not.
                self._leaves_queue = had_queue
                return
            input = text
        try:
            make_private(home() if self._in_memory else sessions_folder())
        except ConfigError as error:
            if not self._in_memory:
                is_told = home_problem() is not None and self._is_configured
                await self._recorder.expect_failure(f"the session cannot be stored: {error}", is_told=is_told)
        with contextlib.suppress(Aborted), interruptible(self._controller.signal):
            await self._sources.start()
        await self._recorder.record(*answer_open_calls(self.agent.state.messages))
        await self._ask([mask_data(message) for message in as_messages(input, images)])

    async def _prompt_of(self, text: str) -> str | None:
        """What a text stands for; None if it was a command that has done all there is, or was aborted."""
        if self._controller.signal.aborted:
            return self._additions.expand(text)
        try:
            with interruptible(self._controller.signal):
                return await self._additions.run_command(text)
        except Aborted:
            return None

    async def _ask(self, messages: list[AgentMessage]) -> None:
        """Work on messages, and then on what came too late for the run."""
        while messages:
            await self.commands.deliver()
            self._model.record()
            self._compactor.begin_prompt()
            if self._compactor.is_due(messages):
                await self._compactor.run(CompactionReason.THRESHOLD, self._controller.signal, before_prompt=True)
            await self._run_with_retries(lambda prompts=messages: self.agent.prompt(prompts))
            await self._recover_from_overflow()
            await self._recover_from_images()
            last = self.last_message
            self._leaves_queue = last is not None and last.stop_reason == StopReason.ERROR
            messages = self._latecomers()

    async def _settle(self) -> None:
        """Tell that nothing automatic remains, once that is so: what came in meanwhile is worked on first."""
        while True:
            await self.commands.deliver()
            self._model.record()
            await self._recorder.settle()
            if messages := self._latecomers():
                await self._ask(messages)
                continue
            await self.agent.emit(AgentSettledEvent(self._controller.signal.aborted))
            if not self.commands.waiting and not self._has_latecomers():
                return

    def _has_latecomers(self) -> bool:
        """Whether something is queued that need not wait for the person, as after an abort, a failure, or a limit."""
        if self._controller.signal.aborted or self._leaves_queue or not self.agent.has_queued_messages():
            return False
        return not self.limits.stop(work_left=True)

    def _latecomers(self) -> list[AgentMessage]:
        if not self._has_latecomers():
            return []
        return self.agent.steering_queue.drain() or self.agent.follow_up_queue.drain()

    async def _recover_from_overflow(self) -> None:
        """While a request does not fit into the window: compact or cut, and make it again, as long as that may help."""
        signal = self._controller.signal
        while not signal.aborted and self._compactor.is_overflow(self.last_message):
            if self.limits.stop(work_left=True):
                return
            if not await self._compactor.make_room(signal):
                if not signal.aborted:
                    await self.agent.emit(NoticeEvent(DOES_NOT_FIT))
                return
            await self._run_with_retries(self.agent.continue_)

    async def _recover_from_images(self) -> None:
        """If the server refused an image, leave it out, and make the request again."""
        if self._images.note(self.last_message, self.agent.state.messages):
            text = "the server refused an image, so the images so far are left out from now on"
            await self.agent.emit(NoticeEvent(text))
            drop_failed_turn(self.agent.state.messages)
            await self._run_with_retries(self.agent.continue_)

    async def _run(self, start: Callable[[], asyncio.Task[None]]) -> None:
        run = start()
        if self._controller.signal.aborted:
            self.agent.abort(self._controller.signal.reason)
        await run

    async def _run_with_retries(self, start: Callable[[], asyncio.Task[None]]) -> None:
        """Run; as long as the last answer is a failure that may pass, take it out of the context and ask again."""
        await self._run(start)
        signal = self._controller.signal
        with contextlib.suppress(Aborted):
            while (text := self._failure_text()) is not None and await self._retry.wait(
                self._requests.failure, text, signal
            ):
                drop_failed_turn(self.agent.state.messages)
                await self._run(self.agent.continue_)
        if wait := too_long_a_wait(self._requests.failure, self._retry_settings):
            await self.agent.emit(NoticeEvent(wait))
        await self._retry.end(success=False, text=self._failure_text())

    def _failure_text(self) -> str | None:
        """How the last answer failed; None if it did not."""
        last = self.last_message
        return last.error_message or "" if last is not None and last.stop_reason == StopReason.ERROR else None

    def _abort(self, reason: str) -> None:
        self._controller.abort(reason)
        self.agent.abort(reason)
