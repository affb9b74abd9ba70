"""Replay: a recorded session answers as its model did."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.agent import Agent, AgentState
from agentcli.agent.assistant_events import (
    AssistantMessageEvent,
    DoneEvent,
    TextDeltaEvent,
    ThinkingDeltaEvent,
    ToolCallEndEvent,
)
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import AgentcliError, ProviderError, UsageError
from agentcli.agent.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UsageCost,
    text_of,
    user_message,
)
from agentcli.agent.models import Model
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.providers.replay import read_answers
from agentcli.providers.stream_client import StreamClient

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-30T12:00:00.000Z", "cwd": "/w"}


def entry(id: str, parent: str | None, message: Message) -> dict[str, Any]:
    built = msgspec.to_builtins(message)
    return {"type": "message", "id": id, "parent_id": parent, "timestamp": HEADER["timestamp"], "message": built}


def line_of(*messages: Message) -> list[dict[str, Any]]:
    """Entries, one after the other."""
    ids = [f"e{number}" for number in range(len(messages))]
    return [entry(id, parent, message) for id, parent, message in zip(ids, [None, *ids], messages, strict=False)]


def write(path: Path, entries: Sequence[Any], *, header: Any = HEADER) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in [header, *entries]))
    return path


def says(text: str, **fields: Any) -> AssistantMessage:
    return AssistantMessage([TextContent(text)], stop_reason=StopReason.DONE, **fields)


def calls(name: str, **arguments: Any) -> AssistantMessage:
    return AssistantMessage([ToolCall("c1", name, arguments)], stop_reason=StopReason.TOOL_CALLS)


def model_of(path: Path) -> Model:
    return Model(id=str(path), api="replay", provider="replay")


async def ask(path: Path, *said: Message) -> list[AssistantMessageEvent]:
    client = StreamClient()
    return [event async for event in client(model_of(path), Context("", list(said)), StreamOptions())]


async def answer(path: Path, *said: Message) -> AssistantMessage:
    last = (await ask(path, *said))[-1]
    assert isinstance(last, DoneEvent)
    return last.message


async def test_each_request_gets_the_next_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", line_of(user_message("a"), says("one"), user_message("b"), says("two")))
    first = await answer(path, user_message("anything"))
    assert text_of(first.content) == "one"
    assert text_of((await answer(path, user_message("anything"), first, user_message("else"))).content) == "two"


async def test_the_answer_comes_in_pieces(tmp_path: Path) -> None:
    text = "word " * 100
    path = write(tmp_path / "s.jsonl", line_of(user_message("a"), says(text)))
    deltas = [event.delta for event in await ask(path, user_message("x")) if isinstance(event, TextDeltaEvent)]
    assert len(deltas) > 10
    assert "".join(deltas) == text


async def test_thinking_calls_and_signatures_come_as_they_were(tmp_path: Path) -> None:
    content: list[AssistantContent] = [
        ThinkingContent("hm", signature="s1"),
        ThinkingContent("", signature="opaque", redacted=True),
        ThinkingContent("", signature="s2"),
        TextContent("I look.", signature="s3"),
        TextContent("And again."),
        ToolCall("c1", "read", {"path": "a", "n": [1, 2.5, None, True, {"deep": "ü\n"}]}, signature="s4"),
        ToolCall("c2", "ls"),
    ]
    recorded = AssistantMessage(content, stop_reason=StopReason.TOOL_CALLS, usage=Usage(input=5, output=7))
    path = write(tmp_path / "s.jsonl", line_of(user_message("a"), recorded))
    events = await ask(path, user_message("x"))
    last = events[-1]
    assert isinstance(last, DoneEvent)
    assert last.message.content == content
    assert last.reason is StopReason.TOOL_CALLS
    assert [event.tool_call.id for event in events if isinstance(event, ToolCallEndEvent)] == ["c1", "c2"]
    assert [event.delta for event in events if isinstance(event, ThinkingDeltaEvent)] == ["hm"]


async def test_an_answer_that_was_cut_off_is_cut_off_again(tmp_path: Path) -> None:
    call = ToolCall("c1", "write", {}, partial_json='{"path": "a", "cont')
    recorded = AssistantMessage([call], stop_reason=StopReason.LENGTH)
    path = write(tmp_path / "s.jsonl", line_of(user_message("a"), recorded))
    message = await answer(path, user_message("x"))
    assert (message.stop_reason, message.content) == (StopReason.LENGTH, [call])


async def test_its_tokens_are_the_recorded_ones_and_cost_nothing(tmp_path: Path) -> None:
    usage = Usage(input=5, output=7, cache_read=3, total_tokens=15, cost=UsageCost(total=0.5))
    path = write(tmp_path / "s.jsonl", line_of(user_message("a"), says("one", usage=usage, model="m", provider="p")))
    message = await answer(path, user_message("x"))
    assert message.usage == Usage(input=5, output=7, cache_read=3, total_tokens=15)
    assert (message.provider, message.model) == ("replay", str(path))


async def test_when_the_recording_is_over_it_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", line_of(user_message("a"), says("one")))
    with pytest.raises(ProviderError, match="is over: it has 1 answers, and this is request 2") as caught:
        await ask(path, user_message("x"), says("one"), user_message("y"))
    assert not caught.value.retryable


async def test_failed_answers_are_left_out_on_both_sides(tmp_path: Path) -> None:
    failed = AssistantMessage([TextContent("ha")], stop_reason=StopReason.ERROR, error_message="oh")
    stopped = AssistantMessage([TextContent("ha")], stop_reason=StopReason.ABORTED, error_message="stop")
    path = write(tmp_path / "s.jsonl", line_of(user_message("a"), failed, says("one"), user_message("b"), says("two")))
    assert text_of((await answer(path, user_message("x"))).content) == "one"
    assert text_of((await answer(path, user_message("x"), stopped, user_message("x"))).content) == "one"
    assert text_of((await answer(path, user_message("x"), failed, says("1"), user_message("x"))).content) == "two"


class TestTheTree:
    async def test_only_the_path_to_the_leaf_is_played(self, tmp_path: Path) -> None:
        entries = [
            entry("u1", None, user_message("a")),
            entry("a1", "u1", says("left")),
            entry("a2", "u1", says("kept")),
        ]
        assert read_texts(write(tmp_path / "s.jsonl", entries)) == ["kept"]

    async def test_a_leaf_that_was_moved_back_counts(self, tmp_path: Path) -> None:
        entries = line_of(user_message("a"), says("one"), user_message("b"), says("two"))
        leaf = {"type": "leaf", "id": "l", "parent_id": None, "timestamp": "", "target_id": "e1"}
        assert read_texts(write(tmp_path / "s.jsonl", [*entries, leaf])) == ["one"]
        leaf["target_id"] = None
        assert read_texts(write(tmp_path / "s2.jsonl", [*entries, leaf])) == []

    async def test_labels_and_names_move_nothing_and_other_entries_lie_between(self, tmp_path: Path) -> None:
        entries = [
            entry("u1", None, user_message("a")),
            {"type": "model_change", "id": "m", "parent_id": "u1", "timestamp": "", "provider": "p", "model_id": "m"},
            {"type": "of tomorrow", "id": "t", "parent_id": "m", "timestamp": "", "what": [1]},
            entry("a1", "t", says("one")),
            {"type": "label", "id": "l", "parent_id": "a1", "timestamp": "", "target_id": "u1", "label": "here"},
            {"type": "session_info", "id": "i", "parent_id": "a1", "timestamp": "", "name": "n"},
        ]
        assert read_texts(write(tmp_path / "s.jsonl", entries)) == ["one"]

    async def test_a_circle_has_an_end(self, tmp_path: Path) -> None:
        entries = [entry("a", "b", says("one")), entry("b", "a", says("two"))]
        assert read_texts(write(tmp_path / "s.jsonl", entries)) == ["one", "two"]

    async def test_a_parent_that_was_never_written_is_a_beginning(self, tmp_path: Path) -> None:
        entries = [entry("a", None, says("one")), entry("b", "missing", says("two"))]
        assert read_texts(write(tmp_path / "s.jsonl", entries)) == ["two"]


def read_texts(path: Path) -> list[str]:
    return [text_of(message.content) for message in read_answers(path)]


class TestTheFile:
    async def test_a_torn_last_line_is_left_out(self, tmp_path: Path) -> None:
        path = write(tmp_path / "s.jsonl", line_of(user_message("a"), says("one")))
        with path.open("ab") as file:
            file.write(b'{"type":"message","id":"e2","parent_id":"e1","mess')
        assert read_texts(path) == ["one"]

    async def test_what_is_written_later_is_played_too(self, tmp_path: Path) -> None:
        entries = line_of(user_message("a"), says("one"), user_message("b"), says("two"))
        path = write(tmp_path / "s.jsonl", entries[:2])
        assert read_texts(path) == ["one"]
        write(path, entries)
        assert read_texts(path) == ["one", "two"]

    async def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"none.jsonl cannot be read: No such file"):
            await ask(tmp_path / "none.jsonl", user_message("x"))
        with pytest.raises(UsageError, match="cannot be read"):
            await ask(tmp_path, user_message("x"))

    @pytest.mark.parametrize(
        "data", [b"", b"\n", b"hello\n", b'{"type":"message"}\n', b"[1]\n", b"\xff\xfe", b"[" * 9999]
    )
    async def test_a_file_that_is_no_session(self, tmp_path: Path, data: bytes) -> None:
        path = tmp_path / "s.jsonl"
        path.write_bytes(data)
        with pytest.raises(UsageError, match="is no recorded session"):
            await ask(path, user_message("x"))

    async def test_an_answer_that_cannot_be_read_is_named_by_its_line(self, tmp_path: Path) -> None:
        broken = entry("e1", "e0", says("one"))
        broken["message"]["content"] = "not blocks"
        path = write(tmp_path / "s.jsonl", [entry("e0", None, user_message("a")), broken])
        with pytest.raises(ProviderError, match=r"s.jsonl:3: Expected `array`.*damaged there"):
            await ask(path, user_message("x"))

    async def test_a_session_without_an_answer_is_over_at_once(self, tmp_path: Path) -> None:
        path = write(tmp_path / "s.jsonl", line_of(user_message("a")))
        with pytest.raises(ProviderError, match="it has 0 answers"):
            await ask(path, user_message("x"))

    async def test_home_is_known(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        write(tmp_path / "s.jsonl", line_of(user_message("a"), says("one")))
        assert text_of((await answer(Path("~/s.jsonl"), user_message("x"))).content) == "one"


async def test_a_whole_run_is_played_again_with_its_tools(tmp_path: Path) -> None:
    result = ToolResultMessage("c1", "read", [TextContent("recorded")])
    messages = [user_message("go"), calls("read", path="a.txt"), result, says("It says hello.")]
    path = write(tmp_path / "s.jsonl", line_of(*messages))
    ran: list[dict[str, Any]] = []

    async def read(id: str, params: dict[str, Any], *rest: Any) -> AgentToolResult:
        ran.append(params)
        return AgentToolResult(content=[TextContent("hello")])

    tool = AgentTool(name="read", description="", parameters={"type": "object"}, execute=read)
    agent = Agent(state=AgentState(model=model_of(path), tools=[tool]), stream_function=StreamClient())
    await agent.prompt("go")
    assert ran == [{"path": "a.txt"}]
    assert [message.role for message in agent.state.messages] == ["user", "assistant", "toolResult", "assistant"]
    _, _, result_now, said_now = agent.state.messages
    assert isinstance(result_now, ToolResultMessage)
    assert isinstance(said_now, AssistantMessage)
    assert text_of(result_now.content) == "hello"
    assert text_of(said_now.content) == "It says hello."
    await agent.prompt("more")
    last = agent.state.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.stop_reason is StopReason.ERROR
    assert "is over" in (last.error_message or "")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
signatures = st.none() | st.text(min_size=1, max_size=8)
blocks = st.one_of(
    st.builds(TextContent, st.text(max_size=80), signatures),
    st.builds(ThinkingContent, st.text(max_size=80), signatures),
    st.builds(lambda data: ThinkingContent("", data, True), st.text(min_size=1, max_size=8)),
    st.builds(
        lambda id, arguments, signature: ToolCall(id, "tool", arguments, None, signature),
        st.text(min_size=1, max_size=5),
        st.dictionaries(st.text(max_size=5), json_values, max_size=3),
        signatures,
    ),
)


@given(st.lists(blocks, max_size=6))
async def test_any_answer_comes_back_as_it_was_recorded(
    tmp_path_factory: pytest.TempPathFactory, content: list[AssistantContent]
) -> None:
    path = tmp_path_factory.mktemp("replay") / "s.jsonl"
    try:
        write(path, line_of(user_message("a"), AssistantMessage(content, stop_reason=StopReason.DONE)))
    except UnicodeEncodeError:
        return  # a lone surrogate is no JSON, and so in no recording
    try:
        message = await answer(path, user_message("x"))
    except AgentcliError as error:
        pytest.fail(str(error))
    assert message.content == content
