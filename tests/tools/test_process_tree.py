"""Finding every process of a command, on Linux by /proc and elsewhere by psutil."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from agentcli.tools.bash import process_tree
from agentcli.tools.bash.process_tree import (
    Process,
    ProcessTag,
    command_of,
    find_tree,
    kill_all,
    send_to_group,
    still_alive,
)
from tests.tools.conftest import Tools
from tests.tools.processes import with_variable
from tests.waiting import wait_until

MARK = ProcessTag("TREE_TEST_MARK", f"tree-{os.getpid()}")


@pytest.fixture(params=["proc", "psutil"])
def finder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way to look at processes; this system must have both."""
    if request.param == "psutil":
        monkeypatch.setattr(process_tree, "_has_proc", lambda: False)
        monkeypatch.setattr(process_tree, "_has_psutil", lambda: True)
    return request.param


@pytest.fixture
def shell() -> Iterator[subprocess.Popen[bytes]]:
    """A shell with children of every kind: plain, in a session of its own, without the mark, and both."""
    command = "sleep 33 & setsid sleep 34 & env -i sleep 35 & env -i setsid sleep 36 & wait"
    environment = {**os.environ, "TREE_TEST_MARK": MARK.value}
    process = subprocess.Popen(["bash", "-c", command], env=environment, start_new_session=True)
    yield process
    kill_all(lambda: find_tree(MARK, {process.pid}))
    process.wait(5)


def commands(processes: list[process_tree.Process]) -> list[str]:
    return sorted(command_of(process.pid) for process in processes)


def test_every_kind_of_descendant_is_found(finder: str, shell: subprocess.Popen[bytes]) -> None:
    wanted = [f"sleep {number}" for number in (33, 34, 35, 36)]
    wait_until(lambda: commands(find_tree(MARK, {shell.pid}))[1:] == wanted)
    wait_until(lambda: set(wanted[:2]) <= set(commands(find_tree(MARK, set()))))
    assert find_tree(ProcessTag("TREE_TEST_MARK", "8"), set()) == []
    assert len(find_tree(ProcessTag("TREE_TEST_MARK", ""), set())) >= 2


def test_everything_is_killed(finder: str, shell: subprocess.Popen[bytes]) -> None:
    wait_until(lambda: len(find_tree(MARK, {shell.pid})) == 5)
    before = find_tree(MARK, {shell.pid})
    kill_all(lambda: find_tree(MARK, {shell.pid}))
    assert shell.wait(5) == -signal.SIGKILL
    wait_until(lambda: still_alive(before) == [])


def test_a_process_that_has_ended_is_not_alive_and_has_no_command(finder: str) -> None:
    process = subprocess.Popen(["sleep", "0"], env={"TREE_TEST_MARK": f"nine-{os.getpid()}"})
    found = find_tree(ProcessTag("TREE_TEST_MARK", f"nine-{os.getpid()}"), {process.pid})
    process.wait()
    assert still_alive(found) == []
    assert command_of(process.pid) == ""
    assert not send_to_group(process.pid, 0)


def test_only_younger_processes_are_looked_at_where_that_is_asked() -> None:
    first = subprocess.Popen(["sleep", "31"], env={"TREE_TEST_MARK": f"five-{os.getpid()}"})
    second = subprocess.Popen(["sleep", "32"], env={"TREE_TEST_MARK": f"five-{os.getpid()}"})
    try:
        mark = ProcessTag("TREE_TEST_MARK", f"five-{os.getpid()}")
        wait_until(lambda: len(find_tree(mark, set())) == 2)
        assert [process.pid for process in find_tree(mark, set(), younger_than=first.pid)] == [second.pid]
    finally:
        for process in (first, second):
            process.kill()
            process.wait()


def test_control_characters_of_a_command_line_are_not_shown() -> None:
    process = subprocess.Popen(["bash", "-c", "sleep 30; : \x1b[31m\n"])
    try:
        wait_until(lambda: "sleep 30" in command_of(process.pid))
        assert command_of(process.pid).isprintable()
        assert len(command_of(process.pid, 10)) == 10
    finally:
        kill_all(lambda: find_tree(ProcessTag("NOBODY_HAS_THIS", ""), {process.pid}))
        process.kill()
        process.wait()


async def test_commands_work_where_there_is_no_proc(finder: str, tools: Tools) -> None:
    assert (await tools.bash("echo fine")).text == "fine"
    value = f"{finder}-{os.getpid()}"
    tools.options.extra_env = {"NO_PROC_TEST": value}
    answer = await tools.bash("sleep 37.1 & setsid sleep 37.2 & echo up; sleep 37.3", timeout=0.6)
    assert answer.details.timed_out
    assert with_variable("NO_PROC_TEST", value) == []
    answer = await tools.bash("sleep 37.4 & echo started")
    assert [child.command for child in answer.details.background] == ["sleep 37.4"]
    await tools.toolset.close()
    wait_until(lambda: not with_variable("NO_PROC_TEST", value))


def test_one_that_a_look_has_missed_is_killed_by_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (Process(pid, 1, pid, pid, 0, is_marked=True) for pid in (1_000_001, 1_000_002))
    killed: list[int] = []
    monkeypatch.setattr(
        process_tree, "_send_to_all", lambda processes, number: killed.extend(each.pid for each in processes)
    )
    looks = iter([[one], [one], [], [other], [other], *[[]] * 8])
    assert kill_all(lambda: next(looks)) == []
    assert set(killed) == {one.pid, other.pid}
    assert next(looks, None) is None
