"""What a streamed delta costs: CPU of `StreamClient` against a minimal httpx + msgspec client, on the same server.

Run it: `python tests/benchmarks/bench_stream.py`. The server runs in a process of its own and sends 5,000 text deltas,
one event to a TCP write. Printed: microseconds of client CPU for each delta (best of several runs, taken in turns) and
their ratio, which has to stay at 2 or less; then the CPU until the first delta, imports included, of either client.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

EVENTS = 5_000
ROUNDS = 7
PIECE = b'{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}'
LAST = b'{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'


async def serve() -> None:
    """Answer each POST with the same stream; print the port first."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                await reader.readexactly(int(length.partition(b":")[2]))
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                )
                for data in [*[PIECE] * EVENTS, LAST, b"[DONE]"]:
                    event = b"data: " + data + b"\n\n"
                    writer.write(b"%x\r\n%s\r\n" % (len(event), event))
                    await writer.drain()
                    await asyncio.sleep(0)
                writer.write(b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def minimal(url: str) -> int:
    """The least that reads such a stream and keeps its text."""
    import httpx
    import msgspec

    class Delta(msgspec.Struct):
        content: str | None = None

    class Choice(msgspec.Struct):
        delta: Delta

    class Chunk(msgspec.Struct):
        choices: list[Choice]

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
                if line.startswith(b"data: {"):
                    content = decode(line[6:]).choices[0].delta.content
                    if content:
                        pieces.append(content)
    return len(pieces)


async def ours(url: str) -> int:
    from agentcli.agent.assistant_events import TextDeltaEvent
    from agentcli.agent.context import Context, StreamOptions
    from agentcli.agent.messages import user_message
    from agentcli.agent.models import Model
    from agentcli.providers.stream_client import StreamClient

    client = StreamClient()
    model = Model(id="m", api="openai-completions", provider="bench", base_url=url)
    count = 0
    async for event in client(model, Context("", [user_message("hi")]), StreamOptions()):
        count += isinstance(event, TextDeltaEvent)
    await client.aclose()
    return count


def cost_of(read: Callable[[str], Awaitable[int]], url: str) -> float:
    """Seconds of CPU for one stream."""
    started = time.process_time()
    assert asyncio.run(read(url)) == EVENTS  # pyright: ignore[reportArgumentType]
    return time.process_time() - started


def first_of(name: str, url: str) -> float:
    """Seconds of CPU of a new process that reads one stream."""
    program = f"import sys,time; sys.path.insert(0, {str(Path(__file__).parent)!r}); import bench_stream as b; b.cost_of(b.{name}, {url!r}); print(time.process_time())"
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    server = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        best = {"minimal": float("inf"), "ours": float("inf")}
        for _ in range(ROUNDS):
            for name, read in (("minimal", minimal), ("ours", ours)):
                best[name] = min(best[name], cost_of(read, url))
        for name, seconds in best.items():
            print(f"{name:8} {seconds / EVENTS * 1e6:6.1f} us of CPU a delta")
        print(f"ratio    {best['ours'] / best['minimal']:6.2f}   (target: at most 2)")
        for name in best:
            seconds = min(first_of(name, url) for _ in range(3)) - best[name]
            print(f"{name:8} {seconds * 1000:6.0f} ms of CPU for the process and its first request")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    asyncio.run(serve()) if "serve" in sys.argv else main()
