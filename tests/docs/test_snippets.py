"""The blocks of the documentation that are no commands: Python runs, TOML are settings or a theme, JSON are RPC commands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentcli.headless.rpc.commands import read_command
from agentcli.tui.colors import themes
from tests.cli.command import AGENTCLI, Command
from tests.docs.paths import DOCS, EXAMPLES
from tests.docs.rpc_client import RpcClient


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)


SETTINGS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.glob("*.md"))
    if page.name != "themes.md"
    for number, block in enumerate(blocks(page.name, "toml"))
]


@pytest.mark.parametrize("block", SETTINGS)
def test_settings_are_valid(block: str, command: Command):
    command.configure(block)
    done = command.run("config", "validate")
    assert (done.code, done.err) == (0, "")


def test_the_theme_is_one(tmp_path: Path):
    (block,) = blocks("themes.md", "toml")
    (tmp_path / "mine.toml").write_text(block)
    assert themes.read(tmp_path / "mine.toml").warnings == []


def test_the_rpc_lines_are_commands():
    (block,) = blocks("rpc.md", "json")
    assert [read_command(line.encode()).id for line in block.splitlines()] == [1, 2, 3]


def test_the_rpc_client_is_used_so(command: Command, capsys: pytest.CaptureFixture[str]):
    (block,) = blocks("rpc.md", "python")
    (command.folder / "a.txt").touch()

    def client(_: str, *arguments: str) -> RpcClient:
        return RpcClient(
            str(AGENTCLI), *arguments, cwd=command.folder, env=command.environment, stderr=subprocess.DEVNULL
        )

    exec(block, {"RpcClient": client})
    assert capsys.readouterr().out == "a.txt\n"


def test_the_runtime_is_embedded_as_in_the_example(command: Command):
    block = blocks("python.md", "python")[0]
    (command.folder / "README.md").write_text("read me\n")
    words = [sys.executable, "-c", block]
    done = subprocess.run(
        words, cwd=command.folder, env=command.environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "read me", "")

    def code(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.strip() and not line.startswith(('"""', "import sys"))]

    example = (EXAMPLES / "embed_run.py").read_text().replace("sys.argv[1]", '"what is in README.md"')
    assert code(block) == code(example)


def test_the_extension_adds_its_tool(command: Command):
    (block,) = blocks("extensions.md", "python")
    (command.home / "extensions").mkdir()
    (command.home / "extensions" / "words.py").write_text(block)
    (command.folder / "a.txt").write_text("one two three\n")
    script = command.home / "script.jsonl"
    script.write_text(
        '{"tool": "word_count", "arguments": {"path": "a.txt"}}\n{"stop": "tool_calls"}\n{"text": "ok"}\n'
    )
    done = command.run("run", "--model", f"scripted:{script}", "count")
    assert (done.code, done.err) == (0, "")
    assert "toolResult: 3 words" in command.transcript()


def test_the_skill_is_one(command: Command):
    (block,) = blocks("extensions.md", "markdown")
    (command.home / "skills" / "release").mkdir(parents=True)
    (command.home / "skills" / "release" / "SKILL.md").write_text(block)
    assert "- release: How to release a version" in command.run("config", "prompt").out
