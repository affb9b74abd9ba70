"""The edit tool: replaces texts in a file, all of them or none.

Every edit is matched against the file as it is on disk at that moment, not against the result of the others. The exact
text is looked for first; only if it is nowhere, `tolerant_matching` may find the one place that is meant. What lies
outside the matched places stays byte for byte as it was.
"""

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent
from agentcli.agent.tools import AgentTool, AgentToolResult, OnUpdate, ToolExecutionMode, ToolKind, parameters_of
from agentcli.tools.edit.edit_arguments import prepare_edit_arguments
from agentcli.tools.edit.locate import Edit, EditMatch, EditPlacer
from agentcli.tools.files.atomic_write import write_atomically
from agentcli.tools.files.file_access import FileAccess
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.paths import EXISTING_FILE, display_path, find_file, other_name_note, readable
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.files.regular_file import open_regular
from agentcli.tools.files.text_file import TextEncoding, kind_of_data
from agentcli.tools.options import ToolOptions
from agentcli.tools.truncate import plural, size

MAX_FILE_BYTES = 256 << 20

DESCRIPTION = (
    "Replace texts in a file. Each old_text must be in the file exactly, blanks included, and only once (or set "
    "replace_all): take in just enough lines around it. All edits are matched against the file as it is, must not "
    "overlap, and are made together or not at all. Of several calls in one message an edit runs alone, in its place."
)


class EditToolInput(Struct):
    path: str
    edits: Annotated[list[Edit], Meta(min_length=1)]


class EditToolDetails(Struct, omit_defaults=True):
    path: str
    """The file that was changed, as it is on disk, links not followed."""
    diff: str
    """For people: `-12 old`, `+12 new`, ` 12 same`, `...` for what is left out."""
    patch: str
    """Unified diff; empty if it would be very large."""
    first_changed_line: int | None
    replacements: int
    encoding: str = "utf-8"
    tolerated: list[str] = []
    """In what the old texts differed from the file: `indentation`, `line numbers` …"""


def create_edit_tool(options: ToolOptions, files: FileAccess | None = None) -> AgentTool:
    access = files or FileAccess()

    async def execute(
        tool_call_id: str,
        params: dict[str, Any],
        signal: AbortSignal,
        on_update: OnUpdate | None = None,
        context: Any = None,
    ) -> AgentToolResult:
        arguments = msgspec.convert(params, EditToolInput)
        cwd = options.cwd

        def work() -> AgentToolResult:
            path = find_file(arguments.path, cwd)
            with access.place(tool_call_id, path) as place:
                return edit_file(place, arguments.edits, cwd, access.known, other_name_note(arguments.path, path, cwd))

        return await access.change(work, signal)

    return AgentTool(
        name="edit",
        label="Edit",
        description=DESCRIPTION,
        parameters=_parameters(),
        prepare_arguments=prepare_edit_arguments,
        kind=ToolKind.EDIT,
        target=EXISTING_FILE,
        execute=execute,
        execution_mode=ToolExecutionMode.EXCLUSIVE,
    )


def _parameters() -> dict[str, Any]:
    """The schema in one piece: shorter, and some servers do not follow references."""
    parameters = parameters_of(EditToolInput)
    parameters["properties"]["edits"]["items"] = parameters.pop("$defs")["Edit"]
    return parameters


