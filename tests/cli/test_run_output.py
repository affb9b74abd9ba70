"""`agentcli run --output json|events`, `--schema` and the limits: what other programs build on."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import AGENTCLI, Command, Finished
from tests.fake_server import Call, FakeServer, Reply
from tests.tools.processes import with_command
from tests.waiting import wait_until

ODD = 'U+2028 \u2028, NUL \x00, \x1b[31m, "quoted", 💩, ' + "long " * 200_000


def lines_of(out: str) -> list[dict[str, Any]]:
    """stdout as a program reads it: LF ends a line and nothing else does."""
    assert out.endswith("\n")
    return [json.loads(line) for line in out[:-1].split("\n")]


def result_of(done: Finished) -> dict[str, Any]:
    """The result, which is the last line, and the only one of its type."""
    *events, result = lines_of(done.out)
    assert result["type"] == "result"
    assert all(event["type"] != "result" for event in events)
    assert result["exit_code"] == done.code
    assert (result["error"] is None) == (done.code == 0)
    return result


def waiting_in(pipe: Any) -> int:
    """Bytes that nobody has read yet."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


def use_priced_server(command: Command, server: FakeServer, more: str = "") -> None:
    command.use_server(server.url, f'{more}\n[models."fake/m1"]\ncost = {{ input = 1000.0, output = 1000.0 }}')


def test_json_is_one_line_with_what_the_run_came_to(command: Command, server: FakeServer):
    use_priced_server(command, server)
    server.answer(Call("write", {"path": "a.txt", "content": "x"}), Call("write", {"path": "b/c.txt", "content": "y"}))
    server.answer(Call("edit", {"path": "a.txt", "find": "x", "replacement": "z"}))
    server.answer("Both are written.")
    done = command.run("run", "--output", "json", "go")
    (result,) = lines_of(done.out)
    session = command.sessions()[0][0]["id"]
    assert result == {
        "type": "result",
        "text": "Both are written.",
        "session": session,
        "model": "fake/m1",
        "stop_reason": "done",
        "usage": {"input": 300, "output": 21, "cache_read": 0, "cache_write": 0, "total": 321},
        "cost": pytest.approx(0.321),
        "turns": 3,
        "files_changed": ["a.txt", "b/c.txt"],
        "error": None,
        "error_kind": None,
        "exit_code": 0,
    }
    assert (done.code, done.err) == (0, "")


def test_a_request_that_failed_is_no_turn_and_a_timeout_no_error_of_the_model(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Reply.error(529, {"error": {"message": "busy"}}))
    server.answer("fine")
    again = result_of(command.run("run", "--output", "json", "go"))
    assert (again["turns"], again["error"], again["error_kind"]) == (1, None, None)
    server.answer(Reply.of("abcdef", piece=1, delay=0.3))
    late = result_of(command.run("run", "--output", "json", "--timeout", "1", "go"))
    assert (late["stop_reason"], late["turns"], late["error_kind"]) == ("timeout", 1, None)


def test_the_session_of_a_result_can_be_gone_on_with(command: Command):
    first = result_of(command.run("run", "--output", "json", "run echo one"))
    second = result_of(command.run("run", "--output", "json", "--session", first["session"], "run echo two"))
    assert second["session"] == first["session"]
    assert result_of(command.run("run", "--output", "json", "--no-session", "run echo hi"))["session"] is None


def test_events_are_every_event_between_the_session_and_the_result(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Call("bash", {"command": "echo out; echo err >&2"}))
    server.answer("All done.")
    done = command.run("run", "-o", "events", "go")
    updates = ("message_update", "tool_execution_update")
    types = [line["type"] for line in lines_of(done.out) if line["type"] not in updates]
    message = ["message_start", "entry_appended", "message_end"]
    assert types == [
        "session", "entry_appended", "entry_appended", "agent_start",
        "turn_start", *message, *message, "tool_execution_start", "tool_execution_end", *message, "turn_end",
        "turn_start", *message, "turn_end", "agent_end", "agent_settled", "result",
    ]  # fmt: skip
    assert result_of(done)["text"] == "All done."


def test_events_written_by_a_run_make_its_session_again(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Call("bash", {"command": "printf 'a\\0b'"}))
    server.answer(ODD)
    lines = lines_of(command.run("run", "--output", "events", "go").out)
    server.answer(Reply.error(400, {"error": {"message": "no"}}))
    more = lines_of(command.run("run", "--output", "events", "--continue", "on").out)
    assert more[0] == lines[0]
    entries = [line["entry"] for line in [*lines, *more] if line["type"] == "entry_appended"]
    assert [lines[0], *entries] == command.sessions()[0]


