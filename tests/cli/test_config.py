"""`agentcli config`, `auth` and `trust`, and what a person meets when something in their files is wrong."""

import stat
from pathlib import Path

import msgspec
import pexpect
import pyte
import pytest

from tests.cli.command import AGENTCLI, Command
from tests.fake_server import FakeServer
from tests.waiting import wait_until

FILES = Path(__file__).parents[1] / "fixtures" / "config"


def app(command: Command, *arguments: str) -> "pexpect.spawn[str]":
    """The app on a terminal of its own."""
    return pexpect.spawn(
        str(AGENTCLI), list(arguments), cwd=str(command.folder), env=command.environment, encoding="utf-8",
        dimensions=(30, 100), timeout=30,
    )  # fmt: skip


def wait_for(child: "pexpect.spawn[str]", text: str) -> None:
    """Return when the screen shows a text, wherever it is wrapped."""
    screen = pyte.Screen(100, 30)
    stream = pyte.Stream(screen)

    def came() -> bool:
        stream.feed(child.read_nonblocking(65536, 30))
        return text.replace(" ", "") in "".join(screen.display).replace(" ", "")

    wait_until(came, seen=lambda: "\n".join(screen.display))


def leave(child: "pexpect.spawn[str]") -> None:
    child.sendcontrol("d")
    child.expect(pexpect.EOF)
    child.close()


# ── CONF-01


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        ("syntax_error.toml", 2, ""),
        ("wrong_type.toml", 2, "bash_timeout"),
        ("dup_key.toml", 2, ""),
        ("latin1.toml", 1, "UTF-8"),
    ],
)
def test_a_broken_file_is_one_line_with_file_line_and_key_and_stays_as_it_is(
    command: Command, name: str, line: int, says: str
):
    data = (FILES / name).read_bytes()
    file = command.home / "config.toml"
    file.write_bytes(data)
    for arguments in (
        ["run", "run echo hi"],
        ["config", "show"],
        ["config", "set", "model", "x"],
        ["models"],
        ["config", "validate"],
    ):
        done = command.run(*arguments)
        assert done.code == 2
        assert done.err.startswith(f"agentcli: {file}:{line}: ")
        assert says in done.err
        assert len(done.err.splitlines()) == 1
    assert file.read_bytes() == data


def test_a_file_that_cannot_be_read_is_told(command: Command):
    (command.home / "config.toml").mkdir()
    done = command.run("run", "hi")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "config.toml:1: cannot be read" in done.err


@pytest.mark.parametrize("name", ["bom_crlf.toml", "empty.toml"])
def test_a_bom_windows_line_ends_and_nothing_at_all_are_fine(command: Command, name: str):
    (command.home / "config.toml").write_bytes((FILES / name).read_bytes())
    done = command.run("run", "run echo hi")
    assert (done.code, done.out) == (0, "hi\n")


def test_unknown_keys_are_warnings_and_a_change_keeps_them(command: Command):
    file = command.home / "config.toml"
    file.write_bytes((FILES / "unknown_key.toml").read_bytes())
    done = command.run("run", "run echo hi")
    assert (done.code, done.out) == (0, "hi\n")
    assert "config.toml:2: unknown key not_a_real_key; it is ignored" in done.err
    assert "config.toml:3: unknown key future; it is ignored" in done.err
    assert command.run("config", "set", "bash_timeout", "5").code == 0
    text = file.read_text()
    assert "# a comment that must survive" in text and "not_a_real_key = 1" in text and "x = true" in text
    assert command.run("config", "get", "bash_timeout").out == "5.0\n"


def test_the_app_starts_with_the_defaults_and_says_what_is_wrong(command: Command):
    file = command.home / "config.toml"
    data = (FILES / "wrong_type.toml").read_bytes()
    file.write_bytes(data)
    child = app(command)
    wait_for(child, "config.toml:2: bash_timeout")
    leave(child)
    assert file.read_bytes() == data


