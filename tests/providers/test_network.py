"""Connections: kept, broken, silent, refused, proxied, encrypted, aborted (PROV-07, PROV-17, CONF-03)."""

import asyncio
import gzip
import socket
import ssl
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.assistant_events import TextDeltaEvent
from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import (
    BadRequestError,
    BadResponseError,
    ConfigError,
    NetworkError,
    OverloadedError,
    ProviderError,
)
from agentcli.agent.messages import text_of
from agentcli.providers.http.clients import HttpClients
from agentcli.providers.stream_client import WIRE_APIS, StreamClient
from tests.fake_server import FakeServer, Reply
from tests.providers.support import APIS, INPUTS, ask, context_of, model_of, recorded, replayed
from tests.waiting import until

EACH_API = pytest.mark.parametrize("api", APIS)


async def failure(server_or_url: FakeServer | str, api: str = "openai-completions", **clients: Any) -> ProviderError:
    """The error of one request."""
    url = server_or_url if isinstance(server_or_url, str) else server_or_url.url
    client = StreamClient(HttpClients(**clients))
    with pytest.raises(ProviderError) as raised:
        await ask(client, model_of(api, url), api_key="k")
    await client.aclose()
    return raised.value


@EACH_API
async def test_one_connection_serves_turn_after_turn(api: str, fake_server: FakeServer) -> None:
    client = StreamClient()
    for _ in range(3):
        fake_server.answer("hello")
        assert text_of((await ask(client, model_of(api, fake_server.url))).content) == "hello"
    await client.aclose()
    assert [request.connection for request in fake_server.requests] == [1, 1, 1]


@EACH_API
async def test_two_requests_at_once_have_a_connection_each(api: str, fake_server: FakeServer) -> None:
    client = StreamClient()
    for word in ("one", "two"):
        fake_server.answer(word, first_delay=0.1)
    model = model_of(api, fake_server.url)
    answers = await asyncio.gather(ask(client, model), ask(client, model))
    await client.aclose()
    assert {text_of(message.content) for message in answers} == {"one", "two"}
    assert {request.connection for request in fake_server.requests} == {1, 2}


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again(fake_server: FakeServer) -> None:
    client = StreamClient()
    model = model_of("openai-completions", fake_server.url)
    fake_server.answer(Reply.of("one", reset=True))
    with pytest.raises(NetworkError):
        await ask(client, model)
    fake_server.answer("two")
    assert text_of((await ask(client, model)).content) == "two"
    await client.aclose()


@EACH_API
@pytest.mark.parametrize("how", ["cancel", "close"])
async def test_leaving_a_stream_closes_the_socket_at_once(api: str, how: str, fake_server: FakeServer) -> None:
    fake_server.answer("a long answer " * 100, delay=0.05)
    client = StreamClient()
    started = asyncio.Event()

    async def read() -> None:
        async with aclosing(client(model_of(api, fake_server.url), context_of(), StreamOptions())) as stream:
            async for event in stream:
                if isinstance(event, TextDeltaEvent):
                    started.set()
                    if how == "close":
                        return

    task = asyncio.create_task(read())
    await asyncio.wait_for(started.wait(), 5)
    if how == "cancel":
        task.cancel()
    await asyncio.wait([task])
    for _ in range(100):
        if fake_server.requests[0].cancelled:
            break
        await asyncio.sleep(0.01)
    assert fake_server.requests[0].cancelled
    await client.aclose()


@EACH_API
async def test_cancelling_before_the_first_byte_closes_the_socket(api: str, fake_server: FakeServer) -> None:
    fake_server.answer("never", first_delay=30)
    client = StreamClient()
    task = asyncio.create_task(ask(client, model_of(api, fake_server.url)))
    await until(lambda: fake_server.requests)
    task.cancel()
    await asyncio.wait([task])
    for _ in range(100):
        if fake_server.requests[0].cancelled:
            break
        await asyncio.sleep(0.01)
    assert fake_server.requests[0].cancelled
    await client.aclose()


@EACH_API
async def test_a_server_that_never_ends_the_connection_does_not_hold_the_answer(
    api: str, fake_server: FakeServer
) -> None:
    fake_server.answer("hello", hold=30)
    client = StreamClient()
    assert text_of((await asyncio.wait_for(ask(client, model_of(api, fake_server.url)), 5)).content) == "hello"
    await client.aclose()


@EACH_API
@pytest.mark.parametrize("cut", [0, 1, 150, 400])
async def test_a_reset_is_a_network_error_that_may_be_tried_again(api: str, cut: int, fake_server: FakeServer) -> None:
    fake_server.answer("hello " * 50, cut=cut, reset=True)
    error = await failure(fake_server, api)
    assert isinstance(error, NetworkError)
    assert error.retryable
    assert "httpx" not in str(error) and "ReadError" not in str(error)
    assert len(fake_server.requests) == 1


