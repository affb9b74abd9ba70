"""The wire: a program that reads the lines knows everything, once, and can make the session of them again."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentcli.agent.events import ToolExecutionUpdateEvent
from agentcli.agent.messages import ImageContent, StopReason, TextContent, Usage
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.config.masking import remember_key
from agentcli.headless.event_serializer import EventSerializer
from agentcli.headless.json_lines import JsonLines
from agentcli.headless.stdout_writer import StdoutWriter
from agentcli.providers.scripted import Step
from agentcli.runtime.runtime import Runtime
from agentcli.runtime.switching import clone_session
from agentcli.sessions.codec import encode_line
from tests.runtime.conftest import Make, make
from tests.runtime.test_compaction import SMALL, with_window

__all__ = ["make"]

KEY = "sk-CANARY-12345"


class Reader:
    """What a runtime wrote to a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._outlet = StdoutWriter(os.open(path, os.O_WRONLY | os.O_CREAT))

    def read(self, runtime: Runtime) -> EventSerializer:
        return EventSerializer(runtime, JsonLines(self._outlet), self._outlet.room)

    def lines(self, type: str = "") -> list[dict[str, Any]]:
        """Those of one type, or all; every line is one object."""
        lines = [msgspec.json.decode(line) for line in self.raw()]
        return [line for line in lines if not type or line["type"] == type]

    def raw(self) -> list[bytes]:
        return [line for line in self._path.read_bytes().split(b"\n") if line]

    def close(self) -> None:
        self._outlet.close()


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    made = Reader(tmp_path / "lines")
    yield made
    made.close()


class Told(msgspec.Struct):
    """As much of a line as its entry needs; `entry` has the bytes that stand in the line."""

    type: str
    entry: msgspec.Raw = msgspec.Raw()


def session_of(lines: list[bytes]) -> bytes:
    """The session file that the lines tell: the header, then every entry, with the bytes they have there."""
    told = [msgspec.json.decode(line, type=Told) for line in lines[1:]]
    entries = [bytes(line.entry) for line in told if line.type == "entry_appended"]
    return b"".join(part + b"\n" for part in [lines[0], *entries])


def file_of(runtime: Runtime) -> bytes:
    return runtime.session.storage.path.read_bytes()  # type: ignore[attr-defined]


CALL = [Step(thinking="hm"), Step(tool="bash", arguments={"command": "printf 'a\\0b\\n\u2028'; false"}), Step(stop=StopReason.TOOL_CALLS)]  # fmt: skip


async def test_the_lines_are_the_session_byte_for_byte(make: Make, reader: Reader):
    runtime = make(
        CALL,
        [Step(text="one \u2028 \x00 💩")],
        [Step(text="two")],
        [Step(error="bad_request")],
        [Step(text="x" * 20_000)],
    )
    reader.read(runtime)
    await runtime.prompt("go")
    first = next(head.id for head in runtime.session.storage.heads() if head.type == "message")
    runtime.label(first, "here")
    runtime.name_session("a name that is written again after 16 KiB")
    await runtime.prompt("and on")
    await runtime.go_to(first)
    await runtime.prompt("another way, which fails")
    await runtime.bash("echo mine")
    await runtime.prompt("long")
    await runtime.close()
    assert session_of(reader.raw()) == file_of(runtime)
    kinds = {line["entry"]["type"] for line in reader.lines("entry_appended")}
    assert kinds >= {"message", "model_change", "thinking_level_change", "label", "session_info", "leaf"}
    assert len(runtime.session.storage.heads()) == len(reader.lines("entry_appended"))


