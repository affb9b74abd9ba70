"""The scripted server itself: a test that trusts it has to know that it can say no."""

import asyncio
import copy
import urllib.request
from typing import Any

import pytest

from agentcli.agent.errors import BadRequestError
from agentcli.agent.messages import text_of
from agentcli.providers.stream_client import StreamClient
from tests.fake_server import Call, FakeServer, Reply, Thinking
from tests.fake_server.strict import refusal_of
from tests.providers.support import APIS, ENDPOINTS, ask, model_of

SCHEMA = {"type": "object"}
CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {}}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "function": {"name": "read", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "more"},
    ],
    "tools": [{"function": {"name": "read", "parameters": SCHEMA}}],
}
MESSAGES: dict[str, Any] = {
    "model": "m",
    "max_tokens": 5000,
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "t", "signature": "SIG-m-1"},
                {"type": "tool_use", "id": "a", "name": "read", "input": {}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]},
        {"role": "user", "content": [{"type": "text", "text": "more"}]},
    ],
    "tools": [{"name": "read", "input_schema": SCHEMA}],
}
RESPONSES: dict[str, Any] = {
    "model": "m",
    "store": False,
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "ENC-m-1"},
        {"type": "function_call", "id": "fc", "call_id": "a", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
    ],
    "tools": [{"name": "read", "parameters": SCHEMA}],
}
GOOD = dict(zip(APIS, (CHAT, MESSAGES, RESPONSES), strict=True))


def changed(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The body with something else at a path such as `messages.1.content`; `...` takes it out."""
    body = copy.deepcopy(body)
    place: Any = body
    *way, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    for step in way:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return body


@pytest.mark.parametrize("api", APIS)
def test_good_bodies_are_taken(api: str) -> None:
    assert refusal_of(ENDPOINTS[api], GOOD[api]) == ""


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("model", "", "model"),
        ("messages", [], "empty"),
        ("messages.1.content", " ", "blank"),
        ("messages.1.content.0.text", " ", "blank text part"),
        ("messages.1.content", [], "no parts"),
        ("messages.1.content.0.text", "a\0", "NUL"),
        ("messages.1.content.0.text", "\ud83d", "surrogate"),
        ("model", "text-only", "an image"),
        ("model", "mistral", "the id"),
        ("model", "needs-reasoning", "reasoning_content"),
        ("messages.2.tool_calls", [], "tool_calls is empty"),
        ("messages.2.tool_calls", None, "empty"),
        ("messages.2.tool_calls.0.id", "", "without an id"),
        ("messages.2.tool_calls.0.function.name", "a.b", "the name"),
        ("messages.2.tool_calls.0.function.arguments", "[1]", "no JSON object"),
        ("messages.3.tool_call_id", "b", "without an open call"),
        ("messages.3", ..., "without a result"),
        ("messages.3.content", "", "empty result"),
        ("messages.4.content", "\n", "empty"),
        ("messages.5.role", "robot", "role"),
        ("tools.0.function.name", "a b", "name"),
        ("tools.0.function.parameters", {}, "schema"),
    ],
)
def test_what_chat_completions_refuse(path: str, value: Any, why: str) -> None:
    assert why in refusal_of("/v1/chat/completions", changed(CHAT, path, value))


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("max_tokens", ..., "max_tokens"),
        ("max_tokens", 2000, "budget"),
        ("temperature", 0.5, "temperature"),
        ("messages.0.content", "", "blank"),
        ("messages.0", ..., "not the user's"),
        ("messages.1.content", [], "no content"),
        ("messages.1.content.0.signature", "SIG-other-1", "signature"),
        ("messages.1.content.0.signature", ..., "signature"),
        ("messages.1.content.1.id", "a:b", "the id"),
        ("messages.1.content.1.name", "", "the name"),
        ("messages.1.content.1.input", "{}", "no object"),
        ("messages.2.content.0.tool_use_id", "b", "results for"),
        ("messages.2", ..., "results for"),
        ("messages.2.content.0.content", " ", "blank text in a result"),
        ("messages.3.role", "assistant", "the assistant's"),
        ("messages.3.content", [{"type": "video"}], "type 'video'"),
        ("tools.0.input_schema", None, "schema"),
    ],
)
def test_what_messages_refuse(path: str, value: Any, why: str) -> None:
    assert why in refusal_of("/v1/messages", changed(MESSAGES, path, value))


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("store", True, "store"),
        ("input", [], "empty"),
        ("input.0.content.0.text", " ", "blank"),
        ("input.1.encrypted_content", "ENC-other-1", "encrypted_content"),
        ("input.1", ..., "without the reasoning"),
        ("input.2.call_id", "a|b", "call_id"),
        ("input.2.arguments", "{", "no JSON object"),
        ("input.3.call_id", "b", "without an open call"),
        ("input.3", ..., "without an output"),
        ("input.3.output", " ", "blank"),
    ],
)
def test_what_responses_refuse(path: str, value: Any, why: str) -> None:
    assert why in refusal_of("/v1/responses", changed(RESPONSES, path, value))


@pytest.mark.parametrize("api", APIS)
async def test_a_refusal_reaches_the_client(api: str) -> None:
    async with FakeServer(strict=True) as server:
        client = StreamClient()
        model = model_of(api, server.url, compat={"extra_body": {"model": ""}})
        with pytest.raises(BadRequestError, match="model is missing"):
            await ask(client, model)
        await client.aclose()
        assert server.refusals == ["model is missing"]


async def test_answers_are_used_once_and_in_order(fake_server: FakeServer) -> None:
    client = StreamClient()
    model = model_of("openai-completions", fake_server.url)
    fake_server.answer("one")
    fake_server.answer(Reply.of(Thinking("hm"), "two", Call("read")))
    assert text_of((await ask(client, model)).content) == "one"
    assert [type(block).__name__ for block in (await ask(client, model)).content] == [
        "ThinkingContent",
        "TextContent",
        "ToolCall",
    ]
    with pytest.raises(BadRequestError, match="no answer is scripted for request 3"):
        await ask(client, model)
    await client.aclose()


def test_a_server_in_a_thread_serves_anybody() -> None:
    server = FakeServer.start_in_thread(models=["a", "b"])
    try:
        with urllib.request.urlopen(f"{server.url}/v1/models") as response:
            assert b'"id":"b"' in response.read()
        server.answer("hello")
        client = StreamClient()

        async def once() -> str:
            message = await ask(client, model_of("anthropic-messages", server.url))
            await client.aclose()
            return text_of(message.content)

        assert asyncio.run(once()) == "hello"
        assert server.requests[0].path == "/v1/messages"
    finally:
        server.stop()
