"""Tools: bash, read, write, edit, grep, find, ls.

Nothing here knows a session, a setting or a screen: `ToolOptions` holds all that a tool is told. File tools act with
the rights of the person who started agentcli; what limits them is the permission gate before a call, not the tools.
What a program that embeds them needs has its name here, and is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentcli.tools.options import ToolOptions
    from agentcli.tools.toolset import DEFAULT_TOOL_NAMES, READ_ONLY_TOOL_NAMES, TOOL_NAMES, Toolset, create_toolset

__all__ = ["DEFAULT_TOOL_NAMES", "READ_ONLY_TOOL_NAMES", "TOOL_NAMES", "ToolOptions", "Toolset", "create_toolset"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("agentcli.tools.toolset"), name)
    raise AttributeError(f"module 'agentcli.tools' has no attribute {name!r}")
