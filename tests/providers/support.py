"""What the wire tests share: models of each wire API, asking one, and checks of its events."""

import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import httpx
import pytest

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
from agentcli.agent.errors import ProviderError
from agentcli.agent.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    StopReason,
    TextContent,
    ToolResultMessage,
    user_message,
)
from agentcli.agent.models import Model
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.providers.anthropic import messages_body as anthropic_messages_body
from agentcli.providers.catalog.compat import compat_of
from agentcli.providers.history import RequestCache
from agentcli.providers.http.clients import HttpClients
from agentcli.providers.openai import completions_body as openai_completions_body
from agentcli.providers.openai import responses_body as openai_responses_body
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


def chat(*chunks: Any, done: bool = True) -> bytes:
    """Chunks of a chat completion; a dict without `choices` is a delta, text a finish reason."""
    written: list[str] = []
    for chunk in chunks:
        match chunk:
            case str():
                chunk = {"choices": [{"index": 0, "delta": {}, "finish_reason": chunk}]}
            case {"choices": _} | {"error": _} | {"object": _} | {"usage": _}:
                pass
            case _:
                chunk = {"choices": [{"index": 0, "delta": chunk}]}
        written.append(f"data: {json.dumps(chunk)}\n\n")
    return ("".join(written) + ("data: [DONE]\n\n" if done else "")).encode()


def events(*parts: dict[str, Any]) -> bytes:
    """Events of the Messages or Responses API, without `event:` lines."""
    return "".join(f"data: {json.dumps(part)}\n\n" for part in parts).encode()


def call(id: str | None = None, name: str | None = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {"tool_calls": [{**more, **({"id": id} if id else {}), "function": function}]}


MESSAGE: dict[str, Any] = {"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}
END: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
STOP: dict[str, Any] = {"type": "message_stop"}
DONE: dict[str, Any] = {
    "type": "response.completed",
    "response": {"status": "completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
}
"""How an answer of the Messages API begins and ends, and how one of the Responses API ends."""


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of one block of the Messages API."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


async def answered(api: str, data: bytes, **model: Any) -> AssistantMessage:
    return await ask(replayed(data), model_of(api, **model))


async def failed(api: str, data: bytes) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await events_of(replayed(data), model_of(api))
    return raised.value


BODIES = {
    "anthropic-messages": anthropic_messages_body.request_body,
    "openai-completions": openai_completions_body.request_body,
    "openai-responses": openai_responses_body.request_body,
}
PNG = ImageContent("aW1n", "image/png")


def body_of(model: Model, *messages: Message, tools: tuple[str, ...] = ("read",), **options: Any) -> dict[str, Any]:
    """The body of the request for these messages."""
    context = context_of(*messages, tools=[tool_of(name) for name in tools])
    return BODIES[model.api](model, context, StreamOptions(**options), compat_of(model), RequestCache())


def assistant(model: Model, *content: Any) -> AssistantMessage:
    """An answer of a model."""
    return AssistantMessage(list(content), model.api, model.provider, model.id, stop_reason=StopReason.DONE)


def result(id: str, *content: Any, is_error: bool = False) -> ToolResultMessage:
    """The result of a call of `read`."""
    return ToolResultMessage(id, "read", list(content) or [TextContent("x")], is_error=is_error)
