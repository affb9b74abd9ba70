"""Runtime: an agent that works in a folder, with its tools, its model and its session. What every face is built on."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentcli.agent.abort import AbortSignal
from agentcli.agent.agent import Input, Listener
from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AgentMessage, AssistantMessage, BashExecutionMessage, ImageContent
from agentcli.agent.models import Model, ThinkingLevel, supported_thinking_levels
from agentcli.config.masking import mask, mask_data
from agentcli.config.settings import PermissionMode
from agentcli.runtime.assembly import Assembly, assemble
from agentcli.runtime.attachments import Attachments
from agentcli.runtime.compaction.compactor import CompactionReason
from agentcli.runtime.compaction.token_estimate import context_messages
from agentcli.runtime.events import (
    CompactionEndEvent,
    NoticeEvent,
    SessionInfoChangedEvent,
    SessionMovedEvent,
)
from agentcli.runtime.limits import Limit
from agentcli.runtime.model_choice import models_by_readiness
from agentcli.runtime.navigation import NavigationResult, move
from agentcli.runtime.options import RuntimeOptions
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage

if TYPE_CHECKING:
    from agentcli.runtime.resources.slash_commands import SlashCommand
    from agentcli.runtime.stats import RuntimeStats
    from agentcli.runtime.tool_sources import ToolSource
    from agentcli.sessions.context import ModelChoice


class Runtime:
    """Made by `Runtime.create`; `close()` it when done. It belongs to one event loop, and to one session.

    `runtime.switching` makes the runtime of another session out of it.
    """

    @classmethod
    def create(cls, options: RuntimeOptions = RuntimeOptions()) -> "Runtime":
        """Open the session, choose the model and make the tools. Nothing is sent or written yet.

        Raises:
            UsageError, ConfigError, SessionError: what was asked for cannot be had.
        """
        return cls(assemble(options))

    def __init__(self, assembly: Assembly) -> None:
        self.options: RuntimeOptions = assembly.options
        self.agent = assembly.agent
        self.session = assembly.recorder.session
        self.catalog = assembly.catalog
        self.cwd = assembly.cwd
        self.notices: list[str] = assembly.notices
        """What the user should know before the first prompt, a line each."""
        self.attachments: Attachments = Attachments(assembly.tool_options, assembly.toolset.files.known)
        """Makes prompts with files of names: `attachments.build_prompt(["@a.py", "what is it?"])`."""
        self._recorder = assembly.recorder
        self._additions = assembly.additions
        self._toolset = assembly.toolset
        self._client = assembly.client
        self._event_queue = assembly.events
        self._requests = assembly.requests
        self._summarizer = assembly.summarizer
        self._window = assembly.window
        self._compactor = assembly.compactor
        self._model = assembly.model
        self._runner = assembly.runner
        self._files = assembly.files
        self._sources = assembly.sources

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is worked on, retries and their waits included."""
        return self._runner.is_busy

    @property
    def is_stored(self) -> bool:
        """Whether everything that was said is in the session; False after a failure to write that still lasts."""
        return self._recorder.is_complete

    @property
    def storage_problem(self) -> str | None:
        """Why something that was said is not in the session, as one line; None if all of it is."""
        return self._recorder.problem

    @property
    def is_kept(self) -> bool:
        """Whether there is something to continue: a session that holds what was said, or at least a part of it."""
        if self.options.session.in_memory or self.session.leaf_id is None:
            return False
        storage = self.session.storage
        return self.is_stored or not isinstance(storage, JsonlSessionStorage) or storage.path.exists()

    @property
    def last_message(self) -> AssistantMessage | None:
        """The last assistant message of the transcript."""
        return self._runner.last_message

    @property
    def context_tokens(self) -> int:
        """About how many tokens the next request has, without what is said next."""
        return self._window.tokens()

    @property
    def reached_limit(self) -> Limit | None:
        """Which limit stopped the last prompt with work left: `max_turns`, `max_tokens`, `max_cost` or `timeout`."""
        return self._runner.limits.reached

    @property
    def limit_text(self) -> str | None:
        """How it was reached, as one line."""
        return self._runner.limits.text

    @property
    def files_changed(self) -> list[str]:
        """What `edit` and `write` changed since the runtime was made, each file once; from `cwd` if it is inside."""
        return self._files.paths

    def stats(self) -> "RuntimeStats":
        """What the session took so far, and how full the model's window is. Reads the whole session."""
        from agentcli.runtime.stats import RuntimeStats  # for those who ask

        return RuntimeStats(self.session.get_stats(), self.context_tokens, self.agent.state.model.context_window)

    def store(self) -> None:
        """Write what could not be written before. Raises SessionError (`storage`) if it still cannot."""
        self._recorder.flush()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event of the agent and of the runtime. Returns `unsubscribe`."""
        return self.agent.subscribe(listener)

    def prompt(self, input: Input, images: Sequence[ImageContent] = ()) -> asyncio.Task[None]:
        """Work on a prompt until nothing automatic remains. It goes on by itself; await the task for its end.

        A text may call a template, a skill or a command of an extension: `/name arguments`. What is queued meanwhile is
        worked on too, however late it comes; after an abort, a failure or a limit it waits for the person.

        Raises:
            AgentBusyError: another prompt is worked on.
        """
        return self._runner.start(input, images)

    async def compact(self, instructions: str = "") -> CompactionEndEvent | None:
        """Summarise the older part of the conversation now, with an eye to `instructions`.

        A run that is going on is aborted first, and not resumed; what is queued meanwhile is delivered after it.
        Returns how it ended: failures are told there and not raised.
        """

        async def work(signal: AbortSignal) -> CompactionEndEvent | None:
            self._compactor.begin_prompt()
            end = await self._compactor.run(CompactionReason.MANUAL, signal, instructions=instructions)
            await self._runner.deliver_queue()
            return end

        return await self._runner.run_exclusive(work, "stopped for a compaction")

    async def go_to(self, entry_id: str | None, *, summarize: bool = False, instructions: str = "") -> NavigationResult:
        """Go on from another entry of the session; before it, if it is a message of the user. Nothing is lost.

        A run that is going on is aborted first. What is queued waits for the person.

        Args:
            entry_id: None is the beginning.
            summarize: tell the new branch what happened on the one that is left.
            instructions: what that summary shall attend to.

        Raises:
            SessionError: `not_found`, `storage`.
            ProviderError, ConfigError: there is no summary; nothing was moved.
        """

        async def work(signal: AbortSignal) -> NavigationResult:
            summarizer, room = self._summarizer if summarize else None, int(self._window.limit / self._window.ratio)
            moved = await move(self.session, entry_id, summarizer, signal, room=room, instructions=instructions)
            if moved.moved:
                context = self.session.build_context()
                self.agent.state.messages = context_messages(context)
                self._model.restore_from(context)
                await self.agent.emit(SessionMovedEvent(self.session.leaf_id))
            return moved

        return await self._runner.run_exclusive(work, "stopped to go elsewhere in the session")

    def steer(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        """Queue a message for the next request of the run, after the tools that are running; without a run, the next.

        Returns:
            Its id in `agent.steering_queue`, which can edit it, move it and take it back until it is delivered.
        """
        return self.agent.steer(self._said(input), images)

    def follow_up(self, input: str | AgentMessage, images: Sequence[ImageContent] = ()) -> str:
        """Queue a message for when the run would end; without a run, the next one. Returns its id, as `steer` does."""
        return self.agent.follow_up(self._said(input), images)

    async def bash(self, command: str, *, exclude_from_context: bool = False) -> BashExecutionMessage:
        """Run a shell command of the person's own, as the bash tool would, but unasked and without a timeout.

        The model reads of it with the next prompt. While a run goes on, the message comes into the conversation when
        that has settled. There is no timeout because the person sees it run and can stop it: `abort_bash`.

        Args:
            exclude_from_context: keep it, but never tell the model.

        Raises:
            AgentBusyError: another such command still runs.
            ToolError: it is no command, or the folder is gone; nothing was run.
        """
        return await self._runner.commands.run(command, exclude_from_context=exclude_from_context)

    def abort_bash(self) -> None:
        """End the person's command and all it has started. What it printed is kept."""
        self._runner.commands.abort()

    @property
    def is_bash_running(self) -> bool:
        """Whether a command of the person's still runs."""
        return self._runner.commands.is_running

    def add_tool_source(self, source: "ToolSource") -> None:
        """Let the model have tools that come and go. The source is started with the next prompt, stopped by `close`."""
        self._sources.attach(source)

    def expand(self, text: str) -> str:
        """What `/template arguments` or `/skill:name arguments` stands for; any other text is left as it is."""
        return self._additions.expand(text)

    def commands(self) -> "list[SlashCommand]":
        """What a person can type after a slash: templates, skills, commands of extensions."""
        return self._additions.commands()

    def models(self) -> list[Model]:
        """Those of the catalog; first those that could answer now: there is a key, or none is needed.

        Raises:
            ConfigError: the configuration of a model is wrong.
        """
        return models_by_readiness(self.catalog)

    def set_model(self, reference: "str | ModelChoice", level: ThinkingLevel | None = None) -> Model:
        """Let another model answer, from the next request on. The thinking level stays, as far as the model has it.

        Args:
            reference: as `--model` takes it, with an optional `:level`; or exactly one model, by its provider and id.
            level: how much thinking is wanted from now on.

        Raises:
            UsageError: it is no model, or may be several.
            CredentialsError: the model needs a key and there is none. Whether a key command or the keyring has one is
                only known at the next request.
        """
        model = self._model.set_model(reference, level)
        self._record_model()
        return model

    def set_thinking_level(self, level: ThinkingLevel | str) -> ThinkingLevel:
        """Let the model think more or less, from the next request on. Returns the nearest level that the model has.

        Raises:
            UsageError: there is no such level.
        """
        holds = self._model.set_thinking_level(level)
        self._record_model()
        return holds

    @property
    def wanted_thinking_level(self) -> ThinkingLevel:
        """What was asked for. `agent.state.thinking_level` is what the model does of it, and another may do more."""
        return self._model.wanted

    @property
    def model_choice(self) -> "ModelChoice":
        """What finds exactly the present model again: for `set_model`, and for the options of another runtime."""
        return self._model.choice

    @property
    def thinking_levels(self) -> list[ThinkingLevel]:
        """What the model can, least first."""
        return supported_thinking_levels(self.agent.state.model)

    def name_session(self, name: str | None) -> None:
        """Name the session; None or blanks take the name away. Raises SessionError (`storage`)."""
        self.session.append_session_info(mask(name) if name else None)
        self._event_queue.put(SessionInfoChangedEvent(self.session.name))

    def label(self, entry_id: str, label: str | None) -> None:
        """Mark an entry of the session; None takes the mark away. Raises SessionError (`not_found`, `storage`)."""
        self.session.append_label(entry_id, mask(label) if label else None)

    @property
    def permission_mode(self) -> PermissionMode:
        """What happens to a call that no rule speaks of. It may be set; it holds from the next call on."""
        return self._additions.mode

    @permission_mode.setter
    def permission_mode(self, mode: PermissionMode) -> None:
        self._additions.use_mode(PermissionMode(mode))

    def take_over(self, other: "Runtime") -> None:
        """Let what the person has answered in another session of this folder, for longer than once, hold here too."""
        if other.cwd == self.cwd:
            self._additions.take_over_rules(other._additions)

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
        """Stop the run, or the wait before a retry. What is queued stays queued; the person's command goes on."""
        self._runner.abort(reason)

    async def wait_for_idle(self) -> None:
        """Return when nothing is worked on. How a prompt failed is told to who awaits its task, not here."""
        await self._runner.wait_for_idle()

    async def close(self) -> None:
        """End what is running, the children included, and let go of files and connections."""
        self.abort("agentcli ended")
        await self._runner.commands.close()
        await self.wait_for_idle()
        await self._sources.stop()
        await self._toolset.close()
        await self._event_queue.empty()
        await self._recorder.settle()
        with contextlib.suppress(SessionError):  # the person has been told, and `is_stored` says so
            self.store()
        await self._client.aclose()
        self.session.close()

    def require_ready(self) -> None:
        """Raises CredentialsError if the model needs a key and there is none."""
        self._requests.require_ready(self.agent.state.model)

    def prepare(self) -> None:
        """Do the slow part of the first request (imports, TLS) now. It may run in another thread; nothing is sent."""
        self._requests.prepare(self.agent.state.model)

    def kill_now(self) -> None:
        """Kill every child process at once, for an exit that cannot wait."""
        self._toolset.kill_now()

    async def notify(self, text: str) -> None:
        """Tell every listener one line."""
        await self.agent.emit(NoticeEvent(text))

    def _said(self, input: str | AgentMessage) -> str | AgentMessage:
        return mask(self.expand(input)) if isinstance(input, str) else mask_data(input)

    def _record_model(self) -> None:
        """In a run the next request does it: what follows in the session before that is still the old model's."""
        if not self.is_busy:
            self._model.record()
