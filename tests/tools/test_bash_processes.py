"""How commands end, and what becomes of the processes they start."""

import asyncio
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from agentcli.agent.abort import AbortController
from tests.tools.conftest import Tools
from tests.tools.processes import is_alive, unique, with_command, with_variable
from tests.waiting import wait_until


def marked(tools: Tools, value: str) -> str:
    """Put a variable into the environment of every command, by which the test finds its processes again."""
    value = f"{value}-{os.getpid()}"
    tools.options.extra_env = {"TOOLS_TEST_MARK": value}
    return value


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("sleep 47 & echo one", "one"),
        ("sleep 47 </dev/null >/dev/null & echo two", "two"),
        ("sleep 47 </dev/null >/dev/null 2>&1 & echo three $!", "three"),
        ("setsid sleep 47 </dev/null >/dev/null 2>&1 & echo four", "four"),
        ("env -i sleep 47 </dev/null >/dev/null 2>&1 & echo five", "five"),
    ],
)
async def test_a_silent_background_child_does_not_hold_the_call_and_is_named_kept_and_ended_at_the_end(
    tools: Tools, command: str, word: str
) -> None:
    answer = await tools.bash(command, timeout=30)
    assert word in answer.text.splitlines()[0]
    assert not answer.is_error
    (child,) = answer.details.background
    assert child.command == "sleep 47"
    assert f"{child.pid} sleep 47" in answer.text
    assert is_alive(child.pid)
    await tools.toolset.close()
    wait_until(lambda: not is_alive(child.pid))


async def test_a_background_child_that_goes_on_printing_does_not_hold_the_call_either(tools: Tools) -> None:
    answer = await tools.bash("(while :; do echo noise; sleep 0.02; done) & echo done", timeout=30)
    assert not answer.details.timed_out
    assert "done" in answer.text
    assert answer.details.exit_code == 0
    await asyncio.sleep(0.2)
    # Its `sleep` may be in the list too, and before it where the numbers of processes have begun anew.
    alive = [is_alive(process.pid) for process in answer.details.background]
    assert any(alive), "its pipe must be read on, or it would die of it"


async def test_a_timeout_ends_the_whole_tree_that_ignores_being_asked(tools: Tools, cwd: Path) -> None:
    mark = marked(tools, "ignores-term")
    command = (
        'bash -c \'trap "" TERM; (trap "" TERM; sleep 3; touch orphan-canary) & trap "" TERM; echo up; '
        "while :; do sleep 0.2; done'"
    )
    answer = await tools.bash(command, timeout=1)
    assert answer.is_error
    assert answer.details.timed_out
    assert answer.text.startswith("up\n")
    assert "Timed out after 1 s" in answer.text
    assert with_variable("TOOLS_TEST_MARK", mark) == []
    await asyncio.sleep(2.5)
    assert not (cwd / "orphan-canary").exists()


async def test_a_timeout_ends_children_that_left_for_a_session_of_their_own(tools: Tools) -> None:
    mark = marked(tools, "own-session")
    command = f"setsid sleep 48 & setsid setsid sleep 49 & env -i setsid {unique(49)} & echo up; sleep 50"
    answer = await tools.bash(command, timeout=0.5)
    assert answer.details.timed_out
    assert with_variable("TOOLS_TEST_MARK", mark) == []
    assert with_command(unique(49)) == []


async def test_an_abort_keeps_the_output_and_does_not_let_the_next_command_of_the_line_run(
    tools: Tools, cwd: Path
) -> None:
    controller = AbortController()
    seen = lambda update: controller.abort()  # noqa: E731
    command = {"command": "echo begun; sleep 30; touch went-on"}
    answer = await tools("bash", command, signal=controller.signal, on_update=seen)
    assert answer.is_error
    assert answer.details.aborted
    assert answer.text.startswith("begun\n")
    assert "Aborted by the user" in answer.text
    assert not (cwd / "went-on").exists()


async def test_a_process_may_clean_up_when_it_is_asked_to_end(tools: Tools, cwd: Path) -> None:
    answer = await tools.bash("trap 'echo cleaned; exit' TERM; echo up; while :; do sleep 0.05; done", timeout=1)
    assert "cleaned" in answer.text
    assert answer.details.timed_out


async def test_a_cancelled_call_leaves_nothing_behind(tools: Tools) -> None:
    mark = marked(tools, "cancelled")
    call = asyncio.create_task(tools.bash("setsid sleep 46 & sleep 45"))
    await asyncio.to_thread(wait_until, lambda: len(with_variable("TOOLS_TEST_MARK", mark)) == 3)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    wait_until(lambda: not with_variable("TOOLS_TEST_MARK", mark))


async def test_a_call_that_is_aborted_before_it_begins_runs_to_no_effect(tools: Tools, cwd: Path) -> None:
    controller = AbortController()
    controller.abort()
    answer = await tools("bash", {"command": "sleep 1; touch went-on"}, signal=controller.signal)
    assert answer.is_error
    assert not (cwd / "went-on").exists()


@pytest.mark.parametrize("timeout", [0, -1, 2_147_484, 1e300])
async def test_a_timeout_out_of_bounds_is_refused_and_not_bent(tools: Tools, timeout: float) -> None:
    answer = await tools.bash("echo ran", timeout=timeout)
    assert answer.is_error
    assert "timeout" in answer.text
    assert "ran" not in answer.text


async def test_a_timeout_that_is_not_finite_is_refused(tools: Tools) -> None:
    for timeout in (float("inf"), float("nan")):
        answer = await tools.bash("echo ran", timeout=timeout)
        assert answer.is_error
        assert "timeout" in answer.text


