"""`agentcli run`: real work on a real folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import AGENTCLI, Command
from tests.fake_server import Call, FakeServer, Reply
from tests.files.images import PNG
from tests.waiting import wait_until

PILOT = "agentcli: no model is configured, so the offline pilot answers; it is not a language model (agentcli models)\n"


def test_the_offline_pilot_reads_copies_and_replaces(command: Command):
    (command.folder / "text.txt").write_text("Hello World\nHello again\n")
    read = command.run("run", "what is the content of text.txt file")
    assert (read.code, read.out, read.err) == (0, "Hello World\nHello again\n", PILOT)
    copied = command.run("run", "copy text.txt to text.md")
    assert (copied.code, copied.out) == (0, "Copied text.txt to text.md.\n")
    assert (command.folder / "text.md").read_bytes() == (command.folder / "text.txt").read_bytes()
    replaced = command.run("run", "--continue", "now replace Hello with Bye in text.md")
    assert replaced.code == 0
    assert (command.folder / "text.md").read_text() == "Bye World\nBye again\n"
    sessions = command.sessions()
    assert [len(session) for session in sessions] == [7, 11]
    assert [line.partition(":")[0] for line in command.transcript()] == [
        "user",
        "assistant",
        "toolResult",
        "assistant",
    ] * 2


def test_a_model_behind_a_server_does_the_same(command: Command, server: FakeServer):
    command.use_server(server.url)
    (command.folder / "text.txt").write_text("Hello World\n")
    server.answer(Call("read", {"file": "text.txt"}))
    server.answer("It says: Hello World")
    read = command.run("run", "what is the content of text.txt file")
    assert (read.code, read.out, read.err) == (0, "It says: Hello World\n", "")
    assert server.requests[1].body["messages"][-1]["content"].startswith("Hello World")

    server.answer(Call("read", {"path": "text.txt"}), Call("write", {"path": "text.md", "content": "Hello World\n"}))
    server.answer("Copied.")
    assert command.run("run", "copy text.txt to text.md").out == "Copied.\n"
    assert (command.folder / "text.md").read_bytes() == (command.folder / "text.txt").read_bytes()

    server.answer(Call("edit", {"path": "text.md", "find": "Hello", "replacement": "Bye"}))
    server.answer("Replaced.")
    assert command.run("run", "--continue", "now replace Hello with Bye in text.md").code == 0
    assert (command.folder / "text.md").read_text() == "Bye World\n"
    roles = [message["role"] for message in server.requests[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool"]
    assert server.refusals == []


def test_the_answer_streams(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Reply.of("first words, last words", piece=12, delay=0.5))
    process = command.start("run", "go")
    assert process.stdout is not None
    assert process.stdout.read(12) == "first words,"
    assert process.poll() is None
    assert process.communicate(timeout=30) == (" last words\n", "")


def test_piped_input_files_and_words_are_one_prompt(command: Command, server: FakeServer):
    command.use_server(server.url)
    (command.folder / "a.txt").write_text("file text\n")
    server.answer("ok")
    command.run("run", "@a.txt", "look", "at it", input="piped text\n")
    sent = server.requests[0].body["messages"][-1]["content"]
    path = command.folder / "a.txt"
    assert sent == f'piped text\n\n<file name="{path}">\nfile text\n</file>\n\nlook at it'


def test_piped_input_alone_is_a_prompt(command: Command, server: FakeServer):
    command.use_server(server.url)
    for arguments in ([], ["-"]):
        server.answer("ok")
        assert command.run("run", *arguments, input="do it\n").out == "ok\n"
    assert [request.body["messages"][-1]["content"] for request in server.requests] == ["do it", "do it"]


def test_input_that_is_not_utf8_is_replaced_and_said(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer("ok")
    done = command.run("run", "-", input=b"caf\xe9")
    assert (done.code, server.requests[0].body["messages"][-1]["content"]) == (0, "caf\ufffd")
    assert "not UTF-8" in done.err


def test_an_open_silent_pipe_holds_nothing_up(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer("ok")
    process = command.start("run", "say hi", stdin=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read() == "ok\n"
    assert process.wait(10) == 0
    assert process.stderr is not None
    assert "going on without it" in process.stderr.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


NO_THREADS = """
import sys, threading
def start(self):
    raise RuntimeError("can't start new thread")
