"""The batcher joins what comes fast, in order, and never lets the screen take all the time."""

import asyncio
from typing import Any

from agentcli.agent.assistant_events import TextDeltaEvent, ThinkingDeltaEvent
from agentcli.agent.events import MessageUpdateEvent, ToolExecutionUpdateEvent, TurnStartEvent
from agentcli.agent.messages import TextContent
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.agent.tools import AgentToolResult
from agentcli.tui.event_batcher import EventBatcher

PARTIAL = PartialMessage(Model(id="m", api="scripted", provider="scripted"))


def text(delta: str, index: int = 0) -> MessageUpdateEvent:
    return MessageUpdateEvent(PARTIAL, TextDeltaEvent(index, delta))


def output(call: str, said: str) -> ToolExecutionUpdateEvent:
    return ToolExecutionUpdateEvent(call, "bash", {}, AgentToolResult(content=[TextContent(said)]))


async def batches_of(events: list[Any]) -> list[list[Any]]:
    """What the batcher posts of events that come at once."""
    posted: list[list[Any]] = []

    def post(message: Any) -> None:
        posted.append(message.events)
        asyncio.get_running_loop().call_soon(batcher.done)

    batcher = EventBatcher(post)
    for event in events:
        batcher(event)
    await asyncio.sleep(0.3)
    return posted


async def test_deltas_of_one_block_are_one_event() -> None:
    assert await batches_of([text("a"), text("b"), text("c")]) == [[text("abc")]]


async def test_deltas_of_different_blocks_and_kinds_stay_apart_and_in_order() -> None:
    thinking = MessageUpdateEvent(PARTIAL, ThinkingDeltaEvent(0, "t"))
    events = [thinking, text("a"), text("b"), text("c", 1), TurnStartEvent(), text("d", 1), text("e", 1)]
    expected = [thinking, text("ab"), text("c", 1), TurnStartEvent(), text("de", 1)]
    assert await batches_of(events) == [expected]


async def test_only_the_last_output_of_a_call_counts() -> None:
    events = [output("1", "a"), output("1", "ab"), output("2", "x"), output("1", "abc")]
    assert await batches_of(events) == [[output("1", "ab"), output("2", "x"), output("1", "abc")]]


async def test_the_next_batch_waits_for_the_screen() -> None:
    posted: list[list[Any]] = []
    batcher = EventBatcher(lambda message: posted.append(message.events))
    batcher(text("a"))
    await asyncio.sleep(0.01)
    for delta in "bcd":
        batcher(text(delta))
        await asyncio.sleep(0.03)
    assert posted == [[text("a")]]
    batcher.done()
    await asyncio.sleep(0.4)
    assert posted == [[text("a")], [text("bcd")]]


async def test_a_closed_batcher_posts_nothing() -> None:
    posted: list[Any] = []
    batcher = EventBatcher(posted.append)
    batcher(text("a"))
    batcher.close()
    await asyncio.sleep(0.1)
    assert posted == []