# ── CONF-02


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (None, "FAKE_KEY"),
        ("", "FAKE_KEY"),
        (" \n", "FAKE_KEY"),
        ("sk-te\u028bst", "U+028B"),
        ("sk-\u200btest", "U+200B"),
    ],
)
def test_a_key_that_is_missing_or_cannot_be_one_makes_no_request(
    command: Command, server: FakeServer, key: str | None, says: str
):
    command.configure(f'model = "fake/m1"\n[providers.fake]\nbase_url = "{server.url}"\napi_key_env = "FAKE_KEY"\n')
    done = command.run("run", "hi", environment={} if key is None else {"FAKE_KEY": key})
    assert done.code == 2
    assert says in done.err and "FAKE_KEY" in done.err
    assert "sk-" not in done.err
    assert server.requests == []
    assert not list(command.home.glob("sessions/*/*"))


@pytest.mark.parametrize("source", ["variable", "command", "file"])
def test_a_key_is_trimmed_and_sent(command: Command, server: FakeServer, source: str):
    key_command = "api_key_command = \"printf '  sk-test-key \\n'\"" if source == "command" else ""
    command.configure(
        f'model = "fake/m1"\n[providers.fake]\nbase_url = "{server.url}"\napi_key_env = "FAKE_KEY"\n{key_command}\n'
    )
    if source == "file":
        stored = command.run("auth", "login", "fake", "--store", "file", input="  sk-test-key\n")
        assert (stored.code, stored.out) == (0, f"the key of fake is in {command.home}/auth.toml\n")
    server.answer("ok")
    environment = {"FAKE_KEY": "  sk-test-key \n"} if source == "variable" else {}
    assert command.run("run", "hi", environment=environment).out == "ok\n"
    assert server.requests[0].headers["authorization"] == "Bearer sk-test-key"


# ── config


def test_every_value_is_shown_with_its_origin(command: Command):
    command.configure(
        'bash_timeout = 5\n[providers.fake]\nbase_url = "http://x"\nheaders = { Authorization = "secret" }\n'
    )
    done = command.run("config", "show", "--origin", environment={"AGENTCLI_THINKING_LEVEL": "low"})
    lines = dict(line.split(" = ", 1) for line in done.out.splitlines())
    assert lines["bash_timeout"].split() == ["5.0", "#", f"{command.home}/config.toml:1"]
    assert lines["thinking_level"].split() == ['"low"', "#", "AGENTCLI_THINKING_LEVEL"]
    assert lines["retry.max_retries"].split() == ["3", "#", "default"]
    assert lines["providers.fake.base_url"].split()[0] == '"http://x"'
    assert "secret" not in done.out


def test_one_value_is_printed_as_a_script_wants_it(command: Command):
    command.configure('model = "a/b"\n')
    assert command.run("config", "get", "model").out == "a/b\n"
    assert command.run("config", "get", "retry").out.splitlines()[0] == "retry.max_retries = 3"
    assert command.run("config", "get", "thinking_level").out == ""
    done = command.run("config", "get", "nope")
    assert (done.code, done.err) == (2, "agentcli: there is no setting nope (agentcli config show lists them)\n")


def test_the_editor_is_opened_and_the_file_checked_afterwards(command: Command):
    editor = command.folder / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf "bash_timeout = \'x\'\\n" > "$1"\n')
    editor.chmod(0o755)
    done = command.run("config", "edit", environment={"VISUAL": str(editor)})
    assert (done.code, "config.toml:1: bash_timeout" in done.err) == (2, True)
    assert stat.S_IMODE((command.home / "config.toml").stat().st_mode) == 0o600
    done = command.run("config", "edit", environment={"VISUAL": "/no/such/editor"})
    assert (done.code, "/no/such/editor of $VISUAL is not there" in done.err) == (2, True)


