"""A conversation of twice as many turns costs twice as much: the loop, the recording, the requests."""

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.messages import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    user_message,
)
from agentcli.agent.models import Model
from agentcli.providers.anthropic import messages_body as anthropic_messages_body
from agentcli.providers.catalog.compat import compat_of
from agentcli.providers.history import RequestCache
from agentcli.providers.openai import completions_body as openai_completions_body
from agentcli.providers.openai import responses_body as openai_responses_body
from agentcli.providers.scripted import ScriptedStream
from tests.agent.doubles import agent, call, say, scripted, tool
from tests.growth.cost import Work, assert_doubles, assert_same, instructions
from tests.runtime.conftest import Make, make

__all__ = ["make"]


def model_of(turns: int, name: str) -> ScriptedStream:
    """A model that calls a tool so many times."""
    stream = scripted(*([call(name, f"c{number}", path="a.txt")] for number in range(turns)), [say("done")])
    stream.requests = deque(maxlen=1)  # type: ignore[assignment]  # else it keeps every context it was given
    return stream


async def test_turns_of_the_loop():
    def prepare(turns: int) -> Work:
        asked = agent(model_of(turns, "look"), tool("look"))
        return lambda: asked.prompt("go")

    await assert_doubles(prepare, 200)


async def test_turns_of_a_runtime_that_records_them(make: Make):
    def prepare(turns: int) -> Work:
        runtime = make(stream_fn=model_of(turns, "read"))
        (runtime.cwd / "a.txt").write_text("hello\n" * 20)
        return lambda: runtime.prompt("go")

    await assert_doubles(prepare, 50)


def conversation(turns: int) -> list[Message]:
    messages: list[Message] = [user_message("go")]
    for number in range(turns):
        calls = [TextContent("Looking."), ToolCall(f"call_{number}", "read", {"path": "a.txt"})]
        messages.append(AssistantMessage(calls, provider="p", model="m", usage=Usage(90, 10, 0, 0, 100)))  # type: ignore[arg-type]
        messages.append(ToolResultMessage(f"call_{number}", "read", [TextContent("hello")]))
    return messages


BODIES = {
    "openai-completions": openai_completions_body.request_body,
    "openai-responses": openai_responses_body.request_body,
    "anthropic-messages": anthropic_messages_body.request_body,
}


@pytest.mark.parametrize("api", BODIES)
async def test_the_body_of_the_next_request(api: str):
    """The conversation grows by one turn. It is all in the body, but what was in the one before is not written again."""
    request_body: Callable[..., Any] = BODIES[api]
    model = Model(id="m", api=api, provider="p", base_url="http://127.0.0.1/v1")

    def prepare(turns: int) -> Work:
        messages, histories, compat = conversation(turns + 1), RequestCache(), compat_of(model)

        def ask(count: int) -> None:
            request_body(model, Context("be good", messages[:count], []), StreamOptions(), compat, histories)

        ask(len(messages) - 2)
        return lambda: ask(len(messages))

    await assert_same(prepare, 200, counts=[instructions])