def edit_file(place: FilePlace, edits: list[Edit], cwd: Path, known: ReadTracker, note: str = "") -> AgentToolResult:
    """Make the edits. Raises `ToolError`; then the file is as it was.

    Args:
        note: what the report ends with.
    """
    from agentcli.tools.edit.edit_diff import Change, diff_of  # 1 ms, for difflib

    shown = display_path(place.path, cwd)
    data, status = _load(place, cwd, shown)
    is_ascii = all(edit.old_text.isascii() and edit.new_text.isascii() for edit in edits)
    kind = kind_of_data(data, whole=not is_ascii)
    placer = EditPlacer(data, kind, shown)
    placements = placer.place(edits)
    changes = [Change(placement.span.start, placement.span.end, placement.new) for placement in placements]
    changed = [change for change in changes if data[change.start : change.end] != change.new]
    if not changed:
        return _nothing_to_do(place, placer, placements, kind)
    diff = diff_of(placer.counter, kind, changes, shown)
    was_stale = known.knows(place.real, status) is False
    after = write_atomically(place, _parts(data, placements), status)
    if was_stale:
        known.missed(place.real)
    else:
        known.seen(place.real, after)
    details = EditToolDetails(
        path=readable(place.path),
        diff=diff.diff,
        patch=diff.patch,
        first_changed_line=diff.first_changed_line,
        replacements=len(changed),
        tolerated=_tolerated(placements),
        encoding=kind.encoding,
    )
    report = _report(shown, placer, placements, was_stale)
    return AgentToolResult(content=[TextContent(f"{report} {note}".rstrip())], details=details)


def _load(place: FilePlace, cwd: Path, shown: str) -> tuple[bytes, os.stat_result]:
    descriptor = open_regular(place, cwd)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if status.st_size > MAX_FILE_BYTES:
            raise ToolError(
                f"{shown} is too large to edit: {size(status.st_size)}, at most {size(MAX_FILE_BYTES)}",
                hint="use bash: sed -i",
            )
        if not place.is_writable():
            raise ToolError(f"{shown} is read-only for us; nothing was changed", hint="chmod u+w, if it may be changed")
        try:
            return file.readall(), status
        except OSError as error:
            raise ToolError(f"{shown} cannot be read: {error.strerror or error}") from error


def _parts(data: bytes, placements: list[EditMatch]) -> list[bytes | memoryview]:
    """The new content: the old one, with the new bytes in their places."""
    view = memoryview(data)
    parts: list[bytes | memoryview] = []
    position = 0
    for placement in placements:
        parts += (view[position : placement.span.start], placement.new)
        position = placement.span.end
    return [*parts, view[position:]]


def _nothing_to_do(
    place: FilePlace, placer: EditPlacer, placements: list[EditMatch], kind: TextEncoding
) -> AgentToolResult:
    """The result of edits that were all made before."""
    details = EditToolDetails(
        path=readable(place.path), diff="", patch="", first_changed_line=None, replacements=0, encoding=kind.encoding
    )
    at = _lines_named(placer, placements)
    text = f"{placer.name} was not changed: it already reads as new_text says ({at}). The edit is done."
    return AgentToolResult(content=[TextContent(text)], details=details)


def _tolerated(placements: list[EditMatch]) -> list[str]:
    return list(dict.fromkeys(what for placement in placements for what in placement.tolerated))


def _lines_named(placer: EditPlacer, placements: list[EditMatch]) -> str:
    lines = sorted({placer.line_of(placement.span.start) for placement in placements[:20]})
    more = " …" if len(placements) > 20 else ""
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}{more}"


def _report(shown: str, placer: EditPlacer, placements: list[EditMatch], was_stale: bool) -> str:
    made = [placement for placement in placements if not placement.is_made]
    notes = [f"Edited {shown}: {plural(len(made), 'place')} ({_lines_named(placer, made)})."]
    done = [placement for placement in placements if placement.is_made]
    if done:
        notes.append(f"At {_lines_named(placer, done)} new_text was there already.")
    tolerant = [placement for placement in made if placement.tolerated]
    if tolerant:
        what = _listed(_tolerated(tolerant))
        notes.append(
            f"At {_lines_named(placer, tolerant)} old_text differed from the file in {what}; the file's was kept."
        )
    if placer.kind.encoding != "utf-8":
        notes.append(f"The file stays {placer.kind.label}.")
    if was_stale:
        notes.append("The file had changed on disk since you last read it; those changes are still there.")
    return " ".join(notes)


def _listed(names: list[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
