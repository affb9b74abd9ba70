"""The thread of a command: whatever happens in it, the waiting ends."""

import asyncio
import signal

import pytest

from agentcli.tools.bash.command_output import CommandOutput
from tests.tools.conftest import Tools
from tests.tools.processes import is_alive
from tests.waiting import wait_until


async def test_a_failure_while_reading_ends_the_call_with_an_error(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: CommandOutput, chunk: bytes) -> None:
        raise MemoryError("no memory for the output")

    with monkeypatch.context() as patch:
        patch.setattr(CommandOutput, "feed", fails)
        answer = await asyncio.wait_for(tools.bash("echo x"), 10)
    assert answer.is_error
    assert "no memory for the output" in answer.text
    assert (await tools.bash("echo fine")).text == "fine"


async def test_a_process_that_lets_the_system_reap_its_children_gets_its_results(tools: Tools) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        answer = await asyncio.wait_for(tools.bash("echo x"), 10)
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert answer.text == "x"


async def test_many_commands_run_beside_each_other(tools: Tools) -> None:
    answers = await asyncio.gather(*(tools.bash(f"sleep 0.2; echo {number}") for number in range(40)))
    assert [answer.text for answer in answers] == [str(number) for number in range(40)]


async def test_ended_commands_are_let_go(tools: Tools) -> None:
    commands = tools.toolset.commands
    for _ in range(30):
        await tools.bash("sleep 0.01 >/dev/null 2>&1 & true")
        await tools.bash("true")
    async with asyncio.timeout(20):
        while len(commands._living) > 1:
            await tools.bash("sleep 0.05")
    assert len(commands.jobs) <= 11


async def test_a_loop_that_is_closed_meanwhile_does_not_stop_the_reading(
    tools: Tools, capfd: pytest.CaptureFixture[str]
) -> None:
    def other_loop() -> int:
        async def leave_one_behind() -> int:
            answer = await tools.bash("(sleep 0.3; echo later) & echo $!")
            return answer.details.background[0].pid

        return asyncio.run(leave_one_behind())

    pid = await asyncio.to_thread(other_loop)
    await asyncio.to_thread(wait_until, lambda: not is_alive(pid))
    assert capfd.readouterr().err == ""
