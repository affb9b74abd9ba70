"""Bad input: one clear line on stderr, no traceback, an exit code that says what kind of failure it was."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import AGENTCLI, Command, Finished
from tests.fake_server import Call, FakeServer, Reply
from tests.tools.processes import with_command


def check(done: Finished, code: int, *says: str) -> None:
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) == 1, done.err
    for text in says:
        assert text in done.err


def test_no_prompt(command: Command):
    check(command.run("run"), 2, "no prompt", 'agentcli run "')
    check(command.run("run", "  "), 2, "no prompt")
    check(command.run("run", input="\n\n"), 2, "no prompt")


@pytest.mark.parametrize("model", ["nonsense", "nowhere/gpt", "offline/nope", ":high", ""])
def test_a_model_or_provider_that_is_none(command: Command, model: str):
    check(command.run("run", "--model", model, "hi"), 2, model.partition(":")[0].partition("/")[0] or "model")
    assert not (command.home / "sessions").exists()


def test_a_missing_key(command: Command):
    check(command.run("run", "--model", "openai/gpt-5.5", "hi"), 2, "OPENAI_API_KEY")
    assert not (command.home / "sessions").exists()


def test_a_server_that_cannot_be_reached(command: Command):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command.configure(
        f'model = "fake/m"\n[retry]\nmax_retries = 0\n[providers.fake]\nbase_url = "http://127.0.0.1:{port}"\n'
    )
    check(command.run("run", "hi"), 75, f"127.0.0.1:{port}")
    assert command.transcript() == ["user: hi", "assistant: "]


@pytest.mark.parametrize(
    ("reply", "code", "says"),
    [
        (Reply.error(401, {"error": {"message": "no such key"}}), 2, "no such key"),
        (Reply.error(404, {"error": {"message": "The model m1 does not exist", "code": "model_not_found"}}), 1, "m1"),
        (Reply.error(400, {"error": {"message": "bad thing"}}), 1, "bad thing"),
        (Reply.error(429, {"error": {"code": "insufficient_quota", "message": "pay first"}}), 1, "pay first"),
        (Reply.raw(b"<html>hello</html>", headers={"content-type": "text/html"}), 1, "base_url"),
        (Reply.raw(b"data: {nonsense\n\n"), 75, ""),
        (Reply.raw(b"data: [DONE]\n\n"), 75, ""),
        (Reply.of("half an answer", cut=300), 75, ""),
        (Reply.of(""), 1, "empty answer"),
        (Reply.of("cut off", stop="length"), 1, "output limit"),
    ],
    ids=["401", "404", "400", "quota", "html", "no-json", "nothing", "cut", "empty", "length"],
)
def test_what_a_server_does_wrong(command: Command, server: FakeServer, reply: Reply, code: int, says: str):
    command.use_server(server.url)
    command.configure((command.home / "config.toml").read_text().replace("base_delay", "max_retries = 0\nbase_delay"))
    server.answer(reply)
    check(command.run("run", "hi"), code, says)
    assert command.transcript()[0] == "user: hi"


def test_what_had_been_answered_before_a_failure_is_in_the_session(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer("First I look.", Call("bash", {"command": "echo seen"}))
    server.answer(Reply.error(400, {"error": {"message": "bad thing"}}))
    done = command.run("run", "hi")
    assert (done.code, done.out) == (1, "First I look.\n")
    assert command.transcript() == ["user: hi", "assistant: First I look.", "toolResult: seen", "assistant: "]


def test_what_may_pass_is_tried_again_and_told_once(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Reply.error(529, {"error": {"message": "overloaded"}}))
    server.answer(Reply.of("half an answer that is cut", cut=300))
    server.answer("whole")
    done = command.run("run", "hi")
    assert done.code == 0
    assert done.out.endswith("whole\n")
    assert [line.startswith("agentcli: ") for line in done.err.splitlines()] == [True, True]
    assert len(server.requests) == 3
    assert server.requests[0].body["messages"] == server.requests[2].body["messages"]


def test_what_does_not_pass_ends_after_the_retries(command: Command, server: FakeServer):
    command.use_server(server.url)
    for _ in range(9):
        server.answer(Reply.error(500, b""))
    done = command.run("run", "hi")
    assert (done.code, len(server.requests)) == (75, 4)


def test_a_wait_that_is_too_long_is_not_waited_for(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Reply.error(429, {"error": {"message": "slow down"}}, headers={"retry-after": "7200"}))
    done = command.run("run", "hi")
    assert (done.code, len(server.requests)) == (75, 1)
    assert "wait 2:00:00 (h:mm:ss)" in done.err


def test_folders_that_are_none(command: Command, tmp_path: Path):
    (tmp_path / "file").touch()
    check(command.run("run", "--cwd", str(tmp_path / "none"), "hi"), 2, "none", "does not exist")
    check(command.run("run", "--cwd", str(tmp_path / "file"), "hi"), 2, "file", "not a folder")


def test_a_folder_that_was_deleted_under_the_command(command: Command, tmp_path: Path):
    script = f'mkdir gone; cd gone; rmdir ../gone; "{AGENTCLI}" run hi; echo $?'
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=command.environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "2\n"
    assert "Traceback" not in done.stderr
    assert "does not exist any more" in done.stderr


def test_without_a_home(command: Command):
    environment = {"PATH": command.environment["PATH"]}
    done = subprocess.run(
        [AGENTCLI, "run", "--no-session", "run echo hi"],
        cwd=command.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (0, "hi\n")


@pytest.mark.parametrize("words", [["run", "--continue", "hi"], ["sessions", "list"], ["rpc", "--continue"], ["config", "set", "theme", "dark"]], ids=" ".join)  # fmt: skip
def test_a_home_that_is_a_file(command: Command, words: list[str]):
    blocked = command.folder / "file"
    blocked.touch()
    done = command.run(*words, environment={"AGENTCLI_HOME": str(blocked)})
    assert (done.code, done.out) == (2, "")
    assert done.err == f"agentcli: {blocked} is a file, and agentcli needs a folder there (set AGENTCLI_HOME)\n"


def test_sessions_that_are_none(command: Command):
    notes = command.folder / "notes.jsonl"
    notes.write_text("hello\n")
    check(command.run("run", "--session", str(notes), "hi"), 2, "not a session")
    assert notes.read_text() == "hello\n"
    check(command.run("run", "--session", "0000", "hi"), 2, "no session 0000")
    check(command.run("run", "--session", "./none.jsonl", "hi"), 2, "none.jsonl")
    check(command.run("run", "--continue", "hi"), 2, "no session in")
    check(command.run("run", "--continue", "--no-session", "hi"), 2, "exclude each other")
    check(command.run("sessions", "show", "0000"), 2, "no session 0000")


def test_a_session_whose_folder_is_gone(command: Command, tmp_path: Path):
    command.run("run", "run echo hi")
    (session,) = (command.home / "sessions").glob("*/*.jsonl")
    command.folder.rename(tmp_path / "moved")
    check(command.run("run", "--session", str(session), "run pwd", cwd=tmp_path), 2, str(command.folder), "--cwd")
    assert (
        command.run("run", "--session", str(session), "--cwd", str(tmp_path), "run pwd", cwd=tmp_path).out
        == f"{tmp_path}\n"
    )


def test_files_that_cannot_be_attached(command: Command):
    (command.folder / "binary").write_bytes(b"\x00\x01\x02")
    (command.folder / "folder").mkdir()
    for name, says in (("none.txt", "does not exist"), ("folder", "not a file"), ("binary", "binary")):
        check(command.run("run", f"@{name}", "hi"), 2, name, says)


def test_a_wrong_configuration(command: Command):
    command.configure("model = \n")
    check(command.run("run", "hi"), 2, f"{command.home}/config.toml:1:")
    command.configure('model = "nonsense"\n')
    check(command.run("run", "hi"), 2, "nonsense")


def test_unknown_keys_are_a_warning(command: Command):
    command.configure('modle = "x"\n')
    done = command.run("run", "run echo hi")
    assert (done.code, done.out) == (0, "hi\n")
    assert "config.toml:1: unknown key modle" in done.err
    command.configure('[providers.mine]\nbase_url = "http://h"\n[providers.mine.compat]\nregion = "x"\nmaxTokens = 1\n')
    for words in (["run", "run echo hi"], ["models"], ["config", "validate"]):
        done = command.run(*words)
        says = done.out if words[0] == "config" else done.err
        assert "unknown key providers.mine.compat.maxTokens; it is ignored\n" in says
        assert "compat.region" not in says
    assert done.code == 2


def test_an_option_that_is_mistyped_is_guessed_only_if_it_is_near(command: Command):
    assert "No such option: --outptu (Possible options: --output)" in command.run("run", "--outptu", "json", "hi").err
    assert command.run("rpc", "--output", "json").err.endswith("No such option: --output\n")


def test_wrong_options(command: Command):
    for arguments in (["run", "--max-turns", "0", "hi"], ["run", "--nope", "hi"], ["nope"], ["sessions", "nope"]):
        done = command.run(*arguments)
        assert done.code == 2
        assert "Traceback" not in done.err


def test_the_app_wants_a_terminal(command: Command):
    check(command.run(), 2, "needs a terminal", "agentcli run")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_in_order(command: Command, server: FakeServer, number: signal.Signals):
    command.use_server(server.url)
    marker = f"7{os.getpid() % 100000}.{int(number)}"
    server.answer(Call("bash", {"command": f"sleep {marker} & touch started; sleep {marker}"}))
    process = command.start("run", "go")
    command.wait_for("started")
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert "Traceback" not in err
    assert not with_command(f"sleep {marker}")
    assert [line.partition(":")[0] for line in command.transcript()] == ["user", "assistant", "toolResult"]


def test_a_reader_that_goes_away_ends_the_run_quietly(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Reply.of("x" * 100_000, piece=1000, delay=0.001))
    process = command.start("run", "go")
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(20) == 128 + signal.SIGPIPE
    process.stderr.close()


def test_a_full_disk_behind_stdout_is_told(command: Command):
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [AGENTCLI, "run", "run echo hi"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=command.folder,
            env=command.environment,
            text=True,
            check=False,
        )
    assert process.returncode == 1
    assert "could not be written" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize(
    "words", [["sessions", "list"], ["models"], ["--help"], ["config", "show"], ["--version"]], ids=" ".join
)
def test_no_command_leaves_a_traceback_on_a_full_disk_or_a_closed_pipe(command: Command, words: list[str]):
    command.run("run", "run echo hi")
    for target in ("> /dev/full", "| true", ">&-"):
        line = f'set -o pipefail; "{AGENTCLI}" {" ".join(words)} {target}'
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=command.folder,
            env=command.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert done.returncode in {"> /dev/full": (1,), "| true": (0, 141), ">&-": (1,)}[target]
        assert ("could not be written" in done.stderr) == (done.returncode == 1)


def test_the_place_of_a_closed_stream_is_taken_by_no_other_file(command: Command):
    """The command of the run looks at what agentcli has open; a closed stdout is told where there is a stderr."""
    look = "readlink /proc/$PPID/fd/0 /proc/$PPID/fd/1 /proc/$PPID/fd/2 > seen"
    lost = "the answer could not be written"
    for closed, code, said in (("<&- 2>&-", 0, ""), (">&-", 1, lost), ("<&- >&- 2>&-", 1, "")):
        line = f'"{AGENTCLI}" run "run {look.replace("$", chr(92) + "$")}" {closed}'
        done = subprocess.run(
            ["bash", "-c", line],
            stdin=subprocess.DEVNULL,
            cwd=command.folder,
            env=command.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "Traceback" in done.stderr, said in done.stderr) == (code, False, True)
        seen = (command.folder / "seen").read_text().split()
        assert all(place == "/dev/null" or place.startswith("pipe:") for place in seen), (closed, seen)


def test_an_answer_that_the_locale_cannot_write_is_written_as_far_as_it_can(command: Command):
    (command.folder / "ünï.txt").write_text("Grüße 💩\n")
    done = subprocess.run(
        [AGENTCLI, "run", "--no-session", "what is in ünï.txt"],
        cwd=command.folder,
        env={**command.environment, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "Gr??e ?\n")


def test_a_prompt_that_is_not_utf8_works_as_far_as_it_can(command: Command):
    done = subprocess.run(
        [AGENTCLI, "run", "--no-session", b"write a\xff to sur.txt"],
        cwd=command.folder,
        env=command.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert (command.folder / "sur.txt").read_text() == "a\ufffd\n"


def test_what_a_killed_run_left_running_ends_when_the_conversation_goes_on(command: Command, server: FakeServer):
    command.use_server(server.url)
    marker = f"8{os.getpid() % 100000}"
    server.answer(Call("bash", {"command": f"setsid sleep {marker} & touch started; sleep {marker}"}))
    process = command.start("run", "go")
    command.wait_for("started")
    process.kill()
    process.communicate()
    server.answer("on we go")
    assert command.run("run", "--continue", "continue").code == 0
    assert not with_command(f"sleep {marker}")
