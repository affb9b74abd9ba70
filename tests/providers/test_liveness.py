"""Liveness counts progress of the answer, not bytes: comments, pings and empty deltas keep nothing alive."""

import asyncio
from typing import Any

import pytest

from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import ProviderTimeoutError
from agentcli.agent.messages import text_of
from agentcli.providers.http.clients import HttpClients
from agentcli.providers.stream_client import StreamClient
from tests.fake_server import FakeServer, Reply
from tests.providers.support import APIS, ask, block, chat, context_of, events, events_of, model_of
from tests.waiting import until

PING = events({"type": "ping"})
BEGUN = {
    "openai-completions": chat({"content": "be"}, done=False),
    "anthropic-messages": events(*block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "be"})[:-1]),
    "openai-responses": events({"type": "response.output_text.delta", "output_index": 0, "delta": "be"}),
}
STARTED = {
    "openai-completions": chat({"role": "assistant", "content": ""}, done=False),
    "anthropic-messages": events(*block(0, {"type": "thinking", "thinking": ""})[:1]),
    "openai-responses": events(
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}}
    ),
}
HEARTBEATS = {
    "comments": b": OPENROUTER PROCESSING\n\n",
    "blanks": b"\n\n",
    "pings": PING,
    "empty deltas": chat({"content": ""}, done=False),
    "no choices": b'data: {"choices": []}\n\n',
    "progress that is none": events({"type": "response.in_progress"}),
}


def repeated(start: bytes, beat: bytes) -> Reply:
    """A beginning, and then a heartbeat without end, each in a write of its own."""
    size = 4096
    parts = [start.ljust(size, b"\n"), *[beat.ljust(size, b"\n")] * 500]
    return Reply.raw(b"".join(parts), chunk=size, delay=0.01)


async def failure(server: FakeServer, api: str, **limits: float) -> ProviderTimeoutError:
    client = StreamClient(HttpClients(**limits))
    with pytest.raises(ProviderTimeoutError) as raised:
        await asyncio.wait_for(events_of(client, model_of(api, server.url)), 30)
    await client.aclose()
    return raised.value


@pytest.mark.parametrize("name", HEARTBEATS)
async def test_heartbeats_after_a_delta_are_silence(name: str, fake_server: FakeServer) -> None:
    api = "openai-responses" if "progress" in name else "anthropic-messages" if name == "pings" else APIS[0]
    fake_server.answer(repeated(BEGUN[api], HEARTBEATS[name]))
    error = await failure(fake_server, api, idle_timeout_s=0.2)
    assert "sent nothing of its answer for 0.2 s" in str(error) and "idle_timeout" in str(error)
    assert error.retryable


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("starts", [True, False])
async def test_the_first_token_has_a_limit_of_its_own(api: str, starts: bool, fake_server: FakeServer) -> None:
    fake_server.answer(repeated(STARTED[api] if starts else b"", HEARTBEATS["comments"]))
    error = await failure(fake_server, api, first_token_timeout_s=0.2, idle_timeout_s=30)
    assert "sent nothing of an answer for 0.2 s" in str(error) and "first_token_timeout" in str(error)


async def test_headers_that_do_not_come_and_silence_are_given_up(fake_server: FakeServer) -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(swallow, "127.0.0.1", 0)
    async with server:
        client = StreamClient(HttpClients(first_token_timeout_s=0.1))
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(ProviderTimeoutError):
            await ask(client, model_of(APIS[0], url))
        await client.aclose()
    fake_server.answer(Reply.raw(BEGUN[APIS[0]], hold=30))
    assert "its answer" in str(await failure(fake_server, APIS[0], idle_timeout_s=0.1))


async def test_a_slow_answer_that_goes_on_is_no_silence(fake_server: FakeServer) -> None:
    fake_server.answer(Reply.of("hello world, hello", piece=1, delay=0.02))
    client = StreamClient(HttpClients(first_token_timeout_s=10, idle_timeout_s=0.2))
    assert text_of((await ask(client, model_of(APIS[0], fake_server.url))).content) == "hello world, hello"
    await client.aclose()


async def test_who_reads_slowly_is_not_the_servers_fault(fake_server: FakeServer) -> None:
    fake_server.answer(Reply.of("hello world", piece=4, delay=0.01))
    client = StreamClient(HttpClients(first_token_timeout_s=10, idle_timeout_s=0.1))
    seen: list[Any] = []
    async for event in client(model_of(APIS[0], fake_server.url), context_of(), StreamOptions()):
        seen.append(event)
        await asyncio.sleep(0.15 if len(seen) < 4 else 0)
    await client.aclose()
    assert text_of(seen[-1].message.content) == "hello world"


async def test_an_abort_while_the_server_is_waited_for_is_an_abort(fake_server: FakeServer) -> None:
    fake_server.answer("never", first_delay=30)
    client = StreamClient(HttpClients(first_token_timeout_s=20))
    task = asyncio.create_task(ask(client, model_of(APIS[0], fake_server.url)))
    await until(lambda: fake_server.requests)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await client.aclose()


async def test_an_error_whose_body_does_not_end_is_still_that_error(
    fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentcli.providers.http.post.ERROR_BODY_S", 0.1)
    fake_server.answer(Reply.error(503, b"busy", hold=30))
    client = StreamClient()
    with pytest.raises(Exception, match="503: busy"):
        await asyncio.wait_for(ask(client, model_of(APIS[0], fake_server.url)), 10)
    await client.aclose()
