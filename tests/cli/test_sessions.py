"""`agentcli sessions`."""

from tests.cli.command import Command


def test_sessions_are_listed_and_shown(command: Command):
    assert "no sessions in" in command.run("sessions", "list").out
    command.run("run", "run echo one")
    command.run("run", "run echo two; printf '\\033[31mred'")
    listed = command.run("sessions", "list").out.splitlines()
    assert [line.split("  ")[-1] for line in listed] == ["run echo two; printf '\\033[31mred'", "run echo one"]
    assert str(command.folder) in command.run("sessions", "list", "--all").out
    shown = command.run("sessions", "show", listed[1].split()[0]).out
    assert shown == "> run echo one\n\n● bash(command='echo one')\n\n  one\n\none\n\n"
    assert "\x1b" not in command.run("sessions", "show", listed[0].split()[0]).out


def test_other_folders_have_other_sessions(command: Command):
    command.run("run", "run echo one")
    other = command.folder / "sub"
    other.mkdir()
    assert "no sessions in" in command.run("sessions", "list", "--cwd", str(other)).out
