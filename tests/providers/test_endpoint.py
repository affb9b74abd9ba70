"""CONF-03: where a request goes, by the base URL as people write it."""

import json

import pytest

from agentcli.agent.errors import ConfigError
from agentcli.providers.catalog.endpoint import endpoint, origin, shown_url
from tests.providers.support import INPUTS

ROWS = json.loads((INPUTS / "base_urls.json").read_text())
HOST = "http://127.0.0.1:4711"


def _rows(column: str) -> list[tuple[str, str]]:
    """Base URL and path, of the rows that have one for this wire API."""
    return [(row["base"], row[column]) for row in ROWS if row[column] and not row[column].startswith("clear refusal")]


@pytest.mark.parametrize(("base", "path"), _rows("openai_path"))
def test_chat_completions_go_where_the_table_says(base: str, path: str) -> None:
    expected = path.split(" ")[0]
    assert endpoint(base.replace("PORT", "4711"), "chat/completions") == HOST + expected


@pytest.mark.parametrize(("base", "path"), _rows("anthropic_path"))
def test_messages_go_where_the_table_says(base: str, path: str) -> None:
    assert endpoint(base.replace("PORT", "4711"), "messages") == HOST + path.split(" ")[0]


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://host/v1beta/openai", "https://host/v1beta/openai/chat/completions"),
        ("https://host//v1//", "https://host/v1/chat/completions"),
        ("https://host/openai/deployments/x/chat/completions?api-version=1", None),
        ("https://host/v1/#part", "https://host/v1/chat/completions"),
        ("https://[::1]:80", "https://[::1]:80/v1/chat/completions"),
        ("HTTPS://host", "https://host/v1/chat/completions"),
    ],
)
def test_more_forms(base: str, url: str | None) -> None:
    assert endpoint(base, "chat/completions") == (url or base)


@pytest.mark.parametrize(
    ("base", "problem"),
    [
        ("127.0.0.1:4711/v1", "no scheme"),
        ("localhost:4711", "no scheme"),
        ("", "no `base_url`"),
        ("  ", "no `base_url`"),
        ("ftp://host", "not an http or https URL"),
        ("http://", "not an http or https URL"),
        ("http://host:port", "not an http or https URL"),
        ("http://host:99999", "not an http or https URL"),
    ],
)
def test_what_is_no_url_is_refused_in_one_line(base: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as raised:
        endpoint(base, "messages")
    assert "\n" not in str(raised.value)
    assert raised.value.hint


def test_no_secret_of_a_url_is_shown() -> None:
    shown = shown_url("https://me:pass-word@host/v1?api_key=CANARY&x=1&access_token=CANARY")
    assert "CANARY" not in shown
    assert "pass-word" not in shown
    assert shown.startswith("https://host/v1?")
    assert "x=1" in shown
    assert origin("https://me:pass-word@host:1/v1") == "https://host:1"


def test_a_refused_url_shows_no_password() -> None:
    with pytest.raises(ConfigError) as raised:
        endpoint("ftp://me:pass-word@host", "messages")
    assert "pass-word" not in str(raised.value)
