"""A stream may be cut, corrupted or shuffled in any way: events stay well formed, nothing raises out of the loop, and
what is kept of it can be sent on."""

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.abort import AbortSignal
from agentcli.agent.context import AgentContext
from agentcli.agent.events import (
    AgentEndEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from agentcli.agent.loop import agent_loop
from agentcli.agent.loop_config import AgentLoopConfig
from agentcli.agent.messages import AssistantMessage, StopReason, TextContent, user_message
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.providers.stream_client import StreamClient
from tests.fake_server import Call, Redacted, Reply, Thinking
from tests.fake_server.formats import events_of as scripted_events
from tests.fake_server.strict import refusal_of
from tests.providers.support import (
    APIS,
    DELTAS,
    ENDPOINTS,
    ENDS,
    INPUTS,
    STARTS,
    FakeClients,
    FakeTransport,
    api_of,
    model_of,
)

EVERYTHING = Reply.of(
    Thinking("let me see"),
    "Looking é💩.",
    Redacted(),
    Call("read", {"path": "a.txt"}),
    Call("no.such tool", '{"half": '),
    "more",
)
RECORDED = sorted(INPUTS.rglob("*.sse"))
NAMES = [*(path.name for path in RECORDED), *APIS]
STREAMS: list[tuple[str, bytes]] = [
    *((api_of(path.name), path.read_bytes().replace(b"SIG-stub-a", b"SIG-model-a")) for path in RECORDED),
    *((api, b"".join(scripted_events(ENDPOINTS[api], EVERYTHING, "model-a", 1))) for api in APIS),
]


async def _read(*_: Any) -> AgentToolResult:
    return AgentToolResult(content=[TextContent("read")], terminate=True)


TOOLS = [
    AgentTool(name=name, description=name, parameters={"type": "object"}, execute=_read) for name in ("read", "bash")
]


async def run(api: str, chunks: list[bytes], *, broken: bool) -> None:
    """One run of the loop on such an answer, checked from all sides."""
    transport = FakeTransport(chunks, broken=broken)
    client = StreamClient(FakeClients(transport))
    model = model_of(api)
    config = AgentLoopConfig(model=model, should_stop_after_turn=lambda _: True)
    context = AgentContext("", [], TOOLS)
    stream = agent_loop([user_message("hi")], context, config, stream_fn=client, signal=AbortSignal())
    events = [event async for event in stream]
    assert isinstance(events[-1], AgentEndEvent)
    _check_pairs(events)
    messages = events[-1].messages
    answer = messages[1]
    assert isinstance(answer, AssistantMessage)
    assert answer.stop_reason is not None
    assert (answer.stop_reason is StopReason.ERROR) == (answer.error_message is not None)
    assert "\n" not in (answer.error_message or "")
    msgspec.json.encode(messages)

    config = AgentLoopConfig(model=model)
    context = AgentContext("", messages, TOOLS)
    transport.requests.clear()
    async for _ in agent_loop([user_message("again")], context, config, stream_fn=client):
        if transport.requests:
            break
    refusal = refusal_of(ENDPOINTS[api], msgspec.json.decode(transport.requests[0]))
    # Nobody but the server can tell that an opaque value arrived damaged.
    assert refusal == "" or "signature" in refusal or "encrypted_content" in refusal


def _check_pairs(events: list[Any]) -> None:
    for start, end in ((TurnStartEvent, TurnEndEvent), (MessageStartEvent, MessageEndEvent)):
        assert sum(isinstance(event, start) for event in events) == sum(isinstance(event, end) for event in events)
    deltas = [event.assistant_message_event for event in events if isinstance(event, MessageUpdateEvent)]
    open_blocks: set[int] = set()
    for event in deltas:
        if isinstance(event, STARTS):
            assert event.content_index not in open_blocks
            open_blocks.add(event.content_index)
        elif isinstance(event, DELTAS):
            assert event.content_index in open_blocks
        elif isinstance(event, ENDS):
            open_blocks.remove(event.content_index)
    assert not open_blocks


@st.composite
def mangled(draw: st.DrawFn) -> tuple[str, list[bytes], bool]:
    """A wire API, the chunks of an answer, and whether the connection breaks after them."""
    api, data = draw(st.sampled_from(STREAMS))
    match draw(st.sampled_from(["cut", "flip", "insert", "drop", "shuffle", "repeat", "whole"])):
        case "cut":
            data = data[: draw(st.integers(0, len(data)))]
        case "flip":
            place = draw(st.integers(0, len(data) - 1))
            data = data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]
        case "insert":
            place = draw(st.integers(0, len(data)))
            data = data[:place] + draw(st.sampled_from(INSERTS)) + data[place:]
        case "drop":
            start = draw(st.integers(0, len(data)))
            data = data[:start] + data[start + draw(st.integers(1, 300)) :]
        case "shuffle":
            events = draw(st.permutations(data.split(b"\n\n")))
            data = b"\n\n".join(events)
        case "repeat":
            events = data.split(b"\n\n")
            place = draw(st.integers(0, len(events) - 1))
            data = b"\n\n".join([*events[:place], *events[: draw(st.integers(0, len(events)))], *events[place:]])
        case _:
            pass
    cuts = sorted(set(draw(st.lists(st.integers(0, len(data)), max_size=5))))
    chunks = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    return api, chunks, draw(st.booleans())


