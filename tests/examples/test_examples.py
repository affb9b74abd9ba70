"""The three example extensions, as a person installs them: copied into `~/.agentcli/extensions/`."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import Command

EXAMPLES = Path(__file__).parent
NAMES = ("parrot", "protected_branch", "word_count")


@pytest.fixture
def command(tmp_path: Path) -> Command:
    made = Command(tmp_path / "work", tmp_path / "home")
    (made.home / "extensions").mkdir()
    for name in NAMES:
        shutil.copy(EXAMPLES / f"{name}.py", made.home / "extensions")
    return made


def script(command: Command, *lines: str) -> str:
    file = command.home / "script.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return f"scripted:{file}"


def test_each_is_short():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith(("_", "test"))) == list(NAMES)
    for name in NAMES:
        assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 40


def test_the_tool_is_called_by_the_model(command: Command):
    (command.folder / "a.txt").write_text("one two three\n")
    model = script(
        command, '{"tool": "word_count", "arguments": {"path": "a.txt"}}', '{"stop": "tool_calls"}', '{"text": "ok"}'
    )
    done = command.run("run", "--model", model, "count")
    assert (done.code, done.err) == (0, "")
    assert "toolResult: 3 words" in command.transcript()


@pytest.mark.parametrize(("branch", "commits"), [("main", 0), ("fix", 1)])
def test_the_policy_keeps_main_as_it_is(command: Command, branch: str, commits: int):
    for arguments in (
        ["init", "-q", "-b", branch],
        ["config", "user.email", "a@example.org"],
        ["config", "user.name", "A"],
    ):
        subprocess.run(["git", *arguments], cwd=command.folder, env=command.environment, check=True)
    line = '{"tool": "bash", "arguments": {"command": "true && git commit -q --allow-empty -m x"}}'
    command.run("run", "--model", script(command, line, '{"stop": "tool_calls"}', '{"text": "ok"}'), "commit")
    log = subprocess.run(
        ["git", "log", "--oneline"], cwd=command.folder, capture_output=True, text=True, check=False
    ).stdout
    assert len(log.splitlines()) == commits
    assert ("Not on main" in command.transcript()[2]) == (commits == 0)


def test_the_provider_answers(command: Command):
    done = command.run("run", "--model", "parrot/grey", "Polly wants a cracker")
    assert (done.code, done.out, done.err) == (0, "Polly wants a cracker\n", "")
