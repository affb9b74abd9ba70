"""The ls tool: what a folder holds, hidden entries too, sorted without regard to case."""

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent
from agentcli.agent.threads import to_thread
from agentcli.agent.tools import AgentTool, AgentToolResult, OnUpdate, ToolKind, parameters_of
from agentcli.tools.argument_names import PATH_NAMES, rename
from agentcli.tools.files.paths import EXISTING_FILE, display_path, find_file, readable
from agentcli.tools.options import ToolOptions
from agentcli.tools.truncate import Truncation, listing, plural

DEFAULT_LIMIT = 500

DESCRIPTION = "List a folder. Folders end in /."


class LsToolInput(Struct, omit_defaults=True):
    path: Annotated[str, Meta(description="default: working folder")] | None = None
    limit: Annotated[int, Meta(description="entries, default 500")] | None = None


class LsToolDetails(Struct, omit_defaults=True):
    path: str
    entries: int
    """Entries of the folder, shown or not."""
    limit_reached: bool = False
    truncation: Truncation | None = None


def create_ls_tool(options: ToolOptions) -> AgentTool:
    async def execute(
        tool_call_id: str,
        params: dict[str, Any],
        signal: AbortSignal,
        on_update: OnUpdate | None = None,
        context: Any = None,
    ) -> AgentToolResult:
        return await to_thread(list_folder, msgspec.convert(params, LsToolInput), options)

    return AgentTool(
        name="ls",
        label="List",
        description=DESCRIPTION,
        parameters=parameters_of(LsToolInput),
        prepare_arguments=lambda arguments: rename(arguments, {**PATH_NAMES, "directory": "path", "dir": "path"}),
        kind=ToolKind.SEARCH,
        target=EXISTING_FILE,
        execute=execute,
    )


def list_folder(arguments: LsToolInput, options: ToolOptions) -> AgentToolResult:
    """Blocks. Raises `ToolError` if there is no such folder."""
    folder = find_file(arguments.path or ".", options.cwd)
    shown = display_path(folder, options.cwd)
    if not folder.is_dir():
        raise ToolError(f"{shown} is not a folder", hint="use read")
    try:
        with os.scandir(folder) as entries:
            names = sorted((_name_of(entry) for entry in entries), key=lambda name: (name.casefold(), name))
    except OSError as error:
        raise ToolError(f"{shown} cannot be listed: {error.strerror or error}") from error
    limit = DEFAULT_LIMIT if arguments.limit is None else max(arguments.limit, 1)
    details = LsToolDetails(path=readable(folder), entries=len(names), limit_reached=len(names) > limit)
    if not names:
        return AgentToolResult(content=[TextContent("(empty folder)")], details=details)
    text = "\n".join(names[:limit])
    notes: list[str] = []
    if details.limit_reached:
        notes.append(f"{limit:,} of {plural(len(names), 'entry', 'entries')} shown. Use limit={2 * limit} for more.")
    shown_text, details.truncation = listing(text, options.max_lines, options.max_bytes, notes)
    return AgentToolResult(content=[TextContent(shown_text)], details=details)


def _name_of(entry: os.DirEntry[str]) -> str:
    name = readable(entry.name)
    if entry.is_symlink() and not Path(entry.path).exists():
        return f"{name} (dangling link)"
    return f"{name}/" if entry.is_dir() else name
