"""The grep tool: lines that match a regular expression, in files that git does not ignore.

Searched with ripgrep where it is installed, else with our own program, which gives the same results for patterns that
both kinds of regular expressions have.
"""

from base64 import b64decode
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent
from agentcli.agent.threads import to_thread
from agentcli.agent.tools import AgentTool, AgentToolResult, OnUpdate, parameters_of
from agentcli.tools.argument_names import PATH_NAMES, rename
from agentcli.tools.options import ToolOptions
from agentcli.tools.search_order import SearchOrder
from agentcli.tools.search_process import plain_search, search
from agentcli.tools.search_target import SearchTarget, search_target
from agentcli.tools.truncate import Truncation, listing, plural

DEFAULT_LIMIT = 100
MAX_CONTEXT = 100
_MAX_MATCHES = 10_000
"""As many are collected at most before they are sorted."""
_MAX_LINE_CHARS = 500
_BEFORE_MATCH = 100

DESCRIPTION = "Search file contents for a regular expression. Respects .gitignore. Shows path:line: text."


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
    engine: str = "rg"
    """`rg` or `python`."""


class _Text(Struct):
    """As ripgrep has it: `bytes` is base64, for what is not UTF-8."""

    text: str | None = None
    bytes: str | None = None

    def get(self) -> str:
        if self.text is not None:
            return self.text
        return b64decode(self.bytes or "").decode("utf-8", "replace")


class _Submatch(Struct):
    start: int


class _Line(Struct):
    path: _Text
    lines: _Text
    line_number: int | None = None
    submatches: list[_Submatch] = []


class _Event(Struct):
    type: str
    data: msgspec.Raw


class _Found(Struct):
    path: tuple[str, ...]
    """Its parts, so that files sort like the tree."""
    number: int
    is_match: bool
    text: str
    is_cut: bool


class _Collector:
    """Takes the events of a search until there are too many matches."""

    def __init__(self) -> None:
        self.found: list[_Found] = []
        self.matches = 0
        self._events = msgspec.json.Decoder(_Event)
        self._lines = msgspec.json.Decoder(_Line)

    def take(self, line: bytes) -> bool:
        event = self._events.decode(line)
        if event.type in ("match", "context"):
            data = self._lines.decode(event.data)
            is_match = event.type == "match"
            text, is_cut = _cut(data.lines.get().rstrip("\r\n").replace("\0", "\ufffd"), data.submatches)
            path = tuple(data.path.get().removeprefix("./").split("/"))
            self.found.append(_Found(path, data.line_number or 0, is_match, text, is_cut))
            self.matches += is_match
        return self.matches < _MAX_MATCHES


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
        execute=execute,
    )


def ripgrep() -> str | None:
    """The path of `rg`, if it is installed."""
    import shutil  # 2 ms

    return shutil.which("rg")


async def _grep(arguments: GrepToolInput, options: ToolOptions, signal: AbortSignal) -> AgentToolResult:
    if not arguments.pattern:
        raise ToolError("pattern must not be empty")
    if "\0" in arguments.pattern:
        raise ToolError("pattern holds a NUL character, which no program takes")
    limit = DEFAULT_LIMIT if arguments.limit is None else max(arguments.limit, 1)
    target = await to_thread(search_target, arguments.path, options.cwd)
    program = await to_thread(ripgrep)
    order = SearchOrder(
        kind="grep",
        pattern=arguments.pattern,
        target=target.name,
        glob=arguments.glob,
        ignore_case=bool(arguments.ignore_case),
        literal=bool(arguments.literal),
        context=min(arguments.context or 0, MAX_CONTEXT),
        most=limit + 1,
    )
    collector = _Collector()
    argv = _ripgrep_arguments(program, order) if program else plain_search(order)
    end = await search(argv, target.folder, collector.take, signal)
    if signal.aborted:
        raise ToolError("aborted by the user while searching")
    if end.code == 2 and not collector.found:
        reason = end.errors.splitlines()[-1].removeprefix("error: ") if end.errors else "no reason given"
        raise ToolError(f"grep cannot search for {arguments.pattern!r}: {reason}", hint="set literal for plain text")
    return _result(collector, arguments, limit, target, options, "rg" if program else "python")


def _ripgrep_arguments(program: str, order: SearchOrder) -> list[str]:
    """Settings files are not read; whatever the pattern or the path begins with, it is no option."""
    argv = [program, "--json", "--no-config", "--no-messages", "--hidden", "--crlf", f"--max-count={order.most}"]
    argv += [f"--context={order.context}"] if order.context else []
    argv += ["--fixed-strings"] if order.literal else []
    argv += ["--ignore-case"] if order.ignore_case else ["--case-sensitive"]
    argv += [f"--glob={order.glob}"] if order.glob else []
    return [*argv, "--glob=!.git", "--", order.pattern, f"./{order.target}" if order.target != "." else "."]


def _result(
    collector: _Collector,
    arguments: GrepToolInput,
    limit: int,
    target: SearchTarget,
    options: ToolOptions,
    engine: str,
) -> AgentToolResult:
    found = sorted(collector.found, key=lambda one: (one.path, one.number))
    shown, reached = _first(found, limit, min(arguments.context or 0, MAX_CONTEXT))
    matches = sum(one.is_match for one in shown)
    files = len({one.path for one in shown})
    details = GrepToolDetails(matches, files, limit_reached=reached, engine=engine)
    if not matches:
        return AgentToolResult(content=[TextContent("No matches found")], details=details)
    text = "\n".join(_lines_of(shown, target))
    notes: list[str] = []
    if reached:
        notes.append(
            f"{plural(limit, 'match', 'matches')} shown, there are more. Use limit={2 * limit}, or be precise."
        )
    if any(one.is_cut for one in shown):
        notes.append(f"Long lines are cut to {_MAX_LINE_CHARS} characters. Use read to see them.")
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
        lines.append(f"{target.prefix}{'/'.join(one.path)}{mark}{one.number}{mark} {one.text}")
    return lines


def _cut(text: str, submatches: list[_Submatch]) -> tuple[str, bool]:
    """The line, or the part of a long one around its first match."""
    if len(text) <= _MAX_LINE_CHARS:
        return text, False
    place = len(text.encode("utf-8", "replace")[: submatches[0].start].decode("utf-8", "ignore")) if submatches else 0
    start = max(0, place - _BEFORE_MATCH) if place > _MAX_LINE_CHARS - _BEFORE_MATCH else 0
    end = start + _MAX_LINE_CHARS
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}", True
