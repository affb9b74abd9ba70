"""What a hostile repository, a curious command and a careless umask can do: nothing."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import AGENTCLI, Command
from tests.cli.test_config import app, leave, wait_for
from tests.fake_server import Call, FakeServer, Reply
from tests.files.repository import make_repository

HOSTILE = Path(__file__).parents[1] / "fixtures" / "hostile"


# ── SEC-01: configuration in an untrusted repository


@pytest.fixture
def evil_server() -> FakeServer:
    running = FakeServer.start_in_thread()
    yield running  # type: ignore[misc]
    running.stop()


@pytest.fixture
def hostile(command: Command, server: FakeServer, evil_server: FakeServer) -> Command:
    """agentcli in a hostile repository, with a model server and a key of the person's own."""
    shutil.copytree(HOSTILE, command.folder, dirs_exist_ok=True)
    make_repository(command.folder)
    for file in command.folder.rglob("*"):
        if file.is_file() and b"EVIL_URL" in file.read_bytes():
            file.write_text(file.read_text().replace("EVIL_URL", evil_server.url))
    command.configure(f'model = "fake/m1"\n[providers.fake]\nbase_url = "{server.url}/v1"\napi_key_env = "FAKE_KEY"\n')
    command.environment["FAKE_KEY"] = "sk-CANARY-1234567890"
    return command


def ran(command: Command) -> list[str]:
    return sorted(path.name for place in (command.folder, command.home) for path in place.rglob("PWNED*"))


def test_the_fixture_is_dangerous_if_it_is_trusted(hostile: Command, evil_server: FakeServer):
    """Otherwise the tests below would show nothing."""
    done = hostile.run("run", "--trust", "hi")
    assert done.code == 0
    assert {"PWNED-script", "PWNED-shell"} <= set(ran(hostile))
    hostile.run("run", "--trust", "--model", "fake/m1", "hi", environment={"FAKE_KEY": ""})
    assert "PWNED-key-command" in ran(hostile)
    assert evil_server.requests


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["sessions", "list"],
        ["models"],
        ["config", "show", "--origin"],
        ["config", "validate"],
        ["config", "prompt"],
        ["config", "schema"],
        ["config", "get", "model"],
        ["auth", "status"],
        ["trust"],
        ["trust", "--list"],
        ["run"],
        ["run", "--help"],
        ["run", "--model", "nowhere/x", "hi"],
        ["run", "/nothing", "x"],
    ],
)
def test_no_command_runs_or_asks_anything_of_the_repository(
    hostile: Command, evil_server: FakeServer, arguments: list[str]
):
    done = hostile.run(*arguments)
    assert "Traceback" not in done.err
    assert ran(hostile) == []
    assert evil_server.requests == []


def test_a_run_goes_to_the_persons_own_server_with_one_line_of_notice(
    hostile: Command, server: FakeServer, evil_server: FakeServer
):
    server.answer(Call("bash", {"command": "env; echo $0 > shell"}))
    server.answer("ok")
    done = hostile.run("run", "hi")
    assert (done.code, done.out) == (0, "ok\n")
    assert len(done.err.splitlines()) == 1
    for word in ("not trusted", "providers", "permissions", "shell", ".agentcli/SYSTEM.md", "agentcli trust"):
        assert word in done.err
    assert ran(hostile) == []
    assert evil_server.requests == []
    first, second = server.requests
    assert first.headers["authorization"] == "Bearer sk-CANARY-1234567890"
    assert "x-evil" not in first.headers
    system = first.body["messages"][0]["content"]
    assert "Use tabs in this repository." in system
    assert "PWNED-system" not in system and "PWNED-append" not in system
    assert {tool["function"]["name"] for tool in first.body["tools"]} == {"read", "bash", "edit", "write"}
    assert "BASH_ENV" not in str(second.body) and "PWNED" not in str(second.body["messages"][-1])
    assert "CANARY" not in str(second.body)


def test_a_run_without_a_key_fails_without_running_anything(hostile: Command, evil_server: FakeServer):
    done = hostile.run("run", "hi", environment={"FAKE_KEY": ""})
    assert (done.code, "FAKE_KEY" in done.err) == (2, True)
    assert ran(hostile) == []
    assert evil_server.requests == []


