"""CONF-02: keys and headers; SEC-04: none of them is in an error."""

import logging

import pytest

from agentcli.agent.errors import AuthError, ConfigError, CredentialsError, ProviderError
from agentcli.agent.models import clean_key
from agentcli.providers.http.clients import HttpClients
from agentcli.providers.stream_client import StreamClient
from tests.fake_server import FakeServer, Reply
from tests.providers.support import APIS, ask, model_of

KEY = "sk-CANARY-1234567890"


@pytest.mark.parametrize(
    ("raw", "key"), [("  sk-test \n", "sk-test"), ("sk-test\r\n", "sk-test"), ("", None), (" \t\n", None), (None, None)]
)
def test_a_key_is_trimmed_and_an_empty_one_is_none(raw: str | None, key: str | None) -> None:
    assert clean_key(raw) == key


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ("sk-te\u028bst", "U+028B at position 6"),
        ("sk-\u200btest", "U+200B at position 4"),
        ("sk-te\nst", "U+000A at position 6"),
        ("sk te", "U+0020 at position 3"),
        ("sk-\ud83d", "U+D83D at position 4"),
    ],
)
def test_a_key_with_a_character_that_no_key_has_is_refused_without_showing_it(raw: str, place: str) -> None:
    with pytest.raises(CredentialsError) as raised:
        clean_key(raw, source="FAKE_API_KEY")
    assert place in str(raised.value)
    assert "FAKE_API_KEY" in str(raised.value)
    assert "sk" not in str(raised.value)


@pytest.mark.parametrize("api", APIS)
async def test_a_key_with_a_look_alike_letter_makes_no_request(api: str, fake_server: FakeServer) -> None:
    client = StreamClient()
    with pytest.raises(CredentialsError):
        await ask(client, model_of(api, fake_server.url), api_key="sk-te\u028bst")
    assert not fake_server.requests


@pytest.mark.parametrize(
    ("api", "auth", "header"),
    [
        ("openai-completions", "", ("authorization", "Bearer sk-test")),
        ("openai-responses", "", ("authorization", "Bearer sk-test")),
        ("anthropic-messages", "", ("x-api-key", "sk-test")),
        ("anthropic-messages", "bearer", ("authorization", "Bearer sk-test")),
        ("openai-completions", "api-key", ("api-key", "sk-test")),
    ],
)
async def test_the_key_is_sent_as_the_server_wants_it(
    api: str, auth: str, header: tuple[str, str], fake_server: FakeServer
) -> None:
    fake_server.answer("hello")
    client = StreamClient()
    await ask(client, model_of(api, fake_server.url, compat={"auth": auth}), api_key="  sk-test \n")
    await client.aclose()
    headers = fake_server.requests[0].headers
    assert headers[header[0]] == header[1]
    assert sum("sk-test" in value for value in headers.values()) == 1


@pytest.mark.parametrize("api", APIS)
async def test_without_a_key_no_header_has_one(api: str, fake_server: FakeServer) -> None:
    fake_server.answer("hello")
    client = StreamClient()
    await ask(client, model_of(api, fake_server.url), api_key="  ")
    await client.aclose()
    assert not {"authorization", "x-api-key"} & set(fake_server.requests[0].headers)


async def test_headers_of_the_model_and_of_the_caller_win(fake_server: FakeServer) -> None:
    fake_server.answer("hello")
    client = StreamClient()
    model = model_of("openai-completions", fake_server.url, headers={"X-One": "1", "X-Two": "1", "User-Agent": "me"})
    await ask(client, model, api_key="k", headers={"x-two": "2", "Authorization": "Other 1"})
    await client.aclose()
    headers = fake_server.requests[0].headers
    assert (headers["x-one"], headers["x-two"]) == ("1", "2")
    assert (headers["user-agent"], headers["authorization"]) == ("me", "Other 1")


@pytest.mark.parametrize(("name", "value"), [("x-a", "b\u028bCANARY"), ("x-a", "b\nCANARY"), ("x a", "CANARY")])
async def test_a_header_that_cannot_be_sent_is_refused_without_its_value(name: str, value: str) -> None:
    with pytest.raises(ConfigError) as raised:
        await ask(StreamClient(), model_of("openai-completions", headers={name: value}))
    assert "CANARY" not in str(raised.value)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("echo", [KEY, KEY[:14] + "…", f'"{KEY}"', f"Bearer {KEY} is wrong"])
async def test_a_key_that_the_server_echoes_is_not_shown(api: str, echo: str, fake_server: FakeServer) -> None:
    fake_server.answer(Reply.error(401, {"error": {"message": f"Incorrect API key: {echo}"}}))
    client = StreamClient(HttpClients(key_source=lambda provider: f"{provider.upper()}_API_KEY"))
    with pytest.raises(AuthError) as raised:
        await ask(client, model_of(api, fake_server.url), api_key=KEY)
    await client.aclose()
    assert "CANARY" not in str(raised.value)
    assert "Incorrect API key" in str(raised.value)
    assert "FAKE_API_KEY" in raised.value.hint
    assert len(fake_server.requests) == 1


async def test_a_401_without_a_key_says_what_to_set(fake_server: FakeServer) -> None:
    fake_server.answer(Reply.error(401))
    client = StreamClient(HttpClients(key_source=lambda provider: "FAKE_API_KEY"))
    with pytest.raises(AuthError, match="set FAKE_API_KEY"):
        await ask(client, model_of("openai-completions", fake_server.url))
    await client.aclose()


async def test_a_secret_in_a_header_is_not_shown_either(fake_server: FakeServer) -> None:
    fake_server.answer(Reply.error(403, {"error": f"no access with {KEY} for https://my.app/x"}))
    client = StreamClient()
    headers = {"x-gateway-key": KEY, "http-referer": "https://my.app/x"}
    with pytest.raises(AuthError, match=r"https://my\.app/x") as raised:
        await ask(client, model_of("openai-completions", fake_server.url, headers=headers))
    await client.aclose()
    assert "CANARY" not in str(raised.value)


@pytest.mark.parametrize("api", APIS)
async def test_a_key_that_is_echoed_amid_a_stream_is_not_shown(api: str, fake_server: FakeServer) -> None:
    body = f'data: {{"type": "error", "error": {{"message": "bad key {KEY}"}}}}\n\n'
    fake_server.answer(Reply.raw(body))
    client = StreamClient()
    with pytest.raises(ProviderError, match="bad key") as raised:
        await ask(client, model_of(api, fake_server.url), api_key=KEY)
    await client.aclose()
    assert "CANARY" not in str(raised.value)
    assert "CANARY" not in repr(raised.value)


async def test_no_log_holds_a_secret(fake_server: FakeServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    fake_server.answer("hello")
    client = StreamClient()
    await ask(client, model_of("openai-completions", f"{fake_server.url}?key={KEY}"), api_key=KEY)
    await client.aclose()
    assert "CANARY" not in caplog.text
