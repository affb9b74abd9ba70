"""Tools as permissions see them: by what they declare."""

from functools import cache
from pathlib import Path

from agentcli.agent.tools import AgentTool, ToolKind, ToolTarget
from agentcli.tools.toolset import TOOL_NAMES, ToolOptions, create_toolset


@cache
def declared_tool(name: str) -> AgentTool:
    """The built-in tool of this name, or one that declares nothing."""
    if name in TOOL_NAMES:
        return create_toolset(ToolOptions(cwd=Path("/")), [name]).tools[0]
    return tool_of_kind(name, ToolKind.OTHER)


def tool_of_kind(name: str, kind: ToolKind, target: ToolTarget | None = None) -> AgentTool:
    """A tool that does nothing, and declares this."""
    return AgentTool(
        name=name, description="", parameters={}, execute=lambda *arguments: None, kind=kind, target=target
    )
