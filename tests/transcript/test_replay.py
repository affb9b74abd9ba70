"""A session that is read from its entries has the items that it had while it ran."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentcli.agent.assistant_events import (
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from agentcli.agent.events import (
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    TurnStartEvent,
)
from agentcli.agent.messages import AssistantMessage, Message
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.config.settings import PermissionMode
from agentcli.providers.scripted import Step
from agentcli.runtime.events import NoticeEvent, PermissionRequestEvent
from agentcli.runtime.runtime import Runtime
from agentcli.sessions.codec import decode_entry
from agentcli.sessions.entries import MessageEntry
from agentcli.transcript.items import CallState, CompactionItem, Item, NoticeItem, NoticeKind, RetryItem, ToolItem
from agentcli.transcript.model import TranscriptEvent, TranscriptModel, follow
from tests.agent.doubles import call, fail, raw_call, say, stop
from tests.recorded.recording import EVERY_KIND, INPUTS
from tests.runtime.conftest import Make
from tests.runtime.test_compaction import LONG, SMALL
from tests.transcript.facts import facts
from tests.waiting import until

PARTIAL = PartialMessage(Model(id="m", api="scripted", provider="scripted"))
Drive = Callable[[Runtime, TranscriptModel], Awaitable[Any]]


def stored(items: list[Item]) -> list[Any]:
    """The facts of items that have an entry: no retries, and no notices but those about how an answer ended."""
    kept = [
        item
        for item in items
        if not isinstance(item, RetryItem)
        and not (isinstance(item, NoticeItem) and item.kind is NoticeKind.INFO and "abort" not in item.text)
    ]
    return [facts(item) for item in kept]


def replayed(runtime: Runtime) -> TranscriptModel:
    model = TranscriptModel()
    model.add_entries(runtime.session.get_branch())
    return model


async def prompt(runtime: Runtime, live: TranscriptModel) -> None:
    await runtime.prompt("go")


async def prompt_and_abort(runtime: Runtime, live: TranscriptModel) -> None:
    task = runtime.prompt("go")
    states = lambda: [item.state for item in live.items if isinstance(item, ToolItem)]  # noqa: E731
    await until(lambda: states() == [CallState.RUNNING, CallState.RUNNING])
    runtime.abort()
    await task
    assert states() == [CallState.CANCELLED, CallState.CANCELLED]


async def prompt_and_deny(runtime: Runtime, live: TranscriptModel) -> None:
    def deny(event: object, signal: object) -> None:
        if isinstance(event, PermissionRequestEvent):
            asyncio.get_running_loop().call_soon(runtime.answer_permission, event.id, "deny")

    runtime.subscribe(deny)
    await runtime.prompt("go")


async def command(runtime: Runtime, live: TranscriptModel) -> None:
    await runtime.bash("echo mine; exit 3")
    await runtime.bash("echo private", exclude_from_context=True)


async def two_prompts_and_compact(runtime: Runtime, live: TranscriptModel) -> None:
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    await runtime.compact()
    await runtime.prompt("three")
    assert any(isinstance(item, CompactionItem) for item in live.items)


async def steer(runtime: Runtime, live: TranscriptModel) -> None:
    task = runtime.prompt("go")
    runtime.steer("and this")
    runtime.follow_up("then that")
    await task


SCENARIOS: dict[str, tuple[list[list[Step]], Drive]] = {
    "text": ([[say("one **two**", chunk=3)]], prompt),
    "thinking": ([[Step(thinking="hm\nwell", chunk=2), say("so")]], prompt),
    "calls": ([[say("I look"), call("bash", "1", command="echo a"), call("bash", "2", command="false")], [say("so")]], prompt),
    "a tool that does not exist": ([[call("teleport", "1", where="home")], [say("no")]], prompt),
    "arguments that are no JSON": ([[raw_call("bash", "1", '{"command": ')], [say("no")]], prompt),
    "the same id twice": ([[call("bash", "1", command="echo a")], [call("bash", "1", command="echo b")], [say("so")]], prompt),
    "an edit": (
        [[call("write", "1", path="a.txt", content="a\n")], [call("edit", "2", path="a.txt", edits=[{"old_text": "a", "new_text": "b"}])], [say("so")]],
        prompt,
    ),
    "a failure with a call": ([[say("half"), call("bash", "1", command="ls"), fail("quota", "no credit left")]], prompt),
    "a retry": ([[say("half"), fail("overloaded", "busy")], [say("whole")]], prompt),
    "cut off": ([[say("half"), stop("length")]], prompt),
    "empty": ([[say(" ")]], prompt),
    "an abort of a call": ([[call("bash", "1", command="sleep 20"), call("bash", "2", command="sleep 21")]], prompt_and_abort),
    "a call that is denied": ([[call("bash", "1", command="touch x")], [say("no")]], prompt_and_deny),
    "commands of the user": ([], command),
    "a compaction": ([[say(LONG)], [say(LONG)], [say("the summary")], [say("end")]], two_prompts_and_compact),
    "queued messages": ([[call("bash", "1", command="true")], [say("a")], [say("b")]], steer),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
async def test_what_was_live_comes_back_from_the_entries(make: Make, name: str):
    answers, drive = SCENARIOS[name]
    mode = PermissionMode.ASK if drive is prompt_and_deny else PermissionMode.AUTO
    runtime = make(*answers, settings=SMALL, permission_mode=mode, answers_permissions=True)
    live = TranscriptModel()
    follow(runtime, lambda event: live.apply(event, 0.0))
    await drive(runtime, live)
    assert live.items and not live.has_clock and live.activity == ""
    assert stored(replayed(runtime).items) == stored(live.items)


async def test_a_branch_that_was_left_comes_back_as_its_summary(make: Make):
    runtime = make([say("a1")], [say("a2")], [say("the summary")], [say("a3")])
    live = TranscriptModel()
    follow(runtime, lambda event: live.apply(event, 0.0))
    await runtime.prompt("q1")
    leaf = runtime.session.leaf_id
    await runtime.prompt("q2")
    assert leaf is not None
    await runtime.go_to(leaf, summarize=True)
    await runtime.prompt("q3")
    assert stored(replayed(runtime).items) == stored(live.items)
    assert [words for words, *_ in stored(live.items)] == ["user", "text", "BranchSummaryItem", "user", "text"]


def entries_of(path: Path) -> list[Any]:
    lines = path.read_bytes().replace(b'"timestamp":"number"', b'"timestamp":0').splitlines()
    return [decode_entry(line) for line in lines[1:]]


WRITTEN_WHOLE = MessageEndEvent | TurnStartEvent | ToolExecutionStartEvent | ToolExecutionEndEvent | NoticeEvent
DELTAS = TextStartEvent | TextDeltaEvent | ToolCallStartEvent | ToolCallDeltaEvent


def recorded_events() -> list[TranscriptEvent]:
    """The events of the recording, with what is left out of the lines because it stands in others."""
    text = (INPUTS / "events.jsonl").read_text().replace(':"number"', ":0")
    lines = [json.loads(line) for line in text.splitlines()]
    events: list[TranscriptEvent] = []
    for number, line in enumerate(lines):
        message = next((later["message"] for later in lines[number:] if later["type"] == "message_end"), None)
        match line:
            case {"type": "message_start", "role": "assistant"}:
                events.append(MessageStartEvent(AssistantMessage([])))
            case {"type": "message_start"}:
                events.append(MessageStartEvent(msgspec.convert(message, Message)))
            case {
                "type": "message_update",
                "assistant_message_event": {"type": "toolcall_end", "content_index": index},
            }:
                call = msgspec.convert(message, AssistantMessage).content[index]
                events.append(MessageUpdateEvent(PARTIAL, ToolCallEndEvent(index, call)))  # type: ignore[arg-type]
            case {"type": "message_update", "assistant_message_event": {"type": "text_end", "content_index": index}}:
                events.append(MessageUpdateEvent(PARTIAL, TextEndEvent(index, "")))
            case {"type": "message_update", "assistant_message_event": delta}:
                events.append(MessageUpdateEvent(PARTIAL, msgspec.convert(delta, DELTAS)))
            case {"type": "message_end" | "turn_start" | "tool_execution_start" | "tool_execution_end" | "notice"}:
                events.append(msgspec.convert(line, WRITTEN_WHOLE))
            case {
                "type": "session"
                | "result"
                | "entry_appended"
                | "agent_start"
                | "agent_end"
                | "agent_settled"
                | "turn_end"
            }:
                pass
            case _:
                raise AssertionError(f"the recording has another event: {line}")
    return events


def test_the_recorded_events_and_the_recorded_session_are_the_same_items():
    live, again = TranscriptModel(), TranscriptModel()
    for event in recorded_events():
        live.apply(event, 0.0)
    again.add_entries(entries_of(INPUTS / "session.jsonl"))
    assert stored(live.items) == stored(again.items)
    assert [kind for kind, *_ in stored(again.items)] == ["user", "tool", "tool", "tool", "text"]
    (edit,) = [item for item in again.items if isinstance(item, ToolItem) and item.name == "edit"]
    assert edit.diff == "-1 Hello World\n+1 Bye World" and edit.state is CallState.DONE


def test_every_kind_of_entry_is_read():
    model = TranscriptModel()
    model.add_entries(entries_of(EVERY_KIND))
    assert [kind for kind, *_ in map(facts, model.items)] == [
        "user", "thinking", "text", "tool", "tool", "text", "command", "notice", "user", "text", "notice",
        "CompactionItem", "user", "text", "BranchSummaryItem", "user", "text",
    ]  # fmt: skip


def test_messages_and_their_entries_are_the_same_items():
    entries = [entry for entry in entries_of(INPUTS / "session.jsonl") if isinstance(entry, MessageEntry)]
    by_message, by_entry = TranscriptModel(), TranscriptModel()
    by_message.open([entry.message for entry in entries])
    by_entry.add_entries(entries)
    assert list(map(facts, by_message.items)) == list(map(facts, by_entry.items))
