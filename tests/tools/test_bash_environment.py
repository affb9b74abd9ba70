"""What commands find around them: no keys, no editor, no pager, no prompt, the right folder."""

import os
import shlex
from pathlib import Path

import pytest

from agentcli.tools.bash.process_manager import names_its_folder
from tests.tools.conftest import Tools
from tests.tools.processes import unique, with_command

SLEEP = unique(612)


async def test_provider_keys_are_not_in_the_environment_of_commands(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-CANARY-1234567890")
    monkeypatch.setenv("other_api_key", "sk-CANARY-0987654321")
    monkeypatch.setenv("HARMLESS", "stays")
    tools.options.hidden_env = frozenset({"SOME_API_KEY", "OTHER_API_KEY"})
    answer = await tools.bash("env")
    assert "CANARY" not in answer.text
    assert "HARMLESS=stays" in answer.text


async def test_extra_variables_win(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHO", "outside")
    tools.options.extra_env = {"WHO": "options", "PAGER": "less"}
    assert (await tools.bash("echo $WHO $PAGER")).text == "options less"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ('read -p "Name? " x; echo "rc=$? got=[$x]"', "rc=1 got=[]"),
        ("cat; echo after-cat", "after-cat"),
        ("python3; echo after-python", "after-python"),
        ("GIT_ASKPASS= git ls-remote https://127.0.0.1:9/none.git; echo rc=$?", "rc=128"),
        ("read x < /dev/tty; echo rc=$?", "rc=1"),
        ("bash -i -c 'read x'; echo ended", "ended"),
    ],
)
async def test_nothing_waits_for_a_person(tools: Tools, command: str, said: str) -> None:
    answer = await tools.bash(command, timeout=20)
    assert said in answer.text
    assert not answer.details.timed_out


async def test_git_gets_neither_an_editor_nor_a_pager(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "PAGER", "GIT_PAGER"):
        monkeypatch.setenv(name, SLEEP)
    who = f"-c user.name=n -c user.email=n@example.invalid -c core.editor='{SLEEP}' -c core.pager='{SLEEP}'"
    answer = await tools.bash(f"git init -q r && cd r && git {who} commit --allow-empty; echo rc=$?", timeout=20)
    assert not answer.details.timed_out
    assert "empty commit message" in answer.text
    assert "rc=1" in answer.text
    answer = await tools.bash(
        f"cd r && git {who} commit -q --allow-empty -m one; git --paginate log; echo rc=$?", timeout=20
    )
    assert "one" in answer.text
    assert "rc=0" in answer.text
    answer = await tools.bash(f"cd r && git {who} rebase -i --root; echo rc=$?", timeout=20)
    assert "rc=0" in answer.text
    assert with_command(SLEEP) == []


async def test_a_missing_folder_is_told_by_name_and_used_again_when_it_is_back(tools: Tools, cwd: Path) -> None:
    assert not (await tools.bash(f"rm -rf {cwd}")).is_error
    answer = await tools.bash("touch lost; true")
    assert answer.is_error
    assert str(cwd) in answer.text
    assert "nothing was run" in answer.text and "mkdir -p" in answer.text
    answer = await tools.bash("cd /tmp && echo alive")
    assert answer.text == "alive"
    assert (await tools.write(cwd.parent / "elsewhere.txt", "x")).is_error is False
    assert (await tools.read(cwd.parent / "elsewhere.txt")).text == "x"
    assert not (await tools.bash(f"mkdir -p {cwd}")).is_error
    assert (await tools.bash("pwd")).text == str(cwd)


async def test_a_command_that_runs_without_its_folder_finds_an_empty_private_one(tools: Tools, cwd: Path) -> None:
    (cwd.parent / "precious").write_text("x")
    cwd.rmdir()
    answer = await tools.bash("cd /no/such/folder/at/all; ls -A; rm -rf ./* ; pwd")
    assert str(tools.options.spill_dir) in answer.text
    assert (cwd.parent / "precious").exists()


@pytest.mark.parametrize(
    ("command", "names_it"),
    [
        ("cd /tmp && ls", True),
        ("mkdir -p '/tmp/x y'", True),
        ("cd ~", True),
        ("cd sub && ls", False),
        ("mkdir -p sub", False),
        ("ls", False),
        ("cd", False),
        ("", False),
        ("cdr /tmp", False),
    ],
)
def test_only_a_command_that_names_its_folder_needs_none(command: str, names_it: bool) -> None:
    assert names_its_folder(command) is names_it


async def test_commands_use_the_folder_of_the_options_and_not_that_of_the_process(tools: Tools, cwd: Path) -> None:
    link = cwd.parent / "link"
    link.symlink_to(cwd)
    tools.options.cwd = link
    assert (await tools.bash("pwd")).text == str(link)
    assert str(Path.cwd()) != str(cwd)


