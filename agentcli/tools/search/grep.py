"""The grep tool: lines that match a regular expression, in files that git does not ignore. ripgrep searches.

Its regular expressions are those of Rust: no look-around and no backreferences, and time linear in the text.
"""

import os
import time
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent
from agentcli.agent.threads import to_thread
from agentcli.agent.tools import AgentTool, AgentToolResult, OnUpdate, ToolKind, parameters_of
from agentcli.tools.argument_names import PATH_NAMES, rename
from agentcli.tools.files.paths import EXISTING_FILE, readable
from agentcli.tools.options import ToolOptions
from agentcli.tools.search.grep_events import GrepEvents, Line
from agentcli.tools.search.search_process import Ending, SearchEnd, SearchProcess, SearchTarget, search, search_target
from agentcli.tools.truncate import Truncation, listing, plural

DEFAULT_LIMIT = 100
MAX_CONTEXT = 100
_MAX_MATCHES = 10_000
"""With more, files are searched once more in their order, up to the limit, instead of collecting and sorting all."""
_MAX_PATTERN = 10_000
"""Bytes. With some longer ones, building the automaton takes ripgrep a minute."""
_SMALL_FILE = 1 << 20
_MAX_LINE_CHARS = 500
_BEFORE_MATCH = 100

DESCRIPTION = (
    "Search lines of files for a regular expression (Rust syntax: no look-around). Respects .gitignore, passes over"
    " links. Shows path:line: text."
)


class GrepToolInput(Struct, omit_defaults=True):
    pattern: str
    path: Annotated[str, Meta(description="file or folder, default: working folder")] | None = None
    glob: Annotated[str, Meta(description="which files, like *.py")] | None = None
    ignore_case: bool | None = None
    literal: Annotated[bool, Meta(description="pattern is plain text")] | None = None
    context: Annotated[int, Meta(ge=0, description="lines before and after")] | None = None
    limit: Annotated[int, Meta(description="matches, default 100")] | None = None


class GrepToolDetails(Struct, omit_defaults=True):
    matches: int
    """Lines that are shown as matches."""
    files: int
    limit_reached: bool = False
    truncation: Truncation | None = None


class _Found(Struct):
    path: tuple[str, ...]
    """Its parts, so that files sort like the tree."""
    number: int
    is_match: bool
    text: str
    is_cut: bool


class _Collector:
    """Takes the output of a search until there are too many matches."""

    def __init__(self, most: int) -> None:
        self.events = GrepEvents()
        self.found: list[_Found] = []
        self.matches = 0
        self._most = most

    def take(self, chunk: bytes) -> bool:
        for is_match, line in self.events.take(chunk):
            text, is_cut = _cut(line)
            path = line.path.raw().decode("utf-8", "surrogateescape").removeprefix("./")
            self.found.append(_Found(tuple(path.split("/")), line.line_number or 0, is_match, text, is_cut))
            self.matches += is_match
        return self.matches < self._most


def create_grep_tool(options: ToolOptions) -> AgentTool:
    async def execute(
        tool_call_id: str,
        params: dict[str, Any],
        signal: AbortSignal,
        on_update: OnUpdate | None = None,
        context: Any = None,
    ) -> AgentToolResult:
        return await _grep(msgspec.convert(params, GrepToolInput), options, signal)

    return AgentTool(
        name="grep",
        label="Grep",
        description=DESCRIPTION,
        parameters=parameters_of(GrepToolInput),
        prepare_arguments=lambda arguments: rename(arguments, {**PATH_NAMES, "ignoreCase": "ignore_case"}),
        kind=ToolKind.SEARCH,
        target=EXISTING_FILE,
        execute=execute,
    )


async def _grep(arguments: GrepToolInput, options: ToolOptions, signal: AbortSignal) -> AgentToolResult:
    limit = DEFAULT_LIMIT if arguments.limit is None else max(arguments.limit, 1)
    _check_pattern(arguments.pattern)
    argv = _arguments(arguments, limit)
    target = await to_thread(search_target, arguments.path, options.cwd)
    deadline = time.monotonic() + options.search_timeout_s

    async def run(most: int, *more: str) -> tuple[_Collector, SearchEnd]:
        place = f"./{target.name}" if target.name != "." else "."
        last = [f"--regexp={arguments.pattern}", "--", place]
        process = SearchProcess([*argv, *more, *last], target.folder, max(deadline - time.monotonic(), 0.1))
        collector = _Collector(most)
        end = await search(process, collector.take, signal)
        end.check(is_whole=collector.events.is_whole)
        return collector, end

    collector, end = await run(max(_MAX_MATCHES, limit + 1))
    if end.ending is Ending.STOPPED:
        collector, end = await run(limit + 1, "--sort=path")
    notes: list[str] = []
    if end.ending is Ending.MEMORY:
        collector, end = await run(limit + 1, "--sort=path", f"--max-filesize={_SMALL_FILE}")
        notes.append("INCOMPLETE: files over 1 MiB were left out; one of them takes too much memory.")
    notes += end.notes(target.prefix)
    if end.ending in (Ending.TIMEOUT, Ending.MEMORY):
        notes.append(end.incomplete(options.search_timeout_s))
    return _result(collector.found, arguments, limit, target, options, notes)


