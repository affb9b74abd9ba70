"""An answer of twice as many deltas costs twice as much: decoded, and told as text and as JSON."""

import gc
import io
import os
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from agentcli.agent.agent import Agent, AgentState
from agentcli.agent.models import Model
from agentcli.headless.event_serializer import EventSerializer
from agentcli.headless.json_lines import JsonLines
from agentcli.headless.stdout_writer import StdoutWriter
from agentcli.headless.text_output import TextOutput
from agentcli.providers.http.clients import HttpClients
from agentcli.providers.stream_client import StreamClient
from tests.agent.doubles import say
from tests.fake_server.formats import events_of
from tests.fake_server.replies import Call, Reply, Text
from tests.growth.cost import Work, assert_doubles
from tests.runtime.conftest import Make, make

__all__ = ["make"]

PATHS = {
    "openai-completions": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages",
}


class FakeClients(HttpClients):
    """Each request gets the next of these answers, eight events to a piece."""

    def __init__(self, *answers: list[bytes]) -> None:
        super().__init__()
        self.answers = iter(answers)

    def client_for(self, url: str) -> httpx.AsyncClient:
        async def pieces(events: list[bytes]) -> AsyncIterator[bytes]:
            for start in range(0, len(events), 8):
                yield b"".join(events[start : start + 8])

        def answer(request: httpx.Request) -> httpx.Response:
            headers = {"content-type": "text/event-stream"}
            return httpx.Response(200, headers=headers, content=pieces(next(self.answers)))

        return httpx.AsyncClient(transport=httpx.MockTransport(answer))


@pytest.fixture
def outlet(tmp_path: Path) -> Any:
    descriptor = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    opened = StdoutWriter(descriptor)
    yield opened
    opened.close()


def asked(api: str, block: Text | Call) -> Agent:
    """An agent whose model streams this block, four characters a delta."""
    model = Model(id="m", api=api, provider="p", base_url="http://127.0.0.1/v1")
    answers = [events_of(PATHS[api], Reply([part], piece=4), "m", 1) for part in (block, Text("done"))]
    return Agent(state=AgentState(model=model), stream_function=StreamClient(FakeClients(*answers)))


@pytest.mark.parametrize("api", PATHS)
async def test_deltas_from_the_server_to_standard_output(api: str, outlet: StdoutWriter):
    def prepare(deltas: int) -> Work:
        agent = asked(api, Text("word" * deltas))
        agent.subscribe(TextOutput(outlet, io.StringIO()))
        return lambda: agent.prompt("go")

    await assert_doubles(prepare, 800)


@pytest.mark.parametrize("api", PATHS)
async def test_deltas_of_a_calls_arguments(api: str):
    def prepare(deltas: int) -> Work:
        agent = asked(api, Call("write", msgspec.json.encode({"content": "word" * deltas}).decode()))
        return lambda: agent.prompt("go")

    await assert_doubles(prepare, 800)


async def test_deltas_as_lines_of_json(make: Make, outlet: StdoutWriter):
    def prepare(deltas: int) -> Work:
        runtime = make([say("word" * deltas, chunk=4)])
        EventSerializer(runtime, JsonLines(outlet), outlet.room)
        return lambda: runtime.prompt("go")

    await assert_doubles(prepare, 800)


async def test_a_request_goes_with_its_answer():
    """Nothing refers to itself, so that no large body waits for a collection of garbage."""
    agent = asked("openai-completions", Text("hello"))
    prompt = "word" * 250_000

    async def ask() -> None:
        await agent.prompt(prompt)
        agent.state.messages.clear()

    await ask()
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        await ask()
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()
    assert kept < len(prompt) / 2
