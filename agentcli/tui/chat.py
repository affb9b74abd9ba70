"""Chat: a runtime on the screen. Prompts go in, events come out as items, and what waits is counted.

Everything that is not needed for the first paint is imported from here (50 ms), after it.
"""

import asyncio
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from msgspec import Struct
from textual.message import Message

from agentcli.agent.errors import AgentcliError
from agentcli.agent.messages import AgentMessage, CustomMessage, StopReason, UserMessage, text_of
from agentcli.agent.models import Model
from agentcli.providers.http import import_httpx
from agentcli.providers.stream_client import WIRE_APIS
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.runtime import Runtime
from agentcli.tui.bridge import Bridge
from agentcli.tui.conversation import Conversation
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
        return cls(Runtime.create(options), transcript, post)

    def __init__(self, runtime: Runtime, transcript: Transcript, post: Callable[[Message], Any]) -> None:
        self.runtime = runtime
        self.conversation = Conversation(transcript)
        self.bridge = Bridge(post)
        self._prompts = 0
        """How many have not ended on the screen."""
        runtime.subscribe(self.bridge)
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
        return "stopping" if self.runtime.agent.signal.aborted else self.conversation.activity or "working"

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
            if isinstance(event, PromptEnded):
                self._prompts -= 1
                if isinstance(event.error, AgentcliError):
                    self.conversation.failure(event.error)
                elif event.error is not None:
                    raise event.error
                self.send_latecomers()

    async def warm_up(self) -> None:
        """Import what the first answer needs, 60 ms, while the person types."""
        await asyncio.to_thread(_import_ahead, self.runtime.agent.state.model)

    async def close(self) -> None:
        self.bridge.close()
        await self.runtime.close()

    def _prompt(self, prompt: str | list[AgentMessage]) -> None:
        self._prompts += 1
        self.runtime.prompt(prompt).add_done_callback(lambda task: self.bridge(PromptEnded(_error_of(task)), None))


def _import_ahead(model: Model) -> None:
    if model.base_url:
        import_httpx()
    if module := WIRE_APIS.get(model.api):
        import_module(module)
    import_module("markdown_it")
    import_module("pygments.lexers")


def _text(message: AgentMessage) -> str:
    return text_of(message.content) if isinstance(message, UserMessage | CustomMessage) else ""


def _error_of(task: "asyncio.Task[None]") -> BaseException | None:
    return None if task.cancelled() else task.exception()
