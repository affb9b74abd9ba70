"""The read tool: the text of a file, a part of it, or an image.

Files are streamed, so a line range of a huge file costs no memory. The text is plain, as `edit` wants it back: no line
numbers, no BOM, LF for line ends. What a file is gets decided before it is opened.
"""

import os
import shlex
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import ImageContent, TextContent
from agentcli.agent.threads import Stopped, to_stoppable_thread
from agentcli.agent.tools import AgentTool, AgentToolResult, ToolKind, parameters_of
from agentcli.tools.argument_names import PATH_NAMES, rename
from agentcli.tools.files.file_access import FileAccess
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.image_file import (
    IMAGE_SUFFIXES,
    ImageInfo,
    ReadImage,
    image_format_of,
    read_image,
)
from agentcli.tools.files.line_reader import MAX_LINE_CHARS, LineRange, read_lines
from agentcli.tools.files.paths import EXISTING_FILE, display_path, find_file, other_name_note, readable
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.files.regular_file import open_regular
from agentcli.tools.files.text_file import SAMPLE_BYTES, is_probably_text, name_of_binary, sniff
from agentcli.tools.options import ToolOptions
from agentcli.tools.truncate import TruncatedBy, Truncation, plural, size, utf8_size

DESCRIPTION = (
    "Read a text file, or look at an image (png, jpg, gif, webp, bmp). Text comes as it is, without line numbers: "
    "at most 2000 lines or 50 KB; read on with offset."
)


class ReadToolInput(Struct, omit_defaults=True):
    path: str
    offset: Annotated[int, Meta(ge=1, description="first line, from 1")] | None = None
    limit: Annotated[int, Meta(ge=1, description="number of lines")] | None = None


class ReadToolDetails(Struct, omit_defaults=True):
    path: str
    """The path that was opened, as it is on disk."""
    encoding: str | None = None
    first_line: int = 0
    last_line: int = 0
    total_lines: int | None = None
    """None if the file is so long that its lines were not counted."""
    truncation: Truncation | None = None
    image: ImageInfo | None = None


def create_read_tool(options: ToolOptions, files: FileAccess | None = None) -> AgentTool:
    access = files or FileAccess()

    async def execute(
        tool_call_id: str, params: dict[str, Any], signal: AbortSignal, on_update: Any = None, context: Any = None
    ) -> AgentToolResult:
        arguments = msgspec.convert(params, ReadToolInput)

        def work(stopped: Stopped) -> AgentToolResult:
            with access.place(tool_call_id, find_file(arguments.path, options.cwd)) as place:
                return read_file(place, arguments, options, access.known, stopped)

        return await to_stoppable_thread(work, signal)

    return AgentTool(
        name="read",
        label="Read",
        description=DESCRIPTION,
        parameters=parameters_of(ReadToolInput),
        prepare_arguments=lambda arguments: rename(arguments, PATH_NAMES),
        kind=ToolKind.READ,
        target=EXISTING_FILE,
        execute=execute,
    )


def read_file(
    place: FilePlace, arguments: ReadToolInput, options: ToolOptions, known: ReadTracker, stopped: Stopped
) -> AgentToolResult:
    """Read what the arguments name. Blocks until `stopped()`. Raises `ToolError`."""
    descriptor = open_regular(place, options.cwd)
    with FileIO(descriptor) as file:
        status = os.fstat(descriptor)
        try:
            result = _read(file, place.path, status, arguments, options, stopped)
        except OSError as error:
            raise ToolError(f"{readable(place.path)} cannot be read: {error.strerror or error}") from error
        except ToolError:
            if not stopped():
                known.seen(place.real, status)  # it is not text, or has no such line: the model is told what it is
            raise
    known.seen(place.real, status)
    return result


def _read(
    file: FileIO,
    path: Path,
    status: os.stat_result,
    arguments: ReadToolInput,
    options: ToolOptions,
    stopped: Stopped,
) -> AgentToolResult:
    sample = file.read(SAMPLE_BYTES)
    shown = display_path(path, options.cwd)
    note = other_name_note(arguments.path, path, options.cwd)
    notes = [note] if note else []
    if not sample:
        details = ReadToolDetails(path=readable(path), encoding="utf-8", total_lines=0)
        return _result(f"{shown} is empty (0 bytes).", notes, details)
    if image_format_of(sample):
        image = read_image(file, sample, status.st_size)
        if isinstance(image, ReadImage):
            return _image_result(image, path, shown, notes, options)
        if not is_probably_text(sample):
            raise ToolError(f"{shown} is not shown: {image}", hint="use bash to look at it: file, xxd …")
        file.seek(len(sample))
    kind = sniff(sample)
    if kind is None:
        what = name_of_binary(sample)
        hint = "use bash to look at it: file, strings, xxd, unzip …"
        raise ToolError(f"{shown} is {what} ({size(status.st_size)}), not text", hint=hint)
    first = arguments.offset or 1
    lines = read_lines(
        file,
        sample,
        kind,
        first=first,
        count=min(arguments.limit or options.max_lines, options.max_lines),
        max_bytes=options.max_bytes,
        stopped=stopped,
    )
    if not lines.shown:
        raise ToolError(f"offset {first} is past the end: {shown} has {plural(lines.total or 0, 'line')}")
    return _text_result(lines, path, shown, notes, arguments, options, status.st_size)


