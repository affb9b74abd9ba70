"""Streams of the Messages and Responses APIs as servers send them that read the specification differently."""

import json
from typing import Any

import pytest

from agentcli.agent.errors import (
    BadResponseError,
)
from agentcli.agent.messages import StopReason, TextContent, ThinkingContent, ToolCall
from agentcli.agent.models import ModelCost
from tests.providers.support import (
    DONE,
    END,
    MESSAGE,
    STOP,
    answered,
    block,
    events,
    failed,
)


async def test_arguments_that_come_with_the_start_of_a_call() -> None:
    start = {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}}
    message = await answered("anthropic-messages", events(MESSAGE, *block(0, start), STOP))
    assert message.tool_calls == [ToolCall("t", "read", {"path": "a"})]


async def test_pieces_win_over_arguments_at_the_start() -> None:
    start = {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}}
    piece = {"type": "input_json_delta", "partial_json": '{"path": "b"}'}
    message = await answered("anthropic-messages", events(MESSAGE, *block(0, start, piece), STOP))
    assert message.tool_calls == [ToolCall("t", "read", {"path": "b"})]


async def test_text_that_comes_with_the_start_of_a_block() -> None:
    parts = [
        *block(0, {"type": "text", "text": "a"}),
        *block(1, {"type": "thinking", "thinking": "b", "signature": "s"}),
    ]
    message = await answered("anthropic-messages", events(MESSAGE, *parts, STOP))
    assert message.content == [TextContent("a"), ThinkingContent("b", "s")]


async def test_thinking_without_its_text_keeps_its_signature() -> None:
    pieces = [{"type": "signature_delta", "signature": "si"}, {"type": "signature_delta", "signature": "g"}]
    message = await answered(
        "anthropic-messages", events(MESSAGE, *block(0, {"type": "thinking", "thinking": ""}, *pieces), END, STOP)
    )
    assert message.content == [ThinkingContent("", "sig")]


async def test_what_is_not_known_is_passed_over() -> None:
    unknown = [
        {"type": "what_is_this"},
        *block(0, {"type": "server_tool_use", "id": "x", "name": "y", "input": {}}),
        *block(
            1,
            {"type": "text", "text": ""},
            {"type": "citations_delta", "citation": {}},
            {"type": "text_delta", "text": "a"},
        ),
        *block(2, {"type": "text", "text": ""}, {"type": "text_delta", "text": "b"}),
    ]
    message = await answered("anthropic-messages", events(MESSAGE, *unknown, STOP))
    assert message.content == [TextContent("a"), TextContent("b")]


async def test_a_piece_of_a_call_that_never_began_is_a_bad_response() -> None:
    piece = {"type": "content_block_delta", "index": 3, "delta": {"type": "input_json_delta", "partial_json": "{"}}
    assert isinstance(await failed("anthropic-messages", events(MESSAGE, piece, STOP)), BadResponseError)


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", StopReason.DONE),
        ("stop_sequence", StopReason.DONE),
        ("tool_use", StopReason.DONE),
        ("max_tokens", StopReason.LENGTH),
    ],
)
async def test_stop_reasons_of_messages(reason: str, stop: StopReason) -> None:
    end = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}
    message = await answered("anthropic-messages", events(MESSAGE, end, STOP))
    assert message.stop_reason is stop
    assert (message.usage.input, message.usage.output) == (10, 5)


async def test_cached_tokens_of_messages() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_1h_input_tokens": 30, "ephemeral_5m_input_tokens": 0},
        "output_tokens": 1,
    }
    cost = ModelCost(input=1.0, cache_write=1.25)
    message = await answered(
        "anthropic-messages",
        events({"type": "message_start", "message": {"usage": usage}}, {**END, "usage": None}, STOP),
        cost=cost,
    )
    assert (message.usage.input, message.usage.cache_read, message.usage.cache_write) == (10, 20, 30)
    assert message.usage.cost.cache_write == pytest.approx(60e-6)


def item_done(index: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


async def test_items_that_come_whole() -> None:
    message = await answered(
        "openai-responses",
        events(
            item_done(0, type="reasoning", id="rs", summary=[{"text": "a"}, {"text": "b"}], encrypted_content="e"),
            item_done(1, type="message", id="msg", phase="commentary", content=[{"type": "output_text", "text": "hi"}]),
            item_done(2, type="function_call", id="fc", call_id="c", name="read", arguments='{"p":1}'),
            DONE,
        ),
    )
    thinking, text, called = message.content
    assert isinstance(thinking, ThinkingContent)
    assert thinking.thinking == "a\n\nb"
    assert json.loads(thinking.signature or "")["encrypted_content"] == "e"
    assert text == TextContent("hi", '{"id":"msg","phase":"commentary"}')
    assert called == ToolCall("c", "read", {"p": 1}, signature="fc")
    assert (message.usage.input, message.usage.output) == (5, 2)


async def test_parts_of_a_summary_are_paragraphs() -> None:
    parts = [
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs"}},
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "a"},
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 1, "delta": "b"},
        item_done(0, type="reasoning", id="rs", summary=[{"text": "a"}, {"text": "b"}]),
        DONE,
    ]
    message = await answered("openai-responses", events(*parts))
    assert isinstance(message.content[0], ThinkingContent)
    assert message.content[0].thinking == "a\n\nb"


@pytest.mark.parametrize(
    ("response", "stop"),
    [
        (
            {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}},
            "length",
        ),
        ({"type": "response.completed", "response": {"status": "incomplete"}}, "length"),
        (DONE, "done"),
    ],
)
async def test_stop_reasons_of_responses(response: dict[str, Any], stop: str) -> None:
    assert (await answered("openai-responses", events(response))).stop_reason == stop