def test_stdout_is_json_lines_whatever_happens_meanwhile(command: Command, server: FakeServer):
    """A warning, a retry, a tool that writes to its stderr, an extension that prints, odd characters, a megabyte."""
    command.use_server(server.url, "[tool]\nodd = 1")
    (command.home / "extensions").mkdir()
    (command.home / "extensions" / "chatty.py").write_text(
        "import os\nprint('loaded')\ndef register(api):\n    print('here')\n    os.write(1, b'raw')\n"
    )
    server.answer(Reply.error(529, {"error": {"message": "overloaded"}}))
    server.answer(
        Call("bash", {"command": "echo noise >&2; python3 -W always -c 'import warnings; warnings.warn(\"w\")'"})
    )
    server.answer(Reply.of(ODD, piece=100_000))
    done = command.run("run", "--output", "events", "go", environment={"PYTHONWARNINGS": "always"})
    lines = lines_of(done.out)
    types = {line["type"] for line in lines}
    assert {"session", "notice", "retry_start", "retry_end", "result"} <= types
    assert result_of(done)["text"] == ODD
    assert "\x1b" not in done.out
    assert all(word in done.err for word in ("loaded", "here", "raw", "overloaded"))
    assert len(done.out) < len(ODD) * 6


@pytest.mark.parametrize("output", ["text", "json", "events"])
def test_text_is_the_answer_and_a_newline_and_nothing_prints_between(command: Command, output: str):
    (command.home / "extensions").mkdir()
    (command.home / "extensions" / "chatty.py").write_text("print('loaded')\ndef register(api):\n    print('here')\n")
    done = command.run("run", "--output", output, "run echo hi", environment={"TERM": "dumb", "NO_COLOR": "1"})
    assert done.out == "hi\n" if output == "text" else result_of(done)["text"] == "hi"
    assert "loaded" in done.err


def refuse(server: FakeServer) -> None:
    server.answer(Reply.error(401, {"error": {"message": "who are you"}}))


def overload(server: FakeServer) -> None:
    for _ in range(4):
        server.answer(Reply.error(529, {"error": {"message": "too busy"}}))


FAILURES: dict[str, tuple[list[str], Any, int, str, str | None]] = {
    "no prompt": ([], None, 2, "there is no prompt", "usage"),
    "no model": (["--model", "nope/x", "hi"], None, 2, "no model matches", "usage"),
    "no key": (["--model", "openai/gpt-5", "hi"], None, 2, "OPENAI_API_KEY", "credentials"),
    "no session": (["--session", "nope", "hi"], None, 2, "there is no session nope", "session"),
    "no folder": (["--cwd", "nowhere", "hi"], None, 2, "does not exist", "usage"),
    "no file": (["@nowhere", "hi"], None, 2, "does not exist", "usage"),
    "401": (["hi"], refuse, 2, "who are you", "auth"),
    "529": (["hi"], overload, 75, "too busy", "overloaded"),
    "empty": (["hi"], lambda server: server.answer(""), 1, "empty answer", None),
    "length": (["hi"], lambda server: server.answer("half", stop="length"), 1, "cut off", None),
}


@pytest.mark.parametrize("output", ["json", "events"])
@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_a_result_too(command: Command, server: FakeServer, output: str, name: str):
    arguments, script, code, says, kind = FAILURES[name]
    command.use_server(server.url)
    if script:
        script(server)
    done = command.run("run", "--output", output, *arguments)
    result = result_of(done)
    assert (done.code, result["error_kind"]) == (code, kind)
    assert says in result["error"]
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_broken_configuration_is_a_result_too(command: Command):
    command.configure("model = 3")
    done = command.run("run", "--output", "json", "hi")
    assert (done.code, result_of(done)["error_kind"]) == (2, "config")


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}


def with_schema(command: Command, schema: Any = SCHEMA) -> list[str]:
    (command.folder / "schema.json").write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return ["run", "--schema", "schema.json"]


