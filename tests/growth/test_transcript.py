"""A delta costs the model of a transcript the same, however much is in it already."""

from agentcli.agent.assistant_events import TextDeltaEvent, TextStartEvent
from agentcli.agent.events import MessageStartEvent, MessageUpdateEvent
from agentcli.agent.messages import AssistantMessage
from agentcli.transcript.model import TranscriptModel
from tests.growth.cost import Work, assert_doubles, assert_same, instructions
from tests.growth.test_app import history, update


def streaming(messages: int, deltas: int) -> TranscriptModel:
    """A model with so many messages, and an answer that has so many deltas."""
    model = TranscriptModel()
    model.open(history(messages))
    model.apply(MessageStartEvent(AssistantMessage([])), 0.0)
    model.apply(update(TextStartEvent(0)), 0.0)
    for event in some_deltas(deltas):
        model.apply(event, 0.0)
    return model


def some_deltas(count: int) -> list[MessageUpdateEvent]:
    return [update(TextDeltaEvent(0, "word ")) for _ in range(count)]


async def test_a_delta_after_many_messages_and_deltas():
    def prepare(size: int) -> Work:
        model, events = streaming(size, size * 10), some_deltas(20)

        def stream() -> None:
            for event in events:
                model.apply(event, 0.0)

        return stream

    # The list of pieces takes new memory in steps.
    await assert_same(prepare, 100, counts=(instructions,))


async def test_a_conversation_that_is_opened():
    def prepare(messages: int) -> Work:
        model, shown = TranscriptModel(), history(messages)
        return lambda: model.open(shown)

    await assert_doubles(prepare, 400)