async def test_everything_that_a_session_can_hold_is_in_the_lines(make: Make, reader: Reader):
    """A retry, an image, a compaction, a summary of a branch, an extension's entries, what JSON cannot say."""
    runtime = make(
        [Step(error="overloaded")],
        [Step(text="word " * 600), Step(usage=Usage(input=8_490, output=10, total_tokens=8_500))],
        [Step(text="the summary")],
        [Step(tool="odd"), Step(stop=StopReason.TOOL_CALLS)],
        [Step(text="seen")],
        [Step(text="what happened there")],
        settings=SMALL,
    )
    runtime.agent.state.tools += [odd_tool()]
    with_window(runtime)
    reader.read(runtime)
    await runtime.prompt("go", [ImageContent("aGk=", "image/png")])
    runtime.session.append_custom("mine", {"a": [1, "\ud800"]})
    runtime.session.append_custom_message("note", "from an extension", details={"function": len})
    await runtime.prompt("and on")
    leaf = runtime.session.leaf_id
    await runtime.go_to(None)
    await runtime.go_to(leaf)
    await runtime.go_to(None, summarize=True)
    await runtime.close()
    assert session_of(reader.raw()) == file_of(runtime)
    kinds = {line["entry"]["type"] for line in reader.lines("entry_appended")}
    assert kinds >= {"message", "compaction", "branch_summary", "custom", "custom_message", "leaf"}
    assert {line["type"] for line in reader.lines()} >= {"retry_start", "retry_end", "compaction_end"}
    (result,) = (each for each in reader.lines("message_end") if each["message"]["role"] == "toolResult")
    assert result["message"]["details"] == {"function": str(len), "n": 1}
    assert runtime.is_stored


def odd_tool() -> AgentTool:
    def execute(*_: object) -> AgentToolResult:
        return AgentToolResult(content=[TextContent("odd")], details={"function": len, "n": 1})

    return AgentTool(name="odd", description="d", parameters={"type": "object"}, execute=execute)


async def test_a_fork_is_its_entries_and_then_those_of_the_lines(make: Make, reader: Reader):
    runtime = make([Step(text="one")], [Step(text="one")], [Step(text="two")])
    await runtime.prompt("go")
    runtime.label(runtime.session.leaf_id or "", "here")
    forked = await clone_session(runtime)
    before = b"".join(encode_line(entry) for entry in forked.session.get_entries())
    reader.read(forked)
    await forked.prompt("on")
    await forked.close()
    header, *more = session_of(reader.raw()).splitlines(keepends=True)
    assert (len(before.splitlines()), len(more)) == (5, 2)
    assert header + before + b"".join(more) == file_of(forked)


async def test_a_session_that_goes_on_goes_on_in_the_lines(make: Make, reader: Reader, tmp_path: Path):
    from agentcli.runtime.session_choice import SessionChoice

    runtime = make([Step(text="one")])
    reader.read(runtime)
    await runtime.prompt("go")
    await runtime.close()
    again = make(
        [Step(text="one")], [Step(text="two")], session=SessionChoice(reference=str(runtime.session.storage.path))
    )  # type: ignore[attr-defined]
    more = Reader(tmp_path / "more")
    more.read(again)
    await again.prompt("on")
    await again.close()
    more.close()
    assert more.raw()[0] == reader.raw()[0]
    assert session_of([*reader.raw(), *more.raw()[1:]]) == file_of(again)


async def test_an_answer_is_told_as_what_is_new(make: Make, reader: Reader):
    runtime = make([Step(thinking="hm", chunk=1), Step(text="Hello there", chunk=4)])
    reader.read(runtime)
    await runtime.prompt("go")
    updates = [line["assistant_message_event"] for line in reader.lines("message_update")]
    told = [(update["type"], update.get("delta")) for update in updates]
    assert told == [
        ("thinking_start", None), ("thinking_delta", "h"), ("thinking_delta", "m"), ("thinking_end", None),
        ("text_start", None), ("text_delta", "Hell"), ("text_delta", "o th"), ("text_delta", "ere"), ("text_end", None),
    ]  # fmt: skip
    assert all(line.keys() == {"type", "assistant_message_event"} for line in reader.lines("message_update"))


async def test_the_lines_are_no_more_than_a_few_times_the_text(make: Make, reader: Reader):
    sizes = []
    for length in (50_000, 200_000):
        runtime = make([Step(text="x" * length, chunk=40)])
        before = sum(map(len, reader.raw()))
        wire = reader.read(runtime)
        await runtime.prompt("go")
        wire.detach()
        sizes.append(sum(map(len, reader.raw())) - before)
    assert sizes[1] < sizes[0] * 4.1
    assert sizes[1] < 200_000 * 7


