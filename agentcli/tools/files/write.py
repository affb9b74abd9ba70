"""The write tool: makes a file, or replaces all that is in one.

An existing file keeps its mode, owner and links, its BOM, and CRLF line ends if all its lines have them. A file that
the model has not seen, or that has changed on disk since, is not overwritten (`known_files` has the rule).
"""

import os
import stat
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent
from agentcli.agent.tools import AgentTool, AgentToolResult, ToolExecutionMode, ToolKind, parameters_of
from agentcli.tools.argument_names import PATH_NAMES, rename
from agentcli.tools.files.atomic_write import write_atomically, write_error
from agentcli.tools.files.file_access import FileAccess
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.line_counter import LineCounter
from agentcli.tools.files.paths import FILE_TO_WRITE, display_path, find_target, kind_of, readable
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.files.text_file import SAMPLE_BYTES, TextEncoding, sniff
from agentcli.tools.options import ToolOptions
from agentcli.tools.truncate import line_count, plural

DESCRIPTION = (
    "Create a file, or replace all of one, which you must have read. Makes parent folders. To change parts of a file "
    "use edit. Of several calls in one message a write runs alone, in its place."
)

MAX_DIFF_BYTES = 1 << 18
"""No diff is made of a larger file."""


class WriteToolInput(Struct):
    path: str
    content: Annotated[str, Meta(description="the whole new text")]


class WriteToolDetails(Struct, omit_defaults=True):
    path: str
    """The path that was written, links not followed."""
    created: bool
    lines: int
    bytes: int
    encoding: str = "utf-8"
    kept_bom: bool = False
    kept_crlf: bool = False
    diff: str = ""
    """As that of an edit, for a file that was there before; empty for a new one, and for a very large one."""


def create_write_tool(options: ToolOptions, files: FileAccess | None = None) -> AgentTool:
    access = files or FileAccess()

    async def execute(
        tool_call_id: str, params: dict[str, Any], signal: AbortSignal, on_update: Any = None, context: Any = None
    ) -> AgentToolResult:
        arguments = msgspec.convert(params, WriteToolInput)
        cwd = options.cwd
        if arguments.path.endswith("/"):
            raise ToolError(f"{arguments.path} names a folder, not a file", hint="give the name of the file too")

        def work() -> WriteToolDetails:
            with access.place(tool_call_id, find_target(arguments.path, cwd)) as place:
                return write_file(place, arguments.content, access.known)

        details = await access.change(work, signal)
        return AgentToolResult(content=[TextContent(_report(details, cwd))], details=details)

    return AgentTool(
        name="write",
        label="Write",
        description=DESCRIPTION,
        parameters=parameters_of(WriteToolInput),
        prepare_arguments=lambda arguments: rename(arguments, {**PATH_NAMES, "contents": "content", "text": "content"}),
        kind=ToolKind.EDIT,
        target=FILE_TO_WRITE,
        execute=execute,
        execution_mode=ToolExecutionMode.EXCLUSIVE,
    )


def write_file(place: FilePlace, content: str, known: ReadTracker) -> WriteToolDetails:
    """Make `content` the text of the file. Raises `ToolError`; then nothing has changed."""
    path = place.path
    try:
        before = place.status()
        kind, crlf = (TextEncoding("utf-8"), False) if before is None else _style_of(place, before, known)
    except OSError as error:
        raise write_error(path, error) from error
    text = content.replace("\r\n", "\n").replace("\n", "\r\n") if crlf else content
    text = text.removeprefix("\ufeff") if kind.bom else text
    try:
        data = kind.bom + text.encode(kind.encoding)
    except UnicodeEncodeError as error:
        raise _not_encodable(path, kind, error) from None
    if before is None:
        _make_folder(place)
    diff = "" if before is None else _diff(place, data, kind)
    known.seen(place.real, write_atomically(place, [data], before))
    return WriteToolDetails(
        path=readable(path),
        created=before is None,
        lines=line_count(text),
        bytes=len(data),
        encoding=kind.encoding,
        kept_bom=bool(kind.bom),
        kept_crlf=crlf and "\n" in text,
        diff=diff,
    )


