"""What a person sees of a run on a terminal: the answer, and one live line per tool call."""

import json
import re
from pathlib import Path

import pexpect
import pyte
import pytest

from tests.cli.command import AGENTCLI, Command

STEPS = [
    {"text": "I look.\x1b]0;owned\x07\x9b31m"},
    {"tool": "bash", "arguments": {"command": "echo one; sleep 0.3; printf 'two \\033]0;owned\\007'"}},
    {"tool": "bash", "arguments": {"command": "exit 3"}},
    {"stop": "tool_calls"},
    {"text": "All done."},
]


def run_in_terminal(folder: Path, width: int, height: int, steps: list[dict[str, object]]) -> tuple[str, bytes, int]:
    """The screen at the end, all bytes that reached the terminal, and the exit code."""
    command = Command(folder / "work", folder / "home")
    (command.folder / "s.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps))
    child = pexpect.spawn(
        str(AGENTCLI),
        ["run", "--model", "scripted:s.jsonl", "go"],
        cwd=str(command.folder),
        env=command.environment,  # type: ignore[arg-type]
        dimensions=(height, width),
        timeout=30,
    )
    output = child.read()
    child.close()
    screen = pyte.Screen(width, height)
    pyte.ByteStream(screen).feed(output)
    return "\n".join(line.rstrip() for line in screen.display).rstrip(), output, child.exitstatus or 0


def test_each_call_has_a_line_with_its_time_and_its_end(tmp_path: Path):
    screen, output, code = run_in_terminal(tmp_path, 90, 12, STEPS)
    lines = [re.sub(r"\d\.\d s", "N s", line) for line in screen.split("\n")]
    assert lines == [
        "I look.]0;owned31m",
        "✓ bash echo one; sleep 0.3; printf 'two \\033]0;owned\\007' N s",
        "✗ bash exit 3 N s  Command exited with code 3",
        "All done.",
    ]
    assert code == 0
    assert b"\x1b]0;" not in output
    assert "\x9b".encode() not in output


@pytest.mark.parametrize(("width", "height"), [(10, 3), (1, 1), (200, 50)])
def test_any_size_of_terminal_will_do(tmp_path: Path, width: int, height: int):
    _, output, code = run_in_terminal(tmp_path, width, height, STEPS)
    assert code == 0
    assert b"Traceback" not in output


def test_the_cursor_is_shown_again_after_a_run_that_was_stopped(tmp_path: Path):
    command = Command(tmp_path / "work", tmp_path / "home")
    (command.folder / "s.jsonl").write_text('{"tool": "bash", "arguments": {"command": "sleep 30"}}\n')
    child = pexpect.spawn(
        str(AGENTCLI), ["run", "--model", "scripted:s.jsonl", "go"], cwd=str(command.folder),
        env=command.environment, dimensions=(24, 80), timeout=20,
    )  # fmt: skip  # type: ignore[arg-type]
    child.expect("sleep 30")
    child.sendintr()
    rest = child.read()
    child.close()
    assert child.exitstatus == 130
    assert rest.rstrip().endswith(b"stopped by SIGINT")
    assert rest.rfind(b"\x1b[?25h") > rest.rfind(b"\x1b[?25l")
