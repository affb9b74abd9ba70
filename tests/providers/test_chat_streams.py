"""Chat completions as servers send them that read the specification differently."""

import json
from typing import Any

import pytest

from agentcli.agent.assistant_events import ToolCallStartEvent
from agentcli.agent.errors import (
    BadResponseError,
)
from agentcli.agent.messages import StopReason, TextContent, ThinkingContent
from tests.providers.support import (
    answered,
    call,
    chat,
    events_of,
    failed,
    model_of,
    replayed,
)

CALLS: dict[str, tuple[bytes, list[tuple[str | None, str, dict[str, Any] | None]]]] = {
    "id and name with every piece": (
        chat(call("a", "read", '{"p', index=0), call("a", "read", '":1}', index=0), "tool_calls"),
        [("a", "read", {"p": 1})],
    ),
    "another id with every piece": (
        chat(call("a", "read", '{"p', index=0), call("b", None, '":1}', index=0), "tool_calls"),
        [("a", "read", {"p": 1})],
    ),
    "no index": (
        chat(call("a", "read", '{"p'), call(None, None, '":1}'), call("b", "ls", "{}"), "tool_calls"),
        [("a", "read", {"p": 1}), ("b", "ls", {})],
    ),
    "no id": (
        chat(call(None, "read", "{}", index=0), call(None, "ls", "{}", index=1), "tool_calls"),
        [(None, "read", {}), (None, "ls", {})],
    ),
    "no id, one index": (
        chat(call(None, "read", '{"p":1}', index=0), call(None, "ls", '{"q":2}', index=0), "stop"),
        [(None, "read", {"p": 1}), (None, "ls", {"q": 2})],
    ),
    "arguments as an object": (
        chat(call("a", "read", {"p": [1]}, index=0), "tool_calls"),
        [("a", "read", {"p": [1]})],
    ),
    "the name after the arguments": (
        chat(call("a", None, '{"p', index=0), call(None, "read", '":1}', index=0), "tool_calls"),
        [("a", "read", {"p": 1})],
    ),
    "no name at all": (chat(call("a", None, '{"p":1}', index=0), "tool_calls"), [("a", "", {"p": 1})]),
    "pieces in turns": (
        chat(
            call("a", "read", '{"p', index=0),
            call("b", "ls", '{"q', index=1),
            call(None, None, '":1}', index=0),
            call(None, None, '":2}', index=1),
            "tool_calls",
        ),
        [("a", "read", {"p": 1}), ("b", "ls", {"q": 2})],
    ),
    "one chunk with two calls": (
        chat({"tool_calls": call("a", "read", "{}", index=0)["tool_calls"] + call("b", "ls", "{}", index=0)["tool_calls"]}, "stop"),
        [("a", "read", {}), ("b", "ls", {})],
    ),
    "no arguments": (chat(call("a", "ls", index=0), "tool_calls"), [("a", "ls", {})]),
    "null arguments": (chat(call("a", "ls", "null", index=0), "tool_calls"), [("a", "ls", {})]),
    "half an object": (chat(call("a", "ls", '{"p":', index=0), "tool_calls"), [("a", "ls", None)]),
    "the usual, called stop": (chat(call("a", "ls", "{}", index=0), "stop"), [("a", "ls", {})]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
async def test_calls_of_chat_completions(name: str) -> None:
    data, expected = CALLS[name]
    message = await answered("openai-completions", data)
    assert [(c.name, None if c.partial_json else c.arguments) for c in message.tool_calls] == [
        (name, arguments) for _, name, arguments in expected
    ]
    for made, (id, _, _) in zip(message.tool_calls, expected, strict=True):
        assert made.id == id if id else made.id.startswith("call_")
    assert len({made.id for made in message.tool_calls}) == len(expected)
    assert message.stop_reason is StopReason.TOOL_CALLS


async def test_a_call_is_shown_as_soon_as_it_has_a_name() -> None:
    found = await events_of(replayed(CALLS["no index"][0]), model_of("openai-completions"))
    starts = [event for event in found if isinstance(event, ToolCallStartEvent)]
    assert [(event.id, event.name) for event in starts] == [("a", "read"), ("b", "ls")]


@pytest.mark.parametrize(
    ("delta", "content"),
    [
        ({"reasoning": "hm"}, [ThinkingContent("hm", "reasoning")]),
        ({"reasoning_text": "hm"}, [ThinkingContent("hm", "reasoning_text")]),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}, [ThinkingContent("hm")]),
        ({"content": [{"type": "text", "text": "hi"}]}, [TextContent("hi")]),
        ({"content": "", "reasoning_content": None}, []),
        (
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]},
            [ThinkingContent("", '{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}')],
        ),
    ],
)
async def test_where_thinking_stands(delta: dict[str, Any], content: list[Any]) -> None:
    message = await answered("openai-completions", chat(delta, {"content": "."}, "stop"))
    wanted = [*content, TextContent(".")]
    if content and isinstance(content[-1], TextContent):
        wanted = [TextContent(content[-1].text + ".")]
    assert sorted(message.content, key=repr) == sorted(wanted, key=repr)


