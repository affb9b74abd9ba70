"""Which items come of the events that are no part of an answer: the user's commands, changes, summaries, notices."""

from typing import Any

from textual.pilot import Pilot

from agentcli.agent.messages import BashExecutionMessage, user_message
from agentcli.agent.models import ThinkingLevel
from agentcli.runtime.events import (
    BashExecutionEndEvent,
    BashExecutionStartEvent,
    BashExecutionUpdateEvent,
    CompactionEndEvent,
    ModelChangedEvent,
    NoticeEvent,
    RetryStartEvent,
    SessionInfoChangedEvent,
    ThinkingLevelChangedEvent,
)
from agentcli.transcript.items import NoticeItem
from agentcli.transcript.model import HistoryReplaced
from agentcli.tui.event_batcher import EventBatcher
from agentcli.tui.widgets.transcript import Transcript
from tests.tui.test_transcript import FakeApp, shown
from tests.tui.views import Conversation


async def after(pilot: Pilot[None], conversation: Conversation, *events: Any, now: float = 0.0) -> str:
    """What is on the screen after these events."""
    conversation.apply(*events, now=now)
    await pilot.pause()
    return "\n".join(shown(pilot)).strip()


async def test_a_command_of_the_person_is_followed_from_its_start_to_its_end() -> None:
    async with FakeApp().run_test() as pilot:
        conversation = Conversation(pilot.app.query_one(Transcript))
        text = await after(pilot, conversation, BashExecutionStartEvent("c1", "make", False))
        assert text == "● ! make  the model is told" and conversation.model.has_clock
        await after(pilot, conversation, BashExecutionUpdateEvent("c1", "one\ntwo"))
        conversation.tick(3.4)
        await pilot.pause()
        assert "\n".join(shown(pilot)).strip() == "● ! make  3 s  the model is told\n  │ one\n  │ two"
        end = BashExecutionEndEvent("c1", BashExecutionMessage("make", "one\ntwo\nthree\n", exit_code=2))
        text = await after(pilot, conversation, end, now=4.5)
        assert text.startswith("✗ ! make  4.5 s, exit 2  the model is told") and text.endswith("│ three")
        assert not conversation.model.has_clock and len(conversation.transcript.items) == 1


async def test_a_command_goes_on_when_the_conversation_does_elsewhere() -> None:
    async with FakeApp().run_test() as pilot:
        conversation = Conversation(pilot.app.query_one(Transcript))
        start = BashExecutionStartEvent("c1", "make", True)
        text = await after(pilot, conversation, start, HistoryReplaced([user_message("before")]))
        assert text.startswith("❯ before") and "● !! make  the model is not told" in text
        assert "the conversation goes on from here" in text
        end = BashExecutionEndEvent("c1", BashExecutionMessage("make", "", exit_code=0, exclude_from_context=True))
        assert "✓ !! make" in await after(pilot, conversation, end)


async def test_output_of_a_command_that_nobody_knows_is_let_go() -> None:
    async with FakeApp().run_test() as pilot:
        conversation = Conversation(pilot.app.query_one(Transcript))
        assert await after(pilot, conversation, BashExecutionUpdateEvent("c9", "text")) == ""


async def test_changes_are_said_once_with_their_last_word() -> None:
    async with FakeApp().run_test() as pilot:
        conversation = Conversation(pilot.app.query_one(Transcript))
        changes = [ModelChangedEvent("a", f"model-{number}", ThinkingLevel.OFF) for number in range(9)]
        levels = [ThinkingLevelChangedEvent(level) for level in ThinkingLevel]
        text = await after(pilot, conversation, *changes, *levels, SessionInfoChangedEvent("my [b]name[/]"))
        assert text.splitlines() == [
            "ℹ from here on: a/model-8, thinking off",
            "ℹ from here on: thinking max",
            "ℹ this session is called my [b]name[/]",
        ]
        assert "has no name" in await after(pilot, conversation, SessionInfoChangedEvent(None))


async def test_many_notices_take_few_rows() -> None:
    async with FakeApp().run_test() as pilot:
        conversation = Conversation(pilot.app.query_one(Transcript))
        text = await after(pilot, conversation, *(NoticeEvent(f"warning {number}") for number in range(300)))
        assert len(text.splitlines()) == 6 and "… 295 earlier notices" in text and "warning 299" in text
        assert len(conversation.transcript.items) == 1


async def test_a_compaction_says_how_much_smaller_the_context_is() -> None:
    async with FakeApp().run_test() as pilot:
        conversation = Conversation(pilot.app.query_one(Transcript))
        end = CompactionEndEvent(reason="manual", summary="what was\nsaid", tokens_before=9_000, tokens_after=1_000)
        text = await after(pilot, conversation, end)
        assert "summarised (9,000 → 1,000 tokens)" in text and "what was (+1 lines)" in text


async def test_a_countdown_does_not_take_in_what_is_said_after_it() -> None:
    async with FakeApp().run_test() as pilot:
        conversation = Conversation(pilot.app.query_one(Transcript))
        await after(pilot, conversation, RetryStartEvent(1, 3, 5.0, "busy"), NoticeEvent("by the way"))
        conversation.tick(2.0)
        await pilot.pause()
        assert "trying again in 3 s (1 of 3; Esc stops)" in "\n".join(shown(pilot))
        assert next(item.text for item in conversation.model.items if isinstance(item, NoticeItem)) == "by the way"


async def test_live_output_that_was_overtaken_is_not_shown() -> None:
    batches: list[EventBatcher.Batch] = []
    batcher = EventBatcher(batches.append)  # type: ignore[arg-type]
    for event in (
        BashExecutionUpdateEvent("c1", "one"),
        BashExecutionUpdateEvent("c1", "one two"),
        BashExecutionUpdateEvent("c2", "other"),
    ):
        batcher(event)
    batcher._flush()
    assert batches[0].events == [BashExecutionUpdateEvent("c1", "one two"), BashExecutionUpdateEvent("c2", "other")]
    batcher.close()