def test_an_answer_that_fits_is_all_that_is_printed(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer("I look.", Call("bash", {"command": "echo 3"}))
    server.answer('\n {"n": 3}\n')
    done = command.run(*with_schema(command), "count")
    assert (done.code, done.out, done.err) == (0, '{"n": 3}\n', "")
    assert '"minimum": 1' in server.requests[0].body["messages"][0]["content"]


def test_what_does_not_fit_goes_back_to_the_model(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer("It is 3.")
    server.answer('{"n": "3"}')
    server.answer('```json\n{"n": 3}\n```')
    done = command.run(*with_schema(command), "--output", "json", "count")
    result = result_of(done)
    assert (result["text"], result["data"], result["turns"]) == ('{"n": 3}', {"n": 3}, 3)
    said = [request.body["messages"][-1]["content"] for request in server.requests]
    assert "it is no JSON" in said[1]
    assert "$.n: expected integer, got string" in said[2]
    assert server.refusals == []


def test_it_goes_back_three_times_at_most(command: Command, server: FakeServer):
    command.use_server(server.url)
    for _ in range(6):
        server.answer("no")
    done = command.run(*with_schema(command), "count")
    assert (done.code, done.out, len(server.requests)) == (1, "", 4)
    assert "does not fit the schema" in done.err


def test_a_limit_holds_for_the_corrections_too(command: Command, server: FakeServer):
    command.use_server(server.url)
    for _ in range(6):
        server.answer("no")
    done = command.run(*with_schema(command), "--output", "json", "--max-turns", "2", "count")
    assert (done.code, len(server.requests)) == (3, 2)
    assert result_of(done)["stop_reason"] == "max_turns"


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ("{", "schema.json is no JSON"),
        ('{"properties": {"a": {"type": "int"}}}', "schema.json: $.properties.a.type: there is no type 'int'"),
        ("[]", "schema.json: $: a schema is an object"),
        ('{"$dynamicRef": "#x"}', "schema.json: $.$dynamicRef: this keyword is not understood"),
    ],
)
def test_a_schema_that_is_none_is_told_before_anything_is_sent(command: Command, schema: str, says: str):
    done = command.run(*with_schema(command, schema), "--output", "json", "hi")
    assert (done.code, says in done.err, says in result_of(done)["error"]) == (2, True, True), done.err
    missing = command.run("run", "--schema", "nowhere.json", "hi")
    assert (missing.code, "cannot be read" in missing.err) == (2, True)


@pytest.mark.parametrize(
    ("limit", "requests", "says"),
    [
        (["--max-turns", "2"], 2, "stopped after 2 turns"),
        (["--max-tokens", "200"], 2, "stopped after 214 tokens"),
        (["--max-cost", "0.2"], 2, "stopped after $0.2140"),
        (["--max-cost", "0"], 1, "stopped after $0.1070"),
    ],
)
def test_a_limit_ends_a_run_in_order(command: Command, server: FakeServer, limit: list[str], requests: int, says: str):
    use_priced_server(command, server)
    for _ in range(requests):
        server.answer(Call("bash", {"command": "true"}))
    done = command.run("run", "--output", "json", *limit, "go")
    result = result_of(done)
    assert (done.code, len(server.requests)) == (3, requests)
    assert says in done.err
    assert (result["stop_reason"], result["turns"]) == (limit[0].removeprefix("--").replace("-", "_"), requests)
    server.answer("done")
    assert command.run("run", "--continue", "go on").out == "done\n"
    assert server.refusals == []