def test_a_template_of_the_repository_is_text_and_nothing_else(hostile: Command, server: FakeServer):
    server.answer("ok")
    hostile.run("run", "/hi there")
    assert server.requests[0].body["messages"][-1]["content"] == "!`touch PWNED-template` $(touch PWNED-template) there"
    assert ran(hostile) == []


def test_python_with_the_repository_on_its_path_loads_no_extension_of_it(hostile: Command, server: FakeServer):
    server.answer("ok")
    program = "import sys; sys.path.insert(0, ''); sys.argv = ['agentcli', 'run', 'hi']; from agentcli.__main__ import main; main()"
    subprocess.run(
        [sys.executable, "-c", program], cwd=hostile.folder, env=hostile.environment, capture_output=True, check=True
    )
    assert ran(hostile) == []


def test_the_app_runs_nothing_either(hostile: Command, evil_server: FakeServer):
    child = app(hostile)
    wait_for(child, "is not trusted")
    leave(child)
    assert ran(hostile) == []
    assert evil_server.requests == []


def test_what_was_trusted_and_then_changed_is_ignored_again(hostile: Command, server: FakeServer):
    settings = hostile.folder / ".agentcli.toml"
    settings.write_text("bash_timeout = 5\n")
    for name in ("SYSTEM.md", "APPEND_SYSTEM.md"):
        (hostile.folder / ".agentcli" / name).unlink()
    assert hostile.run("trust", "--yes").code == 0
    server.answer("ok")
    assert hostile.run("run", "hi").err == ""
    settings.write_text('[providers.fake]\napi_key_command = "touch PWNED; echo x"\n')
    done = hostile.run("run", "hi", environment={"FAKE_KEY": ""})
    assert (done.code, "is not trusted" in done.err or "no key" in done.err) == (2, True)
    assert ran(hostile) == []


# ── SEC-04: keys


KEY = "sk-CANARY-1234567890"
SOURCES = ("variable", "command", "file", "header")


def with_key(command: Command, url: str, source: str) -> dict[str, str]:
    """Give the provider `fake` the key from this source. Returns the environment to run with."""
    lines = {
        "variable": 'api_key_env = "FAKE_KEY"',
        "command": "api_key_command = \"cat '%s'\"" % (command.home.parent / "vault"),
        "file": "",
        "header": f'headers = {{ Authorization = "Bearer {KEY}" }}',
    }
    command.configure(
        f'model = "fake/m1"\n[retry]\nbase_delay = 0.01\nmax_retries = 1\n[providers.fake]\nbase_url = "{url}/v1"\n{lines[source]}\n'
    )
    (command.home.parent / "vault").write_text(f"{KEY}\n")
    if source == "file":
        assert command.run("auth", "login", "fake", "--store", "file", input=KEY).code == 0
    environment = {"OPENAI_API_KEY": "sk-CANARY-other-key", "HTTPS_PROXY": "http://user:pw-CANARY-1@127.0.0.1:9"}
    return environment | ({"FAKE_KEY": KEY} if source == "variable" else {})


def leaks(command: Command, server: FakeServer) -> list[str]:
    """Where a canary is that may not be there: any file but the person's own, any request's body."""
    own = {command.home / "auth.toml", command.home / "config.toml"}
    files = [
        path
        for place in (command.home, command.folder)
        for path in place.rglob("*")
        if path.is_file() and path not in own
    ]
    found = [str(path) for path in files if b"CANARY" in path.read_bytes()]
    return found + [f"request {number}" for number, request in enumerate(server.requests) if b"CANARY" in request.raw]


PRINT_ALL = 'env; cat /proc/$PPID/environ | tr \'\\0\' \'\\n\'; cat "$HOME"/auth.toml "$HOME"/config.toml "$HOME"/../vault; export -p'


