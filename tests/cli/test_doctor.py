"""`agentcli doctor`, and a sandbox from the command line."""

import os
import sys

import pytest

from tests.cli.command import Command


def test_it_says_what_works(command: Command) -> None:
    done = command.run("doctor")
    assert done.code == 0
    assert f"Python {sys.version_info[0]}.{sys.version_info[1]}" in done.out
    for line in (
        "home",
        "search          ripgrep",
        "sandbox         off:",
        "  bubblewrap",
        "  Landlock",
        "  sandbox-exec",
    ):
        assert f"\n{line}" in done.out


def test_it_says_what_is_asked_for_and_cannot_be_read(command: Command) -> None:
    command.configure("[sandbox]\nmode = 'sometimes'\n")
    done = command.run("doctor")
    assert done.code == 1 and "settings        cannot be read" in done.out


def has_sandbox(command: Command) -> bool:
    return "will not start" not in command.run("doctor", "--sandbox", "workspace").out


def test_a_run_in_the_sandbox(command: Command) -> None:
    if not has_sandbox(command):
        pytest.skip("nothing here can be a sandbox")
    done = command.run("run", "--sandbox", "workspace", "run 'echo in > in; echo out > ../out; true'")
    assert done.code == 0
    assert (command.folder / "in").exists() and not (command.folder.parent / "out").exists()


def test_a_command_that_wants_out_is_not_run_where_nobody_can_be_asked(command: Command) -> None:
    if not has_sandbox(command):
        pytest.skip("nothing here can be a sandbox")
    (command.folder / ".agentcli.toml").write_text("[sandbox]\nmode = 'read-only'\n")
    done = command.run("run", "run 'echo in > in'")
    assert not (command.folder / "in").exists()
    assert "sandbox" in done.out + done.err


@pytest.mark.skipif(os.name != "posix", reason="it is for POSIX")
def test_a_mode_that_is_none_is_a_usage_error(command: Command) -> None:
    assert command.run("run", "--sandbox", "sometimes", "hi").code == 2
