"""Background jobs: started, looked at, waited for, killed."""

import asyncio
from pathlib import Path

from agentcli.agent.abort import AbortController
from tests.tools.conftest import Tools
from tests.tools.processes import unique, with_command

SLEEP = unique(51)


def after(name: str) -> str:
    """A command that ends when there is a file of that name in the folder."""
    return f"until [ -e {name} ]; do sleep 0.02; done"


async def new_of(tools: Tools, job: str) -> str:
    """The next word that a job prints; what it has printed may be on its way still."""
    while (text := (await tools("bash", {"job": job, "timeout": 0.02})).text.split()[0]) == "(no":
        pass
    return text


async def test_a_job_is_started_at_once_and_named_by_an_id(tools: Tools) -> None:
    answer = await tools.bash(f"echo up; {SLEEP}", background=True)
    assert answer.details.running
    assert answer.text.startswith("up\n")
    assert f"job={answer.details.job}" in answer.text


async def test_a_look_at_a_job_shows_only_what_is_new(tools: Tools, cwd: Path) -> None:
    steps = f"echo one; {after('go')}; echo two; touch told; {after('on')}; echo three; touch told-again; {SLEEP}"
    job = (await tools.bash(steps, background=True)).details.job
    for go, told, word in (("go", "told", "two"), ("on", "told-again", "three")):
        (cwd / go).touch()
        await tools.bash(after(told))
        assert await new_of(tools, job) == word
    assert (await tools("bash", {"job": job})).text.startswith("(no output)\n")


async def test_a_job_can_be_waited_for(tools: Tools, cwd: Path) -> None:
    job = (await tools.bash(f"{after('go')}; echo ready; exit 4", background=True)).details.job
    (cwd / "go").touch()
    answer = await tools("bash", {"job": job, "timeout": 20})
    assert answer.text.startswith("ready\n")
    assert "exited with code 4" in answer.text
    assert answer.is_error
    assert not answer.details.running
    assert answer.details.exit_code == 4


async def test_waiting_for_a_job_ends_with_the_time_or_the_abort_but_does_not_end_the_job(tools: Tools) -> None:
    job = (await tools.bash(SLEEP, background=True)).details.job
    assert (await tools("bash", {"job": job, "timeout": 0.3})).details.running
    controller = AbortController()
    asyncio.get_running_loop().call_later(0.2, controller.abort)
    assert (await tools("bash", {"job": job, "timeout": 60}, signal=controller.signal)).details.running
    assert with_command(SLEEP)


async def test_a_job_can_be_killed(tools: Tools) -> None:
    job = (await tools.bash(f"echo up; setsid {SLEEP} & {SLEEP}", background=True)).details.job
    answer = await tools("bash", {"job": job, "kill": True})
    assert "has ended. Killed" in answer.text
    assert with_command(SLEEP) == []


async def test_a_job_that_has_ended_is_told_once_and_then_unknown(tools: Tools) -> None:
    answer = await tools.bash("echo quick", background=True)
    if answer.details.running:  # on a slow machine
        answer = await tools("bash", {"job": answer.details.job, "timeout": 20})
    assert "has ended" in answer.text
    again = await tools("bash", {"job": answer.details.job})
    assert again.is_error
    assert "no job" in again.text


async def test_an_unknown_job_is_an_error_that_names_the_known_ones(tools: Tools) -> None:
    job = (await tools.bash(SLEEP, background=True)).details.job
    answer = await tools("bash", {"job": "nonsense"})
    assert answer.is_error
    assert f"Jobs: {job}" in answer.text


async def test_a_call_for_both_a_command_and_a_job_is_refused(tools: Tools) -> None:
    answer = await tools("bash", {"job": "1", "command": "touch ran"})
    assert answer.is_error
    assert "not both" in answer.text


async def test_a_number_may_stand_for_the_id(tools: Tools) -> None:
    job = (await tools.bash(SLEEP, background=True)).details.job
    assert (await tools("bash", {"job": int(job), "command": ""})).details.running


async def test_a_job_may_have_a_timeout(tools: Tools) -> None:
    job = (await tools.bash(f"echo up; {SLEEP}", background=True, timeout=0.7)).details.job
    answer = await tools("bash", {"job": job, "timeout": 20})
    assert "Timed out after 0.7 s" in answer.text
    assert with_command(SLEEP) == []


async def test_what_a_command_left_running_can_be_looked_at_and_killed_as_a_job(tools: Tools, cwd: Path) -> None:
    first = await tools.bash(f"({after('go')}; echo later; {SLEEP}) & echo now")
    assert first.text.startswith("now\n")
    (cwd / "go").touch()
    job = first.details.job
    assert await new_of(tools, job) == "later"
    await tools("bash", {"job": job, "kill": True})
    assert with_command(SLEEP) == []


async def test_a_job_without_output_left_is_running_as_long_as_its_process_is(tools: Tools) -> None:
    first = await tools.bash(f"{SLEEP} >/dev/null 2>&1 & true")
    assert (await tools("bash", {"job": first.details.job})).details.running


async def test_a_long_job_output_is_cut_like_any_other(tools: Tools, cwd: Path) -> None:
    job = (await tools.bash(f"{after('go')}; seq 1 9000", background=True)).details.job
    (cwd / "go").touch()
    answer = await tools("bash", {"job": job, "timeout": 20})
    assert answer.text.startswith("7001\n")
    assert "Showing lines 7001-9000 of 9000" in answer.text
