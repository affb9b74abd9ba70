"""File changes: every call that may change the working tree is announced before it does.

What a tool declares of itself (`AgentTool.kind`, `target`) says what its calls may change: it needs no code for it.
"""

import os
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.errors import ToolError
from agentcli.agent.threads import to_thread
from agentcli.agent.tools import READ_ONLY_KINDS, AgentTool, AgentToolResult, ToolKind
from agentcli.tools.options import ToolOptions

_CHANGING_NOTHING = READ_ONLY_KINDS | {ToolKind.FETCH}


class FileChange(Struct, frozen=True):
    """What a tool call is about to change."""

    tool_call_id: str
    tool_name: str
    paths: tuple[Path, ...] | None
    """The files, links resolved; they need not exist. None: it may be anything."""


def announced(tool: AgentTool, options: ToolOptions) -> AgentTool:
    """The tool, awaiting `options.before_change` once in each call that may change files, before it acts.

    Calls that only read, and those that look after a running command, are not announced. If `before_change` raises, the
    call fails with that and changes nothing.
    """
    if tool.kind in _CHANGING_NOTHING:
        return tool

    def execute(tool_call_id: str, params: dict[str, Any], *rest: Any) -> Any:
        if options.before_change is None or _is_follow_up(tool, params):
            return tool.execute(tool_call_id, params, *rest)
        return announce_and_execute(tool_call_id, params, *rest)

    async def announce_and_execute(tool_call_id: str, params: dict[str, Any], *rest: Any) -> AgentToolResult:
        if options.before_change is not None:
            paths = await _paths(tool, params, options.cwd)
            await options.before_change(FileChange(tool_call_id, tool.name, paths))
        result = tool.execute(tool_call_id, params, *rest)
        return await result if isinstance(result, Awaitable) else result

    return replace(tool, execute=execute)


def _is_follow_up(tool: AgentTool, params: dict[str, Any]) -> bool:
    return tool.target is not None and tool.target.is_follow_up is not None and tool.target.is_follow_up(params)


async def _paths(tool: AgentTool, params: dict[str, Any], cwd: Path) -> tuple[Path, ...] | None:
    if tool.kind != ToolKind.EDIT or tool.target is None:
        return None
    name = str(params.get(tool.target.argument) or ".")
    if tool.target.find_path is None:
        from agentcli.tools.files.paths import find_target as find  # for tools that have not imported it
    else:
        find = tool.target.find_path

    def real_path() -> Path:
        try:
            found = find(name, cwd)
        except ToolError:  # the tool will say so
            found = cwd / name
        return Path(os.path.realpath(found))

    try:
        return (await to_thread(real_path),)
    except ValueError:  # a NUL character: no file
        return ()
