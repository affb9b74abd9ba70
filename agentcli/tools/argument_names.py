"""Argument names: what models are used to writing, turned into the names our tools have.

A call that is right is never changed, and one that contradicts itself is refused: no value is dropped unsaid.
"""

from collections.abc import Mapping
from typing import Any

from agentcli.agent.errors import ToolError

PATH_NAMES = {"file_path": "path", "filePath": "path", "filepath": "path", "file": "path", "filename": "path"}


def rename(arguments: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The arguments with each name of `names` changed to what it stands for; null is as good as nothing.

    Raises:
        ToolError: two names of one argument came with different values.
    """
    renamed = dict(arguments)
    written: dict[str, str] = {}
    for theirs, ours in names.items():
        value = renamed.pop(theirs, None)
        if value is None:
            continue
        if renamed.get(ours) is None:
            renamed[ours] = value
            written[ours] = theirs
        elif renamed[ours] != value:
            raise contradiction(f"{written.get(ours, ours)} and {theirs} are the same argument with different values")
    return renamed


def contradiction(what: str) -> ToolError:
    """The error of arguments that cannot all be meant."""
    return ToolError(f"{what}; nothing was done", hint="make the call again with the one that you mean")


def parsed(value: Any) -> Any:
    """A list or object that came as a JSON string, as what it is; anything else as it came."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    import json  # 1 ms, and seldom needed

    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value
