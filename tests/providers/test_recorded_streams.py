"""The recorded streams (PROV-01 to PROV-24), in whole writes, seven bytes and one byte at a time."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.assistant_events import ToolCallEndEvent
from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import AgentcliError, BadResponseError, OverloadedError
from agentcli.agent.messages import StopReason, TextContent, ThinkingContent, ToolCall, text_of
from agentcli.providers.stream_client import StreamClient
from tests.fake_server import FakeServer, Reply
from tests.providers.support import (
    INPUTS,
    api_of,
    ask,
    check_events,
    context_of,
    events_of,
    model_of,
    recorded,
    replayed,
)

SIZES = pytest.mark.parametrize("size", [0, 7, 1])
EVERY = sorted(str(path.relative_to(INPUTS)) for path in INPUTS.rglob("*.sse"))


async def failing(client: StreamClient, name: str) -> tuple[AgentcliError, list[Any]]:
    """The error that a stream ends with, and the events before it."""
    events: list[Any] = []
    with pytest.raises(AgentcliError) as raised:
        async for event in client(model_of(api_of(name)), context_of(), StreamOptions()):
            events.append(event)
    check_events(events, whole=False)
    return raised.value, events


@SIZES
@pytest.mark.parametrize("name", ["oai_framing.sse", "ant_framing.sse"])
async def test_framing_loses_nothing(name: str, size: int) -> None:
    message = await ask(replayed(recorded(name), size), model_of(api_of(name)))
    assert text_of(message.content) == (INPUTS / "framing_expected.txt").read_text("utf-8").removesuffix("\n")
    assert (message.usage.input, message.usage.output) == (100, 7)
    assert message.stop_reason is StopReason.DONE


@pytest.mark.parametrize("name", ["oai_framing.sse", "ant_framing.sse"])
@pytest.mark.parametrize("chunk", [None, 7, 1])
async def test_framing_over_a_socket(name: str, chunk: int | None, fake_server: FakeServer) -> None:
    fake_server.answer(Reply.raw(recorded(name), chunk=chunk))
    client = StreamClient()
    message = await ask(client, model_of(api_of(name), fake_server.url))
    await client.aclose()
    assert text_of(message.content) == "A\u2028B\u2029C é你💩 end"


@SIZES
async def test_calls_that_share_an_index_are_two(size: int) -> None:
    message = await ask(replayed(recorded("oai_same_index.sse"), size), model_of("openai-completions"))
    assert message.tool_calls == [
        ToolCall("call_a", "read", {"path": "a.txt"}),
        ToolCall("call_b", "read", {"path": "b.txt"}),
    ]


@SIZES
@pytest.mark.parametrize(
    "name", ["oai_error_midstream.sse", "oai_error_no_choices.sse", "ant_overloaded_midstream.sse"]
)
async def test_an_error_amid_the_stream_is_an_error(name: str, size: int) -> None:
    error, events = await failing(replayed(recorded(name), size), name)
    assert isinstance(error, OverloadedError)
    assert "upstream overloaded" in str(error)
    partial = events[0].partial
    assert text_of(partial.content) == "part "
    assert not any(isinstance(event, ToolCallEndEvent) for event in events)


@SIZES
@pytest.mark.parametrize("broken", [False, True], ids=["clean end", "reset"])
@pytest.mark.parametrize("name", ["oai_cut_text.sse", "oai_cut_toolcall.sse", "ant_cut_no_message_stop.sse"])
async def test_a_stream_without_its_end_is_an_error_that_may_be_tried_again(name: str, broken: bool, size: int) -> None:
    error, events = await failing(replayed(recorded(name), size, broken=broken), name)
    assert error.retryable
    assert isinstance(error, BadResponseError) or broken
    assert not any(isinstance(event, ToolCallEndEvent) for event in events)


@SIZES
@pytest.mark.parametrize("name", ["oai_length_toolcall.sse", "ant_max_tokens_toolcall.sse"])
async def test_a_call_cut_off_by_the_limit_has_no_arguments(name: str, size: int) -> None:
    message = await ask(replayed(recorded(name), size), model_of(api_of(name)))
    assert message.stop_reason is StopReason.LENGTH
    (call,) = message.tool_calls
    assert call.arguments == {}
    assert call.partial_json is not None
    assert call.partial_json.endswith("line 3 is cut he")


@SIZES
async def test_thinking_has_its_signature(size: int) -> None:
    message = await ask(replayed(recorded("ant_thinking_tool.sse"), size), model_of("anthropic-messages"))
    assert message.content == [
        ThinkingContent("I should look.", "SIG-stub-a-1"),
        TextContent("Looking."),
        ToolCall("toolu_1", "bash", {"command": "echo one"}),
    ]
    assert message.stop_reason is StopReason.TOOL_CALLS


@pytest.mark.parametrize(
    ("name", "thinking"),
    [
        ("oai_reasoning_tool.sse", "I should look."),
        ("oai_reasoning_both_keys.sse", "I think so."),
        ("oai_reasoning_empty.sse", ""),
    ],
)
@SIZES
async def test_thinking_of_chat_completions_is_shown_once_and_goes_back(name: str, thinking: str, size: int) -> None:
    keeping = model_of("openai-completions", compat={"send_reasoning": True})
    message = await ask(replayed(recorded(name), size), keeping)
    assert message.content[0] == ThinkingContent(thinking, "reasoning_content")
    assert sum(isinstance(block, ThinkingContent) for block in message.content) == 1


async def test_empty_thinking_is_nothing_where_it_need_not_go_back() -> None:
    message = await ask(replayed(recorded("oai_reasoning_empty.sse")), model_of("openai-completions"))
    assert [type(block) for block in message.content] == [ToolCall]


@SIZES
async def test_half_a_surrogate_pair_in_arguments_becomes_a_replacement_character(size: int) -> None:
    message = await ask(replayed(recorded("oai_surrogate_args.sse"), size), model_of("openai-completions"))
    assert message.tool_calls[0].arguments == {"command": "echo ok \ufffd 💩"}


async def test_half_a_surrogate_pair_in_text_becomes_a_replacement_character() -> None:
    data = recorded("oai_ok.sse").replace(b"hello from ", b"\\ud83d and \\ud83d\\udca9 ")
    message = await ask(replayed(data), model_of("openai-completions"))
    assert text_of(message.content) == "\ufffd and 💩 the stub"


USAGE: dict[str, Any] = json.loads((INPUTS / "expected_usage.json").read_text())


@SIZES
@pytest.mark.parametrize("name", [name for name in USAGE if name != "cached"])
async def test_usage_is_the_last_that_was_said(name: str, size: int) -> None:
    path = f"{name}.sse" if name.startswith("ant_") else f"oai_usage_variants/{name}.sse"
    message = await ask(replayed(recorded(path), size), model_of(api_of(path)))
    expected = (0, 0) if USAGE[name] == "estimate" else tuple(USAGE[name])
    assert (message.usage.input, message.usage.output) == expected
    assert message.usage.total_tokens == sum(expected)
    assert text_of(message.content) == "hi"


async def test_cached_tokens_are_part_of_the_prompt() -> None:
    message = await ask(replayed(recorded("oai_usage_variants/cached.sse")), model_of("openai-completions"))
    assert (message.usage.input, message.usage.cache_read, message.usage.total_tokens) == (20, 80, 107)


@pytest.mark.parametrize("name", EVERY)
async def test_every_stream_gives_the_same_events_in_any_writes(name: str) -> None:
    seen = []
    for size in (0, 7, 1):
        client, events = replayed(recorded(name), size), []
        try:
            events = await events_of(client, model_of(api_of(name)))
        except AgentcliError as error:
            events = [type(error), str(error)]
        seen.append([repr(event) for event in events[1:-1]])
    assert seen[0] == seen[1] == seen[2]


def test_no_recorded_stream_is_forgotten() -> None:
    assert len(EVERY) == len(list(Path(INPUTS).rglob("*.sse"))) >= 29