def _style_of(place: FilePlace, status: os.stat_result, known: ReadTracker) -> tuple[TextEncoding, bool]:
    """How to write a file that is there: encoding with BOM, whether with CRLF."""
    shown = readable(place.path)
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{shown} is {kind_of(status.st_mode)}, not a regular file", hint="choose another path")
    match known.knows(place.real, status):
        case False:
            raise ToolError(
                f"{shown} was not written: it has changed on disk since you last read it",
                hint="read it again, then write it with those changes, or use edit",
            )
        case None if status.st_size > 0:
            raise ToolError(
                f"{shown} was not written: it exists, and you have not read it",
                hint="read it first, then write it, or use edit to change a part of it",
            )
        case _:
            pass
    try:
        descriptor = place.open(os.O_RDONLY | os.O_NONBLOCK)
    except PermissionError:
        return TextEncoding("utf-8"), False
    with os.fdopen(descriptor, "rb") as file:
        sample = file.read(SAMPLE_BYTES)
        kind = sniff(sample) or TextEncoding("utf-8")
        if kind.unit == 1 and not kind.bom:
            kind = TextEncoding("utf-8")
        return kind, _is_crlf(sample, file, kind)


def _is_crlf(sample: bytes, file: Any, kind: TextEncoding) -> bool:
    """Whether the file has lines, and all of them end in CRLF."""
    if kind.unit > 1:
        text = (sample + file.read()).decode(kind.encoding, "replace")
        return 0 < text.count("\n") == text.count("\r\n")
    found, last, chunk = False, b"", sample
    while chunk:
        joined = last + chunk
        newlines = joined.count(b"\n")
        if newlines != joined.count(b"\r\n"):
            return False
        found = found or newlines > 0
        last = b"\r" if chunk.endswith(b"\r") else b""
        chunk = file.read(1 << 20)
    return found


def _diff(place: FilePlace, new: bytes, kind: TextEncoding) -> str:
    """What the new content changes. Nothing if that cannot be told: the file is large, binary or not readable."""
    from agentcli.tools.edit.edit_diff import Change, diff_of  # 1 ms, for difflib

    try:
        with os.fdopen(place.open(os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            old = file.read(MAX_DIFF_BYTES + 1)
    except OSError:
        return ""
    if max(len(old), len(new)) > MAX_DIFF_BYTES or sniff(old[:SAMPLE_BYTES]) is None:
        return ""
    start = len(kind.bom)
    return diff_of(LineCounter(old), kind, [Change(start, len(old), new[start:])], place.path.name).diff


def _make_folder(place: FilePlace) -> None:
    try:
        place.make_folder()
    except OSError as error:
        raise write_error(place.path, error) from error


def _not_encodable(path: Path, kind: TextEncoding, error: UnicodeEncodeError) -> ToolError:
    char = error.object[error.start]
    if "\ud800" <= char <= "\udfff":
        reason = f"the text holds half a character (lone surrogate U+{ord(char):04X}) at {error.start}"
        return ToolError(f"{readable(path)} was not written: {reason}", hint="write the text anew")
    return ToolError(f"{readable(path)} was not written: {kind.label} has no {char!r}", hint="use other characters")


def _report(details: WriteToolDetails, cwd: Path) -> str:
    shown = display_path(Path(details.path), cwd)
    verb = "Created" if details.created else "Overwrote"
    kept = [name for name, is_kept in (("its BOM", details.kept_bom), ("CRLF line ends", details.kept_crlf)) if is_kept]
    note = f"; kept {' and '.join(kept)}" if kept else ""
    encoding = f", {details.encoding}" if details.encoding != "utf-8" else ""
    return f"{verb} {shown}: {plural(details.lines, 'line')}, {plural(details.bytes, 'byte')}{encoding}{note}."