@EACH_API
async def test_an_empty_answer_is_a_bad_response(api: str, fake_server: FakeServer) -> None:
    fake_server.answer(Reply.raw(b""))
    assert isinstance(await failure(fake_server, api), BadResponseError)


@EACH_API
@pytest.mark.parametrize(
    ("reply", "kind", "text"),
    [
        (Reply.error(529, recorded("err_529.json")), OverloadedError, "Overloaded"),
        (
            Reply.error(503, b"<html><title>503 Service</title></html>", headers={"content-type": "text/html"}),
            OverloadedError,
            "503 Service",
        ),
        (Reply.error(502), OverloadedError, "Bad Gateway"),
        (Reply.error(400, recorded("err_image_400.json")), BadRequestError, "Could not process image"),
        (Reply.error(500, b"x" * 3_000_000), OverloadedError, "xxx"),
    ],
)
async def test_errors_by_status(
    api: str, reply: Reply, kind: type[ProviderError], text: str, fake_server: FakeServer
) -> None:
    fake_server.answer(reply)
    error = await failure(fake_server, api)
    assert isinstance(error, kind)
    assert text in str(error)
    assert len(str(error)) < 900
    assert len(fake_server.requests) == 1


@EACH_API
async def test_a_404_names_the_url(api: str, fake_server: FakeServer) -> None:
    fake_server.answer(Reply.error(404, b"not here"))
    client = StreamClient()
    with pytest.raises(BadRequestError) as raised:
        await ask(client, model_of(api, f"{fake_server.url}/prefix?key=secret"))
    await client.aclose()
    assert f"{fake_server.url}/prefix/v1/" in str(raised.value)
    assert "secret" not in str(raised.value)
    assert fake_server.requests[0].path.endswith("?key=secret")


async def test_the_wait_that_a_server_asks_for_is_in_the_error(fake_server: FakeServer) -> None:
    fake_server.answer(Reply.error(429, {"error": {"message": "slow down"}}, headers={"retry-after-ms": "1500"}))
    assert (await failure(fake_server)).retry_after == 1.5


@EACH_API
@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply.raw(b"<html>sign in</html>", headers={"content-type": "text/html"}), "a web page"),
        (Reply.raw(b'{"ok": true}', headers={"content-type": "application/json"}), "JSON without a stream"),
        (Reply.raw(b"hello", headers={"content-type": "text/plain"}), "cut off"),
        (Reply.raw(b"[" * 50_000, headers={"content-type": "application/json"}), "no event stream"),
    ],
)
async def test_an_answer_that_is_no_stream_says_so(api: str, reply: Reply, text: str, fake_server: FakeServer) -> None:
    fake_server.answer(reply)
    error = await failure(fake_server, api)
    assert error.retryable == (text == "cut off")
    assert text in str(error)


async def test_an_error_with_status_200_is_an_error(fake_server: FakeServer) -> None:
    fake_server.answer(Reply.error(200, {"error": {"message": "no credit", "code": "insufficient_quota"}}))
    error = await failure(fake_server)
    assert error.kind == "quota"
    assert "no credit" in str(error)


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "application/octet-stream"])
async def test_a_stream_under_another_content_type_is_a_stream(content_type: str, fake_server: FakeServer) -> None:
    fake_server.answer("hello", headers={"content-type": content_type}, chunk=1)
    client = StreamClient()
    assert text_of((await ask(client, model_of("openai-completions", fake_server.url))).content) == "hello"
    await client.aclose()


async def test_a_packed_stream_is_unpacked(fake_server: FakeServer) -> None:
    fake_server.answer(Reply.raw(gzip.compress(recorded("oai_ok.sse")), headers={"content-encoding": "gzip"}, chunk=9))
    client = StreamClient()
    message = await ask(client, model_of("openai-completions", fake_server.url))
    assert text_of(message.content) == "hello from the stub"
    await client.aclose()


async def test_bytes_that_are_not_packed_as_they_claim_are_a_bad_response(fake_server: FakeServer) -> None:
    fake_server.answer(Reply.raw(recorded("oai_ok.sse"), headers={"content-encoding": "gzip"}))
    assert isinstance(await failure(fake_server), BadResponseError)


async def test_keep_alive_comments_before_the_first_token_are_no_failure(fake_server: FakeServer) -> None:
    body = b": keep-alive\n\n" * 20
    fake_server.answer(Reply.raw(body + recorded("oai_ok.sse"), chunk=14, delay=0.005))
    client = StreamClient(HttpClients(first_token_timeout_s=20, idle_timeout_s=10))
    message = await ask(client, model_of("openai-completions", fake_server.url))
    assert text_of(message.content) == "hello from the stub"
    await client.aclose()


async def test_nobody_there_is_a_network_error_with_the_place() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    error = await failure(f"http://127.0.0.1:{port}")
    assert isinstance(error, NetworkError)
    assert f"http://127.0.0.1:{port}" in str(error)