INSERTS = [
    b"\xff\xfe",
    b"\0",
    b"\n\ndata: null\n\n",
    b"\n\ndata: []\n\n",
    b"\n\ndata: {}\n\n",
    b"\n\ndata: 1e999\n\n",
    b'\n\ndata: {"error": null}\n\n',
    b'\n\ndata: {"type": "error"}\n\n',
    b'\n\ndata: {"choices": null}\n\n',
    b'\n\ndata: {"choices": [{}]}\n\n',
    b'\n\ndata: {"choices": [{"delta": {"tool_calls": [{}]}}]}\n\n',
    b'\n\ndata: {"choices": [{"delta": {"tool_calls": [{"index": null, "function": {"arguments": {"a": 1}}}]}}]}\n\n',
    b'\n\ndata: {"choices": [{"delta": {"content": ["x", 1, {"type": "thinking", "thinking": [1]}]}}]}\n\n',
    b'\n\ndata: {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}}\n\n',
    b'\n\ndata: {"type": "content_block_stop", "index": 99}\n\n',
    b'\n\ndata: {"type": "response.output_item.done", "output_index": 7, "item": {"type": "function_call"}}\n\n',
    b'\n\ndata: {"type": "response.output_item.done", "item": {"type": "message", "content": [{"text": 5}]}}\n\n',
    b'\n\ndata: {"usage": {"prompt_tokens": -5, "completion_tokens": "7", "total_tokens": null}}\n\n',
    b"data: " + b"[" * 3000 + b"\n\n",
]


@given(mangled())
def test_no_stream_breaks_the_loop(answer: tuple[str, list[bytes], bool]) -> None:
    api, chunks, broken = answer
    asyncio.run(run(api, chunks, broken=broken))


@pytest.mark.parametrize("insert", INSERTS)
@pytest.mark.parametrize("api", APIS)
async def test_no_odd_event_breaks_the_loop(api: str, insert: bytes) -> None:
    data = b"".join(scripted_events(ENDPOINTS[api], EVERYTHING, "model-a", 1))
    for place in (0, len(data) // 2, len(data)):
        await run(api, [data[:place] + insert + data[place:]], broken=False)


@pytest.mark.parametrize(("api", "data"), STREAMS, ids=NAMES)
async def test_any_cut_breaks_nothing(api: str, data: bytes) -> None:
    for length in range(0, len(data), 37):
        await run(api, [data[:length]], broken=bool(length % 2))