def test_the_editor_of_the_settings_goes_before_that_of_the_environment(command: Command):
    editor = command.folder / "mine.sh"
    editor.write_text("#!/bin/sh\nshift; printf 'bash_timeout = 5\\n' > \"$1\"\n")
    editor.chmod(0o755)
    command.configure(f'external_editor = "{editor} --wait"\n')
    assert command.run("config", "edit", environment={"VISUAL": "/no/such/editor"}).code == 0
    assert (command.home / "config.toml").read_text() == "bash_timeout = 5\n"


def test_a_broken_file_can_be_edited(command: Command):
    command.configure("bash_timeout = \n")
    done = command.run("config", "edit", environment={"VISUAL": "rm"})
    assert (done.code, (command.home / "config.toml").exists()) == (0, False)


def test_validate_says_what_is_fine_and_fails_for_what_is_not(command: Command):
    assert command.run("config", "validate").code == 0
    command.configure("bash_timeout = 5\n")
    assert command.run("config", "validate").out == f"{command.home}/config.toml: fine\n"
    command.configure("bash_timeuot = 5\n")
    done = command.run("config", "validate")
    assert (done.code, "config.toml:1: unknown key bash_timeuot" in done.out) == (2, True)


def test_the_schema_knows_every_setting(command: Command):
    schema = msgspec.json.decode(command.run("config", "schema").out)
    settings = schema["$defs"]["Settings"]
    assert {"model", "retry", "providers", "permissions"} <= set(settings["properties"])
    assert "warnings" not in settings["properties"]
    assert settings["additionalProperties"] is False
    assert schema["$defs"]["PermissionMode"]["enum"] == ["ask", "auto", "read-only"]


def test_the_prompt_is_printed_with_what_each_part_costs(command: Command, server: FakeServer):
    (command.folder / "AGENTS.md").write_text("use tabs\n")
    long = command.run("config", "prompt").out
    assert "use tabs" in long and f"The folder: {command.folder}" in long
    short = command.run("config", "prompt", "--short").out.splitlines()
    parts = {line.split(maxsplit=1)[1]: int(line.split()[0]) for line in short}
    assert {"instructions", "folder", "tool bash", f"{command.folder}/AGENTS.md", "in all"} <= set(parts)
    assert parts.pop("in all") == sum(parts.values())
    command.use_server(server.url)
    server.answer("ok")
    command.run("run", "hi")
    for paragraph in server.requests[0].body["messages"][0]["content"].split("\n\n"):
        assert paragraph in long


# ── auth


def test_keys_are_listed_without_being_shown_and_can_be_removed(command: Command):
    environment = {"GROQ_API_KEY": "sk-CANARY-env-1"}
    command.run("auth", "login", "openai", "--store", "file", input="sk-CANARY-file-1\n")
    status = command.run("auth", "status", environment=environment)
    assert [line.split() for line in status.out.splitlines()] == [["openai", "auth.toml"], ["groq", "GROQ_API_KEY"]]
    assert command.run("auth", "logout", "openai").code == 0
    done = command.run("auth", "logout", "openai")
    assert (done.code, "no key of OpenAI is stored" in done.err) == (2, True)
    assert "no provider has a key" in command.run("auth", "status").out


@pytest.mark.parametrize(
    ("provider", "key", "says"),
    [
        ("openai", "", "no key to store"),
        ("openai", "sk-\u200bCANARY", "U+200B"),
        ("nowhere", "sk-CANARY", "no provider"),
    ],
)
def test_what_is_no_key_is_not_stored(command: Command, provider: str, key: str, says: str):
    done = command.run("auth", "login", provider, input=key)
    assert done.code == 2
    assert says in done.err
    assert "CANARY" not in done.err + done.out
    assert not (command.home / "auth.toml").exists()


def test_a_key_is_typed_without_an_echo(command: Command):
    child = app(command, "auth", "login", "openai", "--store", "file")
    child.expect("Key of OpenAI: ")
    child.sendline("sk-CANARY-typed")
    child.expect(pexpect.EOF)
    assert "CANARY" not in (child.before or "")
    assert "sk-CANARY-typed" in (command.home / "auth.toml").read_text()