async def test_the_default_timeout_comes_from_the_options(tools: Tools) -> None:
    tools.options.bash_timeout_s = 0.3
    answer = await tools.bash("sleep 30")
    assert answer.details.timed_out
    assert "Timed out after 0.3 s" in answer.text


async def test_a_shell_that_has_exited_before_the_timeout_is_said_to_have(tools: Tools) -> None:
    answer = await tools.bash("(while :; do echo x; sleep 0.01; done) & exit 5", timeout=0.8)
    assert answer.is_error
    assert "Timed out after 0.8 s; the shell had exited before with code 5" in answer.text


async def test_a_closed_output_is_not_the_end_of_the_command(tools: Tools, cwd: Path) -> None:
    answer = await tools.bash("echo said; exec >&- 2>&-; sleep 0.4; touch done")
    assert answer.text == "said"
    assert (cwd / "done").exists()


async def test_a_flood_neither_delays_the_timeout_nor_fills_the_memory(tools: Tools) -> None:
    tools.options.spill_limit = 1 << 24
    answer = await tools.bash("yes abcdefghij", timeout=2)
    assert answer.details.timed_out
    assert len(answer.text) < 50 * 1024 + 1024
    assert answer.text.split("\n")[1] == "abcdefghij"


async def test_the_last_line_of_a_flood_is_kept(tools: Tools) -> None:
    tools.options.spill_limit = 1 << 24
    answer = await tools.bash("yes abcdefghij | head -c 300000000; echo END", timeout=60)
    assert answer.text.split("\n\n[")[0].endswith("END")
    assert "Showing the last" in answer.text
    assert len(answer.text) < 50 * 1024 + 1024


FLOOD = """
    import asyncio, resource, sys
    from pathlib import Path
    from agentcli.agent.abort import AbortController
    from agentcli.tools.toolset import ToolOptions, create_toolset

    async def main():
        toolset = create_toolset(ToolOptions(cwd=Path("."), spill_dir=Path(sys.argv[1])), ["bash"])
        bash = toolset.tools[0]
        async def call(command):
            return await bash.execute("1", {"command": command}, AbortController().signal, lambda update: None)
        await call("seq 1 100000")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for command in sys.argv[2:]:
            await call(command)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
        await toolset.close()

    asyncio.run(main())
"""


def test_memory_stays_flat_whatever_is_printed(tmp_path: Path) -> None:
    commands = [
        "yes abcdefghij | head -c 200000000",
        "head -c 100000000 /dev/zero",
        "head -c 100000000 /dev/zero | tr '\\0' x",
        "yes $'\\e[31mred\\e[0m' | head -c 20000000",
        "yes $'progress\\r' | tr -d '\\n' | head -c 20000000",
        "printf '\\033]0;'; head -c 30000000 /dev/zero | tr '\\0' y",
        "head -c 20000000 /dev/urandom",
    ]
    program = textwrap.dedent(FLOOD)
    argv = [sys.executable, "-c", program, str(tmp_path), *commands]
    grown = int(subprocess.run(argv, capture_output=True, check=True, text=True, timeout=60).stdout)
    assert grown < 60, f"{grown} MiB"


async def test_background_children_end_with_the_toolset_even_if_they_ignore_being_asked(tools: Tools) -> None:
    mark = marked(tools, "stubborn")
    await tools.bash("(trap '' TERM; while :; do sleep 0.1; done) >/dev/null 2>&1 & true")
    assert with_variable("TOOLS_TEST_MARK", mark)
    await tools.toolset.close()
    assert with_variable("TOOLS_TEST_MARK", mark) == []


async def test_killing_at_once_needs_no_loop(tools: Tools) -> None:
    mark = marked(tools, "at-once")
    await tools.bash("setsid sleep 44 >/dev/null 2>&1 & sleep 43 >/dev/null & true")
    running = asyncio.create_task(tools.bash("sleep 42"))
    await asyncio.to_thread(wait_until, lambda: len(with_variable("TOOLS_TEST_MARK", mark)) == 3)
    tools.toolset.kill_now()
    wait_until(lambda: not with_variable("TOOLS_TEST_MARK", mark))
    assert (await running).is_error
    tools.toolset.kill_now()


def test_children_of_an_agent_that_ends_by_a_signal_are_killed(tmp_path: Path) -> None:
    program = """
        import asyncio, os, signal, sys
        from pathlib import Path
        from agentcli.agent.abort import AbortController
        from agentcli.tools.toolset import ToolOptions, create_toolset

        async def main():
            toolset = create_toolset(ToolOptions(cwd=Path("."), spill_dir=Path(sys.argv[1])), ["bash"])
            def end(number, frame):
                toolset.kill_now()
                os._exit(128 + number)
            signal.signal(signal.SIGTERM, end)
            await toolset.tools[0].execute(
                "1", {"command": f"{sys.argv[2]} >/dev/null & seq 1 5000; echo ready > ready; {sys.argv[2]}"},
                AbortController().signal, None)

        asyncio.run(main())
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "spill"), unique(41)], cwd=tmp_path
    )
    wait_until(lambda: (tmp_path / "ready").exists() and with_command(unique(41)))
    process.terminate()
    assert process.wait(20) == 128 + 15
    wait_until(lambda: not with_command(unique(41)))
    assert list((tmp_path / "spill").iterdir()) == []


async def test_every_descriptor_is_closed_again(tools: Tools) -> None:
    async def some_commands() -> None:
        await tools.bash("true")
        await tools.bash("seq 1 5000")
        await tools.bash("sleep 5", timeout=0.1)
        await tools.bash("exit 3")

    await some_commands()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        await some_commands()
    await asyncio.sleep(0.2)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
