"""`agentcli rpc`: another program drives whole sessions, and every line is what the published schema says."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.headless.json_schema import JsonSchema
from agentcli.headless.rpc.schema import rpc_schema
from tests.cli.command import AGENTCLI, Command
from tests.docs.rpc_client import RpcClient
from tests.fake_server import Call, FakeServer, Reply
from tests.tools.processes import with_command

Open = Callable[..., RpcClient]
SCHEMA = rpc_schema()
LINE = JsonSchema(SCHEMA)


@pytest.fixture
def rpc(command: Command, server: FakeServer) -> Iterator[Open]:
    """`rpc(*arguments)` starts a client whose model is the server's. It asks no permissions unless it is told to."""
    command.use_server(server.url, '[models."fake/m2"]\nreasoning = true')
    opened: list[RpcClient] = []

    def start(*arguments: str, mode: str = "auto") -> RpcClient:
        words = [str(AGENTCLI), "rpc", "--permission-mode", mode, *arguments]
        client = RpcClient(*words, cwd=command.folder, env=command.environment, stderr=subprocess.PIPE)
        watch = threading.Timer(60, client.process.kill)
        watch.daemon = True
        watch.start()
        opened.append(client)
        return client

    yield start
    for client in opened:
        if client.process.poll() is None:
            client.close()
        assert client.process.stderr is not None
        assert client.process.stderr.read() == b""
        client.process.stderr.close()
        for line in client.events:
            check(line)


