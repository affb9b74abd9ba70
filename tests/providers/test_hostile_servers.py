"""Whatever a server sends without end, an answer has bounds, costs no more the longer it is, and leaves the loop its turn."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import BadResponseError, ProviderError
from agentcli.agent.partial import MAX_BLOCKS
from agentcli.providers.http import post
from agentcli.providers.http.clients import HttpClients
from agentcli.providers.http.post import EVENTS_AT_ONCE, MAX_ANSWER_BYTES, answer_limit
from agentcli.providers.http.sse import SseParser
from agentcli.providers.stream_client import StreamClient
from tests.growth.cost import Work, assert_doubles
from tests.providers.support import (
    APIS,
    MESSAGE,
    block,
    call,
    chat,
    context_of,
    events,
    events_of,
    failed,
    model_of,
    replayed,
)


class EndlessClients(HttpClients):
    """The server answers with the same bytes again and again, and counts them."""

    def __init__(self, piece: bytes, content_type: str = "text/event-stream", status: int = 200) -> None:
        super().__init__()
        self.piece = piece
        self.content_type = content_type
        self.status = status
        self.sent = 0

    def client_for(self, url: str) -> httpx.AsyncClient:
        async def body() -> AsyncIterator[bytes]:
            while True:
                self.sent += len(self.piece)
                yield self.piece

        headers = {"content-type": self.content_type}
        answer = lambda request: httpx.Response(self.status, headers=headers, content=body())  # noqa: E731
        return httpx.AsyncClient(transport=httpx.MockTransport(answer))


FLOODS: dict[str, tuple[str, bytes]] = {
    "text": (APIS[0], chat({"content": "x" * 500}, done=False) * 40),
    "thinking": (APIS[0], chat({"reasoning_content": "x" * 500}, done=False) * 40),
    "arguments": (APIS[0], chat(call("a", "write", '{"a', index=0), done=False) * 40),
    "empty deltas": (APIS[0], chat({"content": ""}, done=False) * 100),
    "comments": (APIS[0], b": x\n\n" * 5000),
    "blanks": (APIS[0], b"\n" * 20_000),
    "empty lines of data": (APIS[0], b"data:\n" * 4000),
    "pings": ("anthropic-messages", events({"type": "ping"}) * 500),
    "progress": ("openai-responses", events({"type": "response.in_progress"}) * 500),
}


@pytest.mark.parametrize("name", FLOODS)
async def test_an_answer_without_end_is_given_up_at_its_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "MAX_ANSWER_BYTES", 300_000)
    api, piece = FLOODS[name]
    clients = EndlessClients(piece)
    with pytest.raises(ProviderError, match="MiB, which is no answer") as raised:
        await events_of(StreamClient(clients), model_of(api, max_tokens=100))
    assert not raised.value.retryable and "\n" not in str(raised.value)
    assert clients.sent <= 300_000 + len(piece)


def test_the_limit_holds_the_longest_answer_of_a_model() -> None:
    assert answer_limit(model_of(APIS[0], max_tokens=100)) == MAX_ANSWER_BYTES
    assert answer_limit(model_of(APIS[0], max_tokens=384_000)) > 384_000 * 400


async def test_blanks_under_another_content_type_and_errors_without_end_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(post, "MAX_ANSWER_BYTES", 300_000)
    for content_type, status, sent in (("text/plain", 200, 320_000), ("text/plain", 500, 80_000)):
        clients = EndlessClients(b" " * 20_000, content_type, status)
        with pytest.raises(ProviderError):
            await events_of(StreamClient(clients), model_of(APIS[0], max_tokens=100))
        assert clients.sent <= sent


def many_blocks(api: str, count: int) -> bytes:
    match api:
        case "openai-completions":
            return chat(*(call(f"c{n}", "ls", "{}", index=n) for n in range(count)))
        case "anthropic-messages":
            return events(MESSAGE, *(part for n in range(count) for part in block(n, {"type": "thinking"})))
        case _:
            item = {"type": "function_call", "call_id": "c", "name": "ls"}
            added = ({"type": "response.output_item.added", "output_index": n, "item": item} for n in range(count))
            return events(*added)


@pytest.mark.parametrize("api", APIS)
async def test_calls_and_blocks_are_counted(api: str) -> None:
    error = await failed(api, many_blocks(api, MAX_BLOCKS + 1))
    assert isinstance(error, BadResponseError) and f"{MAX_BLOCKS} blocks" in str(error)


@pytest.mark.parametrize("api", APIS)
async def test_the_event_loop_has_its_turn_within_one_piece(api: str) -> None:
    """A hundred thousand deltas may come in one piece, out of a few packed bytes."""
    deltas: dict[str, list[Any]] = {
        "openai-completions": [{"choices": [{"delta": {"reasoning_content": "x"}}]}],
        "anthropic-messages": block(0, {"type": "text"}, {"type": "text_delta", "text": "x"})[1:2],
        "openai-responses": [{"type": "response.output_text.delta", "output_index": 0, "delta": "x"}],
    }
    clients = EndlessClients(events(*deltas[api]) * EVENTS_AT_ONCE * 10)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    stream = StreamClient(clients)(model_of(api), context_of(), StreamOptions())
    seen = 0
    async for _ in stream:
        seen += 1
        if seen > EVENTS_AT_ONCE * 9:
            break
    assert clients.sent == len(clients.piece)
    assert turns >= 8
    counting.cancel()
    await stream.aclose()


async def test_lines_of_data_without_an_end_cost_the_same_each() -> None:
    def prepare(size: int) -> Work:
        parser = SseParser()

        async def work() -> None:
            for _ in range(size):
                parser.feed(b"data: x\n")

        return work

    await assert_doubles(prepare, 2000)


async def test_blocks_cost_the_same_each() -> None:
    def prepare(size: int) -> Work:
        data = many_blocks("openai-completions", size)

        async def work() -> None:
            await events_of(replayed(data), model_of("openai-completions"))

        return work

    await assert_doubles(prepare, 400)


def test_empty_lines_of_data_count_too() -> None:
    parser = SseParser(limit=1000)
    with pytest.raises(BadResponseError, match="one event of more than"):
        for _ in range(2000):
            parser.feed(b"data:\n")