def test_a_limit_that_stops_nothing_for_want_of_prices_is_told(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer("ok")
    done = command.run("run", "--max-cost", "1", "go")
    assert (done.code, done.err) == (0, "agentcli: there are no prices of fake/m1, so --max-cost stops nothing\n")
    server.answer(Call("bash", {"command": "true"}))
    done = command.run("run", "--max-cost", "0", "go")
    assert (done.code, "no prices" in done.err) == (3, False)


def test_a_timeout_ends_the_command_that_runs(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Call("bash", {"command": "touch started; sleep 60"}))
    done = command.run("run", "--output", "json", "--timeout", "1.5", "go")
    assert (done.code, result_of(done)["stop_reason"]) == (3, "timeout")
    assert "stopped after 1.5 s" in done.err
    assert (command.folder / "started").exists()
    server.answer("on we go")
    assert command.run("run", "--continue", "go on").out == "on we go\n"
    assert server.refusals == []


@pytest.mark.parametrize("option", [["--timeout", "nan"], ["--timeout", "inf"], ["--max-cost", "nan"], ["--timeout", "0"], ["--max-cost", "-1"], ["--max-tokens", "0"]])  # fmt: skip
def test_a_limit_that_is_none_is_a_usage_error(command: Command, option: list[str]):
    done = command.run("run", *option, "hi")
    assert (done.code, option[0] in done.err) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("output", ["json", "events"])
def test_a_signal_is_a_result_too(command: Command, server: FakeServer, number: signal.Signals, output: str):
    command.use_server(server.url)
    marker = f"7{os.getpid() % 100000}.{number}"
    server.answer(Call("bash", {"command": f"sleep {marker} & touch started; sleep {marker}"}))
    process = command.start("run", "--output", output, "go")
    command.wait_for("started")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    result = result_of(Finished(process.returncode, out, err))
    assert process.returncode == 128 + number
    assert (result["stop_reason"], result["error"]) == ("aborted", f"stopped by {number.name}")
    assert not with_command(f"sleep {marker}")
    server.answer("on we go")
    assert command.run("run", "--continue", "continue").out == "on we go\n"
    assert server.refusals == []


def test_a_signal_while_standard_input_is_read_is_a_result_too(command: Command):
    process = command.start("run", "--output", "json", "-", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write("some of it")
    process.stdin.flush()
    wait_until(lambda: waiting_in(process.stdin) == 0)
    process.send_signal(signal.SIGINT)
    out = process.stdout.read()  # type: ignore[union-attr]
    assert process.wait(20) == 130
    assert json.loads(out)["error"] == "stopped by SIGINT"
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()  # type: ignore[union-attr]


@pytest.mark.parametrize("output", ["text", "events"])
def test_a_signal_ends_a_run_whose_reader_does_not_read(command: Command, server: FakeServer, output: str):
    command.use_server(server.url)
    server.answer(Reply.of("x" * 3_000_000, piece=3000))
    server.answer("never asked for")
    process = command.start("run", "--output", output, "go")
    wait_until(lambda: waiting_in(process.stdout) >= 1 << 15)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 143
    process.communicate()
    assert command.transcript()[0] == "user: go"


@pytest.mark.parametrize("output", ["text", "json", "events"])
def test_a_reader_that_goes_away_ends_the_run_quietly(command: Command, server: FakeServer, output: str):
    command.use_server(server.url)
    server.answer(Reply.of("many words " * 2000, delay=0.001))
    process = command.start("run", "--output", output, "go")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(20) == 141
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


def test_nothing_is_asked_for_a_reader_that_is_gone_already(command: Command, server: FakeServer):
    command.use_server(server.url)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [AGENTCLI, "run", "-o", "events", "go"],
        stdout=writing, stderr=subprocess.PIPE, cwd=command.folder, env=command.environment, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr, server.requests) == (141, b"", [])


@pytest.mark.parametrize("output", ["text", "json", "events"])
def test_a_full_disk_behind_stdout_is_told(command: Command, output: str):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [AGENTCLI, "run", "--output", output, "--no-session", "run echo hi"],
            stdout=full, stderr=subprocess.PIPE, cwd=command.folder, env=command.environment, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "could not be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_json_on_a_terminal_has_nothing_that_it_would_obey(command: Command, server: FakeServer):
    import pexpect

    command.use_server(server.url)
    server.answer("c1 \x9b31m and \u202e reversed")
    child = pexpect.spawn(str(AGENTCLI), ["run", "-o", "json", "go"], cwd=str(command.folder), env=command.environment, timeout=20)  # type: ignore[arg-type]  # fmt: skip
    out = child.read().decode()
    child.close()
    assert not set(out) & {"\x9b", "\u202e"}
    assert json.loads(out)["text"] == "c1 \x9b31m and \u202e reversed"


def test_a_plain_run_imports_nothing_for_programs(command: Command):
    code = (
        "import sys; sys.argv = ['agentcli', 'run', '--no-session', 'run true']\n"
        "from agentcli.__main__ import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*(name for name in sys.modules if name.startswith('agentcli.headless')), file=sys.stderr)"
    )
    done = subprocess.run(
        [os.fspath(AGENTCLI.with_name("python")), "-c", code],
        cwd=command.folder, env=command.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = {name.removeprefix("agentcli.headless.") for name in done.stderr.splitlines()[-1].split()}
    assert loaded - {"agentcli.headless"} == {
        "exit_codes", "output_format", "run", "signals", "stdin", "stdout_writer", "text_output",
    }  # fmt: skip


def test_every_line_is_what_the_published_schema_says(command: Command, server: FakeServer):
    from agentcli.headless.json_schema import JsonSchema
    from agentcli.headless.rpc.schema import rpc_schema

    command.use_server(server.url)
    server.answer(Reply.error(529, {"error": {"message": "overloaded"}}))
    server.answer(
        Call("write", {"path": "a.txt", "content": "x"}), Call("bash", {"command": "seq 3; sleep 0.2; seq 3"})
    )
    server.answer("ok")
    definitions = rpc_schema()["$defs"]
    either = {"$defs": definitions, "anyOf": [{"$ref": "#/$defs/Event"}, {"$ref": "#/$defs/Result"}]}
    schema = JsonSchema(either)
    for line in lines_of(command.run("run", "--output", "events", "go").out):
        assert schema.validation_errors(line) == [], line


def test_a_second_signal_ends_what_does_not_end_by_itself(command: Command, server: FakeServer):
    command.use_server(server.url)
    marker = f"5{os.getpid() % 100000}"
    stubborn = f"trap '' TERM INT HUP; touch started; while :; do sleep {marker}; done"
    server.answer(Call("bash", {"command": stubborn}))
    process = command.start("run", "go")
    command.wait_for("started")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert process.returncode in (130, 143)
    assert "Traceback" not in err
    assert not with_command(f"sleep {marker}")
    assert command.transcript()[0] == "user: go"