def check(line: dict[str, Any]) -> None:
    assert LINE.validation_errors(line) == [], line
    data = f"Data.{line['command']}" if line["type"] == "response" and line["success"] else ""
    if data in SCHEMA["$defs"]:
        schema = JsonSchema({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{data}"})
        assert schema.validation_errors(line["data"]) == [], line


def texts(client: RpcClient) -> list[str]:
    messages = client.call("get_messages")["messages"]
    return [f"{each['role']}: {''.join(block.get('text', '') for block in each['content'])}" for each in messages]


def test_a_whole_session(rpc: Open, server: FakeServer, command: Command):
    """Prompt, steer in mid-tool, abort, fork, go back, resume."""
    client = rpc()
    assert client.wait_for("session")["cwd"] == str(command.folder)
    server.answer(Call("bash", {"command": "touch started; while ! [ -e go ]; do sleep 0.01; done; echo done"}))
    server.answer("I heard you.")
    assert client.call("prompt", message="work")["disposition"] == "started"
    command.wait_for("started")
    assert client.call("get_state")["is_streaming"]
    steered = client.call("steer", message="be quick")
    assert client.wait_for("queue_update")["steering"] == [steered["queue_id"]]
    (command.folder / "go").touch()
    client.wait_for("agent_settled")
    assert texts(client) == [
        "user: work",
        "assistant: ",
        "toolResult: done",
        "user: be quick",
        "assistant: I heard you.",
    ]

    (command.folder / "started").unlink()
    server.answer(Call("bash", {"command": "touch started; sleep 60"}))
    client.call("prompt", message="sleep")
    command.wait_for("started")
    client.call("abort")
    assert client.wait_for("agent_settled")["aborted"]
    first = client.call("get_state")

    said = {each["text"]: each["entry_id"] for each in client.call("get_fork_messages")["messages"]}
    forked = client.call("fork", entry_id=said["sleep"])
    assert (forked["text"], forked["session_id"] == first["session_id"]) == ("sleep", False)
    assert texts(client)[-1] == "assistant: I heard you."
    server.answer("Awake.")
    client.call("prompt", message="do not sleep")
    client.wait_for("agent_settled")

    moved = client.call("go_to", entry_id=said["be quick"])
    assert moved["text"] == "be quick"
    assert texts(client) == ["user: work", "assistant: ", "toolResult: done"]
    server.answer("Slowly, then.")
    client.call("prompt", message="take your time")
    client.wait_for("agent_settled")
    nodes = client.call("get_tree")["tree"]
    assert [node["text"] for node in nodes if node["is_leaf"]] == ["assistant: Slowly, then."]
    assert sum(not any(other["parent_id"] == node["id"] for other in nodes) for node in nodes) == 2

    assert client.call("switch_session", session_path=first["session_id"])["session_id"] == first["session_id"]
    assert "sleep" in texts(client)[-3]
    assert client.close() == 0
    again = rpc("--session", forked["session_id"])
    assert texts(again)[-1] == "assistant: Slowly, then."
    assert server.refusals == []


def test_the_events_of_a_session_are_its_file(rpc: Open, server: FakeServer, command: Command):
    client = rpc()
    server.answer(Call("bash", {"command": "echo hi"}))
    server.answer("one")
    client.call("prompt", message="go")
    client.wait_for("agent_settled")
    leaf = client.call("get_state")["leaf_id"]
    client.call("label", entry_id=leaf, label="here")
    client.call("set_session_name", name="a talk")
    client.call("bash", command="echo mine")
    client.call("go_to", entry_id=None)
    client.call("set_model", provider="fake", model_id="m2", thinking_level="high")
    server.answer("two")
    client.call("prompt", message="anew")
    client.wait_for("agent_settled")
    client.close()
    header = next(line for line in client.events if line["type"] == "session")
    entries = [line["entry"] for line in client.events if line["type"] == "entry_appended"]
    assert command.sessions() == [[header, *entries]]


def test_each_command_has_one_response_with_its_id(rpc: Open):
    client = rpc()
    for line in (
        '{"type": "get_state", "id": "a"}', '{"type":"get_queue"}', "nonsense", '{"type": "promt", "id": -1.5}', "", "  ",
        '{"type": "steer", "id": 3, "message": 4}', "[]", '{"id": "no type"}', '{"type": "get_state", "id": "last"}',
    ):  # fmt: skip
        client.process.stdin.write(line.encode() + b"\n")
    assert client.close() == 0
    told = [
        (line.get("id"), line["command"], line["success"], line.get("error", "")[:40])
        for line in client.events
        if line["type"] == "response"
    ]
    assert told == [
        ("a", "get_state", True, ""),
        (None, "get_queue", True, ""),
        (None, "parse", False, "the line is no JSON: Expecting value (ch"),
        (-1.5, "promt", False, "there is no command `promt`; did you mea"),
        (3, "steer", False, "Expected `str`, got `int` - at `$.messag"),
        (None, "parse", False, "a command is a JSON object, as in {\"type"),
        ("no type", "parse", False, "Object missing required field `type`"),
        ("last", "get_state", True, ""),
    ]  # fmt: skip


def test_a_prompt_is_answered_when_it_is_known_what_becomes_of_it(rpc: Open, server: FakeServer, command: Command):
    client = rpc("--no-session")
    server.answer(Reply.of("slow", first_delay=30))
    assert client.call("prompt", message="a")["disposition"] == "started"
    with pytest.raises(RuntimeError, match="streaming_behavior"):
        client.call("prompt", message="b")
    queued = client.call("prompt", message="b", streaming_behavior="follow_up")
    assert queued["disposition"] == "queued"
    assert client.call("get_queue")["follow_up"][0]["id"] == queued["queue_id"]
    client.call("abort")
    client.wait_for("agent_settled")
    assert client.call("get_state")["pending_message_count"] == 1


def test_what_is_pipelined_is_done_in_order(rpc: Open, server: FakeServer):
    client = rpc()
    server.answer("first")
    server.answer("second")
    client.send("set_session_name", name="piped")
    client.send("prompt", message="one")
    client.send("follow_up", message="two")
    assert client.call("get_state")["session_name"] == "piped"
    client.wait_for("agent_settled")
    assert texts(client) == ["user: one", "assistant: first", "user: two", "assistant: second"]


def test_the_queue_is_edited_moved_and_taken_back(rpc: Open, server: FakeServer):
    client = rpc()
    a, b, c = (client.call("follow_up", message=text)["queue_id"] for text in "abc")
    client.call("edit_queued", queue_id=a, message="A", images=[])
    client.call("move_queued", queue_id=c, position=0)
    assert client.call("remove_queued", queue_id=b)["message"]["content"] == [{"type": "text", "text": "b"}]
    waiting = client.call("get_queue")["follow_up"]
    assert [(item["id"], item["message"]["content"][0]["text"]) for item in waiting] == [(c, "c"), (a, "A")]
    with pytest.raises(RuntimeError, match=f"no message {b} waits any more"):
        client.call("edit_queued", queue_id=b, message="late")
    assert [item["id"] for item in client.call("clear_queue")["follow_up"]] == [c, a]
    assert client.call("get_queue") == {"steering": [], "follow_up": []}


def test_what_was_queued_comes_back_when_the_session_is_left(rpc: Open):
    client = rpc()
    client.call("steer", message="never said")
    left = client.call("new_session")["undelivered"]["steering"]
    assert left[0]["message"]["content"][0]["text"] == "never said"


def test_a_call_waits_for_the_answer_to_its_request(rpc: Open, server: FakeServer, command: Command):
    client = rpc(mode="ask")
    for verdict in ("allow", "deny"):
        server.answer(Call("bash", {"command": f"touch {verdict}"}))
        server.answer("ok")
        client.call("prompt", message="go")
        request = client.wait_for("permission_request")
        assert request["arguments"] == {"command": f"touch {verdict}"}
        assert client.call("get_state")["permission_requests"][0]["id"] == request["id"]
        client.call("answer_permission", request_id=request["id"], verdict=verdict, reason="not today")
        client.wait_for("agent_settled")
        with pytest.raises(RuntimeError, match="no permission request"):
            client.call("answer_permission", request_id=request["id"], verdict="allow")
    assert [path.name for path in command.folder.iterdir()] == ["allow"]
    assert "not today" in texts(client)[-2]


def test_models_and_thinking(rpc: Open, server: FakeServer):
    client = rpc()
    models = client.call("get_available_models")["models"]
    assert "fake" in {model["provider"] for model in models}
    chosen = client.call("set_model", provider="fake", model_id="m2")
    assert chosen["model"]["id"] == "m2"
    assert "high" in client.call("get_available_thinking_levels")["levels"]
    assert client.call("set_thinking_level", level="max")["level"] == "high"
    client.wait_for("thinking_level_changed")
    server.answer("ok")
    client.call("prompt", message="hi")
    client.wait_for("agent_settled")
    body = server.requests[0].body
    assert (body["model"], body["reasoning_effort"]) == ("m2", "high")
    with pytest.raises(RuntimeError, match="OPENAI_API_KEY"):
        client.call("set_model", provider="openai", model_id="gpt-5")


def test_commands_of_the_person(rpc: Open, server: FakeServer, command: Command):
    client = rpc()
    done = client.call("bash", command="echo one; exit 3")
    assert (done["output"], done["exit_code"]) == ("one", 3)
    client.send("bash", command="touch started; sleep 60", exclude_from_context=True)
    command.wait_for("started")
    with pytest.raises(RuntimeError, match="still running"):
        client.call("bash", command="true")
    client.call("abort_bash")
    assert client.wait_for("bash_execution_end")["message"]["cancelled"]
    server.answer("ok")
    client.call("prompt", message="hi")
    client.wait_for("agent_settled")
    said = [message["content"] for message in server.requests[0].body["messages"] if message["role"] == "user"]
    assert "echo one" in said[0]
    assert not any("sleep" in text for text in said)


def test_sessions_are_listed_searched_cloned_and_exported(rpc: Open, server: FakeServer, command: Command):
    client = rpc()
    server.answer("about horses")
    client.call("prompt", message="tell me")
    client.wait_for("agent_settled")
    clone = client.call("clone")
    assert texts(client) == ["user: tell me", "assistant: about horses"]
    assert len(client.call("list_sessions")["sessions"]) == 2
    assert "horses" in client.call("list_sessions", search="horses", all=True)["sessions"][0]["excerpt"]
    assert client.call("list_sessions", search="zebras")["sessions"] == []
    page = Path(client.call("export_html", output_path="talk.html")["path"])
    assert "about horses" in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600
    entries = client.call("get_entries")["entries"]
    assert client.call("get_entries", since=entries[-2]["id"])["entries"] == entries[-1:]
    stats = client.call("get_session_stats")
    assert (stats["session"]["user_messages"], stats["session"]["input_tokens"]) == (1, 100)
    assert client.call("get_last_assistant_text") == {"text": "about horses"}
    assert client.call("get_commands") == {"commands": []}
    assert client.call("get_state")["session_file"] == clone["session_file"]


def test_what_cannot_be_done_is_a_failure_and_not_the_end(rpc: Open):
    client = rpc()
    for type, fields, says in (
        ("fork", {"entry_id": "nope"}, "there is no entry nope"),
        ("go_to", {"entry_id": "nope"}, "there is no entry nope"),
        ("switch_session", {"session_path": "nope"}, "there is no session nope"),
        ("compact", {}, "nothing"),
        ("set_model", {"provider": "nope", "model_id": "x"}, "no model matches"),
        ("export_html", {"output_path": "no/such/folder.html"}, "cannot write"),
        ("bash", {"command": "a\0b"}, "NUL"),
    ):
        with pytest.raises(RuntimeError, match=says):
            client.call(type, **fields)
    assert client.call("get_state")["message_count"] == 0


def test_a_compaction_goes_on_beside_other_commands(rpc: Open, server: FakeServer):
    client = rpc()
    for number in range(6):
        server.answer(f"answer {number}")
        client.call("prompt", message=f"question {number} " + "words " * 8000)
        client.wait_for("agent_settled")
    server.answer(Reply.of("the summary", first_delay=0.5))
    client.send("compact", custom_instructions="the words")
    client.wait_for("compaction_start")
    assert client.call("get_state")["is_compacting"]
    assert client.wait_for("compaction_end")["summary"].startswith("the summary")
    assert not client.call("get_state")["is_compacting"]


def test_a_line_that_is_too_long_is_passed_over(rpc: Open):
    client = rpc("--no-session")
    client.process.stdin.write(b'{"type": "steer", "message": "' + b"x" * (65 << 20) + b'"}\n')
    assert client.call("get_queue") == {"steering": [], "follow_up": []}
    (failure,) = [line for line in client.events if line["type"] == "response" and not line["success"]]
    assert failure["error"] == "a line is longer than 64 MiB; it was passed over"


def test_a_large_prompt_with_an_image_arrives_whole(rpc: Open, server: FakeServer, command: Command):
    command.use_server(server.url, '[models."fake/m1"]\ninput = ["text", "image"]')
    client = rpc()
    server.answer("seen")
    image = {"type": "image", "data": "iVBORw0KGgo" + "A" * 1_000_001, "mime_type": "image/png"}
    client.call("prompt", message="\u2028 \x00 💩" + "y" * 1_000_000, images=[image])
    client.wait_for("agent_settled")
    text, url = server.requests[0].body["messages"][-1]["content"]
    assert (len(text["text"]), len(url["image_url"]["url"])) == (1_000_005, len(image["data"]) + 22)


@pytest.mark.parametrize("end", ["eof", signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_end_comes_in_order(rpc: Open, server: FakeServer, command: Command, end: Any):
    client = rpc()
    marker = f"6{os.getpid() % 100000}"
    server.answer(Call("bash", {"command": f"sleep {marker} & touch started; sleep {marker}"}))
    client.call("prompt", message="go")
    command.wait_for("started")
    client.send("bash", command=f"touch mine; sleep {marker}")
    command.wait_for("mine")
    if end != "eof":
        client.process.send_signal(end)
    assert client.close() == (0 if end == "eof" else 128 + end)
    assert client.events[-1]["type"] in ("agent_settled", "response", "bash_execution_end", "entry_appended")
    assert not with_command(f"sleep {marker}")
    roles = [line.partition(":")[0] for line in command.transcript()]
    assert roles[:3] == ["user", "assistant", "toolResult"]
    assert sum(line["type"] == "response" and line["command"] == "bash" for line in client.events) == 1
    again = rpc("--continue")
    server.answer("on we go")
    again.call("prompt", message="on")
    again.wait_for("agent_settled")
    assert server.refusals == []


def test_a_program_that_goes_away_without_a_word_ends_it(rpc: Open, server: FakeServer):
    client = rpc()
    server.answer(Reply.of("word " * 5000, delay=0.001))
    client.call("prompt", message="go")
    client.process.stdout.close()
    assert client.process.wait(20) == 141
    client.process.stdin.close()


def test_what_cannot_be_started_is_one_line(command: Command):
    done = command.run("rpc", "--model", "nope/x", input="")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("agentcli: no model matches")


def test_the_schema_is_published(command: Command):
    done = command.run("rpc", "--schema")
    schema = json.loads(done.out)
    assert schema == SCHEMA
    command_schema = JsonSchema({"$defs": schema["$defs"], "$ref": "#/$defs/Command"})
    assert command_schema.validation_errors({"type": "prompt", "id": 1, "message": "hi"}) == []
    assert command_schema.validation_errors({"type": "prompt", "id": 1, "mesage": "hi"})
    described = [each for each in schema["$defs"].values() if "additionalProperties" in each]
    assert all(each["description"] for each in described)


def test_it_starts_without_what_it_does_not_need(command: Command):
    code = (
        "import sys; sys.argv = ['agentcli', 'rpc', '--no-session']\n"
        "from agentcli.__main__ import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [os.fspath(AGENTCLI.with_name("python")), "-c", code], input='{"type": "get_state"}\n',
        cwd=command.folder, env=command.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not {"typer", "textual", "rich", "httpx", "difflib"} & set(done.stderr.split())
