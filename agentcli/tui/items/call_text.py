"""The words of a tool call: its title and what stands under it, for the tools that are known and for any other."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from agentcli.tui.clean import clean, one_line

COMMAND_LINES = 6
_QUIET = {"read", "write", "edit", "ls", "find"}
_KNOWN = {"bash", "read", "write", "edit", "grep", "find", "ls"}


class Call(Struct, frozen=True):
    name: str
    arguments: Mapping[str, Any]

    @property
    def is_command(self) -> bool:
        """Whether the end of its output matters most."""
        return self.name == "bash"

    @property
    def is_quiet(self) -> bool:
        """Whether its result needs no more than a line when all is well."""
        return self.name in _QUIET


def title(call: Call) -> str:
    arguments = call.arguments
    match call.name:
        case "bash":
            if arguments.get("job"):
                return f"{'end ' if arguments.get('kill') else ''}job {one_line(str(arguments['job']))}"
            return _command(str(arguments.get("command", "")))
        case "read":
            return f"{_path(arguments)}{_range(arguments)}"
        case "grep" | "find":
            where = arguments.get("path")
            return one_line(str(arguments.get("pattern", ""))) + (f" in {one_line(str(where))}" if where else "")
        case "write" | "edit" | "ls":
            return _path(arguments)
        case _:
            return ""


def argument_lines(call: Call) -> list[str]:
    """Under the title of a tool that nobody knows: each argument as a line."""
    if call.name in _KNOWN:
        return []
    return [one_line(f"{name}: {_value(value)}") for name, value in call.arguments.items()]


def _command(command: str) -> str:
    lines = clean(command).strip().split("\n")
    hidden = len(lines) - COMMAND_LINES
    shown = "\n".join(lines[:COMMAND_LINES])
    return f"{shown}\n… {hidden} more lines" if hidden > 0 else shown


def _path(arguments: Mapping[str, Any]) -> str:
    for name in ("path", "file_path", "file", "filename"):
        if name in arguments:
            return one_line(str(arguments[name]))
    return ""


def _range(arguments: Mapping[str, Any]) -> str:
    offset, limit = arguments.get("offset"), arguments.get("limit")
    if offset is None and limit is None:
        return ""
    first = offset if isinstance(offset, int) else 1
    last = first + limit - 1 if isinstance(limit, int) else ""
    return f":{first}-{last}"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
