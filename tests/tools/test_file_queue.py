"""Calls on one file in the order of the calls; calls on other files beside them."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from agentcli.agent.abort import AbortController, Aborted, AbortSignal
from agentcli.tools.file_queue import FileQueue, file_key
from tests.tools.conftest import Tools


async def test_parallel_edits_of_one_file_are_all_made_in_order(tools: Tools, cwd: Path) -> None:
    for _ in range(50):
        (cwd / "n.txt").write_text("".join(f"{number}\n" for number in range(1, 101)))
        calls = [tools.edit("n.txt", (f"\n{number}\n", f"\nX{number}\n")) for number in range(10, 90, 10)]
        answers = await asyncio.gather(*calls, tools.write("other.txt", "x"))
        assert not any(answer.is_error for answer in answers)
        lines = (cwd / "n.txt").read_text().split("\n")
        assert len(lines) == 101
        assert [line for line in lines if line.startswith("X")] == [f"X{number}" for number in range(10, 90, 10)]


async def test_a_write_and_the_edits_after_it_run_in_the_order_of_the_calls(tools: Tools, cwd: Path) -> None:
    (cwd / "link.txt").symlink_to("a.txt")
    for _ in range(20):
        answers = await asyncio.gather(
            tools.write("a.txt", "one\n"),
            tools.edit("link.txt", ("one", "two")),
            tools.edit(cwd / "a.txt", ("two", "three")),
            tools.write("./a.txt", "four\n"),
            tools.edit("@a.txt", ("four", "five")),
        )
        assert [answer.is_error for answer in answers] == [False] * 5
        assert (cwd / "a.txt").read_text() == "five\n"
        (cwd / "a.txt").unlink()


class ScriptedWork:
    """Work that waits until it is let go, and notes when it begins and ends."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.gates: dict[str, threading.Event] = {}

    def named(self, name: str):
        gate = self.gates[name] = threading.Event()

        def work() -> str:
            self.notes.append(f"{name} begins")
            assert gate.wait(10)
            self.notes.append(f"{name} ends")
            return name

        return work


async def until(is_true) -> None:
    for _ in range(500):
        if is_true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come true")


async def test_other_files_do_not_wait(tmp_path: Path) -> None:
    queue, script = FileQueue(), ScriptedWork()
    slow = asyncio.create_task(queue.run(lambda: tmp_path / "a", script.named("slow"), AbortSignal()))
    await until(lambda: script.notes)
    other = asyncio.create_task(queue.run(lambda: tmp_path / "b", script.named("other"), AbortSignal()))
    script.gates["other"].set()
    assert await other == "other"
    script.gates["slow"].set()
    assert await slow == "slow"


async def test_a_cancelled_call_holds_its_place_until_its_work_has_ended(tmp_path: Path) -> None:
    queue, script = FileQueue(), ScriptedWork()
    first = asyncio.create_task(queue.run(lambda: tmp_path / "a", script.named("first"), AbortSignal()))
    await until(lambda: script.notes)
    second = asyncio.create_task(queue.run(lambda: tmp_path / "a", script.named("second"), AbortSignal()))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await asyncio.sleep(0.05)
    assert script.notes == ["first begins"]
    script.gates["second"].set()
    script.gates["first"].set()
    assert await second == "second"
    assert script.notes == ["first begins", "first ends", "second begins", "second ends"]


async def test_a_call_that_gives_up_waiting_lets_the_next_one_through_in_its_turn(tmp_path: Path) -> None:
    queue, script = FileQueue(), ScriptedWork()
    controller = AbortController()
    first = asyncio.create_task(queue.run(lambda: tmp_path / "a", script.named("first"), AbortSignal()))
    await until(lambda: script.notes)
    second = asyncio.create_task(queue.run(lambda: tmp_path / "a", script.named("second"), controller.signal))
    third = asyncio.create_task(queue.run(lambda: tmp_path / "a", script.named("third"), AbortSignal()))
    await asyncio.sleep(0.05)
    controller.abort()
    with pytest.raises(Aborted):
        await second
    await asyncio.sleep(0.05)
    assert script.notes == ["first begins"]
    script.gates["third"].set()
    script.gates["first"].set()
    assert [await first, await third] == ["first", "third"]
    assert "second begins" not in script.notes


async def test_an_abort_during_the_work_waits_for_what_it_brings(tmp_path: Path) -> None:
    queue, script = FileQueue(), ScriptedWork()
    controller = AbortController()
    call = asyncio.create_task(queue.run(lambda: tmp_path / "a", script.named("work"), controller.signal))
    await until(lambda: script.notes)
    assert controller.signal.has_listeners
    controller.abort()
    script.gates["work"].set()
    assert await call == "work"


async def test_work_that_fails_does_not_stop_the_queue(tmp_path: Path) -> None:
    queue = FileQueue()

    def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await queue.run(lambda: tmp_path / "a", fails, AbortSignal())
    assert await queue.run(lambda: tmp_path / "a", lambda: 1, AbortSignal()) == 1
    assert queue._last == {}


def test_every_name_of_one_file_has_one_key(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to("real")
    assert file_key(tmp_path / "link") == file_key(tmp_path / "real")
    assert file_key(tmp_path / "new") == file_key(tmp_path / "." / "new")
    os.link(tmp_path / "real", tmp_path / "hard")
    assert file_key(tmp_path / "hard") == file_key(tmp_path / "link")