async def test_what_a_tool_shows_is_told_as_changes(make: Make, reader: Reader):
    runtime = make([])
    reader.read(runtime)
    for text in ("1" * 100, "1" * 100 + "2" * 100, "2" * 100 + "3"):
        await runtime.agent.emit(
            ToolExecutionUpdateEvent("c1", "bash", {}, AgentToolResult(content=[TextContent(text)]))
        )
    changes = [line["change"] for line in reader.lines("tool_execution_update")]
    assert changes == [
        {"start": 0, "keep": 0, "text": "1" * 100},
        {"start": 0, "keep": 100, "text": "2" * 100},
        {"start": 100, "keep": 100, "text": "3"},
    ]


async def test_the_queue_is_told_as_what_changed(make: Make, reader: Reader):
    runtime = make([])
    reader.read(runtime)
    ids = [runtime.steer("a"), runtime.steer("b"), runtime.follow_up("c")]
    await settled(runtime)
    runtime.agent.steering_queue.move(ids[1], 0)
    await settled(runtime)
    told = [(line["steering"], line["follow_up"], list(line["messages"])) for line in reader.lines("queue_update")]
    assert told[-1] == ([ids[1], ids[0]], [ids[2]], [])
    assert [id for _, _, new in told for id in new] == ids


async def test_no_key_is_written_in_however_many_pieces_it_comes(make: Make, reader: Reader):
    remember_key(KEY)
    call = Step(tool="bash", arguments={"command": f"echo {KEY}"})
    runtime = make(
        [Step(thinking=f"is {KEY} it", chunk=3), Step(text=f"the key is {KEY}", chunk=5), call, Step(stop=StopReason.TOOL_CALLS)],
        [Step(text=f"it ends in {KEY[:9]}", chunk=2)],
    )  # fmt: skip
    reader.read(runtime)
    await runtime.prompt(f"my key is {KEY}")
    await runtime.close()
    assert KEY.encode() not in b"\n".join(reader.raw())
    texts = joined(reader.lines("message_update"))
    assert texts == [
        "is [key hidden] it",
        "the key is [key hidden]",
        '{"command":"echo [key hidden]"}',
        "it ends in sk-CANARY"[: 11 + 9],
    ]


async def test_half_characters_are_written_as_the_replacement_character(make: Make, reader: Reader):
    runtime = make([])
    reader.read(runtime)
    await runtime.notify("half \ud800 character")
    assert reader.lines("notice")[0]["text"] == "half \ufffd character"


async def test_after_detach_nothing_is_written(make: Make, reader: Reader):
    runtime = make([Step(text="x")])
    wire = reader.read(runtime)
    wire.detach()
    await runtime.prompt("go")
    assert [line["type"] for line in reader.lines()] == ["session"]


async def test_the_agent_waits_for_a_reader_that_is_slow(make: Make):
    reading, writing = os.pipe()
    outlet = StdoutWriter(writing)
    runtime = make([Step(text="x" * 4_000_000, chunk=2000)])
    EventSerializer(runtime, JsonLines(outlet), outlet.room)
    task = runtime.prompt("go")
    done, _ = await asyncio.wait([task], timeout=0.3)
    assert not done
    read = 0
    while not task.done() or outlet._size:
        read += len(await asyncio.to_thread(os.read, reading, 1 << 20))
    assert read > 4_000_000 * 2
    outlet.close()
    os.close(reading)


def joined(updates: list[dict[str, Any]]) -> list[str]:
    """The text of each block, as a reader makes it of the deltas."""
    texts: list[str] = []
    for event in (update["assistant_message_event"] for update in updates):
        if event["type"].endswith("_start"):
            texts.append("")
        texts[-1] += event.get("delta", "")
    return texts


async def settled(runtime: Runtime) -> None:
    """Return when what was changed is told."""
    for _ in range(5):
        await asyncio.sleep(0)
