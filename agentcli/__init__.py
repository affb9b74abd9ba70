"""agentcli: a terminal coding agent. The names an embedding program needs, each imported when it is first used.

`Runtime` is what `agentcli run` and the app are built on: settings, session, tools, permissions, retries, compaction.
`Agent` is the loop with a memory alone. `tools` and `providers` are what both stand on; events, messages and errors are
in `agentcli.agent`. All of it is asyncio; a runtime or an agent belongs to one event loop.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentcli.version import __version__

if TYPE_CHECKING:
    from agentcli import providers, tools
    from agentcli.agent.agent import Agent, AgentState
    from agentcli.agent.errors import AgentcliError
    from agentcli.agent.loop_config import AgentConfig
    from agentcli.agent.tools import AgentTool, AgentToolResult
    from agentcli.config.configuration import load_configuration
    from agentcli.runtime.options import RuntimeOptions
    from agentcli.runtime.runtime import Runtime
    from agentcli.runtime.session_choice import SessionChoice
    from agentcli.sessions.repo import JsonlSessionRepo
    from agentcli.sessions.session import Session


__all__ = [
    "Agent",
    "AgentConfig",
    "AgentState",
    "AgentTool",
    "AgentToolResult",
    "AgentcliError",
    "JsonlSessionRepo",
    "Runtime",
    "RuntimeOptions",
    "Session",
    "SessionChoice",
    "__version__",
    "load_configuration",
    "providers",
    "tools",
]

_HOMES = {
    "Agent": "agentcli.agent.agent",
    "AgentConfig": "agentcli.agent.loop_config",
    "AgentState": "agentcli.agent.agent",
    "AgentTool": "agentcli.agent.tools",
    "AgentToolResult": "agentcli.agent.tools",
    "AgentcliError": "agentcli.agent.errors",
    "JsonlSessionRepo": "agentcli.sessions.repo",
    "Runtime": "agentcli.runtime.runtime",
    "RuntimeOptions": "agentcli.runtime.options",
    "Session": "agentcli.sessions.session",
    "SessionChoice": "agentcli.runtime.session_choice",
    "load_configuration": "agentcli.config.configuration",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in {"providers", "tools"}:
        return import_module(f"agentcli.{name}")
    raise AttributeError(f"module 'agentcli' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
