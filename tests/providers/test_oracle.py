"""Oracle: each stream, decoded by the official SDK and by us, gives the same message.

Where the two differ on purpose, the stream is in `STRICTER` with the reason.
"""

import json
from typing import Any

import anthropic
import openai
import pytest

from agentcli.agent.errors import ProviderError
from agentcli.agent.messages import AssistantMessage, StopReason, text_of
from agentcli.agent.surrogates import data_without_surrogates
from agentcli.providers.stream_client import StreamClient
from tests.fake_server import Call, FakeServer, Redacted, Reply, Thinking
from tests.providers.support import INPUTS, api_of, ask, model_of, recorded

STRICTER = {
    "oai_cut_text.sse": "the SDK takes a stream without an end as complete",
    "oai_cut_toolcall.sse": "the SDK takes a stream without an end as complete",
    "ant_cut_no_message_stop.sse": "the SDK takes a stream without an end as complete, and half a call as a call",
    "oai_same_index.sse": "the SDK glues calls that share an index",
    "oai_usage_variants/in_choice.sse": "the SDK does not look for usage in a choice",
    "ant_usage_delta_only.sse": "the SDK takes a zero for a count",
    "ant_max_tokens_toolcall.sse": "the SDK makes arguments of half an object",
}
STREAMS = sorted(str(path.relative_to(INPUTS)) for path in INPUTS.rglob("*.sse"))

Message = dict[str, Any]
"""What both decoders can be compared by."""


def ours(message: AssistantMessage) -> Message:
    usage = message.usage
    return {
        "text": text_of(message.content),
        "thinking": "".join(getattr(block, "thinking", "") for block in message.content),
        "calls": [(call.id, call.name, call.arguments) for call in message.tool_calls],
        "prompt": usage.input + usage.cache_read + usage.cache_write,
        "output": usage.output,
        "limit": message.stop_reason is StopReason.LENGTH,
    }


async def chat_by_sdk(url: str) -> Message:
    """The chunks as the SDK decodes them, put together as its documentation says."""
    client = openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)
    text, thinking, finish, usage = "", "", "", (0, 0)
    calls: dict[int, list[str]] = {}
    async with (
        client,
        await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        ) as stream,
    ):
        async for chunk in stream:
            if chunk.usage:
                usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
            for choice in chunk.choices or []:
                finish = choice.finish_reason or finish
                if choice.delta is None:
                    continue
                text += choice.delta.content or ""
                thinking += getattr(choice.delta, "reasoning_content", None) or ""
                for call in choice.delta.tool_calls or []:
                    made = calls.setdefault(call.index, ["", "", ""])
                    made[0] += call.id or ""
                    made[1] += (call.function.name if call.function else "") or ""
                    made[2] += (call.function.arguments if call.function else "") or ""
    return {
        "text": text,
        "thinking": thinking,
        "calls": [(id, name, arguments_of(raw)) for id, name, raw in calls.values()],
        "prompt": usage[0],
        "output": usage[1],
        "limit": finish == "length",
    }


def arguments_of(raw: str) -> dict[str, Any]:
    try:
        return data_without_surrogates(json.loads(raw))
    except ValueError:
        return {}


async def messages_by_sdk(url: str) -> Message:
    client = anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0)
    async with (
        client,
        client.messages.stream(model="m", max_tokens=100, messages=[{"role": "user", "content": "hi"}]) as stream,
    ):
        message = await stream.get_final_message()
    usage = message.usage
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "thinking": "".join(block.thinking for block in message.content if block.type == "thinking"),
        "calls": [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"],
        "prompt": usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0),
        "output": usage.output_tokens,
        "limit": message.stop_reason == "max_tokens",
    }


async def responses_by_sdk(url: str) -> Message:
    client = openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)
    async with client, client.responses.stream(model="m", input="hi") as stream:
        response = await stream.get_final_response()
    assert response.usage is not None
    return {
        "text": response.output_text,
        "thinking": "".join(part.text for item in response.output if item.type == "reasoning" for part in item.summary),
        "calls": [
            (item.call_id, item.name, arguments_of(item.arguments))
            for item in response.output
            if item.type == "function_call"
        ],
        "prompt": response.usage.input_tokens,
        "output": response.usage.output_tokens,
        "limit": response.status == "incomplete",
    }


BY_SDK = {
    "openai-completions": chat_by_sdk,
    "anthropic-messages": messages_by_sdk,
    "openai-responses": responses_by_sdk,
}


async def by_us(server: FakeServer, api: str) -> Message:
    client = StreamClient()
    try:
        return ours(await ask(client, model_of(api, server.url), api_key="k"))
    finally:
        await client.aclose()


@pytest.mark.parametrize("name", STREAMS)
async def test_recorded_streams_are_read_as_the_sdk_reads_them(name: str) -> None:
    api = api_of(name)
    async with FakeServer() as server:
        server.answer(Reply.raw(recorded(name)))
        server.answer(Reply.raw(recorded(name)))
        try:
            expected = await BY_SDK[api](server.url)
        except (openai.APIError, anthropic.APIError):
            expected = None
        try:
            found = await by_us(server, api)
        except ProviderError:
            found = None
    if name in STRICTER:
        assert found != expected, "the reason no longer holds"
    else:
        assert found == expected


@pytest.mark.parametrize("api", BY_SDK)
@pytest.mark.parametrize(
    "reply",
    [
        Reply.of("hello é💩\u2028 world", piece=3),
        Reply.of(Thinking("hm, let me see"), "Looking.", Call("read", {"path": "a.txt", "n": [1, {"x": None}]})),
        Reply.of(Call("read", {"path": "a"}), Call("read", {"path": "b"}), Call("ls"), piece=1),
        Reply.of("one", Thinking("two"), "three"),
        Reply.of(Redacted(), "after"),
    ],
    ids=["text", "everything", "three calls", "thinking between", "redacted"],
)
async def test_scripted_streams_are_read_as_the_sdk_reads_them(api: str, reply: Reply) -> None:
    async with FakeServer() as server:
        server.answer(reply)
        expected = await BY_SDK[api](server.url)
        server.requests.clear()
        server._count = 0  # so that made-up ids are the same
        server.answer(reply)
        found = await by_us(server, api)
    assert found == expected
