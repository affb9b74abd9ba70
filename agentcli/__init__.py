"""agentcli: a terminal coding agent. The names an embedding program needs, each imported when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentcli.version import __version__

if TYPE_CHECKING:
    from agentcli import providers, tools
    from agentcli.agent.agent import Agent
    from agentcli.runtime.runtime import Runtime
    from agentcli.sessions.session import Session


__all__ = ["Agent", "Runtime", "Session", "__version__", "providers", "tools"]

_HOMES = {
    "Agent": "agentcli.agent.agent",
    "Runtime": "agentcli.runtime.runtime",
    "Session": "agentcli.sessions.session",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in {"providers", "tools"}:
        return import_module(f"agentcli.{name}")
    raise AttributeError(f"module 'agentcli' has no attribute {name!r}")