def _text_result(
    lines: LineRange,
    path: Path,
    shown: str,
    notes: list[str],
    arguments: ReadToolInput,
    options: ToolOptions,
    file_size: int,
) -> AgentToolResult:
    first = arguments.offset or 1
    last = first + lines.shown - 1
    is_as_asked = lines.stopped_by is None and (arguments.limit or options.max_lines + 1) <= options.max_lines
    stopped_by = lines.stopped_by or (TruncatedBy.LINES if lines.has_more and not is_as_asked else None)
    if lines.cut:
        notes.append(_cut_note(lines, shown))
    if lines.has_more:
        notes.append(_more_note(lines, first, last, stopped_by, options))
    notes += _kind_notes(lines, arguments.path)
    details = ReadToolDetails(
        path=readable(path),
        encoding=lines.kind.encoding,
        first_line=first,
        last_line=last,
        total_lines=lines.total,
        truncation=_truncation(lines, first, file_size, stopped_by),
    )
    return _result(lines.text, notes, details)


def _truncation(lines: LineRange, first: int, file_size: int, stopped_by: TruncatedBy | None) -> Truncation | None:
    if stopped_by is None or not lines.has_more:
        return None
    return Truncation(
        truncated_by=stopped_by,
        total_lines=lines.total or 0,
        total_bytes=file_size,
        shown_lines=lines.shown,
        shown_bytes=utf8_size(lines.text),
        first_line=first,
    )


def _kind_notes(lines: LineRange, name: str) -> Iterator[str]:
    if label := lines.kind.label:
        yield f"The file is {label}." if lines.kind.encoding == "utf-8" else f"The file is {label}, not UTF-8."
    if lines.replaced:
        yield "Bytes that are not text in this encoding are shown as \ufffd."
    if name.lower().endswith(IMAGE_SUFFIXES):
        yield "The name says image, but the file holds text."


def _more_note(lines: LineRange, first: int, last: int, stopped_by: TruncatedBy | None, options: ToolOptions) -> str:
    of = f" of {lines.total}" if lines.total is not None else "; many more follow"
    limit = f" ({size(options.max_bytes)} limit)" if stopped_by is TruncatedBy.BYTES else ""
    if stopped_by is None and lines.total is not None:
        return f"{plural(lines.total - last, 'more line')} in the file. Use offset={last + 1} to continue."
    return f"Showing lines {first}-{last}{of}{limit}. Use offset={last + 1} to continue."


def _cut_note(lines: LineRange, shown: str) -> str:
    line = lines.cut[0]
    others = f" So are {plural(len(lines.cut) - 1, 'other line')}." if len(lines.cut) > 1 else ""
    return (
        f"Line {line.number} is cut: it is {size(line.bytes)} long, its first {MAX_LINE_CHARS:,} characters are shown."
        f"{others} To see more of it, use bash: "
        f"sed -n '{line.number}p' {shlex.quote(shown)} | cut -c {MAX_LINE_CHARS + 1}-{3 * MAX_LINE_CHARS}"
    )


def _image_result(image: ReadImage, path: Path, shown: str, notes: list[str], options: ToolOptions) -> AgentToolResult:
    details = ReadToolDetails(path=readable(path), image=image.info)
    text = f"Image {shown}: {image.description}"
    if not options.image_input:
        return _result(f"{text} It is not shown, because images are switched off.", notes, details)
    result = _result(text, notes, details)
    result.content.append(ImageContent(data=image.base64, mime_type=image.info.mime_type))
    return result


def _result(text: str, notes: list[str], details: ReadToolDetails) -> AgentToolResult:
    if notes:
        text = f"{text}\n\n[{' '.join(notes)}]"
    return AgentToolResult(content=[TextContent(text)], details=details)
