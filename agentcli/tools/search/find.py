"""The find tool: files and folders whose paths match a glob, without what git ignores.

What is listed stands in `file_tree`, what a glob means in `path_glob`.
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent
from agentcli.agent.threads import Stopped, to_stoppable_thread, to_thread
from agentcli.agent.tools import AgentTool, AgentToolResult, OnUpdate, ToolKind, parameters_of
from agentcli.tools.argument_names import PATH_NAMES, rename
from agentcli.tools.files.paths import EXISTING_FILE, readable
from agentcli.tools.options import ToolOptions
from agentcli.tools.search.file_tree import LIST_ARGUMENTS, FileTree
from agentcli.tools.search.path_glob import PathGlob
from agentcli.tools.search.search_process import Ending, SearchProcess, search, search_target
from agentcli.tools.truncate import Truncation, listing, plural

DEFAULT_LIMIT = 1000
_MAX_PATTERN = 4096
_MOST_KEPT = 20_000
"""As many more than the limit are kept at most before they are sorted."""

DESCRIPTION = (
    "Find files and folders by glob. Respects .gitignore, but for links and empty folders. Folders end in /."
    " Links are not followed."
)


class FindToolInput(Struct, omit_defaults=True):
    pattern: Annotated[str, Meta(description="like *.py or src/**/test_*; both cases if all lower-case")]
    path: Annotated[str, Meta(description="folder, default: working folder")] | None = None
    limit: Annotated[int, Meta(description="results, default 1000")] | None = None


class FindToolDetails(Struct, omit_defaults=True):
    results: int
    limit_reached: bool = False
    truncation: Truncation | None = None


def create_find_tool(options: ToolOptions) -> AgentTool:
    async def execute(
        tool_call_id: str,
        params: dict[str, Any],
        signal: AbortSignal,
        on_update: OnUpdate | None = None,
        context: Any = None,
    ) -> AgentToolResult:
        return await _find(msgspec.convert(params, FindToolInput), options, signal)

    return AgentTool(
        name="find",
        label="Find",
        description=DESCRIPTION,
        parameters=parameters_of(FindToolInput),
        prepare_arguments=lambda arguments: rename(arguments, {**PATH_NAMES, "glob": "pattern", "name": "pattern"}),
        kind=ToolKind.SEARCH,
        target=EXISTING_FILE,
        execute=execute,
    )


class _Finder:
    """Keeps the first paths that match, in the order of the tree."""

    def __init__(self, matches: PathGlob, most: int) -> None:
        self._matches = matches
        self._most = most
        self._tree = FileTree()
        self._found: list[str] = []

    def take(self, chunk: bytes) -> bool:
        self._found += filter(self._matches, self._tree.take(chunk))
        if len(self._found) > self._most + _MOST_KEPT:
            self._found = self.first()
        return True

    def take_unlisted(self, top: Path, stopped: Stopped) -> None:
        self._found += filter(self._matches, self._tree.unlisted(top, stopped))

    def first(self) -> list[str]:
        return sorted(self._found, key=lambda path: path.rstrip("/").split("/"))[: self._most]


async def _find(arguments: FindToolInput, options: ToolOptions, signal: AbortSignal) -> AgentToolResult:
    limit = DEFAULT_LIMIT if arguments.limit is None else max(arguments.limit, 1)
    finder = _Finder(_glob(arguments.pattern), limit + 1)
    target = await to_thread(search_target, arguments.path, options.cwd)
    if target.name != ".":
        raise ToolError(f"{target.prefix}{target.name} is a file", hint="give the folder to search in")
    process = SearchProcess(LIST_ARGUMENTS, target.folder, options.search_timeout_s)
    end = await search(process, finder.take, signal)
    end.check(is_whole=True)
    notes = end.notes(target.prefix)
    if end.ending is not Ending.DONE:
        notes.append(end.incomplete(options.search_timeout_s))
    await to_stoppable_thread(lambda stopped: finder.take_unlisted(target.folder, stopped), signal)
    paths = await to_thread(finder.first)
    if not paths and end.ending is not Ending.DONE:
        raise ToolError(" ".join(notes))
    details = FindToolDetails(results=min(len(paths), limit), limit_reached=len(paths) > limit)
    if details.limit_reached:
        notes.insert(0, f"{plural(limit, 'result')} shown, there are more. Use limit={2 * limit}, or be precise.")
    text = "\n".join(f"{target.prefix}{readable(path)}" for path in paths[:limit]) or "No files found"
    shown_text, details.truncation = listing(text, options.max_lines, options.max_bytes, notes)
    return AgentToolResult(content=[TextContent(shown_text)], details=details)


def _glob(pattern: str) -> PathGlob:
    if not pattern.strip() or "\0" in pattern or len(pattern) > _MAX_PATTERN:
        raise ToolError(f"pattern must not be empty, longer than {_MAX_PATTERN:,} characters, nor hold a NUL character")
    try:
        return PathGlob(pattern)
    except ValueError as error:
        raise ToolError(f"pattern is no glob: {error}", hint="put what is meant as it stands into [ ]") from None
