"""Conversations over several requests: models that change, tools with odd names, and heads that stay the same."""

import pytest

from agentcli.agent.messages import (
    Message,
    user_message,
)
from agentcli.agent.models import ThinkingLevel
from agentcli.providers.stream_client import StreamClient
from agentcli.providers.tool_names import wire_name
from tests.fake_server import Call, FakeServer, Redacted, Thinking
from tests.providers.support import APIS, ask, context_of, model_of, result, tool_of


@pytest.mark.parametrize("api", APIS)
async def test_a_tool_with_an_odd_name_is_found_again(api: str, fake_server: FakeServer) -> None:
    fake_server.answer(Call(wire_name("my.tool"), {"path": "a"}))
    client = StreamClient()
    context = context_of(tools=[tool_of("my.tool")])
    message = await ask(client, model_of(api, fake_server.url), context)
    await client.aclose()
    assert message.tool_calls[0].name == "my.tool"
    assert not fake_server.refusals


async def test_a_conversation_that_changes_models_is_accepted_by_all_of_them(fake_server: FakeServer) -> None:
    """PROV-13: thinking goes back to who made it, byte for byte, and to nobody else."""
    client = StreamClient()
    models = [
        model_of("anthropic-messages", fake_server.url, id="model-a"),
        model_of("anthropic-messages", fake_server.url, id="model-b"),
        model_of("openai-completions", fake_server.url, id="model-c"),
        model_of("openai-responses", fake_server.url, id="model-d"),
        model_of("openai-responses", fake_server.url, id="model-e"),
    ]
    history: list[Message] = []
    for round in range(2):
        for model in models:
            history.append(user_message(f"round {round}"))
            fake_server.answer(Thinking("secret thought"), Redacted(), "Looking.", Call("read", {"path": "a"}))
            context = context_of(*history, tools=[tool_of()])
            message = await ask(client, model, context, reasoning=ThinkingLevel.LOW)
            history += [message, result(message.tool_calls[0].id)]
    await client.aclose()
    assert fake_server.refusals == []
    bodies = [request.body for request in fake_server.requests]
    again = bodies[len(models)]
    assert [block["type"] for message in again["messages"] for block in message["content"]].count("thinking") == 1
    assert "<thinking>" not in str(bodies)
    assert "secret thought" not in str(bodies[1])
    assert "secret thought" not in str(bodies[2])
    assert "signature" not in str(bodies[2])
    assert sum(item.get("type") == "reasoning" for item in bodies[-1]["input"]) == 2


@pytest.mark.parametrize("api", APIS)
async def test_two_requests_of_a_session_begin_alike(api: str, fake_server: FakeServer) -> None:
    """The bytes of the second body's history begin with those of the first."""
    client = StreamClient()
    model = model_of(api, fake_server.url)
    first = context_of(tools=[tool_of()])
    fake_server.answer(Thinking("hm"), "Looking.", Call("read", {"path": "é💩"}))
    message = await ask(client, model, first, session_id="s", cache_retention="none")
    fake_server.answer("done")
    second = context_of(*first.messages, message, result(message.tool_calls[0].id), tools=[tool_of()])
    await ask(client, model, second, session_id="s", cache_retention="none")
    await client.aclose()
    before, after = (request.raw for request in fake_server.requests)
    key = b'"input":[' if api == "openai-responses" else b'"messages":['
    depth = before.index(key)
    end = before.index(b"]}]," if api == "anthropic-messages" else b"}],", depth)
    assert after.startswith(before[:end])
