"""TOML files: reading, parsing, conversion to Structs, and the line of what is invalid."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agentcli.agent.errors import ConfigError
from agentcli.agent.tables import value_at
from agentcli.config.private_file import read_private

MAX_BYTES = 1 << 20
"""Of a file of settings or keys of the user."""
MAX_DEPTH = 32
"""Of nested brackets, and of the parts of a dotted key, whose number the parser needs quadratic time for."""

T = TypeVar("T")

Refuse = Callable[[str, str], ConfigError]
"""Returns the error about a key: `(key, problem)`."""


def read_toml_bytes(path: Path) -> bytes | None:
    """The content of a file of settings; None if there is none. Raises ConfigError as `read_private` does."""
    return read_private(path, MAX_BYTES, hint="correct or move it")


def parse_toml(data: bytes, path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file, and its content.

    Raises:
        ConfigError: it is not UTF-8, not TOML, or nested too deeply. The message is `FILE:LINE: …`.
    """
    try:
        text = decode_toml(data)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: the file is not UTF-8", hint="save it as UTF-8") from None
    try:
        return text, load_toml(text)
    except ValueError as error:
        raise ConfigError(_at_line(path, text, str(error)), hint="correct the file") from None


def decode_toml(data: bytes) -> str:
    """The text of a file, without a BOM and with `\\n` at the end of lines. Raises UnicodeDecodeError."""
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def load_toml(text: str) -> dict[str, Any]:
    """`tomllib.loads` for a text of any origin.

    Raises:
        ValueError: it is not TOML (`TOMLDecodeError`), nested too deeply, or contains a number that is too long. The
            message may quote the text.
    """
    if text.count("[") + text.count("{") > MAX_DEPTH or text.count(".") > MAX_DEPTH:
        _check_depth(text)
    return tomllib.loads(text)


def convert(value: Mapping[str, Any], kind: type[T], refuse: Refuse) -> T:
    """A Struct from plain data.

    Raises:
        ConfigError: what `refuse` returns for an invalid value.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at ")
        raise refuse(_with_names(place.strip("`").removeprefix("$").removeprefix("."), value, kind), problem) from None


def _with_names(place: str, value: Mapping[str, Any], kind: type) -> str:
    """The place of a problem, with a name for each `[...]`, which msgspec writes for any entry of a table.

    The entry is found by converting each of them alone.
    """
    path: list[str] = []
    *tables, last = place.split("[...]")
    if tables:  # other tables may be large
        first = place.partition(".")[0].partition("[")[0]
        value = {first: value[first]}
    for table in tables:
        path += table.strip(".").split(".")
        problem = _problem(value, kind)
        for name, entry in dict(value_at(value, path)).items():
            alone = _with(value, path, {name: entry})
            if _problem(alone, kind) == problem:
                value = alone
                path.append(name)
                break
        else:
            return place
    return ".".join(path) + last


def _problem(value: Mapping[str, Any], kind: type) -> str:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def _with(table: Mapping[str, Any], path: Sequence[str], value: Any) -> Mapping[str, Any]:
    """A copy of a table with another value at a path."""
    return {**table, path[0]: _with(table[path[0]], path[1:], value)} if path else value


def line_of(text: str, dotted: str) -> int:
    """The line that sets a key, as near as can be found: the key, else its table, else the first line."""
    table, _, key = re.sub(r"\[.*", "", dotted).rpartition(".")
    # Not \s, which would match all following empty lines from each of them: quadratic time.
    start, prefix = 0, r"(\[[ \t]*)?"
    if table:
        header = re.search(rf"^[ \t]*\[[ \t]*{re.escape(table)}[ \t]*\]", text, re.M)
        start = header.start() if header else 0
        prefix += rf"({re.escape(table)}[ \t]*\.[ \t]*)?"
    found = re.compile(rf"^[ \t]*{prefix}[\"']?{re.escape(key)}[\"']?[ \t]*[=.\]]", re.M).search(text, start)
    if table and not start and found is None:
        return line_of(text, table)
    position = found.end() if found else start
    return text.count("\n", 0, position) + 1


_TOKEN = re.compile(
    r'"""(?:[^\\"]|\\.|"(?!""))*+"{0,5}|\'\'\'(?:[^\']|\'(?!\'\'))*+\'{0,5}|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?'
    r"|#[^\n]*+|[\[\]{}.=,\n]",
    re.S,
)
"""Strings and comments as a whole, and the characters that count for depth. An unterminated string is one too, so that
no text is matched twice."""


def _check_depth(text: str) -> None:
    depth = parts = 0
    for found in _TOKEN.finditer(text):
        match found[0]:
            case "[" | "{":
                depth += 1
                parts = 0
            case "]" | "}":
                depth = max(depth - 1, 0)
            case ".":
                parts += 1
            case "=" | "," | "\n":
                parts = 0
            case _:
                pass
        if depth > MAX_DEPTH or parts >= MAX_DEPTH:
            line = text.count("\n", 0, found.start()) + 1
            what = "brackets are nested" if depth > MAX_DEPTH else "a dotted key goes"
            raise ValueError(f"{what} deeper than {MAX_DEPTH} (at line {line}, column 1)")


def _at_line(path: Path, text: str, problem: str) -> str:
    """The problem with file and line: tomllib ends it with `(at line 3, column 7)` or `(at end of document)`."""
    found = re.search(r" \(at line (\d+), column \d+\)$", problem)
    if found:
        return f"{path}:{found[1]}: {problem[: found.start()]}"
    return f"{path}:{text.count(chr(10)) or 1}: {problem}"
