"""Providers: wire APIs, the model catalog, server-sent events, and what a server's errors mean.

Imports only the agent floor. A wire API is one module; `stream_client` has the table of them. What a program that
embeds them needs has its name here, and is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentcli.providers.catalog.catalog import Catalog
    from agentcli.providers.scripted import ScriptedStream, Step
    from agentcli.providers.stream_client import StreamClient

__all__ = ["Catalog", "ScriptedStream", "Step", "StreamClient"]

_HOMES = {
    "Catalog": "agentcli.providers.catalog.catalog",
    "ScriptedStream": "agentcli.providers.scripted",
    "Step": "agentcli.providers.scripted",
    "StreamClient": "agentcli.providers.stream_client",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'agentcli.providers' has no attribute {name!r}")
