"""The text of a tool call: its title, its arguments and its result in few words, for any tool."""

import json
from collections.abc import Mapping
from typing import Any

from agentcli.tools.edit.edit import prepare_edit_arguments
from agentcli.transcript.items import ToolItem, detail
from agentcli.tui.colors.palette import Tone
from agentcli.tui.items.changes import Line, edits_of, first_lines, marked, new_lines
from agentcli.tui.painting.clean import clean, one_line

COMMAND_LINES = 6
ARGUMENTS = 8
"""Lines of a command, and arguments of other tools, that are shown of a folded call."""
_KNOWN = {"bash", "read", "write", "edit", "grep", "find", "ls"}


def title(call: ToolItem, expanded: bool = False) -> str:
    """The title after the tool's name."""
    arguments = call.arguments
    match call.name:
        case "bash":
            if arguments.get("job"):
                return f"{'end ' if arguments.get('kill') else ''}job {one_line(str(arguments['job']))}"
            return _command(str(arguments.get("command", "")), expanded)
        case "read":
            return f"{_path(arguments)}{_range(arguments)}"
        case "grep" | "find":
            where = arguments.get("path")
            return one_line(str(arguments.get("pattern", ""))) + (f" in {one_line(str(where))}" if where else "")
        case "write" | "edit":
            return _path(arguments)
        case "ls":
            return _path(arguments) or "."
        case _:
            return ""


def asked_lines(call: ToolItem, expanded: bool = False) -> list[Line]:
    """Arguments that the title does not show: a file's new text, the edits, the arguments of other tools."""
    arguments = call.arguments
    match call.name:
        case "write":
            content = arguments.get("content")
            return new_lines(content) if isinstance(content, str) else []
        case "edit":
            edits = edits_of(prepare_edit_arguments(dict(arguments)))
            return [line for old, new in edits for line in (*marked("-", old), *marked("+", new))]
        case name if name in _KNOWN:
            return []
        case _:
            return _arguments(arguments, expanded)


def summary(item: ToolItem) -> str:
    """The result of a call that reads or writes files, in a line: the content is in the model's context."""
    text, details = item.text, item.details
    match item.name:
        case "read":
            if detail(details, "image") is not None:
                return text.partition("\n")[0]
            first, last, total = (detail(details, name) for name in ("first_line", "last_line", "total_lines"))
            return f"lines {first}-{last}" + (f" of {total}" if total else "") if first and last else ""
        case "ls" if isinstance(entries := detail(details, "entries"), int):
            return f"{entries:,} {'entry' if entries == 1 else 'entries'}"
        case "find" if isinstance(found := detail(details, "results"), int):
            return f"{found:,} {'file' if found == 1 else 'files'}"
        case "write" | "ls" | "find":
            return text.partition("\n")[0]
        case _:
            return ""


def ending(details: Any) -> list[str]:
    """How a command failed, and the job that continues."""
    code, signal, job = (detail(details, name) for name in ("exit_code", "signal", "job"))
    words: list[str] = []
    if detail(details, "timed_out"):
        words.append("timed out")
    elif detail(details, "aborted"):
        words.append("stopped")
    elif signal:
        words.append(str(signal))
    elif code:
        words.append(f"exit {code}")
    if job:
        is_running = detail(details, "running") or detail(details, "background")
        words.append(f"job {job} {'goes on' if is_running else 'has ended'}")
    return words


def _arguments(arguments: Mapping[str, Any], expanded: bool) -> list[Line]:
    if expanded:
        texts = [f"{name}: {_value(value, indent=2)}" for name, value in arguments.items()]
        return [(line, Tone.DIM) for text in texts for line in text.split("\n")]
    lines = [(one_line(f"{name}: {_value(value)}"), Tone.DIM) for name, value in arguments.items()]
    return first_lines(lines, ARGUMENTS, "arguments")


def _command(command: str, expanded: bool) -> str:
    lines = clean(command).strip().split("\n")
    hidden = 0 if expanded else len(lines) - COMMAND_LINES
    return "\n".join([*lines[:COMMAND_LINES], f"… {hidden:,} more lines"]) if hidden > 0 else "\n".join(lines)


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


def _value(value: Any, indent: int | None = None) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str, indent=indent)
