"""Commands that fork without end, or nearly: those here stop by themselves and never are many at once."""

import asyncio
import itertools
import os
from pathlib import Path

import pytest

from agentcli.tools.bash import shell_command
from tests.tools.conftest import Tools
from tests.tools.processes import with_variable

HOPS = 6000
"""How often a runner starts another and ends: about ten seconds."""


async def has_stopped(count: Path) -> bool:
    """Whether a runner, which writes down the hops that are left, goes on no more and has not come to its end."""
    before = count.read_text()
    await asyncio.sleep(0.2)
    return before == count.read_text() and int(before.split()[-1]) > 1


RUNNER = f"""
export HOP='hop() {{ echo $1 >> hops; [ $1 -gt 1 ] || return; NEXT; }}'
start() {{ WITHOUT bash -c "$HOP; hop {HOPS}"; }}
"""
"""Never the same process for long, so that it is gone before a look at all processes comes to it."""


@pytest.mark.parametrize(
    ("hop", "without"),
    [
        ("hop $(($1 - 1)) &", "env -i"),
        ('setsid bash -c "$HOP; hop $(($1 - 1))" &', ""),
    ],
    ids=["of one group and without the mark", "in a session of its own each time"],
)
async def test_a_runner_ends_with_its_shell_with_its_timeout_and_with_agentcli(
    tools: Tools, cwd: Path, hop: str, without: str
) -> None:
    script = RUNNER.replace("NEXT", hop.removesuffix(" &") + " &").replace("WITHOUT", without).replace("; }", " }", 1)
    count = cwd / "hops"
    answer = await tools.bash(f"{script} start & sleep 30", timeout=0.5)
    assert answer.details.timed_out
    assert await has_stopped(count)
    answer = await tools.bash(f"{script} start & (while sleep 0.01; do echo x; done) & sleep 0.2", timeout=0.5)
    assert "the shell had exited before" in answer.text
    assert await has_stopped(count)
    await tools.bash(f"{script} start >/dev/null 2>&1 & true")
    await tools.toolset.close()
    assert await has_stopped(count)


async def test_a_command_with_too_many_processes_is_ended_as_one_and_says_so(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_command, "MOST_PROCESSES", 20)
    monkeypatch.setattr(shell_command, "count_tasks", itertools.count(0, 1000).__next__)
    mark = f"many-{os.getpid()}"
    tools.options.extra_env = {"TOOLS_TEST_MARK": mark}
    for ending in ("wait", "true"):
        answer = await tools.bash(f"trap '' TERM; for i in $(seq 40); do sleep 31 & done; {ending}", timeout=30)
        assert "processes and the limit is 20" in answer.text
        assert answer.is_error
        assert not answer.details.timed_out
        assert with_variable("TOOLS_TEST_MARK", mark) == []


async def test_others_that_start_much_do_not_end_a_command(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_command, "count_tasks", itertools.count(0, 10_000).__next__)
    answer = await tools.bash("sleep 0.3; echo fine")
    assert (answer.text, answer.is_error) == ("fine", False)
    answer = await tools.bash("trap 'echo cleaned; exit' TERM; while :; do sleep 0.05; done", timeout=0.3)
    assert "cleaned" in answer.text
