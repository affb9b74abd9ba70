"""PROV-16 to PROV-18: what a server's error is, whatever words it has, and how long it asks to wait."""

import json
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.errors import (
    AuthError,
    BadRequestError,
    ContextOverflowError,
    ModelNotFoundError,
    OverloadedError,
    ProviderError,
    ProviderTimeoutError,
    QuotaError,
    RateLimitError,
    RefusedError,
)
from agentcli.providers.http.classify import error_of_event, error_of_response, one_line
from agentcli.providers.http.retry_after import retry_after_of
from tests.providers.support import INPUTS

KEYS = st.sampled_from(["error", "message", "type", "code", "status", "detail", "errors", "metadata", "raw", "msg"])
TABLE: list[dict[str, Any]] = json.loads((INPUTS / "overflow_errors.json").read_text())


def classify(status: int, body: Any, headers: dict[str, str] | None = None) -> ProviderError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return error_of_response(status, headers or {}, data, url="http://host/v1/messages", provider="fake")


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_overflow_is_known_by_every_wording_and_nothing_else_is(row: dict[str, Any]) -> None:
    assert isinstance(classify(row["status"], row["body"]), ContextOverflowError) is row["overflow"]
    assert isinstance(error_of_event(row["body"].get("error", row["body"]), provider="fake"), ContextOverflowError) is (
        row["overflow"] and row["name"] != "http-413"
    )


@pytest.mark.parametrize(
    "message",
    [
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
        "input is too long for requested model.",
        "prompt token count of 131073 exceeds the limit of 128000",
        "context window exceeds limit (2013)",
        "Requested token count exceeds the model's maximum context length of 131072 tokens.",
        "Prompt contains 40000 tokens ... too large for model with 32768 maximum context length",
        "the request exceeds the available context size, try increasing it",
        "The prompt is too long: 140000, model maximum context length: 131071",
        "context shift is disabled",
        "Context size has been exceeded.",
        "the context window is full",
        "Trying to keep the first 9000 tokens when context overflows. The context length is only 4096 tokens",
    ],
)
def test_more_wordings_of_overflow(message: str) -> None:
    assert isinstance(classify(400, {"error": {"message": message}}), ContextOverflowError)


@pytest.mark.parametrize(
    ("status", "message", "is_hinted"),
    [
        (400, "Invalid reasoning_effort: none, supported values: ['low', 'high', 'max']", True),
        (400, "Reasoning is mandatory for this endpoint and cannot be disabled.", True),
        (400, "thinking.type: disabled is not supported by this model", True),
        (422, "Unsupported value: 'minimal' is not supported, effort must be one of low, medium", True),
        (400, "thinking or redacted_thinking blocks in the latest assistant message cannot be modified", False),
        (400, "The `reasoning_content` in the thinking mode must be passed back to the API", False),
        (400, "bad JSON", False),
        (500, "reasoning failed", False),
    ],
)
def test_a_refused_thinking_level_says_which_setting_to_use(status: int, message: str, is_hinted: bool) -> None:
    said = str(classify(status, {"error": {"message": message}}))
    assert ("thinking_levels" in said and "/thinking" in said) == is_hinted
    assert message in said and "\n" not in said


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for this model"),
        (400, "'max_tokens' or 'max_completion_tokens' is too large: 32000."),
        (429, "Request too large: the limit is 30000 tokens per minute (TPM), the context is 40000"),
        (400, "messages.1.content.0.text: string too long, maximum length 10485760"),
        (400, "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40"),
        (400, "tools: too many tools, maximum 128"),
        (400, "the tool `context_size` was not found"),
        (500, "context deadline exceeded"),
    ],
)
def test_what_only_sounds_like_overflow_is_none(status: int, message: str) -> None:
    assert not isinstance(classify(status, {"error": {"message": message}}), ContextOverflowError)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (401, {"message": "Invalid API key"}, AuthError),
        (403, {"type": "permission_error", "message": "no"}, AuthError),
        (407, "proxy", AuthError),
        (402, {"message": "Insufficient Balance"}, QuotaError),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, QuotaError),
        (400, {"type": "invalid_request_error", "message": "Your credit balance is too low"}, QuotaError),
        (403, {"message": "Key limit exceeded (monthly limit). Manage it"}, QuotaError),
        (429, {"message": "Rate limit reached for tokens per min (TPM)", "type": "tokens"}, RateLimitError),
        (429, "slow down", RateLimitError),
        (200, {"type": "rate_limit_error", "message": "x"}, RateLimitError),
        (529, {"type": "overloaded_error", "message": "Overloaded"}, OverloadedError),
        (500, {"message": "The server had an error"}, OverloadedError),
        (503, {"message": "The model is overloaded"}, OverloadedError),
        (524, "timeout", OverloadedError),
        (408, {"message": "timeout"}, ProviderTimeoutError),
        (400, {"message": "bad JSON"}, BadRequestError),
        (422, {"message": "x"}, BadRequestError),
        (404, {"code": "model_not_found", "message": "The model `x` does not exist"}, ModelNotFoundError),
        (404, {"type": "not_found_error", "message": "model: claude-x"}, ModelNotFoundError),
        (400, {"message": "x is not a valid model ID"}, ModelNotFoundError),
        (404, {"message": "model 'x' not found, try pulling it first"}, ModelNotFoundError),
        (404, {"message": "Not Found"}, BadRequestError),
        (405, "Method Not Allowed", BadRequestError),
        (400, {"code": "content_filter", "message": "The response was filtered"}, RefusedError),
        (403, {"message": "x requires moderation. Your input was flagged"}, RefusedError),
    ],
)
def test_the_kind_of_an_error(status: int, error: Any, kind: type[ProviderError]) -> None:
    found = classify(status, {"error": error})
    assert type(found) is kind
    assert found.status == status


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 502, "message": "upstream overloaded"}, OverloadedError),
        ({"code": 429, "message": "Provider returned error"}, RateLimitError),
        ({"type": "overloaded_error", "message": "Overloaded"}, OverloadedError),
        ({"type": "api_error", "message": "Internal server error"}, OverloadedError),
        ({"type": "invalid_request_error", "message": "no such thing"}, BadRequestError),
        ({"code": "rate_limit_exceeded", "message": "x"}, RateLimitError),
        ({"code": "server_error", "message": "x"}, OverloadedError),
        ({"message": "something"}, OverloadedError),
        ("something", OverloadedError),
        ({"code": "insufficient_quota", "message": "x"}, QuotaError),
        ({}, OverloadedError),
        (None, OverloadedError),
        ([1], OverloadedError),
    ],
)
def test_the_kind_of_an_error_amid_a_stream(error: Any, kind: type[ProviderError]) -> None:
    assert type(error_of_event(error, provider="fake")) is kind


