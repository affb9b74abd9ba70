"""Chat: a runtime on the screen. Prompts go in, events come out as items, and what waits is counted.

Everything that is not needed for the first paint is imported from here (50 ms), after it.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from textual.message import Message

from agentcli.agent.errors import AgentcliError
from agentcli.agent.messages import AgentMessage, CustomMessage, StopReason, UserMessage, text_of
from agentcli.runtime.events import PermissionEndEvent, PermissionRequestEvent, SessionMovedEvent
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.runtime import Runtime
from agentcli.tui.bridge import Bridge
from agentcli.tui.conversation import Conversation, HistoryReplaced
from agentcli.tui.widgets.transcript import Transcript


class PromptEnded(Struct, frozen=True):
    """Nothing automatic remains of a prompt. Comes through the bridge, after the events of the prompt."""

    error: BaseException | None
    """How it failed, if the transcript does not hold it."""


class Chat:
    """Args:
    transcript: where the conversation is shown.
    post: takes the bridge's messages for the app.
    """

    @classmethod
    def open(cls, options: RuntimeOptions, transcript: Transcript, post: Callable[[Message], Any]) -> "Chat":
        """Raises what `Runtime.create` raises."""
        return cls(Runtime.create(replace(options, answers_permissions=True)), transcript, post)

    def __init__(self, runtime: Runtime, transcript: Transcript, post: Callable[[Message], Any]) -> None:
        self.runtime = runtime
        self.conversation = Conversation(transcript)
        self.bridge = Bridge(post)
        self._prompts = 0
        """How many have not ended on the screen."""
        self.requests: list[PermissionRequestEvent] = []
        """What waits for the person's answer, first come first."""
        runtime.subscribe(self._hear)
        self.conversation.show_history(runtime.agent.state.messages)
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
            return "ready"
        if self.runtime.agent.signal.aborted:
            return "stopping"
        return "waiting for your answer" if self.requests else self.conversation.activity or "working"

    @property
    def waiting(self) -> list[tuple[str, str]]:
        """The kind and the text of what is queued, next first."""
        agent = self.runtime.agent
        steering = [("steering", _text(item.message)) for item in agent.steering_queue.items]
        return steering + [("follow-up", _text(item.message)) for item in agent.follow_up_queue.items]

    def send(self, text: str, follow_up: bool) -> bool:
        """Start a run, or reach the one that goes on. False if it could not be sent; the transcript says why."""
        try:
            if not self.runtime.is_busy:
                self._prompt(text)
            elif follow_up:
                self.runtime.follow_up(text)
            else:
                self.runtime.steer(text)
        except AgentcliError as error:
            self.conversation.failure(error)
            return False
        return True

    def stop(self) -> list[str]:
        """End the run. Returns the texts of what was queued, which waits no more."""
        self.runtime.abort()
        return [_text(message) for message in self.runtime.agent.clear_all_queues()]

    def answer(self, id: str, *, allow: bool, remember: str = "once", reason: str | None = None) -> None:
        """Answer a request, which waits no more."""
        self._forget(id)
        self.runtime.answer_permission(id, "allow" if allow else "deny", remember, reason)

    def send_latecomers(self) -> None:
        """Send what was queued in the moment in which a run ended. After a failure it waits for the person."""
        runtime = self.runtime
        last = runtime.last_message
        if runtime.is_busy or last is None or last.stop_reason is not StopReason.DONE or runtime.reached_max_turns:
            return
        if messages := runtime.agent.steering_queue.drain() or runtime.agent.follow_up_queue.drain():
            self._prompt(messages)

    def apply(self, batch: Bridge.Batch) -> None:
        """Bring events to the screen. Raises what a prompt failed with, if nobody expected that."""
        self.conversation.apply(batch.events, time.monotonic())
        for event in batch.events:
            match event:
                case PermissionRequestEvent():
                    self.requests.append(event)
                case PermissionEndEvent():
                    self._forget(event.id)
                case PromptEnded():
                    self._end_prompt(event.error)
                case _:
                    pass

    async def warm_up(self) -> None:
        """Import what the first answer needs, 60 ms, while the person types."""
        await asyncio.to_thread(_prepare, self.runtime)

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

    def _end_prompt(self, error: BaseException | None) -> None:
        self._prompts -= 1
        if isinstance(error, AgentcliError):
            self.conversation.failure(error)
        elif error is not None:
            raise error
        self.send_latecomers()

    def _prompt(self, prompt: str | list[AgentMessage]) -> None:
        self._prompts += 1
        self.runtime.prompt(prompt).add_done_callback(lambda task: self.bridge(PromptEnded(_error_of(task)), None))


def _prepare(runtime: Runtime) -> None:
    # A model that nobody can ask: the first prompt says so, where it can be read.
    with contextlib.suppress(AgentcliError):
        runtime.prepare()
    import_module("markdown_it")
    import_module("pygments.lexers")


def _text(message: AgentMessage) -> str:
    return text_of(message.content) if isinstance(message, UserMessage | CustomMessage) else ""


def _error_of(task: "asyncio.Task[None]") -> BaseException | None:
    return None if task.cancelled() else task.exception()
