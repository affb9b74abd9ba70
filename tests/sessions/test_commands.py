"""`agentcli sessions …` as a user runs it."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.fake_server import FakeServer


@pytest.fixture
def command(tmp_path: Path) -> Command:
    command = Command(tmp_path / "work", tmp_path / "home")
    (command.folder / "a.txt").write_text("Hello World\n")
    command.run("run", "what is in a.txt")
    command.run("run", "--continue", "replace World with Bob in a.txt")
    return command


def only_id(command: Command) -> str:
    (info,) = json.loads(command.run("sessions", "list", "--json").out)
    return info["id"]


def entry(command: Command, id: str, text: str) -> str:
    tree = command.run("sessions", "tree", id).out
    line = next(line for line in tree.splitlines() if text in line)
    return re.search(r"[0-9a-f]{8}", line)[0]


def test_going_back_makes_a_branch_that_the_tree_shows(command: Command):
    id = only_id(command)
    done = command.run("sessions", "goto", id[:13], entry(command, id, "user: replace"))
    assert (done.code, done.out.splitlines()[1]) == (0, "before: replace World with Bob in a.txt")
    command.run("run", "--continue", "list .")
    tree = command.run("sessions", "tree", id).out
    assert "    ├── " in tree and "● assistant: a.txt" in tree and "user: replace" in tree
    shown = command.run("sessions", "show", id).out
    assert "> list ." in shown and "replace" not in shown
    assert command.run("sessions", "goto", id, "start").out == "at the beginning\n"
    assert command.run("sessions", "show", id).out == ""


def test_labels_and_names(command: Command):
    id = only_id(command)
    command.run("sessions", "label", id, entry(command, id, "user: what"), "the start")
    assert "[the start] user: what" in command.run("sessions", "tree", id).out
    command.run("sessions", "label", id, entry(command, id, "user: what"))
    assert "the start" not in command.run("sessions", "tree", id).out
    command.run("sessions", "rename", id, "A \x1b[31mname")
    listed = command.run("sessions", "list").out
    assert "A [31mname" in listed and "\x1b" not in listed


def test_forks_are_new_sessions_and_leave_the_old_one_as_it_was(command: Command):
    id = only_id(command)
    (file,) = command.home.glob("sessions/*/*.jsonl")
    before = file.read_bytes()
    at = command.run("sessions", "fork", id, "--at", entry(command, id, "read: Hello")).out.strip()
    earlier = command.run("sessions", "fork", id, "--before", entry(command, id, "user: replace")).out.strip()
    whole = command.run("sessions", "fork", id).out.strip()
    assert len({id, at, earlier, whole}) == 4
    assert "Hello World" in command.run("sessions", "show", at).out
    assert "replace" not in command.run("sessions", "show", earlier).out
    assert command.run("sessions", "show", whole).out == command.run("sessions", "show", id).out
    assert command.run("run", "--session", at, "list .").code == 0
    assert file.read_bytes() == before
    refused = command.run("sessions", "fork", id, "--before", entry(command, id, "read: Hello"))
    assert refused.code == 2 and "no message of the user" in refused.err


def test_a_list_can_be_searched(command: Command):
    found = command.run("sessions", "list", "--search", "bob").out.splitlines()
    assert found[1] == "    replace World with Bob in a.txt"
    assert command.run("sessions", "list", "--search", "nothing like it").out.startswith("no session holds")
    assert json.loads(command.run("sessions", "list", "--search", "bob", "--json").out)[0]["id"] == only_id(command)


def test_stats_as_text_and_as_json(command: Command):
    id = only_id(command)
    text = command.run("sessions", "stats", id).out
    assert "2 yours, 4 answers, 2 results" in text and "offline/pilot" in text
    stats = json.loads(command.run("sessions", "stats", id, "--json").out)
    assert stats["tools"]["edit"] == {"calls": 1, "errors": 0}


def test_exports_go_to_stdout_or_a_private_file(command: Command):
    id = only_id(command)
    assert command.run("sessions", "export", id).out.startswith("<!DOCTYPE html>")
    assert command.run("sessions", "export", id, "--format", "markdown").out.startswith("# Session")
    done = command.run("sessions", "export", id, "--format", "jsonl", "-o", "out.jsonl")
    assert done.out == "out.jsonl\n"
    assert (command.folder / "out.jsonl").stat().st_mode & 0o777 == 0o600
    imported = command.run("sessions", "import", "out.jsonl").out.strip()
    assert command.run("sessions", "show", imported).out == command.run("sessions", "show", id).out
    assert command.run("sessions", "export", id, "--format", "docx").code == 2


def test_deleting_asks_and_without_anybody_to_answer_does_nothing(command: Command):
    id = only_id(command)
    asked = command.run("sessions", "delete", id)
    assert asked.code == 2 and "--yes" in asked.err
    assert only_id(command) == id
    assert command.run("sessions", "delete", id, "--yes").code == 0
    assert "no sessions" in command.run("sessions", "list").out
    assert list(command.home.glob("sessions/*/*.lock")) == []


def test_the_doctor_looks_at_every_file_and_repairs_copies(command: Command):
    assert command.run("sessions", "doctor").out == "1 file looked at, all well\n"
    (file,) = command.home.glob("sessions/*/*.jsonl")
    file.write_bytes(file.read_bytes() + b'garbage\n{"type":"message","id":"to')
    before = file.read_bytes()
    ill = command.run("sessions", "doctor")
    assert ill.code == 1 and "unreadable" in ill.out and "torn" in ill.out
    assert command.run("sessions", "doctor", "--repair").code == 0
    assert file.read_bytes() == before
    copies = [path for path in command.home.glob("sessions/*/*.jsonl") if path != file]
    assert len(copies) == 1
    assert command.run("sessions", "doctor", str(copies[0])).code == 0


def test_compacting_asks_the_model(command: Command, tmp_path: Path):
    server = FakeServer.start_in_thread(strict=True)
    try:
        command.use_server(server.url)
        with (command.home / "config.toml").open("a") as config:
            config.write("[compaction]\nkeep_recent_tokens = 100\n")
        for text in ("one", "two " + "word " * 200):
            server.answer("ok")
            assert command.run("run", text, "--session", only_id(command), "--model", "fake/m1").code == 0
        server.answer("the summary")
        done = command.run("sessions", "compact", only_id(command), "mind", "the", "tests")
        assert done.code == 0 and done.out.startswith("compacted: about")
        body = server.requests[-1].body
        assert "tools" not in body and "mind the tests" in json.dumps(body)
        assert "the summary" in command.run("sessions", "show", only_id(command)).out
        assert command.run("sessions", "compact", only_id(command)).code == 1
    finally:
        server.stop()


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "nope"),
        ("tree", "nope"),
        ("stats", "nope"),
        ("goto", "nope", "x"),
        ("fork", "nope"),
        ("delete", "nope", "-y"),
        ("import", "nope.jsonl"),
    ],
)
def test_what_is_not_there_is_one_line(command: Command, arguments: tuple[str, ...]):
    done = command.run("sessions", *arguments)
    assert done.code == 2 and done.out == ""
    assert len(done.err.splitlines()) == 1
