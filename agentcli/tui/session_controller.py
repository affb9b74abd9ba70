"""Chat: a runtime on the screen. Prompts go in, events come out as items, and what waits is counted.

Everything that is not needed for the first paint is imported from here (50 ms), after it.
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
from agentcli.agent.messages import AgentMessage, CustomMessage, UserMessage, text_of
from agentcli.agent.queues import PendingMessageQueue
from agentcli.agent.threads import to_thread
from agentcli.runtime.events import PermissionEndEvent, PermissionRequestEvent, SessionMovedEvent
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.runtime import Runtime
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.tui.event_batcher import EventBatcher
from agentcli.tui.git_branch import branch_of
from agentcli.tui.spending import Spending, spent_before
from agentcli.tui.status import Status, folder_name
from agentcli.tui.transcript_presenter import HistoryReplaced, TranscriptPresenter
from agentcli.tui.widgets.queue_bar import QueuedKind, QueuedRow
from agentcli.tui.widgets.transcript import Transcript

KINDS = (QueuedKind.STEER, QueuedKind.FOLLOW_UP)


class PromptEnded(Struct, frozen=True):
    """Nothing automatic remains of a prompt. Comes through the bridge, after the events of the prompt."""

    error: BaseException | None
    """How it failed, if the transcript does not hold it."""
    seconds: float
    """How long it was worked on."""


class SessionController:
    """Args:
    transcript: where the conversation is shown.
    post: takes the bridge's messages for the app.
    """

    @classmethod
    def open(
        cls, options: RuntimeOptions, transcript: Transcript, post: Callable[[Message], Any]
    ) -> "SessionController":
        """Raises what `Runtime.create` raises."""
        return cls(Runtime.create(replace(options, answers_permissions=True)), transcript, post)

    def __init__(self, runtime: Runtime, transcript: Transcript, post: Callable[[Message], Any]) -> None:
        self.conversation = TranscriptPresenter(transcript)
        self._post = post
        self.bridge = EventBatcher(post)
        self.requests: list[PermissionRequestEvent] = []
        """What waits for the person's answer, first come first."""
        self._unsubscribe: Callable[[], None] = lambda: None
        self._prompts = 0
        """How many have not ended on the screen."""
        self._context: tuple[int, int] = (-1, 0)
        """For how many messages the tokens of the context were counted, and the tokens."""
        self.use(runtime)

    def use(self, runtime: Runtime) -> None:
        """Show this runtime's conversation from now on."""
        self._unsubscribe()
        self.bridge.close()
        # What the one before has posted already is of the other session.
        self.bridge = EventBatcher(self._post)
        self.runtime = runtime
        self.requests = []
        self._prompts = 0
        self._context = (-1, 0)
        self._spending = Spending()
        self._branch = branch_of(runtime.cwd)
        self._unsubscribe = runtime.subscribe(self._hear)
        self.conversation.transcript.hide_thinking = runtime.options.settings.hide_thinking
        self.conversation.begin(runtime.agent.state.messages)
        for notice in runtime.notices:
            self.conversation.notice(notice)

    @property
    def model(self) -> str:
        """The model and how much it thinks."""
        state = self.runtime.agent.state
        return f"{state.model.full_id} · {state.thinking_level}" if state.model.reasoning else state.model.full_id

    @property
    def activity(self) -> str:
        if not self._prompts:
            return self.conversation.activity or "ready"
        if self.runtime.agent.signal.aborted:
            return "stopping"
        return "waiting for your answer" if self.requests else self.conversation.activity or "working"

    @property
    def status(self) -> Status:
        runtime, spending = self.runtime, self._spending
        return Status(
            folder=folder_name(runtime.cwd),
            branch=self._branch,
            session=runtime.session.name or "",
            model=self.model,
            activity=self.activity,
            context_tokens=self._context_tokens(),
            context_window=runtime.agent.state.model.context_window,
            input_tokens=spending.input_tokens,
            output_tokens=spending.output_tokens,
            cost=spending.cost,
        )

    # What is said

    def send(self, text: str, follow_up: bool) -> bool:
        """Start a run, or reach the one that goes on. False if it could not be sent; the transcript says why."""
        runtime = self.runtime
        try:
            images = runtime.attachments.images_in(text)
            self._tell_attachments()
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
            self.conversation.failure(error)
            return False
        return True

    def _tell_attachments(self) -> None:
        notices = self.runtime.attachments.notices
        while notices:
            self.conversation.notice(notices.pop(0))

    def stop(self) -> list[str]:
        """End the run and the person's command. Returns the texts of what was queued, which waits no more."""
        self.runtime.abort()
        self.runtime.abort_bash()
        return [said(message) for message in self.runtime.agent.clear_all_queues()]

    def answer(self, id: str, *, allow: bool, remember: str = "once", reason: str | None = None) -> None:
        """Answer a request, which waits no more."""
        self._forget(id)
        self.runtime.answer_permission(id, "allow" if allow else "deny", remember, reason)

    # What waits

    @property
    def waiting(self) -> list[QueuedRow]:
        """What is queued, next first."""
        return [QueuedRow(item.id, kind, said(item.message)) for kind in KINDS for item in self.queue(kind).items]

    def queue(self, kind: QueuedKind) -> PendingMessageQueue:
        agent = self.runtime.agent
        return agent.steering_queue if kind is QueuedKind.STEER else agent.follow_up_queue

    def place_of(self, id: str) -> tuple[QueuedKind, int] | None:
        """Of which kind a message is that waits, and how many of its kind come before; None if it waits no more."""
        for kind in KINDS:
            ids = [item.id for item in self.queue(kind).items]
            if id in ids:
                return kind, ids.index(id)
        return None

    def take_back(self, id: str) -> AgentMessage | None:
        """Take a message out of its queue; None if it waits no more."""
        place = self.place_of(id)
        return self.queue(place[0]).remove(id) if place else None

    def move(self, id: str, position: int) -> None:
        if place := self.place_of(id):
            self.queue(place[0]).move(id, position)

    def switch_kind(self, id: str) -> None:
        """Make a message that waits one of the other kind, the last of them."""
        if place := self.place_of(id):
            other = QueuedKind.FOLLOW_UP if place[0] is QueuedKind.STEER else QueuedKind.STEER
            self.queue(other).enqueue(self.queue(place[0]).remove(id))

    # What happens

    def apply(self, batch: EventBatcher.Batch) -> float | None:
        """Bring events to the screen. Raises what a prompt failed with, if nobody expected that.

        Returns:
            How many seconds the prompt took that has ended, if one has.
        """
        took: float | None = None
        self.conversation.apply(batch.events, time.monotonic())
        for event in batch.events:
            self._spending.hear(event)
            match event:
                case PermissionRequestEvent():
                    self.requests.append(event)
                case PermissionEndEvent():
                    self._forget(event.id)
                case PromptEnded():
                    self._end_prompt(event)
                    took = event.seconds
                case _:
                    pass
        return took

    async def warm_up(self) -> None:
        """Import what the first answer needs, 60 ms, and count what the session took, while the person types."""
        await to_thread(_prepare, self.runtime)
        await self.count_spending()

    async def count_spending(self) -> None:
        """Add what the session took before it was opened here."""
        runtime, spending = self.runtime, self._spending
        storage = runtime.session.storage
        if isinstance(storage, JsonlSessionStorage) and runtime.agent.state.messages:
            # A reader of its own, for a thread.
            before = await to_thread(_spent_in, storage.path)
            spending.input_tokens += before.input_tokens
            spending.output_tokens += before.output_tokens
            spending.cost += before.cost

    async def close(self) -> None:
        self.bridge.close()
        await self.runtime.close()

    def _hear(self, event: Any, signal: object) -> None:
        if isinstance(event, SessionMovedEvent):
            # What the transcript is now: when the event comes to the screen, there may be more.
            event = HistoryReplaced(list(self.runtime.agent.state.messages))
        self.bridge(event, signal)

    def _forget(self, id: str) -> None:
        self.requests = [request for request in self.requests if request.id != id]

    def _prompt_ended(self, runtime: Runtime, task: "asyncio.Task[None]", began: float) -> None:
        if runtime is self.runtime:
            error = None if task.cancelled() else task.exception()
            self.bridge(PromptEnded(error, time.monotonic() - began), None)

    def _end_prompt(self, ended: PromptEnded) -> None:
        self._prompts -= 1
        self._branch = branch_of(self.runtime.cwd)
        if isinstance(ended.error, AgentcliError):
            self.conversation.failure(ended.error)
        elif ended.error is not None:
            raise ended.error

    def _context_tokens(self) -> int:
        """How much the next request holds. Counted again only when messages came, for it looks at all of them."""
        count = len(self.runtime.agent.state.messages)
        if count != self._context[0]:
            self._context = (count, self.runtime.context_tokens if count else 0)
        return self._context[1]


def _spent_in(path: Path) -> Spending:
    session = Session(JsonlSessionStorage.read(path))
    try:
        return spent_before(session)
    finally:
        session.close()


def _prepare(runtime: Runtime) -> None:
    # A model that nobody can ask: the first prompt says so, where it can be read.
    with contextlib.suppress(AgentcliError):
        runtime.prepare()
    import_module("markdown_it")
    import_module("pygments.lexers")


def said(message: AgentMessage) -> str:
    """The text of a message that waits."""
    return text_of(message.content) if isinstance(message, UserMessage | CustomMessage) else ""
