"""Files that are none, wherever agentcli reads one: each is told in a line, and nothing waits for it."""

import os
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.fake_server import FakeServer
from tests.files.repository import make_repository


def fifo(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    return path


def link(path: Path, target: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


def test_a_run_starts_among_files_that_would_block_and_names_each(command: Command):
    make_repository(command.folder)
    (command.folder / ".git" / "HEAD").unlink()
    project, home = command.folder / ".agentcli", command.home
    paths = [
        fifo(command.folder / ".git" / "HEAD"),
        fifo(command.folder / ".agentcli.toml"),
        fifo(command.folder / "AGENTS.md"),
        link(command.folder / "CLAUDE.md", "/dev/zero"),
        fifo(project / "SYSTEM.md"),
        fifo(project / "prompts" / "x.md"),
        link(project / "prompts" / "tty.md", "/dev/tty"),
        link(project / "prompts" / "in.md", "/dev/stdin"),
        link(project / "prompts" / "pt.md", "/dev/ptmx"),
        link(project / "prompts" / "loop.md", "loop.md"),
        fifo(project / "skills" / "x" / "SKILL.md"),
        link(project / "skills" / "loop" / "SKILL.md", "SKILL.md"),
        link(home / "AGENTS.md", "AGENTS.md"),
        fifo(home / "SYSTEM.md"),
        fifo(home / "APPEND_SYSTEM.md"),
        fifo(home / "prompts" / "own.md"),
        fifo(home / "skills" / "own" / "SKILL.md"),
        fifo(home / "extensions" / "x.py"),
    ]
    done = command.run("run", "run echo hi")
    assert (done.code, done.out) == (0, "hi\n")
    for path in paths:
        assert sum(str(path) in line for line in done.err.splitlines()) >= 1, path
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["config.toml", "auth.toml"])
def test_a_file_of_the_users_own_that_would_block_is_an_error(command: Command, name: str):
    done = command.run("run", "hi", environment={"AGENTCLI_HOME": str(fifo(command.home / name).parent)})
    assert done.code == 2
    assert f"{command.home / name}:1: cannot be read: it is a FIFO" in done.err


def test_files_named_on_the_command_line_do_not_block(command: Command):
    fifo(command.folder / "fifo.jsonl")
    for arguments in (
        ["run", "--schema", "fifo.jsonl", "hi"],
        ["run", "--session", "./fifo.jsonl", "hi"],
        ["run", "--model", "scripted:fifo.jsonl", "hi"],
        ["run", "@fifo.jsonl", "hi"],
        ["sessions", "import", "fifo.jsonl"],
    ):
        done = command.run(*arguments)
        assert done.code == 2 and "a FIFO" in done.err, arguments


def test_a_clone_sends_nothing_that_lies_outside_of_it(command: Command, server: FakeServer, tmp_path: Path):
    command.use_server(server.url)
    make_repository(command.folder)
    (tmp_path / "secret.md").write_text("---\nname: s\ndescription: SECRET\n---\nSECRET")
    (tmp_path / "skill").mkdir()
    (tmp_path / "skill" / "SKILL.md").write_text("---\nname: skill\ndescription: SECRET\n---\n")
    links = [
        link(command.folder / "AGENTS.md", "../secret.md"),
        link(command.folder / "CLAUDE.md", "/proc/self/environ"),
        link(command.folder / ".agentcli" / "prompts" / "p.md", "../../../secret.md"),
        link(command.folder / ".agentcli" / "skills" / "a" / "SKILL.md", "../../../../secret.md"),
        link(command.folder / ".agents" / "skills" / "b", "../../../skill") / "SKILL.md",
    ]
    server.answer("ok")
    done = command.run("run", "/p")
    assert done.code == 0
    assert b"SECRET" not in server.requests[0].raw
    for path in links:
        assert any(str(path) in line and "leads out of the repository" in line for line in done.err.splitlines()), path


def test_a_rule_that_denies_reading_keeps_context_files_from_the_model(command: Command, server: FakeServer):
    rules = '[permissions]\ndeny = ["read(secret/**)", "read(AGENTS.md)", "bash(rm)", "read"]'
    command.use_server(server.url)
    command.configure(f"{(command.home / 'config.toml').read_text()}\n{rules}\n")
    (command.folder / "secret").mkdir()
    (command.folder / "secret" / "s.md").write_text("SECRET")
    (command.folder / "AGENTS.md").write_text("DENIED")
    (command.folder / "CLAUDE.md").symlink_to("secret/s.md")
    (command.home / "AGENTS.md").write_text("MINE")
    server.answer("ok")
    done = command.run("run", "hi")
    sent = server.requests[0].raw
    assert b"MINE" in sent and b"SECRET" not in sent and b"DENIED" not in sent
    assert "the rule read(AGENTS.md) denies it" in done.err and "the rule read(secret/**) denies it" in done.err
