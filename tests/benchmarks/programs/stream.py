"""CPU of a streamed delta in one process: `StreamClient` and a minimal httpx + msgspec client in turns.

`stream.py URL DELTAS ROUNDS` prints the best seconds of each as JSON.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

# As in an environment that holds httpx alone: its command-line tool would import rich and click if they are there.
sys.modules["httpx._main"] = None  # type: ignore[assignment]
import httpx  # noqa: E402
import msgspec  # noqa: E402

from agentcli.agent.assistant_events import TextDeltaEvent  # noqa: E402
from agentcli.agent.context import Context, StreamOptions  # noqa: E402
from agentcli.agent.messages import user_message  # noqa: E402
from agentcli.agent.models import Model  # noqa: E402
from agentcli.providers.stream_client import StreamClient  # noqa: E402


class Delta(msgspec.Struct):
    content: str | None = None


class Choice(msgspec.Struct):
    delta: Delta


class Chunk(msgspec.Struct):
    choices: list[Choice]


async def minimal(url: str) -> int:
    """The least that reads such a stream and keeps its text."""
    decode = msgspec.json.Decoder(Chunk).decode
    pieces: list[str] = []
    async with (
        httpx.AsyncClient(verify=False) as client,
        client.stream("POST", f"{url}/v1/chat/completions", json={"model": "m"}) as response,
    ):
        rest = b""
        async for chunk in response.aiter_bytes():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.startswith(b"data: {") and (choices := decode(line[6:]).choices) and choices[0].delta.content:
                    pieces.append(choices[0].delta.content)
    return len(pieces)


async def ours(url: str) -> int:
    client = StreamClient()
    model = Model(id="m", api="openai-completions", provider="bench", base_url=f"{url}/v1")
    count = 0
    async for event in client(model, Context("", [user_message("hi")]), StreamOptions()):
        count += isinstance(event, TextDeltaEvent)
    await client.aclose()
    return count


def cost_of(read: Callable[[str], Awaitable[int]], url: str, deltas: int) -> float:
    started = time.process_time()
    count = asyncio.run(read(url))  # type: ignore[arg-type]
    assert count == deltas, (count, deltas)
    return time.process_time() - started


def main(url: str, deltas: int, rounds: int) -> None:
    took = [(cost_of(ours, url, deltas), cost_of(minimal, url, deltas)) for _ in range(rounds)]
    print(json.dumps([min(each) for each in zip(*took, strict=True)]))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