threading.Thread.start = start
from agentcli.cli.main import run_command_line
sys.exit(run_command_line(sys.argv[1:]))
"""


def test_a_system_without_more_threads_is_told_in_one_line_and_the_session_is_whole(command: Command):
    for words in (["run echo hi"], ["--output", "json", "what is in x.txt"]):
        (command.folder / "x.txt").write_text("content")
        done = subprocess.run(
            [sys.executable, "-c", NO_THREADS, "run", *words],
            stdin=subprocess.DEVNULL,
            cwd=command.folder,
            env=command.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 75, done.stderr
        told = [line for line in done.stderr.splitlines() if "no more processes or threads" in line]
        assert len(told) == 1 and "Traceback" not in done.stderr
        assert [line.split(":")[0] for line in command.transcript()] == ["user", "assistant", "toolResult", "assistant"]
    assert command.run("run", "--continue", "run echo again").code == 0


def test_a_closed_stdin_is_no_stdin(command: Command):
    closing = f"exec {AGENTCLI} run 'run echo hi' <&-"
    done = subprocess.run(
        ["bash", "-c", closing],
        cwd=command.folder,
        env=command.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "hi\n")


def test_an_image_is_attached_as_one(command: Command, server: FakeServer):
    command.use_server(server.url, '[models."fake/m1"]\ninput = ["text", "image"]')
    (command.folder / "dot.png").write_bytes(PNG)
    server.answer("a dot")
    assert command.run("run", "@dot.png", "what is it").code == 0
    kinds = [part["type"] for part in server.requests[0].body["messages"][-1]["content"]]
    assert kinds == ["text", "image_url"]


def test_a_session_can_be_named_kept_away_or_moved(command: Command, tmp_path: Path):
    assert command.run("run", "--no-session", "run echo hi").out == "hi\n"
    assert not (command.home / "sessions").exists()
    command.run("run", "run echo one")
    (session,) = (command.home / "sessions").glob("*/*.jsonl")
    id = session.stem.rpartition("_")[2]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert command.run("run", "--session", id[-8:], "run pwd", cwd=elsewhere).out == f"{command.folder}\n"
    assert command.run("run", "--session", str(session), "--cwd", str(elsewhere), "run pwd").out == f"{elsewhere}\n"
    assert len(command.sessions()) == 1
    assert "user: run pwd" in command.transcript()


def test_the_session_has_the_prompt_before_the_answer_comes(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Reply.of("late", first_delay=30))
    process = command.start("run", "remember me")
    wait_until(lambda: server.requests)
    process.kill()
    process.communicate()
    assert command.transcript() == ["user: remember me"]


def test_a_killed_run_can_be_continued(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Call("bash", {"command": "touch started; sleep 60"}))
    process = command.start("run", "go")
    command.wait_for("started")
    process.kill()
    process.communicate()
    server.answer("on we go")
    assert command.run("run", "--continue", "continue").out == "on we go\n"
    assert "Interrupted" in server.requests[-1].body["messages"][-2]["content"]
    assert server.refusals == []


def test_a_run_stops_after_so_many_turns(command: Command, server: FakeServer):
    command.use_server(server.url)
    for _ in range(5):
        server.answer(Call("bash", {"command": "false"}))
    done = command.run("run", "--max-turns", "3", "go")
    assert (done.code, len(server.requests)) == (3, 3)
    assert "stopped after 3 turns" in done.err


def test_a_run_that_ends_with_its_last_turn_is_done(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Call("bash", {"command": "true"}))
    server.answer("done")
    assert command.run("run", "--max-turns", "2", "go").code == 0


def test_the_model_and_its_thinking_are_chosen_on_the_command_line(command: Command, server: FakeServer):
    command.use_server(server.url, '[models."fake/thinker"]\nreasoning = true')
    server.answer("ok")
    assert command.run("run", "--model", "fake/thinker:high", "hi").code == 0
    body = server.requests[0].body
    assert (body["model"], body["reasoning_effort"]) == ("thinker", "high")


def test_keys_go_into_the_header_and_nowhere_else(command: Command, server: FakeServer):
    command.configure(f'[providers.fake]\nbase_url = "{server.url}"\napi_key_env = "CANARY_KEY"\n')
    server.answer(Call("bash", {"command": "env"}))
    server.answer(Reply.error(401, {"error": {"message": "Incorrect API key provided: sk-CANARY-1234567890"}}))
    environment = {"CANARY_KEY": " sk-CANARY-1234567890\n", "OPENAI_API_KEY": "sk-CANARY-2"}
    done = command.run("run", "--model", "fake/m1", "go", environment=environment)
    assert done.code == 2
    assert server.requests[0].headers["authorization"] == "Bearer sk-CANARY-1234567890"
    assert "CANARY_KEY" in done.err
    kept = b"".join(file.read_bytes() for file in command.home.rglob("*") if file.is_file())
    for text in (done.out, done.err, kept.decode(), *(request.raw.decode() for request in server.requests)):
        assert "sk-CANARY" not in text


def test_a_script_file_plays_a_model(command: Command):
    script = command.folder / "script.jsonl"
    script.write_text('{"thinking": "hm"}\n{"text": "Hello there", "chunk": 3}\n{"stop": "done"}\n{"text": "Again"}\n')
    assert command.run("run", "--model", f"scripted:{script}", "hi").out == "Hello there\n"
    assert command.run("run", "--continue", "more").out == "Again\n"


def test_a_short_task_needs_little_memory(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Call("bash", {"command": "echo hi"}))
    server.answer("done")
    assert command.peak_memory("run", "go") < 70


@pytest.mark.parametrize("arguments", [["--version"], ["-V"]])
def test_the_version_is_told(command: Command, arguments: list[str]):
    from agentcli import __version__

    assert command.run(*arguments).out == f"agentcli {__version__}\n"


def test_help_names_every_command_and_option(command: Command):
    general = command.run("--help").out
    assert all(name in general for name in ("run", "sessions", "models", "--model", "--continue"))
    run = command.run("run", "-h").out
    assert all(name in run for name in ("--model", "--continue", "--session", "--no-session", "--cwd", "--max-turns"))
