"""Compaction files: the files that a part of the conversation read and changed, as lists at the end of its summary."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from agentcli.agent.messages import AgentMessage, AssistantMessage, ToolCall

_READING = frozenset({"read"})
_CHANGING = frozenset({"write", "edit"})
_PATH_ARGUMENTS = ("path", "file_path", "file", "filename")
_LISTS = re.compile(r"\n*<(read-files|modified-files)>\n.*?\n</\1>", re.S)


class FileLists(Struct, frozen=True):
    """Paths, as the tools' arguments have them, sorted."""

    read_files: list[str] = []
    """Read but not changed."""
    modified_files: list[str] = []


def files_of(messages: Sequence[AgentMessage], details: Iterable[object] = ()) -> FileLists:
    """The files of a part of the conversation.

    Args:
        messages: the part.
        details: of the summaries before and in it; their lists are included.
    """
    read: dict[str, None] = {}
    modified: dict[str, None] = {}
    for known in details:
        if isinstance(known, dict):
            read.update(dict.fromkeys(_strings(known.get("read_files"))))
            modified.update(dict.fromkeys(_strings(known.get("modified_files"))))
    for message in messages:
        for call in message.tool_calls if isinstance(message, AssistantMessage) else ():
            if (path := _path_of(call)) is not None:
                (modified if call.name in _CHANGING else read)[path] = None
    return FileLists(sorted(path for path in read if path not in modified), sorted(modified))


def with_file_lists(summary: str, files: FileLists) -> str:
    """The summary followed by the lists."""
    parts = [summary]
    for name, paths in (("read-files", files.read_files), ("modified-files", files.modified_files)):
        if paths:
            parts.append(f"<{name}>\n" + "\n".join(paths) + f"\n</{name}>")
    return "\n\n".join(parts)


def without_file_lists(summary: str) -> str:
    """The summary without the lists that `with_file_lists` added."""
    return _LISTS.sub("", summary).rstrip()


def _path_of(call: ToolCall) -> str | None:
    if call.name not in _READING | _CHANGING:
        return None
    found = (call.arguments.get(name) for name in _PATH_ARGUMENTS)
    path = next((value for value in found if isinstance(value, str) and value.strip()), None)
    return path.replace("\n", " ") if path is not None else None


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