def _check_pattern(pattern: str) -> None:
    """Raise `ToolError` for a pattern that cannot be handed over."""
    if not pattern:
        raise ToolError("pattern must not be empty")
    if "\0" in pattern:
        raise ToolError("pattern holds a NUL character, which no program takes", hint="write it as \\x00")
    if "\n" in pattern:
        raise ToolError("pattern holds a line end, but lines are searched one by one", hint="search for one line of it")
    try:
        size = len(os.fsencode(pattern))
    except UnicodeEncodeError:
        raise ToolError("pattern holds half a character (a lone surrogate)", hint="write it anew") from None
    if size > _MAX_PATTERN:
        raise ToolError(f"pattern is longer than {_MAX_PATTERN:,} bytes", hint="search for a part of it")


def _arguments(arguments: GrepToolInput, limit: int) -> list[str]:
    """Settings files are not read; whatever the pattern or the path begins with, it is no option."""
    context = min(arguments.context or 0, MAX_CONTEXT)
    argv = ["--json", "--no-config", "--no-mmap", "--hidden", "--crlf", f"--max-count={limit + 1}"]
    argv += [f"--context={context}"] if context else []
    argv += ["--fixed-strings"] if arguments.literal else []
    argv += ["--ignore-case"] if arguments.ignore_case else ["--case-sensitive"]
    glob = arguments.glob or ""
    if "\0" in glob or len(glob) > _MAX_PATTERN:
        raise ToolError(f"glob must not be longer than {_MAX_PATTERN:,} characters, nor hold a NUL character")
    argv += [f"--glob={glob}"] if glob else []
    return [*argv, "--glob=!.git"]


def _result(
    lines: list[_Found],
    arguments: GrepToolInput,
    limit: int,
    target: SearchTarget,
    options: ToolOptions,
    notes: list[str],
) -> AgentToolResult:
    if not lines and any(note.startswith("INCOMPLETE") for note in notes):
        raise ToolError(" ".join(notes))
    found = sorted(lines, key=lambda one: (one.path, one.number))
    shown, reached = _first(found, limit, min(arguments.context or 0, MAX_CONTEXT))
    matches = sum(one.is_match for one in shown)
    files = len({one.path for one in shown})
    details = GrepToolDetails(matches, files, limit_reached=reached)
    text = "\n".join(_lines_of(shown, target)) if matches else "No matches found"
    if reached:
        more = f"{plural(limit, 'match', 'matches')} shown, there are more. Use limit={2 * limit}, or be precise."
        notes = [more, *notes]
    if any(one.is_cut for one in shown):
        notes = [*notes, f"Long lines are cut to {_MAX_LINE_CHARS} characters. Use read to see them."]
    shown_text, details.truncation = listing(text, options.max_lines, options.max_bytes, notes)
    return AgentToolResult(content=[TextContent(shown_text)], details=details)


def _first(found: list[_Found], limit: int, context: int) -> tuple[list[_Found], bool]:
    """The lines up to the last match within the limit, with the context behind it; and whether there are more."""
    places = [index for index, one in enumerate(found) if one.is_match]
    if len(places) <= limit:
        return found, False
    last = found[places[limit - 1]]
    end = places[limit - 1] + 1
    while end < len(found) and not found[end].is_match:
        if found[end].path != last.path or found[end].number > last.number + context:
            break
        end += 1
    return found[:end], True


def _lines_of(found: list[_Found], target: SearchTarget) -> list[str]:
    """`path:12: text` for matches, `path-12- text` around them, `--` where lines are left out."""
    lines: list[str] = []
    has_context = any(not one.is_match for one in found)
    for index, one in enumerate(found):
        before = found[index - 1] if index else None
        if has_context and before is not None and (before.path, before.number + 1) != (one.path, one.number):
            lines.append("--")
        mark = ":" if one.is_match else "-"
        lines.append(f"{target.prefix}{readable('/'.join(one.path))}{mark}{one.number}{mark} {one.text}")
    return lines


def _cut(line: Line) -> tuple[str, bool]:
    """The text of a line, or the part of a long one around its first match."""
    raw = line.lines.raw()
    text = raw.decode("utf-8", "replace").rstrip("\r\n").replace("\0", "\ufffd")
    if len(text) <= _MAX_LINE_CHARS:
        return text, False
    at = line.submatches[0].start if line.submatches else 0
    place = len(raw[:at].decode("utf-8", "replace"))
    start = max(0, place - _BEFORE_MATCH) if place > _MAX_LINE_CHARS - _BEFORE_MATCH else 0
    end = start + _MAX_LINE_CHARS
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}", True