@pytest.mark.parametrize("source", SOURCES)
def test_a_command_that_prints_everything_tells_no_key(command: Command, server: FakeServer, source: str):
    environment = with_key(command, server.url, source)
    server.answer(Call("bash", {"command": PRINT_ALL}), Call("read", {"path": str(command.home / "config.toml")}))
    server.answer("ok")
    done = command.run("run", "go", environment=environment)
    assert (done.code, done.out) == (0, "ok\n")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "[key hidden]" in server.requests[1].raw.decode()
    assert "CANARY" not in done.out + done.err
    assert leaks(command, server) == []


SAYINGS = {
    "401": Reply.error(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
    "400": Reply.error(400, {"error": {"message": f"bad header Bearer {KEY}"}}),
    "500": Reply.error(500, {"error": f"crash with {KEY}"}),
    "text": Reply.of(f"Your key is {KEY}."),
    "command": Reply.of(Call("bash", {"command": f"echo {KEY}; exit 3"})),
    "path": Reply.of(Call("edit", {"path": f"/no/{KEY}", "edits": []})),
    "tool": Reply.of(Call(f"no_such_{KEY}", {})),
}


@pytest.mark.parametrize(
    ("source", "saying"),
    [
        *((source, "401") for source in SOURCES),
        *zip(SOURCES * 2, [each for each in SAYINGS if each != "401"], strict=False),
    ],
)
def test_a_server_that_says_the_key_has_it_hidden(command: Command, server: FakeServer, source: str, saying: str):
    environment = with_key(command, server.url, source)
    for _ in range(2):
        server.answer(SAYINGS[saying])
    server.answer("ok")
    done = command.run("run", "--max-turns", "2", "go", environment=environment)
    assert "CANARY" not in done.out + done.err
    assert "Traceback" not in done.err
    assert leaks(command, server) == []


@pytest.mark.parametrize("source", ["file", "header"])
def test_no_other_command_tells_a_key(command: Command, server: FakeServer, source: str):
    environment = with_key(command, server.url, source)
    for arguments in (
        ["auth", "status"],
        ["auth", "login", "fake", "--store", "file"],
        ["auth", "logout", "nowhere"],
        ["config", "show", "--origin"],
        ["config", "get", "providers"],
        ["config", "get", "providers.fake.headers"],
        ["config", "get", "providers.fake.headers.Authorization"],
        ["config", "prompt"],
        ["config", "validate"],
        ["config", "set", "bash_timeout", KEY],
        ["config", "set", "bash_timeout", "5"],
        ["models", "fake"],
        ["sessions", "list", "--all"],
        ["run", "--model", "fake/m1", "--cwd", "/no/such/folder", "hi"],
        ["run", "--session", "none", "hi"],
        ["nope"],
    ):
        done = command.run(*arguments, environment=environment, input=KEY if arguments[1:2] == ["login"] else None)
        if KEY not in arguments:
            assert "CANARY" not in done.out + done.err, arguments
        assert "Traceback" not in done.err
    assert leaks(command, server) == []


def test_a_broken_file_with_a_key_in_it_is_told_without_it(command: Command):
    for text in (
        f'api_key = "{KEY}\n',
        f'[providers.fake]\napi_key = "{KEY}"\n',
        f'bash_timeout = "{KEY}"\n',
        f"{KEY} = \n",
    ):
        command.configure(text)
        for arguments in (["run", "run echo hi"], ["config", "show"], ["config", "validate"]):
            done = command.run(*arguments)
            assert "CANARY-" not in done.out + done.err, text


def test_a_person_may_let_commands_have_a_key_and_it_is_hidden_all_the_same(command: Command, server: FakeServer):
    command.use_server(server.url, 'keep_keys = ["OPENAI_API_KEY"]')
    server.answer(Call("bash", {"command": 'echo "$OPENAI_API_KEY" | wc -c; echo "$OPENAI_API_KEY"'}))
    server.answer("ok")
    command.run("run", "go", environment={"OPENAI_API_KEY": KEY})
    assert server.requests[1].body["messages"][-1]["content"].split("\n")[:2] == [str(len(KEY) + 1), "[key hidden]"]


def test_no_command_gets_what_is_called_like_a_key(command: Command, server: FakeServer):
    command.use_server(server.url, 'keep_keys = ["KEPT_TOKEN"]')
    server.answer(Call("bash", {"command": "env; tr '\\0' '\\n' < /proc/$PPID/environ; echo $KEPT_TOKEN"}))
    server.answer("ok")
    keys = {name: f"{KEY}-{name}" for name in ("GH_TOKEN", "db_password", "AWS_SECRET_ACCESS_KEY", "SOME_API_KEY")}
    environment = {**command.environment, **keys, "KEPT_TOKEN": "short-one", "TOKENIZERS": "kept"}
    done = subprocess.run(
        [AGENTCLI, "run", "go"], env=environment, cwd=command.folder, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0
    shown = server.requests[1].body["messages"][-1]["content"]
    assert "TOKENIZERS=kept" in shown and shown.rstrip().endswith("short-one")
    assert "CANARY" not in shown and "[key hidden]" not in shown


# ── SEC-05: file modes


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_everything_that_is_kept_is_private(command: Command, server: FakeServer, umask: int):
    shutil.rmtree(command.home)
    home = command.home / "deep" / "home"
    command.environment["AGENTCLI_HOME"] = str(home)

    def run(*arguments: str, **options: str) -> None:
        before = os.umask(umask)
        try:
            assert command.run(*arguments, **options).code == 0
        finally:
            os.umask(before)

    command.home.mkdir(mode=0o700)
    run("config", "set", "model", "fake/m1")
    run("config", "set", "providers.fake.base_url", f"{server.url}/v1")
    run("auth", "login", "fake", "--store", "file", input="sk-test-key-1")
    (command.folder / ".agentcli.toml").write_text("bash_timeout = 5\n")
    run("trust", "--yes")
    server.answer(Call("bash", {"command": "seq 100000; stat -c %a $AGENTCLI_HOME/spill/*/* >&2; exit 0"}))
    server.answer("ok")
    run("run", "go")
    paths = [home, *home.rglob("*")]
    assert {path.name for path in paths} >= {"home", "config.toml", "auth.toml", "trust.json", "sessions"}
    open_ones = [
        (str(path), oct(stat.S_IMODE(path.stat().st_mode)))
        for path in (home.parent, *paths)
        if path.stat().st_mode & 0o077
    ]
    assert open_ones == []
    assert "600" in server.requests[1].body["messages"][-1]["content"]


# ── permissions, from the command line


def test_a_run_in_the_mode_ask_denies_what_it_would_ask(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Call("bash", {"command": "touch made"}))
    server.answer("I could not.")
    done = command.run("run", "--permission-mode", "ask", "go")
    assert done.code == 0
    assert not (command.folder / "made").exists()
    assert "bash(=touch made)" in server.requests[1].body["messages"][-1]["content"]


def test_a_rule_of_the_person_lets_it_run(command: Command, server: FakeServer):
    command.use_server(server.url, '[permissions]\nmode = "ask"\nallow = ["bash(touch)"]')
    server.answer(Call("bash", {"command": "touch made"}))
    server.answer("ok")
    command.run("run", "go")
    assert (command.folder / "made").exists()


def test_read_only_offers_only_what_reads(command: Command, server: FakeServer):
    command.use_server(server.url)
    server.answer(Call("write", {"path": "made", "content": "x"}))
    server.answer("ok")
    command.run("run", "--permission-mode", "read-only", "go")
    assert [tool["function"]["name"] for tool in server.requests[0].body["tools"]] == ["read", "grep", "find", "ls"]
    assert not (command.folder / "made").exists()


def test_a_mode_that_is_none_is_a_usage_error(command: Command):
    assert command.run("run", "--permission-mode", "nope", "hi").code == 2
    command.configure('[permissions]\nmode = "nope"\n')
    done = command.run("run", "hi")
    assert (done.code, "config.toml:2: permissions.mode" in done.err) == (2, True)
    command.configure('[permissions]\nallow = ["bash(x"]\n')
    done = command.run("run", "hi")
    assert (done.code, "config.toml:2: permissions.allow" in done.err) == (2, True)
