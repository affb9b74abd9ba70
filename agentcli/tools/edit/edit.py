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
from agentcli.tools.argument_names import PATH_NAMES, contradiction, parsed, rename
from agentcli.tools.edit.locate import Edit, EditMatch, EditPlacer
from agentcli.tools.files.atomic_write import write_atomically
from agentcli.tools.files.file_access import FileAccess
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.paths import EXISTING_FILE, display_path, find_file, other_name_note, readable
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.files.regular_file import open_regular
from agentcli.tools.files.text_file import kind_of_data
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


_TEXT_NAMES = {
    "old_string": "old_text",
    "oldText": "old_text",
    "oldString": "old_text",
    "old_str": "old_text",
    "find": "old_text",
    "search": "old_text",
    "new_string": "new_text",
    "newText": "new_text",
    "newString": "new_text",
    "new_str": "new_text",
    "replacement": "new_text",
    "replace": "new_text",
    "replaceAll": "replace_all",
}


def prepare_edit_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """One `edits` list of `old_text` and `new_text`, out of all the forms that models give it.

    Raises:
        ToolError: the arguments contradict each other.
    """
    prepared = rename(arguments, {**PATH_NAMES, "edit": "edits", "changes": "edits"})
    edits = parsed(prepared.get("edits"))
    prepared = rename(prepared, _TEXT_NAMES)
    pair = {name: prepared.pop(name) for name in ("old_text", "new_text") if name in prepared}
    replace_all = prepared.pop("replace_all", None)
    if isinstance(edits, dict):
        edits = [edits]
    if pair and not edits:
        edits = [pair]
    if isinstance(edits, list):
        edits = [_prepare_edit(parsed(edit), replace_all) for edit in edits]
        _check_pair(pair, edits)
    if edits is not None:
        prepared["edits"] = edits
    return prepared


def _prepare_edit(edit: Any, replace_all: Any) -> Any:
    if not isinstance(edit, dict):
        return edit
    edit = rename(edit, _TEXT_NAMES)
    if replace_all is None:
        return edit
    if edit.setdefault("replace_all", replace_all) != replace_all:
        raise contradiction("replace_all beside edits says another thing than replace_all in one of them")
    return edit


def _check_pair(pair: dict[str, Any], edits: list[Any]) -> None:
    """Refuse an edit beside `edits` that is not one of them. Empty texts are a form that was not filled in."""
    if not any(pair.values()):
        return
    if not any(isinstance(edit, dict) and pair.items() <= edit.items() for edit in edits):
        raise contradiction(f"{' and '.join(pair)} beside edits are not one of the edits")


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
    if all(data[change.start : change.end] == change.new for change in changes):
        raise ToolError(f"{shown} was not changed: it already reads like that")
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
        replacements=len(changes),
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


def _report(shown: str, placer: EditPlacer, placements: list[EditMatch], was_stale: bool) -> str:
    lines = sorted({placer.line_of(placement.span.start) for placement in placements[:20]})
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
    more = " …" if len(placements) > 20 else ""
    notes = [f"Edited {shown}: {plural(len(placements), 'place')} ({where}{more})."]
    tolerant = [placement for placement in placements if not placement.is_exact]
    if tolerant:
        at = ", ".join(str(placer.line_of(placement.span.start)) for placement in tolerant[:20])
        notes.append(
            f"At line {at} old_text differed from the file in blanks, quotes or dashes; the file's lines were taken."
        )
    if placer.kind.encoding != "utf-8":
        notes.append(f"The file stays {placer.kind.label}.")
    if was_stale:
        notes.append("The file had changed on disk since you last read it; those changes are still there.")
    return " ".join(notes)
