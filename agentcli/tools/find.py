"""The find tool: files and folders whose names match a glob, without what git ignores.

Names are compared as fd does: a pattern without capital letters matches both cases; one with `/` is compared with the
path from the searched folder on. Always searched with our own program, so results are the same on every machine.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent
from agentcli.agent.threads import to_thread
from agentcli.agent.tools import AgentTool, AgentToolResult, OnUpdate, parameters_of
from agentcli.tools.argument_names import PATH_NAMES, rename
from agentcli.tools.options import ToolOptions
from agentcli.tools.search_order import SearchOrder
from agentcli.tools.search_process import plain_search, search
from agentcli.tools.search_target import search_target
from agentcli.tools.truncate import Truncation, listing, plural

DEFAULT_LIMIT = 1000

DESCRIPTION = "Find files and folders by glob. Respects .gitignore. Folders end in /."


class FindToolInput(Struct, omit_defaults=True):
    pattern: Annotated[str, Meta(description="like *.py or src/**/test_*")]
    path: Annotated[str, Meta(description="folder, default: working folder")] | None = None
    limit: Annotated[int, Meta(description="results, default 1000")] | None = None


class FindToolDetails(Struct, omit_defaults=True):
    results: int
    limit_reached: bool = False
    truncation: Truncation | None = None


def create_find_tool(options: ToolOptions) -> AgentTool:
    async def execute(
        tool_call_id: str,
        params: dict[str, Any],
        signal: AbortSignal,
        on_update: OnUpdate | None = None,
        context: Any = None,
    ) -> AgentToolResult:
        return await _find(msgspec.convert(params, FindToolInput), options, signal)

    return AgentTool(
        name="find",
        label="Find",
        description=DESCRIPTION,
        parameters=parameters_of(FindToolInput),
        prepare_arguments=lambda arguments: rename(arguments, {**PATH_NAMES, "glob": "pattern", "name": "pattern"}),
        execute=execute,
    )


async def _find(arguments: FindToolInput, options: ToolOptions, signal: AbortSignal) -> AgentToolResult:
    if not arguments.pattern.strip() or "\0" in arguments.pattern:
        raise ToolError("pattern must not be empty, nor hold a NUL character")
    limit = DEFAULT_LIMIT if arguments.limit is None else max(arguments.limit, 1)
    target = await to_thread(search_target, arguments.path, options.cwd)
    if target.name != ".":
        raise ToolError(f"{target.prefix}{target.name} is a file", hint="give the folder to search in")
    paths: list[str] = []

    def take(line: bytes) -> bool:
        paths.append(msgspec.json.decode(line, type=str))
        return True

    order = SearchOrder(kind="find", pattern=arguments.pattern, most=limit + 1)
    end = await search(plain_search(order), target.folder, take, signal)
    if signal.aborted:
        raise ToolError("aborted by the user while searching")
    if end.code != 0:
        raise ToolError(f"find failed: {end.errors or 'no reason given'}")
    details = FindToolDetails(results=min(len(paths), limit), limit_reached=len(paths) > limit)
    if not paths:
        return AgentToolResult(content=[TextContent("No files found")], details=details)
    text = "\n".join(f"{target.prefix}{path}" for path in paths[:limit])
    notes: list[str] = []
    if details.limit_reached:
        notes.append(f"{plural(limit, 'result')} shown, there are more. Use limit={2 * limit}, or be precise.")
    shown_text, details.truncation = listing(text, options.max_lines, options.max_bytes, notes)
    return AgentToolResult(content=[TextContent(shown_text)], details=details)
