"""Twice as much output of a tool costs at most twice as much, and no more memory."""

from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.abort import AbortController
from agentcli.tools.bash.command_output import CommandOutput
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.toolset import TOOL_NAMES, ToolOptions, create_toolset
from tests.growth.cost import Work, assert_doubles

LINE = "some words and a number\n"


def call(folder: Path, name: str, **arguments: Any) -> Work:
    tools = {tool.name: tool for tool in create_toolset(ToolOptions(cwd=folder), TOOL_NAMES).tools}

    async def run() -> None:
        running: Any = tools[name].execute("c1", arguments, AbortController().signal)
        result = await running
        assert not result.is_error, result.content

    return run


async def test_what_a_command_prints_while_somebody_looks_on(tmp_path: Path):
    def prepare(chunks: int) -> Work:
        spill = SpillFolder(tmp_path)
        output = CommandOutput(spill, 2000, 50 * 1024, 1 << 30)

        def feed() -> None:
            for number in range(chunks):
                output.feed(LINE.encode() * 10)
                if number % 50 == 0:
                    output.snapshot()
            output.end()
            spill.remove()

        return feed

    await assert_doubles(prepare, 1000)


@pytest.mark.parametrize("limit", [None, 100])
async def test_a_file_that_is_read(tmp_path: Path, limit: int | None):
    def prepare(lines: int) -> Work:
        (tmp_path / "a.txt").write_text(LINE * lines)
        arguments = {"limit": limit, "offset": max(lines - 200, 1)} if limit else {}
        return call(tmp_path, "read", path="a.txt", **arguments)

    await assert_doubles(prepare, 20_000)


async def test_a_file_that_is_written(tmp_path: Path):
    def prepare(lines: int) -> Work:
        (tmp_path / "new.txt").unlink(missing_ok=True)
        return call(tmp_path, "write", path="new.txt", content=LINE * lines)

    await assert_doubles(prepare, 20_000)


async def test_a_line_that_is_edited(tmp_path: Path):
    def prepare(lines: int) -> Work:
        (tmp_path / "a.txt").write_text(LINE * lines + "the one\n" + LINE * lines)
        edits = [{"old_text": "the one", "new_text": "the other"}]
        return call(tmp_path, "edit", path="a.txt", edits=edits)

    await assert_doubles(prepare, 5_000)


async def test_many_edits_at_once(tmp_path: Path):
    def prepare(count: int) -> Work:
        (tmp_path / "a.txt").write_text("".join(f"line {number}.\n" for number in range(count)))
        edits = [{"old_text": f"line {number}.", "new_text": f"row {number}."} for number in range(count)]
        return call(tmp_path, "edit", path="a.txt", edits=edits)

    await assert_doubles(prepare, 100)
