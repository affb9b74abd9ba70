"""Blocking work when there are no more threads: done once, beside the loop if that can be."""

import asyncio
import errno
import threading

import pytest

from agentcli.agent import threads
from agentcli.agent.errors import ResourceError
from agentcli.agent.threads import run, shortage, to_thread


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(threads, "shortages", [])


def test_work_that_gets_no_thread_is_done_all_the_same_and_the_loop_ends(no_threads: None) -> None:
    done: list[int] = []

    async def main() -> str:
        await to_thread(done.append, 1)
        await to_thread(done.append, 2)
        return "end"

    assert run(main()) == "end"
    assert done == [1, 2]
    assert len(threads.shortages) == 1


def test_work_is_done_once_though_a_thread_of_the_pool_finds_it_later(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    monkeypatch.setattr(threads, "shortages", [])

    async def main() -> None:
        gate = threading.Event()
        busy = asyncio.ensure_future(asyncio.to_thread(gate.wait))
        await asyncio.sleep(0)

        def start(self: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", start)
            await to_thread(done.append, 1)
        gate.set()
        await busy
        await asyncio.to_thread(done.append, 2)

    run(main())
    assert done == [1, 2]


def test_what_the_work_itself_raises_is_no_shortage_and_is_not_tried_again() -> None:
    tries: list[int] = []

    def fails() -> None:
        tries.append(1)
        raise RuntimeError("can't start new thread")

    with pytest.raises(RuntimeError, match="can't start"):
        run(to_thread(fails))
    assert tries == [1]


def test_shortages_are_told_from_other_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "shortages", [])
    for code in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE):
        found = shortage(OSError(code, "x"))
        assert found is not None and found.retryable and "\n" not in str(found)
    assert isinstance(shortage(MemoryError()), ResourceError)
    assert shortage(OSError(errno.ENOENT, "x")) is None
    assert shortage(RuntimeError("something else")) is None
