"""SessionController: connects a runtime with the screen. Prompts go in, events come out as transcript items.

Everything that the first paint does not need is imported from here, after it.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from textual.message import Message

from agentcli.agent.errors import AgentcliError
from agentcli.agent.messages import Usage, UsageCost
from agentcli.agent.threads import to_thread
from agentcli.files.repository import git_directory, head_of, repository_root
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.runtime import Runtime
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.transcript.item_list import Change, QueueChanged, RequestsChanged
from agentcli.transcript.items import NoticeItem
from agentcli.transcript.model import TranscriptModel, follow
from agentcli.transcript.notices import failure_notice
from agentcli.transcript.queue import QueueEditor
from agentcli.tui.event_batcher import EventBatcher
from agentcli.tui.status import Status, folder_name
from agentcli.tui.transcript_presenter import TranscriptPresenter
from agentcli.tui.widgets.transcript import Transcript


class PromptEnded(Struct, frozen=True):
    """A prompt has ended, retries and compaction included. It is batched after the events of the prompt."""

    error: BaseException | None
    """How it failed, if the transcript does not show it."""
    seconds: float
    """Its duration."""


class Applied(Struct, frozen=True):
    """What a batch has changed besides the items of the transcript."""

    has_new_state: bool
    """Whether other messages are queued, or other permission requests are open, or a prompt has ended."""
    took: float | None
    """Seconds that a prompt took which has ended; None if none has."""


class SessionController:
    """Shows the session of a runtime, sends prompts to it and edits its queues.

    Args:
        runtime: what is shown first; `use` replaces it.
        transcript: where the items are shown.
        post: receives the batcher's messages for the app.
    """

    @classmethod
    def open(
        cls, options: RuntimeOptions, transcript: Transcript, post: Callable[[Message], Any]
    ) -> "SessionController":
        """Create the runtime and its controller.

        Args:
            options: of the runtime.
            transcript: where the items are shown.
            post: receives the batcher's messages for the app.

        Raises:
            AgentcliError: as `Runtime.create`.
        """
        return cls(Runtime.create(replace(options, answers_permissions=True)), transcript, post)

    def __init__(self, runtime: Runtime, transcript: Transcript, post: Callable[[Message], Any]) -> None:
        self._widget = transcript
        self._present = TranscriptPresenter(transcript)
        self.transcript = TranscriptModel(self._on_change)
        self._post = post
        self.batcher = EventBatcher(post)
        self._has_new_state = False
        """Whether the queue or the permission requests have changed since the last batch."""
        self._unsubscribe: Callable[[], None] = lambda: None
        self._prompts = 0
        """How many have not ended on the screen yet."""
        self._context: tuple[int, int] = (-1, 0)
        """The number of messages when the tokens of the context were counted, and the tokens."""
        self.use(runtime)

    def use(self, runtime: Runtime) -> None:
        """Show the session of another runtime from now on."""
        self._unsubscribe()
        self.batcher.close()
        # Batches that the old one has posted already are of the other session.
        self.batcher = EventBatcher(self._post)
        self.runtime = runtime
        self.queue = QueueEditor(runtime.agent)
        self._prompts = 0
        self._context = (-1, 0)
        self._folder = folder_name(runtime.cwd)
        self._branch = branch_of(runtime.cwd)
        self._unsubscribe = follow(runtime, self.batcher)
        self._widget.hide_thinking = runtime.options.settings.hide_thinking
        self.transcript.open(runtime.agent.state.messages)
        for notice in runtime.notices:
            self.notice(notice)
        self._widget.show()

    @property
    def model(self) -> str:
        """The model and its thinking level."""
        state = self.runtime.agent.state
        return f"{state.model.full_id} · {state.thinking_level}" if state.model.reasoning else state.model.full_id

    @property
    def activity(self) -> str:
        """What the agent is doing, in a few words."""
        if not self._prompts:
            return self.transcript.activity or "ready"
        if self.runtime.agent.signal.aborted:
            return "stopping"
        return "waiting for your answer" if self.transcript.requests else self.transcript.activity or "working"

    @property
    def status(self) -> Status:
        """What the footer shows."""
        runtime, usage = self.runtime, self.transcript.usage
        return Status(
            folder=self._folder,
            branch=self._branch,
            session=runtime.session.name or "",
            model=self.model,
            activity=self.activity,
            context_tokens=self._context_tokens(),
            context_window=runtime.agent.state.model.context_window,
            input_tokens=usage.input + usage.cache_read + usage.cache_write,
            output_tokens=usage.output,
            cost=usage.cost.total,
        )

    # Prompts

    def send(self, text: str, follow_up: bool) -> bool:
        """Start a run, or queue the text for the running one.

        Args:
            text: the prompt.
            follow_up: whether a running run gets it at its end instead of after the running tools.

        Returns:
            Whether it was sent; if not, the error is in the transcript.
        """
        runtime = self.runtime
        try:
            images = runtime.attachments.images_in(text)
            self._show_attachment_notices()
            if not runtime.is_busy:
                self._prompts += 1
                began = time.monotonic()
                task = runtime.prompt(text, images)
                task.add_done_callback(lambda task: self._prompt_ended(runtime, task, began))
            elif follow_up:
                runtime.follow_up(text, images)
            else:
                runtime.steer(text, images)
        except AgentcliError as error:
            self.failure(error)
            return False
        return True

    def _show_attachment_notices(self) -> None:
        notices = self.runtime.attachments.notices
        while notices:
            self.notice(notices.pop(0))

    def stop(self) -> list[str]:
        """Abort the run and the user's shell command. Returns the texts of the queued messages, now removed."""
        self.runtime.abort()
        self.runtime.abort_bash()
        return self.queue.take_all_back()

    def answer(self, id: str, *, allow: bool, remember: str = "once", reason: str | None = None) -> None:
        """Answer a permission request.

        Args:
            id: of the request.
            allow: whether the call may run.
            remember: `once`, `session` or `always`.
            reason: why it is denied, for the model.
        """
        self.transcript.end_request(id)
        self.runtime.answer_permission(id, "allow" if allow else "deny", remember, reason)

    # The transcript

    def notice(self, text: str, hint: str = "") -> None:
        """Add a notice."""
        self.transcript.add_notice(NoticeItem(text, hint=hint))
        self._widget.show()

    def failure(self, error: AgentcliError) -> None:
        """Add an error with its hint."""
        self.transcript.add_notice(failure_notice(error))
        self._widget.show()

    def tick(self) -> None:
        """Update the running times."""
        self.transcript.tick(time.monotonic())
        self._widget.show()

    def apply(self, batch: EventBatcher.Batch) -> Applied:
        """Apply a batch to the transcript. Raises the unexpected error with which a prompt has failed."""
        took: float | None = None
        now = time.monotonic()
        for event in batch.events:
            if isinstance(event, PromptEnded):
                took = event.seconds
                self._end_prompt(event)
            else:
                self.transcript.apply(event, now)
        self._widget.show()
        applied = Applied(self._has_new_state or took is not None, took)
        self._has_new_state = False
        return applied

    async def warm_up(self) -> None:
        """Import what the first answer needs (60 ms) and count the session's usage while the user types."""
        await to_thread(_prepare, self.runtime)
        await self.count_spending()

    async def count_spending(self) -> None:
        """Add what the session used before it was opened here."""
        runtime = self.runtime
        storage = runtime.session.storage
        if isinstance(storage, JsonlSessionStorage) and runtime.agent.state.messages:
            # With a reader of its own, as it runs in a thread.
            before = await to_thread(_usage_in, storage.path)
            if runtime is self.runtime:
                self.transcript.usage += before

    async def close(self) -> None:
        """End the runtime."""
        self.batcher.close()
        await self.runtime.close()

    def _on_change(self, change: Change) -> None:
        self._has_new_state = self._has_new_state or isinstance(change, QueueChanged | RequestsChanged)
        self._present(change)

    def _prompt_ended(self, runtime: Runtime, task: "asyncio.Task[None]", began: float) -> None:
        if runtime is self.runtime:
            error = None if task.cancelled() else task.exception()
            self.batcher(PromptEnded(error, time.monotonic() - began))

    def _end_prompt(self, ended: PromptEnded) -> None:
        self._prompts -= 1
        self._branch = branch_of(self.runtime.cwd)
        if isinstance(ended.error, AgentcliError):
            self.failure(ended.error)
        elif ended.error is not None:
            raise ended.error

    def _context_tokens(self) -> int:
        """The tokens of the next request. Counted only when messages were added, as it reads all of them."""
        count = len(self.runtime.agent.state.messages)
        if count != self._context[0]:
            self._context = (count, self.runtime.context_tokens if count else 0)
        return self._context[1]


def _usage_in(path: Path) -> Usage:
    """What a session has used, on all branches. Reads the whole file."""
    session = Session(JsonlSessionStorage.read(path))
    try:
        stats = session.get_stats()
    finally:
        session.close()
    counts = (stats.input_tokens, stats.output_tokens, stats.cache_read_tokens, stats.cache_write_tokens)
    return Usage(*counts, stats.total_tokens, UsageCost(total=stats.cost_total))


def _prepare(runtime: Runtime) -> None:
    # An unusable model is reported by the first prompt, in the transcript.
    with contextlib.suppress(AgentcliError):
        runtime.prepare()
    import_module("markdown_it")
    import_module("pygments.lexers")


def branch_of(folder: Path) -> str:
    """The branch's name, the abbreviated commit without a branch, or nothing outside a repository.

    Read from git's own files: running git would take 5 ms each time.
    """
    root = repository_root(folder)
    directory = git_directory(root) if root is not None else None
    try:
        text = head_of(directory) if directory is not None else ""
    except OSError:
        # Removed meanwhile.
        return ""
    # A name with undecodable bytes cannot be printed as it is.
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    if text.startswith("ref: "):
        return text.removeprefix("ref: ").removeprefix("refs/heads/")
    return text[:8]
