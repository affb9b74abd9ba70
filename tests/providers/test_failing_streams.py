"""Answers that are refusals, errors or cut off, and arguments that are no object."""

import json
from typing import Any

import pytest

from agentcli.agent.errors import (
    BadRequestError,
    BadResponseError,
    ContextOverflowError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    RefusedError,
)
from agentcli.agent.messages import StopReason, TextContent, ThinkingContent, ToolResultMessage, text_of, user_message
from agentcli.providers.stream_client import StreamClient
from agentcli.providers.wire_json import to_json
from tests.fake_server import Call, FakeServer, Redacted, Reply, Thinking
from tests.fake_server.formats import events_of as scripted_events
from tests.providers.support import (
    APIS,
    DONE,
    END,
    ENDPOINTS,
    INPUTS,
    MESSAGE,
    STOP,
    answered,
    ask,
    block,
    body_of,
    chat,
    events,
    failed,
    model_of,
)

REFUSALS: dict[str, tuple[str, bytes]] = {
    "content filter": ("openai-completions", chat({"content": "a"}, "content_filter")),
    "refusal": ("openai-completions", chat({"refusal": "I will "}, {"refusal": "not"}, "stop")),
    "stop reason": (
        "anthropic-messages",
        events(
            MESSAGE,
            {
                "type": "message_delta",
                "delta": {"stop_reason": "refusal", "stop_details": {"explanation": "I will not"}},
            },
            STOP,
        ),
    ),
    "no details": (
        "anthropic-messages",
        events(MESSAGE, {"type": "message_delta", "delta": {"stop_reason": "refusal"}}, STOP),
    ),
    "refusal delta": ("openai-responses", events({"type": "response.refusal.delta", "delta": "I will not"}, DONE)),
    "filtered": (
        "openai-responses",
        events({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}}),
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_refusal_is_an_error_that_is_not_tried_again(name: str) -> None:
    api, data = REFUSALS[name]
    error = await failed(api, data)
    assert isinstance(error, RefusedError)
    assert not error.retryable
    assert "I will not" in str(error) or "delta" not in name


ERRORS: dict[str, tuple[str, bytes, type[ProviderError]]] = {
    "chat: a chunk": ("openai-completions", chat({"error": {"code": 429, "message": "slow"}}), RateLimitError),
    "chat: in a choice": (
        "openai-completions",
        chat({"choices": [{"delta": {}, "error": {"message": "upstream", "code": 502}}]}),
        OverloadedError,
    ),
    "chat: text": ("openai-completions", chat({"error": "prompt is too long"}), ContextOverflowError),
    "chat: old vLLM": (
        "openai-completions",
        chat({"object": "error", "message": "maximum context length is 5 tokens"}),
        ContextOverflowError,
    ),
    "chat: finish reason": ("openai-completions", chat("error"), OverloadedError),
    "chat: not JSON": ("openai-completions", b"data: <html>\n\n", BadResponseError),
    "chat: not an object": ("openai-completions", b"data: 7\n\n", BadResponseError),
    "messages: event name only": ("anthropic-messages", b"event: error\ndata: {}\n\n", OverloadedError),
    "messages: overflow": (
        "anthropic-messages",
        events({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 5 > 4"}}),
        ContextOverflowError,
    ),
    "responses: event": (
        "openai-responses",
        events({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}),
        RateLimitError,
    ),
    "responses: failed": (
        "openai-responses",
        events({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "oops"}}}),
        OverloadedError,
    ),
    "responses: overflow": (
        "openai-responses",
        events({"type": "response.failed", "response": {"error": {"code": "context_length_exceeded", "message": "x"}}}),
        ContextOverflowError,
    ),
    "responses: bad request": (
        "openai-responses",
        events({"type": "response.failed", "response": {"error": {"code": "invalid_request_error", "message": "x"}}}),
        BadRequestError,
    ),
    "responses: cancelled": (
        "openai-responses",
        events({"type": "response.cancelled", "response": {}}),
        BadResponseError,
    ),
    "responses: cut": (
        "openai-responses",
        events({"type": "response.output_text.delta", "delta": "a"}),
        BadResponseError,
    ),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_errors_amid_the_stream(name: str) -> None:
    api, data, kind = ERRORS[name]
    error = await failed(api, data)
    assert type(error) is kind
    assert "\n" not in str(error)


VARIANTS = json.loads((INPUTS / "args_variants.json").read_text())


@pytest.mark.parametrize("row", VARIANTS, ids=lambda row: str(row["raw"])[:30])
@pytest.mark.parametrize("api", APIS)
async def test_arguments_of_any_kind_are_an_object_or_kept_as_they_are(api: str, row: dict[str, Any]) -> None:
    """PROV-10: what is not one whole object never becomes arguments, and nothing raises."""
    raw = row["raw"] or ""
    reply = Reply.of(Call("read", raw), piece=50)
    message = await answered(api, b"".join(scripted_events(ENDPOINTS[api], reply, "m", 1)))
    (made,) = message.tool_calls
    if made.partial_json is None:
        assert isinstance(made.arguments, dict)
        assert row["expect"] != "error" or row.get("names") or row["tool"] == "read"
    else:
        assert made.partial_json == raw
        assert made.arguments == {}
        assert row["expect"] != "ok"


@pytest.mark.parametrize(("levels", "is_taken"), [(10, True), (90, True), (150, False), (3000, False), (50_000, False)])
async def test_arguments_may_be_nested_only_so_deep_that_they_can_be_sent_back(levels: int, is_taken: bool) -> None:
    raw = '{"a":' * levels + '"\\ud83d\\u0000"' + "}" * levels
    data = b"".join(scripted_events(ENDPOINTS["openai-completions"], Reply.of(Call("read", raw), piece=5000), "m", 1))
    message = await answered("openai-completions", data)
    (made,) = message.tool_calls
    assert (made.partial_json is None) is is_taken
    result = ToolResultMessage(made.id, "read", [TextContent("x")])
    for api in APIS:
        to_json(body_of(model_of(api), user_message("hi"), message, result))


@pytest.mark.parametrize("api", APIS)
async def test_every_prefix_of_an_answer_but_the_whole_is_an_error(api: str) -> None:
    reply = Reply.of(Thinking("hm"), Redacted(), "Looking.", Call("read", {"path": "a"}))
    parts = scripted_events(ENDPOINTS[api], reply, "model-a", 1)
    for count in range(len(parts)):
        if api == "openai-completions" and count >= len(parts) - 2:
            continue  # the finish reason is there; only usage and [DONE] are missing
        assert (await failed(api, b"".join(parts[:count]))).retryable
    assert (await answered(api, b"".join(parts))).stop_reason is StopReason.TOOL_CALLS


async def test_a_signature_goes_through_as_it_came(fake_server: FakeServer) -> None:
    client = StreamClient()
    odd = 'a+/=\\"é\u2028' + "x" * 5000
    start = {"type": "thinking", "thinking": "", "signature": ""}
    fake_server.answer(
        Reply.raw(events(MESSAGE, *block(0, start, {"type": "signature_delta", "signature": odd}), END, STOP), chunk=13)
    )
    message = await ask(client, model_of("anthropic-messages", fake_server.url))
    await client.aclose()
    assert message.content == [ThinkingContent("", odd)]
    assert text_of(message.content) == ""