async def test_a_shell_that_cannot_be_started_is_an_error_of_the_call(tools: Tools, cwd: Path) -> None:
    tools.options.shell = cwd / "no-such-shell"
    answer = await tools.bash("true")
    assert answer.is_error
    assert "no-such-shell" in answer.text
    tools.options.shell = None
    assert not (await tools.bash("true")).is_error


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud83d", "\0", ""])
async def test_a_command_that_no_shell_can_take_is_an_error_of_the_call(tools: Tools, command: str) -> None:
    answer = await tools.bash(command)
    assert answer.is_error
    assert answer.text.isprintable()
    assert (await tools.bash("echo fine")).text == "fine"


async def test_cmd_is_not_taken_for_command(tools: Tools) -> None:
    answer = await tools("bash", {"cmd": "echo ran"})
    assert answer.is_error
    assert "command" in answer.text
    assert "ran" not in answer.text.replace("`", "").split()


async def test_a_command_that_begins_like_an_option_is_a_command(tools: Tools) -> None:
    answer = await tools.bash("-x 2>/dev/null; echo ran")
    assert answer.text == "ran"


async def test_a_command_may_be_longer_than_one_argument_can_be(tools: Tools) -> None:
    text = "x" * 300_000
    answer = await tools.bash(f"cat > big.txt <<'END'\n{text}\nEND\nwc -c < big.txt")
    assert answer.text.strip() == "300001"


async def test_a_long_command_is_measured_in_bytes_and_runs_like_a_short_one(tools: Tools) -> None:
    look = 'echo "$0 $-"; cat; readlink /proc/self/fd/0; ls /proc/self/fd | xargs; exit 4'
    short = await tools.bash(look)
    for filler, count in ((f"{'你' * 49}\n", 900), ("x" * 99 + "\n", 1500)):
        long = await tools.bash(f"wc -c <<'END'\n{filler * count}END\n{look}")
        told, _, rest = long.text.partition("\n")
        assert int(told) == len(filler.encode()) * count
        assert (rest, long.details.exit_code) == (short.text, 4)
    tools.options.shell = Path("/bin/sh")
    long = await tools.bash("# " + "你" * 50_000 + "\necho ran; cat; exit 5\n")
    assert (long.text.split("\n")[0], long.details.exit_code) == ("ran", 5)


async def test_an_environment_that_is_too_large_is_told_in_one_line(tools: Tools) -> None:
    tools.options.extra_env = {"SMALL": "x", "HUGE_ONE": "x" * 200_000}
    answer = await tools.bash("echo ran")
    assert answer.is_error
    assert "environment is too large" in answer.text and "HUGE_ONE" in answer.text
    assert "\n" not in answer.text


async def test_what_a_shell_would_read_before_any_command_is_kept_out(
    tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cwd / "rc").write_text("[[ $- == *i* ]] || exit 0\n")
    monkeypatch.setenv("BASH_ENV", str(cwd / "rc"))
    monkeypatch.setenv("SHELLOPTS", "noexec")
    monkeypatch.setenv("ENV", "production")
    assert (await tools.bash('echo "ran in $ENV"')).text == "ran in production"


async def test_a_shell_that_runs_nothing_is_told_and_is_no_success(tools: Tools, cwd: Path) -> None:
    (cwd / "rc").write_text("[[ $- == *i* ]] || exit 0\n")
    for extra, shell in (
        ({"BASH_ENV": str(cwd / "rc")}, None),
        ({"SHELLOPTS": "noexec"}, None),
        ({}, Path("/bin/true")),
        ({}, Path("/bin/echo")),
    ):
        tools.options.extra_env, tools.options.shell = extra, shell
        answer = await tools.bash("touch ran")
        assert answer.is_error
        assert "does not run commands, so nothing was run" in answer.text
    (cwd / "rc").write_text("PREPARED=yes\n")
    tools.options.extra_env, tools.options.shell = {"BASH_ENV": str(cwd / "rc")}, None
    assert (await tools.bash("echo $PREPARED")).text == "yes"
    assert not (cwd / "ran").exists()


async def test_quotes_and_lines_reach_the_shell_as_they_are(tools: Tools) -> None:
    text = 'it\'s "a" $HOME `x` \\ \n%s é 💩'
    assert (await tools.bash(f"printf %s {shlex.quote(text)}")).text == text


async def test_no_descriptor_of_the_agent_reaches_a_command(tools: Tools, cwd: Path) -> None:
    descriptor = os.open(cwd, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        assert (await tools.bash("ls /proc/self/fd")).text.split() == ["0", "1", "2", "3"]
    finally:
        os.close(descriptor)


async def test_git_runs_nothing_that_a_repository_names_and_takes_no_folder_for_a_bare_one(
    tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not (await tools.bash("git init -q . && git init -q --bare bare && mkdir -p sub")).is_error
    await tools.bash(
        f"git config core.fsmonitor 'touch {cwd}/ran; false'; git -C bare config core.fsmonitor 'touch {cwd}/ran'"
    )
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Somebody")
    assert (await tools.bash("git status --short && git config user.name")).text.endswith("Somebody")
    assert "bareRepository" in (await tools.bash("cd bare && git status")).text
    assert not (cwd / "ran").exists()
