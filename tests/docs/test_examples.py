"""The examples, as people use them: extensions in `~/.agentcli/extensions/`, programs, and what CI and git run."""

import inspect
import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import agentcli
from tests.cli.command import Command
from tests.docs.paths import EXAMPLES

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
    programs = ("embed_agent", "embed_run", "rpc_client")
    files = [path for path in EXAMPLES.glob("*.py") if not path.stem.startswith(("_", "test"))]
    assert sorted(path.stem for path in files) == sorted([*NAMES, *programs])
    assert all(len(path.read_text().splitlines()) < 60 for path in files)
    body = (EXAMPLES / "embed_run.py").read_text().partition("\n\n\n")[2]
    assert len([line for line in body.splitlines() if line.strip()]) <= 12


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


def run_example(command: Command, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]
    return subprocess.run(
        words, cwd=command.folder, env=command.environment, capture_output=True, text=True, check=False
    )


def test_the_runtime_is_embedded_in_ten_lines(command: Command):
    command.configure('model = "offline"')
    done = run_example(command, "embed_run", "write x to a.txt, then what is in a.txt")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Created a.txt: 1 line, 2 bytes.\nx", "")
    assert len(command.sessions()) == 1
    command.configure('model = "anthropic/claude-opus-5-5"')
    assert "no key for Anthropic" in run_example(command, "embed_run", "hi").stdout


def test_the_agent_is_embedded_alone(command: Command):
    model = script(
        command,
        '{"tool": "greet", "arguments": {"name": "Ada"}}',
        '{"tool": "ls", "arguments": {}}',
        '{"stop": "tool_calls"}',
        '{"text": "Greeted."}',
    )
    done = run_example(command, "embed_agent", model, "greet Ada")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Greeted.\n", "")


def review(command: Command, *findings: str) -> str:
    """A model that finds these things, at its second try."""
    answer = json.dumps({"findings": [{"file": "a.py", "line": 1, "message": text} for text in findings]})
    return script(command, '{"text": "Let me see."}', '{"stop": "done"}', json.dumps({"text": answer}))


def make_repository(command: Command, folder: str) -> None:
    """A repository with one commit, in which a second file is staged, and the review's files in a folder of it."""
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["config", "user.email", "a@example.org"],
        ["config", "user.name", "A"],
    ):
        git(command, *arguments)
    (command.folder / folder).mkdir()
    shutil.copy(EXAMPLES / "review-schema.json", command.folder / folder)
    shutil.copy(EXAMPLES / "pre-commit.sh", command.folder / folder)
    git(command, "add", ".")
    git(command, "commit", "-q", "-m", "first")
    (command.folder / "a.py").write_text("x = 1 / 0\n")
    git(command, "add", ".")


def git(command: Command, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=command.folder, env=command.environment, check=True)


def block(file: str, after: str) -> str:
    """The lines of a YAML block scalar, without their indentation."""
    text = (EXAMPLES / file).read_text().partition(after + "\n")[2]
    indent = len(text) - len(text.lstrip(" "))
    lines = itertools.takewhile(lambda line: not line.strip() or line.startswith(" " * indent), text.splitlines())
    return "\n".join(line[indent:] for line in lines) + "\n"


def run_script(command: Command, script: str, model: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{command.environment['PATH']}"
    environment = {**command.environment, "PATH": path, "AGENTCLI_MODEL": model, **environment}
    words = ["bash", "-e", "-c", script]
    return subprocess.run(words, cwd=command.folder, env=environment, capture_output=True, text=True, check=False)


needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")


@needs_jq
def test_the_workflow_marks_what_was_found_in_a_pull_request(command: Command):
    make_repository(command, ".github")
    git(command, "commit", "-q", "-m", "second")
    step = block("github-actions.yml", "        run: |")
    assert step.startswith("code=0\ngit diff")
    done = run_script(command, step, review(command, "divides by\nzero"), BASE="HEAD~1")
    assert (done.returncode, "no prices" in done.stderr) == (0, True)
    assert done.stdout == "2 turns, 0 tokens, $0\n::warning file=a.py,line=1::divides by%0Azero\n"
    failed = run_script(command, step, "nope/x", BASE="HEAD~1")
    assert (failed.returncode, "::error::no model matches" in failed.stdout) == (2, True)
    busy = script(command, '{"error": "overloaded", "text": "too busy"}')
    later = run_script(command, step, busy, BASE="HEAD~1", AGENTCLI_RETRY__MAX_RETRIES="0")
    assert (later.returncode, "::notice::" in later.stdout) == (0, True)


@needs_jq
def test_the_hook_stops_a_commit_with_a_finding(command: Command):
    make_repository(command, ".agentcli")
    (entry,) = (
        line.partition(": ")[2]
        for line in (EXAMPLES / "pre-commit-config.yaml").read_text().splitlines()
        if line.strip().startswith("entry:")
    )
    found = run_script(command, entry, review(command, "divides by zero"))
    assert (found.returncode, found.stdout) == (1, "a.py:1: divides by zero\n")
    assert run_script(command, entry, review(command)).returncode == 0
    assert run_script(command, entry, "nope/x").returncode == 2
    busy = script(command, '{"error": "overloaded", "text": "too busy"}')
    later = run_script(command, entry, busy, AGENTCLI_RETRY__MAX_RETRIES="0")
    assert (later.returncode, "the commit goes on" in later.stdout) == (0, True)


def undescribed(name: str, found: object) -> Iterator[str]:
    """The public parts that have no docstring of their own: one of a base class says nothing about them."""
    is_code = inspect.isroutine(found) or isinstance(found, type | property)
    if is_code and found.__doc__ in (None, "", msgspec.Struct.__doc__):
        yield name
    if isinstance(found, type):
        for part, value in vars(found).items():
            if not part.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)):
                yield from undescribed(f"{name}.{part}", value)


def test_every_name_of_the_package_is_there_and_described():
    for module in (agentcli, agentcli.tools, agentcli.providers):
        for name in module.__all__:
            assert list(undescribed(name, getattr(module, name))) == []
    assert set(agentcli.__all__) <= set(dir(agentcli))
    with pytest.raises(AttributeError):
        _ = agentcli.nothing
