"""Commands that fork without end, or nearly: those here stop by themselves and never are many at once."""

import itertools
import os

import pytest

from agentcli.tools import shell_command
from tests.tools.conftest import Tools
from tests.tools.processes import with_command, with_variable

HOPS = 6000
"""How often a runner starts another and ends: about ten seconds."""


def runner(name: str, start: str) -> str:
    """A command that is never the same process for long; `start` runs its function once more."""
    return f"{name}() {{ [ $1 -gt 0 ] || return; {start} }}; {name} {HOPS}"


async def test_a_runner_whose_shell_has_exited_ends_with_the_timeout(tools: Tools) -> None:
    """Nothing of it lives as long as a look at all processes takes, and it does not carry the mark."""
    name = f"runner_{os.getpid()}"
    script = runner(name, f"{name} $(($1 - 1)) &")
    answer = await tools.bash(f"env -i bash -c '{script}' & sleep 30", timeout=0.5)
    assert answer.details.timed_out
    assert with_command(name) == []
    answer = await tools.bash(f"env -i bash -c '{script}' >/dev/null 2>&1 & true")
    await tools.toolset.close()
    assert with_command(name) == []


async def test_a_runner_that_is_in_a_new_session_each_time_ends_with_the_timeout(tools: Tools) -> None:
    mark = f"sessions-{os.getpid()}"
    tools.options.extra_env = {"TOOLS_TEST_MARK": mark}
    hop = 'h() { [ $1 -gt 0 ] || return; setsid bash -c "h $(($1 - 1))" & }; export -f h; h 3000; sleep 30'
    answer = await tools.bash(hop, timeout=0.5)
    assert answer.details.timed_out
    assert with_variable("TOOLS_TEST_MARK", mark) == []


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
