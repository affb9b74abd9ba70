"""The outlet: a slow reader slows whoever writes, and neither a closed pipe nor a full disk goes unnoticed."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.agent.abort import AbortController, AbortSignal
from agentcli.headless import stdout_writer as module
from agentcli.headless.stdout_writer import MOST_WAITING, StdoutWriter

LARGE = b"x" * (MOST_WAITING * 2)


class Pipe:
    def __init__(self) -> None:
        self.reading, writing = os.pipe()
        self.outlet = StdoutWriter(writing)
        self.broken: list[str] = []
        self.outlet.on_broken = lambda: self.broken.append("told")

    def close(self) -> None:
        self.outlet.close()
        os.close(self.reading)

    async def read_all(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            data += await asyncio.to_thread(os.read, self.reading, 1 << 20)
        return data


@pytest.fixture
async def pipe() -> Iterator[Pipe]:  # type: ignore[misc]
    made = Pipe()
    yield made
    made.close()


async def is_waiting(task: "asyncio.Task[object]") -> bool:
    return not (await asyncio.wait([task], timeout=0.05))[0]


async def test_what_is_written_arrives_at_once_and_in_order(pipe: Pipe):
    pipe.outlet.write("eins\n")
    pipe.outlet.write(b"zwei\n")
    assert os.read(pipe.reading, 100) == b"eins\nzwei\n"


async def test_a_reader_that_is_slow_gets_everything_and_whoever_writes_waits_for_it(pipe: Pipe):
    pipe.outlet.write(LARGE)
    room = asyncio.ensure_future(pipe.outlet.room())
    assert await is_waiting(room)
    data = await pipe.read_all(len(LARGE))
    await room
    assert data == LARGE
    assert await pipe.outlet.drain(AbortSignal())


@pytest.mark.parametrize("release", ["hurry", "abort"])
async def test_an_abort_or_the_end_does_not_wait_for_the_reader(pipe: Pipe, release: str):
    controller = AbortController()
    pipe.outlet.write(LARGE)
    room = asyncio.ensure_future(pipe.outlet.room(controller.signal))
    assert await is_waiting(room)
    pipe.outlet.hurry() if release == "hurry" else controller.abort()
    await room


async def test_the_end_waits_for_the_reader_but_not_for_long_after_a_signal(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "GRACE_S", 0.01)
    controller = AbortController()
    pipe.outlet.write(LARGE)
    drained = asyncio.ensure_future(pipe.outlet.drain(controller.signal))
    assert await is_waiting(drained)
    controller.abort()
    assert await drained is False


async def test_a_closed_pipe_is_told_once_and_nobody_waits_for_it():
    pipe = Pipe()
    pipe.outlet.write(LARGE)
    room = asyncio.ensure_future(pipe.outlet.room())
    assert await is_waiting(room)
    os.close(pipe.reading)
    await room
    pipe.outlet.write(b"more")
    assert isinstance(pipe.outlet.broken, BrokenPipeError)
    assert pipe.broken == ["told"]
    assert await pipe.outlet.drain(AbortSignal()) is False
    pipe.outlet.close()


async def test_a_full_disk_is_told_once():
    outlet = StdoutWriter(os.open("/dev/full", os.O_WRONLY))
    told: list[str] = []
    outlet.on_broken = lambda: told.append("told")
    for _ in range(3):
        outlet.write(b"x")
    assert (str(outlet.broken), told) == ("[Errno 28] No space left on device", ["told"])
    outlet.close()


async def test_a_file_gets_large_writes_whole(tmp_path: Path):
    path = tmp_path / "out"
    outlet = StdoutWriter(os.open(path, os.O_WRONLY | os.O_CREAT))
    outlet.write(LARGE)
    assert path.read_bytes() == LARGE
    outlet.close()
