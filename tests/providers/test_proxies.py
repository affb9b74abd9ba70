"""Proxies of the environment: only what concerns the host counts, and what is wrong is named with its value."""

import pytest

from agentcli.agent.errors import ConfigError
from agentcli.providers.http.proxies import proxy_for
from agentcli.providers.stream_client import StreamClient
from tests.fake_server import FakeServer
from tests.providers.support import ask, model_of

HOST = "http://host.example:8080"
P, Q = "http://p:1", "http://q:2"


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        (HOST, {}, None),
        (HOST, {"HTTP_PROXY": P}, (P, "HTTP_PROXY")),
        (HOST, {"HTTPS_PROXY": P}, None),
        ("https://host.example", {"HTTPS_PROXY": P}, (P, "HTTPS_PROXY")),
        (HOST, {"ALL_PROXY": P}, (P, "ALL_PROXY")),
        (HOST, {"ALL_PROXY": P, "HTTP_PROXY": Q}, (Q, "HTTP_PROXY")),
        (HOST, {"HTTP_PROXY": P, "http_proxy": Q}, (Q, "http_proxy")),
        (HOST, {"HTTP_PROXY": P, "http_proxy": ""}, None),
        (HOST, {"HTTP_PROXY": "", "ALL_PROXY": " "}, None),
        (HOST, {"HTTP_PROXY": "p:1"}, (P, "HTTP_PROXY")),
        (HOST, {"HTTP_PROXY": P, "REQUEST_METHOD": "GET"}, None),
        # What does not concern the host is not looked at.
        (HOST, {"HTTPS_PROXY": "gopher://x", "HTTP_PROXY": P}, (P, "HTTP_PROXY")),
        (HOST, {"ALL_PROXY": "socks://x:1", "HTTP_PROXY": P}, (P, "HTTP_PROXY")),
        (HOST, {"ALL_PROXY": "socks://x:1", "NO_PROXY": "host.example"}, None),
        (HOST, {"HTTP_PROXY": "http://[bad", "NO_PROXY": "*"}, None),
        (HOST, {"NO_PROXY": "[::1]"}, None),
        (HOST, {"NO_PROXY": "[bad", "HTTP_PROXY": P}, (P, "HTTP_PROXY")),
    ],
)
def test_the_proxy_that_counts(url: str, environment: dict[str, str], proxy: tuple[str, str] | None) -> None:
    found = proxy_for(url, environment)
    assert (found and (found.url, found.variable)) == proxy


@pytest.mark.parametrize(
    ("host", "entries", "is_direct"),
    [
        ("host.example", "other.example,host.example", True),
        ("host.example", "other.example host.example", True),
        ("host.example", ".example", True),
        ("host.example", "example", True),
        ("host.example", "*.example", True),
        ("host.example", "HOST.Example.", True),
        ("host.example", "http://host.example", True),
        ("host.example", "host.example:80", True),
        ("host.example", "host.example:8080", False),
        ("host.example:8080", "host.example:8080", True),
        ("host.example", "st.example", False),
        ("host.example", "", False),
        ("host.example", ",, .", False),
        ("[::1]", "[::1]", True),
        ("[::1]", "::1", True),
        ("[::1]:8080", "[::1]:8080", True),
        ("[::1]", "[::2]", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("[fd00::1]", "fd00::/8", True),
        ("10.1.2.3", "10.0.0.0/99", False),
        ("localhost", "localhost", True),
    ],
)
def test_hosts_that_are_reached_directly(host: str, entries: str, is_direct: bool) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        found = proxy_for(f"http://{host}", {"HTTP_PROXY": P, name: entries})
        assert (found is None) == is_direct


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("gopher://me:pass-word@host:1", "gopher://host:1"),
        ("socks://host:1", "socks://host:1"),
        ("socks5://me:pass-word@host:1", "socks5://host:1"),
        ("http://[bad", "http://[bad"),
        ("http://me:pass-word@[bad", "http://[bad"),
        ("http://me:pass@word@", "http://"),
        ("http://host:port", "http://host:port"),
        ("http://host:99999", "http://host:99999"),
        ("http://ho st:1", "http://ho st:1"),
        ("http://", "http://"),
    ],
)
@pytest.mark.parametrize("name", ["ALL_PROXY", "http_proxy"])
async def test_a_proxy_that_is_no_use_is_named_with_its_value_and_not_its_password(
    name: str, value: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as raised:
        await ask(StreamClient(), model_of("openai-completions", "http://host"))
    said = str(raised.value)
    assert f"{name} ({shown})" in said
    assert not {"pass-word", "pass@word", "\n"} & {word for word in ("pass-word", "pass@word", "\n") if word in said}
    assert [other for other in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy") if other in said] == [name]


async def test_a_host_that_needs_no_proxy_is_reached_past_a_broken_one(
    fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ALL_PROXY", "socks://[bad"), ("NO_PROXY", "[::1],127.0.0.1")):
        monkeypatch.setenv(name, value)
    fake_server.answer("hello")
    client = StreamClient()
    await ask(client, model_of("openai-completions", fake_server.url))
    await client.aclose()


@pytest.mark.parametrize("url", ["http://[bad", "http://[", "http://host:x", "http://", "http://[::1]x"])
async def test_a_base_url_that_is_none_is_a_matter_of_configuration(url: str) -> None:
    for api in ("openai-completions", "openai-responses", "anthropic-messages"):
        with pytest.raises(ConfigError, match="base_url"):
            await ask(StreamClient(), model_of(api, url))