# ── trust


def test_no_secret_of_the_settings_is_shown(command: Command):
    command.configure(
        """
environment = { GH_TOKEN = "CANARY-1", PLAIN = "shown" }
[providers.mine]
base_url = "https://user:CANARY-2@host/v1?sig=CANARY-3&plain=shown"
api_key_command = "printf CANARY-4"
headers = { X-Team = "CANARY-5" }
"""
    )
    keys = ["environment", "environment.GH_TOKEN", "providers.mine.base_url", "providers.mine.api_key_command"]
    said = [command.run("config", "show", "--origin"), *(command.run("config", "get", key) for key in keys)]
    for done in said:
        assert done.code == 0
        assert "CANARY" not in done.out + done.err
    assert "plain=shown" in said[3].out and 'environment.PLAIN = "shown"' in said[0].out


def test_an_address_that_is_none_is_one_line(command: Command):
    command.configure('model = "mine/m"\n[providers.mine]\nbase_url = "http://[x"\n')
    done = command.run("run", "hi")
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert "base_url" in done.err


def test_trust_shows_the_files_and_asks(command: Command):
    (command.folder / ".agentcli.toml").write_text("bash_timeout = 5\n")
    done = command.run("trust")
    assert (done.code, "bash_timeout = 5" in done.out, "--yes" in done.err) == (2, True, True)
    child = app(command, "trust")
    child.expect("bash_timeout = 5")
    child.expect("Trust this")
    child.sendline("y")
    child.expect("trusted as it is now")
    child.expect(pexpect.EOF)
    assert command.run("config", "get", "bash_timeout").out == "5.0\n"
    assert command.run("trust").out == "all files of this project are trusted as they are\n"
    assert command.run("trust", "--list").out == f"{command.folder}/.agentcli.toml\n"
    (command.folder / ".agentcli.toml").write_text("bash_timeout = 6\n")
    changed = command.run("config", "get", "bash_timeout")
    assert (changed.out, "not trusted" in changed.err) == ("300.0\n", True)
    assert command.run("config", "get", "bash_timeout", "--trust").out == "6.0\n"
    assert command.run("config", "get", "bash_timeout").out == "300.0\n"


def test_trust_can_be_declined_and_taken_back(command: Command):
    (command.folder / ".agentcli.toml").write_text("bash_timeout = 5\n")
    child = app(command, "trust")
    child.expect("Trust this")
    child.sendline("")
    child.expect("nothing was trusted")
    child.expect(pexpect.EOF)
    command.run("trust", "--yes")
    assert command.run("trust", "--remove").out == f"no longer trusted: {command.folder}/.agentcli.toml\n"
    assert command.run("config", "get", "bash_timeout").out == "300.0\n"


def test_where_there_is_nothing_to_trust_it_says_so(command: Command):
    assert command.run("trust").out == f"{command.folder} has no project files of agentcli\n"


def test_what_a_project_file_holds_cannot_move_the_terminal(command: Command):
    (command.folder / ".agentcli.toml").write_text("# \x1b]0;title\x07\x1b[2J\nbash_timeout = 5\n")
    assert "\x1b" not in command.run("trust").out


def test_a_provider_whose_settings_name_a_missing_variable_is_refused_before_anything_is_sent(
    command: Command, server: FakeServer
):
    command.use_server(server.url)
    file = command.home / "config.toml"
    file.write_text(file.read_text() + '[providers.fake.headers]\nAuthorization = "Bearer $NOPE"\n')
    done = command.run("run", "hi")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "NOPE" in done.err and "providers.fake.headers.Authorization" in done.err and f"{file}:" in done.err
    assert server.requests == [] and not (command.home / "sessions").exists()
    assert command.run("run", "--model", "offline", "run echo hi").out == "hi\n"
    server.answer("hello")
    assert command.run("run", "hi", environment={"NOPE": "sk-secret-1"}).out == "hello\n"
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret-1"
