"""What is said of a process that a shell left running: what it is, however early it is looked at."""

import os
import subprocess
import sys

from agentcli.tools.bash.process_tree import Process, ProcessTag, command_of, find_tree, left_running
from tests.tools.conftest import Tools

SLOW_EXEC = """
import os, sys, time
if pid := os.fork():
    print(pid, flush=True)
    sys.stdin.read()
while time.process_time() < 0.03:
    pass
os.execvp("sleep", ["sleep", "47"])
"""
"""Its child uses the processor for a while before it runs its own program."""


def test_a_child_is_named_after_the_program_that_it_is_about_to_run() -> None:
    mark = ProcessTag("LEFT_RUNNING_TEST", f"left-{os.getpid()}")
    environment = {**os.environ, mark.name: mark.value}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", SLOW_EXEC], stdin=pipe, stdout=pipe, env=environment) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())

        def find() -> list[Process]:
            return [process for process in find_tree(mark, set()) if process.pid == child]

        try:
            left = left_running(find, command_of(parent.pid, 10_000), "the command")
            assert left.names == {child: "sleep 47"}
            assert [process.pid for process in left.processes] == [child]
        finally:
            os.kill(child, 9)
            parent.kill()


async def test_a_part_of_the_shell_itself_is_named_after_the_command(tools: Tools) -> None:
    command = "(while :; do read -t 0.01 x </dev/zero; done) >/dev/null 2>&1 & true"
    answer = await tools.bash(command)
    assert [child.command for child in answer.details.background] == [command]
    answer = await tools.bash("# " + "x" * 200_000 + "\n(read -t 60 x <> /dev/null; sleep 61) & true")
    assert not any("stdin" in child.command for child in answer.details.background)


async def test_many_left_processes_are_counted_and_not_all_listed(tools: Tools) -> None:
    answer = await tools.bash("for i in $(seq 30); do sleep 48 & done")
    assert len(answer.details.background) == 20
    assert "and 10 more" in answer.text


def test_a_process_that_has_ended_meanwhile_is_not_left() -> None:
    process = subprocess.Popen(["sleep", "0.001"], env={"LEFT_RUNNING_TEST": "gone"})
    found = find_tree(ProcessTag("LEFT_RUNNING_TEST", "gone"), {process.pid})
    process.wait()
    assert left_running(lambda: found, "bash", "x").processes == []