def test_a_quota_that_says_when_it_is_back_is_a_rate_limit() -> None:
    body = {
        "error": {
            "code": 429,
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"retryDelay": "34.5s"}],
        }
    }
    error = classify(429, [body])
    assert isinstance(error, RateLimitError)
    assert error.retry_after == 34.5


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "Service Unavailable"),
        (b"  \n", "Service Unavailable"),
        (b"<html><head><title>503 Backend &amp; co</title></head><body>x</body></html>", "web page: 503 Backend & co"),
        (b"<!DOCTYPE html>\n<body><h1>No\nserver</h1></body>", "web page: No server"),
        (b"upstream connect error\n\x1b[31mreset\x07", "upstream connect error [31mreset"),
        (b"\xff\xfe\x00", "\ufffd\ufffd"),
        (b'{"error":{"message":"a\\nb"}}', "a b"),
        (b'{"error":"plain"}', "plain"),
        (b'{"message":"m"}', "m"),
        (b'{"detail":"d"}', "d"),
        (b'{"detail":[{"msg":"one"},{"msg":"two"}]}', "one; two"),
        (b'{"errors":[{"message":"e"}]}', "e"),
        (b'[{"error":{"message":"first"}}]', "first"),
        (b'{"object":"error","message":"old","code":400}', "old"),
        (b'{"error":{"message":"Provider returned error","metadata":{"raw":"{\\"error\\":{\\"message\\":\\"inner\\"}}"}}}',
         "Provider returned error: inner"),
        (b'{"x":1}', "Service Unavailable"),
        (b"null", "Service Unavailable"),
        (b"[" * 5000, None),
    ],
)  # fmt: skip
def test_any_body_gives_one_readable_line(body: bytes, text: str | None) -> None:
    error = classify(503, body)
    assert "\n" not in str(error)
    assert all(character.isprintable() for character in str(error))
    assert len(str(error)) < 1000
    if text is not None:
        assert str(error) == f"fake answered 503: {text}"


def test_a_huge_body_is_cut_in_the_middle() -> None:
    error = classify(400, {"error": {"message": "begin " + "x" * 100_000 + " end"}})
    assert len(str(error)) < 800
    assert "begin" in str(error)
    assert one_line("a" * 1000).count("…") == 1


@pytest.mark.parametrize("body", [b"", b"<html><h1>nginx</h1></html>", b'{"error":{"message":"no route"}}'])
def test_a_404_names_the_url(body: bytes) -> None:
    error = classify(404, body)
    assert "http://host/v1/messages" in str(error)
    assert "base_url" in error.hint


def test_a_redirect_is_not_followed_and_says_where_to() -> None:
    error = classify(308, b"", {"location": "https://elsewhere/v1"})
    assert "https://elsewhere/v1" in str(error)
    assert not error.retryable


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(st.integers(100, 999), st.one_of(st.binary(max_size=200), anything), st.text(max_size=20))
def test_any_answer_is_some_error_of_one_line(status: int, body: Any, wait: str) -> None:
    for error in (classify(status, body, {"retry-after": wait}), error_of_event(body, provider="fake")):
        assert isinstance(error, ProviderError)
        assert all(character.isprintable() for character in str(error))
        assert error.retry_after is None or error.retry_after >= 0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "7200"}, 7200.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "1_0"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "x", "retry-after": "3"}, 3.0),
        ({"retry-after": "Mon, 99 Foo 2026 99:99:99 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        (
            {"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"},
            30.0,
        ),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_of(headers) == seconds


def test_retry_after_as_a_date_counts_from_now() -> None:
    import time

    wait = retry_after_of({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert wait is not None
    assert 90 < wait <= 101


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 6.5s. Visit", 6.5),
        ("Please try again in 20ms.", 0.02),
        ("try again in 1m12s", 72.0),
        ("try again in 2h5m0s", 7500.0),
        ("Please retry after 5 sec", 5.0),
        ("try again in a while", None),
        ("try again later", None),
    ],
)
def test_retry_after_in_words(text: str, seconds: float | None) -> None:
    assert retry_after_of({}, b"", text) == seconds
