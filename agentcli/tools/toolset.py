"""Toolset: the tools of one agent, with what they share, and their end."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from agentcli.agent.errors import UsageError
from agentcli.agent.tools import AgentTool, ToolKind
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.bash.process_manager import ProcessManager
from agentcli.tools.file_change import announced
from agentcli.tools.files.file_access import FileAccess
from agentcli.tools.options import ToolOptions

__all__ = ["DEFAULT_TOOL_NAMES", "READ_ONLY_TOOL_NAMES", "TOOL_NAMES", "ToolOptions", "Toolset", "create_toolset"]

DEFAULT_TOOL_NAMES = ("read", "bash", "edit", "write")
READ_ONLY_TOOL_NAMES = ("read", "grep", "find", "ls")
"""Those whose kind is `read` or `search`."""
_MODULES = {
    "read": "agentcli.tools.files.read",
    "bash": "agentcli.tools.bash.bash",
    "edit": "agentcli.tools.edit.edit",
    "write": "agentcli.tools.files.write",
    "grep": "agentcli.tools.search.grep",
    "find": "agentcli.tools.search.find",
    "ls": "agentcli.tools.search.ls",
}
"""By the name of a tool: the module with its `create_NAME_tool`, imported when the tool is on."""
TOOL_NAMES = tuple(_MODULES)


class Toolset:
    """Close it when the agent ends; `kill_now` is for an end by signal, when nothing can be awaited any more."""

    def __init__(self, tools: list[AgentTool], commands: ProcessManager, spill: SpillFolder, files: FileAccess) -> None:
        self.tools = tools
        self.files = files
        """What the model knows of files, and where its calls may go."""
        self.commands = commands
        """Who runs commands, those that the person types too."""
        self._spill = spill

    async def close(self) -> None:
        """End jobs and background children (TERM, then KILL) and remove the files of long outputs."""
        await self.commands.close()
        self._spill.remove()

    def kill_now(self) -> None:
        """The same at once, with KILL, without a loop. May be called more than once."""
        self.commands.kill_now()
        self._spill.remove()


def added_tool(tool: AgentTool, options: ToolOptions) -> AgentTool:
    """A tool from elsewhere, as one of a toolset: its calls are announced before they change files.

    One that takes the name of a built-in tool and declares no kind acts on what that one acts on.
    """
    if tool.kind == ToolKind.OTHER and tool.name in TOOL_NAMES:
        built_in = create_toolset(options, [tool.name]).tools[0]
        tool = replace(tool, kind=built_in.kind, target=built_in.target)
    return announced(tool, options)


def create_toolset(options: ToolOptions, names: Sequence[str] = DEFAULT_TOOL_NAMES) -> Toolset:
    """The named tools, in the order of the names. Raises `UsageError` for a name that there is no tool for."""
    spill = SpillFolder(options.spill_dir)
    commands = ProcessManager(options, spill)
    files = FileAccess()
    shared = {"bash": (commands,), "read": (files,), "write": (files,), "edit": (files,)}
    tools: list[AgentTool] = []
    for name in names:
        if name not in TOOL_NAMES:
            raise UsageError(f"there is no tool named {name!r}", hint=f"tools: {', '.join(TOOL_NAMES)}")
        create: Callable[..., AgentTool] = getattr(import_module(_MODULES[name]), f"create_{name}_tool")
        arguments: tuple[Any, ...] = shared.get(name, ())
        tools.append(announced(create(options, *arguments), options))
    return Toolset(tools, commands, spill, files)
