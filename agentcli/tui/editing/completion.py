"""Completion: what is being written at the cursor, and its completions: commands, their arguments, files, paths."""

import os
import re
import shlex
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from agentcli.agent.threads import to_thread
from agentcli.tui.editing.file_finder import FileFinder, list_folder
from agentcli.tui.editing.query import Match, Query
from agentcli.tui.painting.clean import one_line, typed

MAX_SUGGESTIONS = 50
MAX_WRITTEN = 4_096
"""At most so many characters before the cursor are read: the longest path."""
RELOAD_S = 0.5
"""Seconds between two updates of the suggestions while files are being listed."""

_COMMAND = re.compile(r"/([^\s/]*)\Z")
_ARGUMENT = re.compile(r"/([^\s/]+)\s+(.*)\Z")
_MENTION = re.compile(r"""(?<![^\s(\[{<"'`\x80-\U0010ffff])@(?:"([^"]*)|'([^']*)|([^\s"'][^\s]*)?)\Z""")
"""After whitespace, an opening bracket or quote, or in a script without spaces; not in an e-mail address."""
_QUOTED = re.compile(r"""(?:^|(?<=\s))["']([^"']*)\Z""")
_WORD = re.compile(r"(?:\\.|[^\s\\\"'`(\[{<])*\Z")
_REST_OF_WORD = re.compile(r"[\w.:-]*")
_PLAIN = re.compile(r"""[^\s"'\\]*[^\s"'\\.,;:!?)]""")
"""A path that stands for itself after an `@`, as `runtime.attachments` reads it."""


class Kind(StrEnum):
    """What is being completed."""

    COMMAND = "command"
    ARGUMENT = "argument"
    MENTION = "mention"
    """A file after `@`."""
    PATH = "path"
    """Any word, on Tab."""


class Written(Struct, frozen=True):
    """A part of a line that can be completed."""

    kind: Kind
    text: str
    """The text, without quotes and escapes."""
    start: int
    end: int
    """The range that a suggestion replaces, in columns of the line."""
    command: str = ""
    """The command whose argument it is."""
    in_shell: bool = False
    """Whether a shell will read it."""


class Choice(Struct, frozen=True):
    """A command, or a value for the argument of one."""

    text: str
    """Without the slash."""
    description: str = ""
    hint: str = ""
    """A hint for its argument: `[instructions]`."""
    label: str = ""
    """Shown and searched in place of the text, which is found too if it is written exactly."""


Arguments = Mapping[str, Callable[[], Sequence[Choice] | Awaitable[Sequence[Choice]]]]
"""For the name of a command its possible arguments, at once or awaited."""


