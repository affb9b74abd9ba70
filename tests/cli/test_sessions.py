"""`agentcli sessions`."""

from pathlib import Path

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


def test_the_folder_in_a_header_counts_and_where_that_is_gone_the_one_that_the_file_lies_with(
    command: Command, tmp_path: Path
):
    other = Command(tmp_path / "other", command.home)
    assert other.run("run", "run echo one").code == 0
    (file,) = command.home.glob("sessions/other-*/*.jsonl")
    assert command.run("run", "run echo two").code == 0
    (own,) = command.home.glob("sessions/work-*/*.jsonl")
    own.unlink()
    moved = file.rename(own.parent / file.name)
    done = command.run("run", "--continue", "run pwd")
    assert done.code == 2 and "no session" in done.err
    assert other.run("run", "--continue", "run pwd").out == f"{other.folder}\n"
    assert file.stem.rpartition("_")[2][:8] in other.run("sessions", "list").out
    other.folder.rename(tmp_path / "renamed")
    assert command.run("run", "--continue", "run pwd").out == f"{command.folder}\n"
    assert moved.read_text().count('"role":"user"') == 3