async def test_pieces_of_reasoning_details_are_joined() -> None:
    pieces = [
        {"reasoning": "a", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "a"}]},
        {
            "reasoning": "b",
            "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "b", "signature": None}],
        },
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "", "signature": "s"}]},
    ]
    message = await answered("openai-completions", chat(*pieces, {"content": "."}, "stop"))
    assert isinstance(message.content[0], ThinkingContent)
    assert message.content[0].thinking == "ab"
    kept = json.loads(message.content[0].signature or "")["reasoning_details"]
    assert kept == [{"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"}]


async def test_a_thought_signature_of_a_call_is_kept() -> None:
    extra = {"google": {"thought_signature": "x"}}
    message = await answered("openai-completions", chat(call("a", "ls", "{}", index=0, extra_content=extra), "stop"))
    assert json.loads(message.tool_calls[0].signature or "") == extra


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", StopReason.DONE),
        ("STOP", StopReason.DONE),
        ("eos", StopReason.DONE),
        ("length", StopReason.LENGTH),
        ("max_tokens", StopReason.LENGTH),
        ("model_length", StopReason.LENGTH),
        ("tool_calls", StopReason.DONE),
    ],
)
async def test_stop_reasons_of_chat_completions(reason: str, stop: StopReason) -> None:
    assert (await answered("openai-completions", chat({"content": "hi"}, reason, done=False))).stop_reason is stop


@pytest.mark.parametrize(
    ("chunks", "whole"),
    [
        ([{"content": "hi"}], True),
        ([call("a", "ls", "{}", index=0)], True),
        ([{"content": "hi"}, call("a", "ls", '{"p":', index=0)], False),
        ([{"content": "hi"}, call("a", "ls", index=0)], False),
        ([{"content": ""}], False),
        ([{"reasoning_content": "hm"}], False),
        ([], False),
    ],
)
async def test_done_without_a_finish_reason_ends_only_what_is_whole(chunks: list[Any], whole: bool) -> None:
    data = chat(*chunks)
    if whole:
        assert (await answered("openai-completions", data)).stop_reason in (StopReason.DONE, StopReason.TOOL_CALLS)
    else:
        assert isinstance(await failed("openai-completions", data), BadResponseError)
    assert isinstance(await failed("openai-completions", chat(*chunks, done=False)), BadResponseError)


@pytest.mark.parametrize(
    ("usage", "numbers"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 7, "prompt_cache_hit_tokens": 80}, (20, 7, 80, 0)),
        ({"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 80}, (20, 7, 80, 0)),
        (
            {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 20}},
            (70, 7, 10, 20),
        ),
        ({"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": None}, (100, 7, 0, 0)),
        ({"prompt_tokens": 10, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 99}}, (0, 7, 10, 0)),
        (
            {"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 22, "completion_tokens_details": {"reasoning_tokens": 5}},
            (10, 12, 0, 0),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17, "completion_tokens_details": {"reasoning_tokens": 5}},
            (10, 7, 0, 0),
        ),
        ({"prompt_tokens": -1, "completion_tokens": "x"}, (0, 0, 0, 0)),
    ],
)  # fmt: skip
async def test_usage_of_chat_completions(usage: dict[str, Any], numbers: tuple[int, ...]) -> None:
    message = await answered("openai-completions", chat({"content": "hi"}, "stop", {"choices": [], "usage": usage}))
    found = message.usage
    assert (found.input, found.output, found.cache_read, found.cache_write) == numbers
    assert found.total_tokens == sum(numbers)
