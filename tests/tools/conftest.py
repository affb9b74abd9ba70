"""Tools in a folder of their own, called the way the loop calls them."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.abort import AbortController, AbortSignal
from agentcli.agent.messages import ImageContent, text_of
from agentcli.agent.tool_calls import error_result
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.agent.validation import validate_arguments
from agentcli.tools.toolset import TOOL_NAMES, ToolOptions, Toolset, create_toolset

INPUTS = Path(__file__).parent / "inputs"


class Answer:
    """A result as tests look at it."""

    def __init__(self, result: AgentToolResult) -> None:
        self.result = result
        self.text = text_of(result.content)
        self.is_error = result.is_error
        self.details: Any = result.details
        self.images = [block for block in result.content if isinstance(block, ImageContent)]


class Tools:
    """Calls tools by name: prepares and validates the arguments, and makes a result of what is raised."""

    def __init__(self, toolset: Toolset, options: ToolOptions) -> None:
        self.toolset = toolset
        self.options = options
        self.by_name: dict[str, AgentTool] = {tool.name: tool for tool in toolset.tools}

    async def __call__(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        signal: AbortSignal | None = None,
        on_update: Callable[[AgentToolResult], None] | None = None,
    ) -> Answer:
        tool = self.by_name[name]
        try:
            prepared = tool.prepare_arguments(arguments) if tool.prepare_arguments else arguments
        except Exception as error:
            return Answer(error_result(f"{error}"))
        checked, errors = validate_arguments(tool.parameters, prepared)
        if errors:
            return Answer(error_result(f"Invalid arguments: {'; '.join(errors)}"))
        try:
            result = await tool.execute("call", checked, signal or AbortController().signal, on_update, None)
        except Exception as error:
            return Answer(error_result(f"{error}"))
        return Answer(result)

    async def bash(self, command: str, **more: Any) -> Answer:
        return await self("bash", {"command": command, **more})

    async def read(self, path: str | Path, **more: Any) -> Answer:
        return await self("read", {"path": str(path), **more})

    async def write(self, path: str | Path, content: str) -> Answer:
        return await self("write", {"path": str(path), "content": content})

    async def rewrite(self, path: str | Path, content: str) -> Answer:
        """Read a file that is there, then write it."""
        await self.read(path)
        return await self.write(path, content)

    async def edit(self, path: str | Path, *edits: tuple[str, str], **more: Any) -> Answer:
        pairs = [{"old_text": old, "new_text": new, **more} for old, new in edits]
        return await self("edit", {"path": str(path), "edits": pairs})


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
async def tools(cwd: Path, tmp_path: Path) -> AsyncIterator[Tools]:
    """All tools, in the empty folder `cwd`; whatever they leave running is ended with the test."""
    options = ToolOptions(cwd=cwd, spill_dir=tmp_path / "spill")
    toolset = create_toolset(options, TOOL_NAMES)
    yield Tools(toolset, options)
    await toolset.close()