async def test_a_name_that_does_not_exist_is_a_network_error() -> None:
    error = await failure("http://no-such-host.invalid")
    assert isinstance(error, NetworkError)
    assert "no-such-host.invalid" in str(error)


async def test_what_is_no_http_is_a_network_error() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"SSH-2.0-OpenSSH\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        error = await failure(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert isinstance(error, NetworkError)


async def test_a_proxy_of_the_environment_is_used(fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", fake_server.url.replace("http://", "http://me:pass-word@"))
    fake_server.answer("hello")
    client = StreamClient()
    await ask(client, model_of("openai-completions", "http://model.invalid/v1"))
    await client.aclose()
    assert fake_server.requests[0].path == "http://model.invalid/v1/chat/completions"
    assert fake_server.requests[0].headers["proxy-authorization"].startswith("Basic ")


@pytest.mark.parametrize("address", ["http://me:pass-word@127.0.0.1:1", "me:pass-word@127.0.0.1:1"])
async def test_a_proxy_that_cannot_be_reached_is_named_without_its_password(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", address)
    error = await failure("http://example.invalid")
    assert "no connection to http://example.invalid through the proxy http://127.0.0.1:1: " in str(error)
    assert "HTTP_PROXY" in str(error) and "pass-word" not in str(error)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert "proxy" not in str(await failure("http://127.0.0.1:1")).lower()


async def test_no_proxy_is_heeded(fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    fake_server.answer("hello")
    client = StreamClient()
    await ask(client, model_of("openai-completions", fake_server.url))
    await client.aclose()


def tls_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(INPUTS / "tls" / "cert.pem", INPUTS / "tls" / "key.pem")
    return context


async def test_a_certificate_that_is_not_trusted_is_a_matter_of_configuration() -> None:
    async with FakeServer(tls=tls_context()) as server:
        client = StreamClient()
        with pytest.raises(ConfigError, match="SSL_CERT_FILE"):
            await ask(client, model_of("openai-completions", server.url))
        await client.aclose()


async def test_certificates_of_the_environment_are_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(INPUTS / "tls" / "cert.pem"))
    async with FakeServer(tls=tls_context()) as server:
        server.answer("hello")
        client = StreamClient()
        assert text_of((await ask(client, model_of("openai-completions", server.url))).content) == "hello"
        await client.aclose()


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
async def test_certificates_that_cannot_be_read_are_named(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    (tmp_path / "empty").write_text("")
    odd = ["/no/such/file", *([str(tmp_path), str(tmp_path / "empty")] if name == "SSL_CERT_FILE" else [])]
    for value in odd:
        monkeypatch.setenv(name, value)
        with pytest.raises(ConfigError) as raised:
            await ask(StreamClient(), model_of("openai-completions", "https://host.invalid"))
        assert f"{name} ({value})" in str(raised.value)
        assert text_of((await ask(replayed(recorded("oai_ok.sse")), model_of("openai-completions"))).content)


async def test_the_caller_sees_and_may_replace_what_is_sent(fake_server: FakeServer) -> None:
    seen: list[Any] = []
    fake_server.answer("hello")
    fake_server.answer("hello")
    client = StreamClient()
    model = model_of("openai-completions", fake_server.url)

    async def replace(body: dict[str, Any]) -> dict[str, Any]:
        return body | {"seed": 7}

    await ask(client, model, on_payload=replace, on_response=seen.append)
    await ask(client, model, on_payload=lambda body: seen.append(body), on_response=None)
    await client.aclose()
    assert fake_server.requests[0].body["seed"] == 7
    assert seen[0]["status"] == 200
    assert seen[0]["headers"]["content-type"] == "text/event-stream"
    assert seen[1] == fake_server.requests[1].body


async def test_an_unknown_wire_api_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="openai-completions"):
        StreamClient()(model_of("smoke-signals"), context_of(), StreamOptions())
    assert set(WIRE_APIS) >= {*APIS, "offline", "scripted", "replay"}


def test_a_client_survives_its_event_loop() -> None:
    """A program may call `asyncio.run` for each question."""
    server = FakeServer.start_in_thread(strict=True)
    try:
        client = StreamClient()
        model = model_of("openai-completions", server.url)
        for word in ("one", "two"):
            server.answer(word, headers={"connection": "close"})
            message = asyncio.run(ask(client, model))
            assert text_of(message.content) == word
    finally:
        server.stop()


def test_the_start_path_stays_free_of_what_costs_time() -> None:
    program = """
import sys
from agentcli.providers.stream_client import StreamClient
assert "httpx" not in sys.modules
from agentcli.agent.models import Model
StreamClient().prepare(Model(id="m", api="openai-completions", provider="p", base_url="http://127.0.0.1:9"))
loaded = {"httpx"} & set(sys.modules)
unwanted = {"rich", "click", "pygments", "anthropic", "openai", "pydantic", "textual"} & set(sys.modules)
assert loaded and not unwanted, (loaded, unwanted)
assert "httpx._main" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