class Suggestion(Struct, frozen=True):
    """A completion."""

    text: str
    """The replacement."""
    label: str
    """As one line."""
    places: tuple[int, ...] = ()
    """In the label, of the letters that were written."""
    detail: str = ""
    back: int = 0
    """How many characters before its end the cursor is put."""
    path: str = ""
    """Of a file or directory. That of a directory ends in `/`: completion continues in it."""

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory, in which completion continues."""
        return self.path.endswith("/")


class Completer:
    """Finds completions.

    Args:
        files: finds files.
        commands: what can be written after `/`.
        arguments: what can be written after a command, read once each time that a command is written.
    """

    def __init__(self, files: FileFinder, commands: Callable[[], Sequence[Choice]], arguments: Arguments) -> None:
        self.files = files
        self._commands = commands
        self._arguments = arguments
        self._known: tuple[str, Sequence[Choice]] | None = None
        """The command whose arguments were asked for last, and what they may be."""

    def written_at(self, line: str, column: int, *, first: bool, tab: bool = False) -> Written | None:
        """See `written_at` of this module."""
        return written_at(line, column, first=first, tab=tab, with_arguments=self._arguments)

    def find(self, query: Written) -> list[Suggestion] | Awaitable[list[Suggestion]]:
        """The completions, the likeliest first: at once if they are known, else to be awaited."""
        match query.kind:
            case Kind.COMMAND:
                self._known = None
                return _chosen(query.text, self._commands(), slash="/")
            case Kind.ARGUMENT:
                return self._find_argument(query)
            case Kind.MENTION:
                return self._find_mention(query.text)
            case Kind.PATH:
                return self._find_path(query)

    def close(self) -> None:
        """End the search for files."""
        self.files.close()

    def _find_argument(self, query: Written) -> list[Suggestion] | Awaitable[list[Suggestion]]:
        if self._known is None or self._known[0] != query.command:
            values = self._arguments[query.command]()
            if isinstance(values, Awaitable):
                return self._await_argument(query, values)
            self._known = (query.command, values)
        return _chosen(query.text, self._known[1])

    async def _await_argument(self, query: Written, values: Awaitable[Sequence[Choice]]) -> list[Suggestion]:
        self._known = (query.command, await values)
        return _chosen(query.text, self._known[1])

    async def _find_mention(self, written: str) -> list[Suggestion]:
        self.files.refresh()
        found: list[str] = []
        if not written.startswith(("/", "~", "../")):
            found = await self.files.find(written, MAX_SUGGESTIONS)
            if not found and self.files.is_loading:
                await self.files.wait(RELOAD_S)
                found = await self.files.find(written, MAX_SUGGESTIONS)
        if (not found and "/" in written) or written.startswith("~"):
            # Outside of the directory, or ignored by git.
            found = await _listed(written, self.files.cwd)
        return [_suggested(path, written, Kind.MENTION) for path in found[:MAX_SUGGESTIONS]]

    async def _find_path(self, query: Written) -> list[Suggestion]:
        found = await _listed(query.text, self.files.cwd)
        return [_suggested(path, query.text, Kind.PATH, query.in_shell) for path in found[:MAX_SUGGESTIONS]]


def written_at(
    line: str, column: int, *, first: bool, tab: bool = False, with_arguments: Collection[str] = ()
) -> Written | None:
    """What is being written at the cursor; None if nothing that can be completed.

    Args:
        line: the line of the cursor.
        column: of the cursor.
        first: whether it is the first line of the draft, where commands are.
        tab: whether Tab was pressed, so that any word may be a path.
        with_arguments: the commands whose arguments can be completed.
    """
    cut = max(column - MAX_WRITTEN, 0)
    before, first = line[cut:column], first and cut == 0
    if first and (found := _COMMAND.match(before)):
        rest = _REST_OF_WORD.match(line, column)
        return Written(Kind.COMMAND, found[1], 0, rest.end() if rest else column)
    if found := _MENTION.search(before):
        quoted = found[1] if found[1] is not None else found[2]
        closes = quoted is not None and line[column : column + 1] == before[found.start() + 1]
        text = quoted if quoted is not None else found[3] or ""
        return Written(Kind.MENTION, text, cut + found.start(), column + closes)
    if first and (found := _ARGUMENT.match(before)) and found[1] in with_arguments:
        return Written(Kind.ARGUMENT, found[2], found.start(2), len(line), found[1])
    return _path_query(line, cut, column, in_shell=first and line.startswith("!")) if tab else None


def _path_query(line: str, cut: int, column: int, *, in_shell: bool) -> Written:
    before = line[cut:column]
    if found := _QUOTED.search(before):
        closes = line[column : column + 1] == before[found.start()]
        return Written(Kind.PATH, found[1], cut + found.start(), column + closes, in_shell=in_shell)
    found = _WORD.search(before.lstrip("!") if in_shell else before)
    word = found[0] if found else ""
    return Written(Kind.PATH, re.sub(r"\\(.)", r"\1", word), column - len(word), column, in_shell=in_shell)


def common_start(suggestions: Sequence[Suggestion], query: Written) -> str:
    """How far all suggestions agree, if that is further than what is written; else nothing."""
    paths = [suggestion.path for suggestion in suggestions]
    common = os.path.commonprefix(paths)  # noqa: RUF071 (letters are meant, not directories)
    return common if len(common) > len(query.text) and common.startswith(query.text) else ""


def written_path(path: str, kind: Kind, *, in_shell: bool = False) -> str:
    """A path written so that it is read as one: quoted if it contains whitespace or the like."""
    if kind is Kind.MENTION:
        return f"@{path}" if _PLAIN.fullmatch(path) else f"@{_in_quotes(path)}"
    if in_shell:
        home, slash, rest = path.partition("/") if path.startswith("~") else ("", "", path)
        return f"{home}{slash}{shlex.quote(rest) if rest else ''}"
    return _in_quotes(path) if re.search(r"""[\s"'\\]""", path) else path


def _in_quotes(path: str) -> str:
    quote = "'" if '"' in path else '"'
    return f"{quote}{path}{quote}"


def _chosen(written: str, choices: Sequence[Choice], *, slash: str = "") -> list[Suggestion]:
    """Those that fit what is written, the best first; of equally good ones the shorter."""
    query = Query(written)
    found: list[tuple[float, int, Suggestion]] = []
    for choice in choices:
        name = f"{slash}{one_line(choice.label or choice.text)}"
        match = query.match(name[len(slash) :]) or (Match(0, ()) if query.is_in(choice.text) else None)
        if match is not None:
            places = tuple(place + len(slash) for place in match.places)
            label = f"{name} {one_line(choice.hint)}".rstrip()
            suggestion = Suggestion(f"{slash}{choice.text}", label, places, choice.description)
            found.append((-match.score, len(name) if query else 0, suggestion))
    found.sort(key=lambda each: each[:2])
    return [suggestion for *_, suggestion in found[:MAX_SUGGESTIONS]]


async def _listed(written: str, cwd: Path) -> list[str]:
    return await to_thread(list_folder, written, cwd)


def _suggested(path: str, written: str, kind: Kind, in_shell: bool = False) -> Suggestion:
    path, label = typed(path), one_line(path)
    text = written_path(path, kind, in_shell=in_shell)
    match = Query(written).match_path(label)
    back = 1 if path.endswith("/") and text[-1] in "\"'" else 0
    return Suggestion(text, label, match.places if match else (), back=back, path=path)
