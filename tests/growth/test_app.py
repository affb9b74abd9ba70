"""What the app shows costs twice as much if it is twice as long, and a delta the same in a conversation of any length."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from textual.app import App, ComposeResult

from agentcli.agent.assistant_events import TextDeltaEvent, TextStartEvent, ToolCallDeltaEvent, ToolCallStartEvent
from agentcli.agent.events import (
    AgentEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
)
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    user_message,
)
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.agent.tools import AgentToolResult
from agentcli.tui.event_batcher import EventBatcher
from agentcli.tui.widgets.transcript import Transcript
from tests.growth.cost import Work, assert_doubles, assert_same
from tests.tui.views import Conversation

PARTIAL = PartialMessage(Model(id="m", api="scripted", provider="scripted"))
# A single block that goes on and on is another matter: a paragraph's emphasis may end late, a table's columns grow. It is
# laid out again at most 25 times a second and in a third of the time, however many deltas there are (`tui/event_batcher.py`).
TEXTS: dict[str, Callable[[int], str]] = {
    "paragraphs": lambda number: "some **words** of a paragraph\n" if number % 4 else "and its end\n\n",
    "a list": lambda number: f"- item {number}\n",
    "a code block": lambda number: "" if number else "```python\n" + f"value_{number} = [{number}]\n",
}


class FakeApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()


@pytest.fixture
async def transcript() -> AsyncIterator[Transcript]:
    app = FakeApp()
    async with app.run_test(size=(80, 24)):
        yield app.query_one(Transcript)


def update(event: Any) -> MessageUpdateEvent:
    return MessageUpdateEvent(PARTIAL, event)


def begun(transcript: Transcript, messages: int = 0) -> Conversation:
    """A conversation with so many messages in it and an answer that begins."""
    conversation = Conversation(transcript)
    conversation.model.open(history(messages))
    conversation.apply(MessageStartEvent(AssistantMessage([])), update(TextStartEvent(0)))
    return conversation


def history(count: int) -> list[AgentMessage]:
    messages: list[AgentMessage] = []
    for number in range(count // 4):
        call = ToolCall(f"c{number}", "bash", {"command": "make"})
        messages.append(user_message("go on"))
        messages.append(AssistantMessage([TextContent("I **look** into it.\n\n- one\n- two"), call]))
        messages.append(ToolResultMessage(f"c{number}", "bash", [TextContent("a line\n" * 20)]))
        messages.append(AssistantMessage([TextContent("Done.")]))
    return messages


def painted(conversation: Conversation, *events: AgentEvent) -> None:
    """Bring the events to the screen, as one batch."""
    conversation.apply(*events)
    transcript = conversation.transcript
    for y in range(transcript.size.height):
        transcript.render_line(y)


async def test_deltas_that_are_joined():
    def prepare(deltas: int) -> Work:
        bridge = EventBatcher(lambda message: None)
        events = [update(TextDeltaEvent(0, "word")) for _ in range(deltas)]

        async def hear() -> None:
            for event in events:
                bridge(event)
            bridge.close()

        return hear

    await assert_doubles(prepare, 2000)


@pytest.mark.parametrize("kind", TEXTS)
async def test_an_answer_that_streams(transcript: Transcript, kind: str):
    def prepare(pieces: int) -> Work:
        conversation = begun(transcript)

        def stream() -> None:
            for number in range(pieces):
                painted(conversation, update(TextDeltaEvent(0, TEXTS[kind](number))))

        return stream

    await assert_doubles(prepare, 40)


async def test_a_delta_in_a_long_conversation(transcript: Transcript):
    def prepare(messages: int) -> Work:
        conversation = begun(transcript, messages)
        painted(conversation, update(TextDeltaEvent(0, "some words")))

        def stream() -> None:
            for _ in range(10):
                painted(conversation, update(TextDeltaEvent(0, "words and words\n\n")))

        return stream

    await assert_same(prepare, 400)


async def test_a_conversation_that_is_opened(transcript: Transcript):
    def prepare(messages: int) -> Work:
        conversation, shown = Conversation(transcript), history(messages)

        def show() -> None:
            conversation.model.open(shown)
            painted(conversation)

        return show

    await assert_doubles(prepare, 400)


async def test_arguments_that_stream(transcript: Transcript):
    def prepare(pieces: int) -> Work:
        conversation = begun(transcript)
        painted(conversation, update(ToolCallStartEvent(1, "c1", "write")))

        def stream() -> None:
            for _ in range(pieces):
                painted(conversation, update(ToolCallDeltaEvent(1, '"content": "words and more words')))

        return stream

    await assert_doubles(prepare, 40)


async def test_the_output_of_a_command_that_runs(transcript: Transcript):
    """What a command shows meanwhile is the end of its output, within the limits of a result."""

    def prepare(updates: int) -> Work:
        conversation = begun(transcript)
        arguments = {"command": "make"}
        painted(conversation, ToolExecutionStartEvent("c1", "bash", arguments))
        lines = [f"line {number}\n" for number in range(updates)]

        def stream() -> None:
            for number in range(updates):
                shown = AgentToolResult(content=[TextContent("".join(lines[:number][-100:]))])
                painted(conversation, ToolExecutionUpdateEvent("c1", "bash", arguments, shown))

        return stream

    await assert_doubles(prepare, 60)
