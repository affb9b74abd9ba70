"""What the wire tests share: models of each wire API, asking one, and checks of its events."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import httpx

from agentcli.agent.assistant_events import (
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    StartEvent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ThinkingDeltaEvent,
    ThinkingEndEvent,
    ThinkingStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.messages import AssistantMessage, Message, user_message
from agentcli.agent.models import Model
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.providers.http import HttpClients
from agentcli.providers.stream_client import StreamClient

INPUTS = Path(__file__).parent / "inputs"
APIS = ("openai-completions", "anthropic-messages", "openai-responses")
ENDPOINTS = {
    "openai-completions": "/v1/chat/completions",
    "anthropic-messages": "/v1/messages",
    "openai-responses": "/v1/responses",
}

STARTS = (TextStartEvent, ThinkingStartEvent, ToolCallStartEvent)
DELTAS = (TextDeltaEvent, ThinkingDeltaEvent, ToolCallDeltaEvent)
ENDS = (TextEndEvent, ThinkingEndEvent, ToolCallEndEvent)


def model_of(api: str, base_url: str = "http://127.0.0.1:9", **fields: Any) -> Model:
    """A model that sees and thinks, on a server that calls itself `fake`."""
    fields = {"id": "model-a", "provider": "fake", "input": ["text", "image"], "reasoning": True} | fields
    return Model(api=api, base_url=base_url, **fields)


def context_of(*messages: Message, tools: Iterable[AgentTool] = (), system: str = "Be brief.") -> Context:
    return Context(system, list(messages) or [user_message("hi")], list(tools))


def tool_of(name: str = "read") -> AgentTool:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    return AgentTool(name=name, description="Reads.", parameters=parameters, execute=_never)


async def _never(*_: Any) -> AgentToolResult:
    raise AssertionError("no test of the wire runs a tool")


async def events_of(
    client: StreamClient, model: Model, context: Context | None = None, **options: Any
) -> list[AssistantMessageEvent]:
    """Every event of one answer."""
    stream = client(model, context or context_of(), StreamOptions(**options))
    return [event async for event in stream]


async def ask(client: StreamClient, model: Model, context: Context | None = None, **options: Any) -> AssistantMessage:
    """The message of one answer, whose events are well formed."""
    events = await events_of(client, model, context, **options)
    check_events(events)
    assert isinstance(events[-1], DoneEvent)
    return events[-1].message


def check_events(events: list[AssistantMessageEvent], *, whole: bool = True) -> None:
    """Every start has its deltas and its end; one start event first, one `done` or `error` last.

    Args:
        whole: whether the stream came to its end (else an exception stands for it).
    """
    assert isinstance(events[0], StartEvent)
    assert sum(isinstance(event, StartEvent) for event in events) == 1
    last = [place for place, event in enumerate(events) if isinstance(event, DoneEvent | ErrorEvent)]
    assert last == ([len(events) - 1] if whole else [])
    open_blocks: set[int] = set()
    seen: set[int] = set()
    for event in events:
        if isinstance(event, STARTS):
            assert event.content_index not in seen
            open_blocks.add(event.content_index)
            seen.add(event.content_index)
        elif isinstance(event, DELTAS):
            assert event.content_index in open_blocks
        elif isinstance(event, ENDS):
            open_blocks.remove(event.content_index)
    assert not whole or not open_blocks
    assert seen == set(range(len(seen)))


class FakeTransport(httpx.AsyncBaseTransport):
    """Answers every request with the same chunks of bytes, without a socket; records the requests."""

    def __init__(self, chunks: Iterable[bytes], *, status: int = 200, broken: bool = False) -> None:
        self.chunks = list(chunks)
        self.status = status
        self.broken = broken
        self.requests: list[bytes] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(await request.aread())
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(self.status, headers=headers, stream=_FakeStream(self.chunks, self.broken))


class _FakeStream(httpx.AsyncByteStream):
    def __init__(self, chunks: list[bytes], broken: bool) -> None:
        self._chunks = chunks
        self._broken = broken

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        if self._broken:
            raise httpx.ReadError("")


class FakeClients(HttpClients):
    """Connections that lead to a `FakeTransport`."""

    def __init__(self, transport: FakeTransport) -> None:
        super().__init__()
        self.transport = transport

    def client_for(self, url: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=self.transport)


def replayed(data: bytes, size: int = 0, **how: Any) -> StreamClient:
    """A client whose server answers with these bytes, so many to a chunk (0: all in one)."""
    step = size or len(data) or 1
    chunks = [data[start : start + step] for start in range(0, len(data), step)]
    return StreamClient(FakeClients(FakeTransport(chunks, **how)))


def recorded(name: str) -> bytes:
    return (INPUTS / name).read_bytes()


def api_of(name: str) -> str:
    """The wire API that a recorded stream is of."""
    return "anthropic-messages" if name.startswith("ant_") else "openai-completions"
