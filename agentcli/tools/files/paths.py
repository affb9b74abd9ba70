"""Paths: from a file name as people and models write it to the file that is meant.

The exact name always comes first. Then, in this order: a `file://` address, quotes around the name, a leading `@`,
backslashes before blanks, and, for a file that must exist, names that differ only in how the same characters are
written (composed or decomposed accents, no-break and narrow spaces, full-width letters, curly quotes, U+FFFD for what
is not UTF-8). `~` is expanded at the start only; `./~` is a folder named `~`. There is no fence: a path may lead
anywhere.
"""

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from agentcli.agent.errors import ToolError
from agentcli.agent.tools import ToolTarget

_QUOTES = ("''", '""', "``", "‘’", "“”")
_LOOKALIKES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "—": "-"})
_OWN_SECRETS = re.compile(r"/proc/(self|thread-self|\d+)(/task/\d+)?/(environ|mem)")


def find_file(name: str, cwd: Path) -> Path:
    """The path of the existing file, folder or whatever else `name` stands for.

    Raises:
        ToolError: there is none, the name is ambiguous, or it cannot be a name.
    """
    literal = None
    for candidate in _readings(name, cwd):
        literal = literal or candidate
        if os.path.lexists(candidate):
            return _checked(candidate)
    for candidate in _readings(name, cwd):
        found = _find_lookalike(candidate)
        if found is not None:
            return _checked(found)
    raise ToolError(f"{name} does not exist", hint=_not_found_hint(literal or cwd, cwd))


def find_target(name: str, cwd: Path) -> Path:
    """The path to write to: the existing file that `name` stands for, or else a path where a file can be made.

    A name is taken as it is written: one that only looks like an existing one makes a new file.

    Raises:
        ToolError: it cannot be a name.
    """
    readings = list(_readings(name, cwd))
    existing = next((candidate for candidate in readings if os.path.lexists(candidate)), None)
    if existing is not None:
        return existing
    literal, cleanest = readings[0], readings[-1]
    return literal if literal.parent.is_dir() and not literal.name.startswith("@") else cleanest


EXISTING_FILE = ToolTarget("path", find_file)
"""The target of a tool whose `path` is a file or directory that exists."""
FILE_TO_WRITE = ToolTarget("path", find_target)
"""The target of a tool whose `path` is a file that it may make."""


def other_name_note(name: str, path: Path, cwd: Path) -> str:
    """What to say if `find_file` took a name for another one that only looks like it; else empty."""
    if path in _readings(name, cwd):
        return ""
    return f"The file's name is written with other characters than yours: {readable(path)!r}."


def display_path(path: Path, cwd: Path) -> str:
    """The path as it is shown: relative to `cwd` if it lies below."""
    return readable(path.relative_to(cwd) if path.is_relative_to(cwd) and path != cwd else path)


def readable(path: Path | str) -> str:
    """The path as text that can be sent anywhere: bytes of a name that are not UTF-8 become U+FFFD."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def kind_of(mode: int) -> str:
    """What a file is that is not a regular file or a folder, in words; from `st_mode`."""
    match stat.S_IFMT(mode):
        case stat.S_IFIFO:
            return "a FIFO (named pipe)"
        case stat.S_IFSOCK:
            return "a socket"
        case stat.S_IFCHR:
            return "a character device"
        case stat.S_IFBLK:
            return "a block device"
        case stat.S_IFDIR:
            return "a folder"
        case _:
            return "not a regular file"


def _checked(path: Path) -> Path:
    if not path.exists() and path.is_symlink():
        raise ToolError(f"{readable(path)} is not found: it is a dangling link to {readable(path.readlink())}")
    if _OWN_SECRETS.fullmatch(os.path.realpath(path)) or _OWN_SECRETS.fullmatch(str(path)):
        raise ToolError(f"{readable(path)} is not read: it holds the memory or the environment of a process")
    return path


def _readings(name: str, cwd: Path) -> Iterator[Path]:
    """Every path that the name may stand for, the likeliest first."""
    if not name.strip():
        raise ToolError("path must not be empty", hint="name a file")
    if "\0" in name:
        raise ToolError(f"path {name!r} holds a NUL character", hint="name the file without it")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise ToolError(f"path {name!r} holds half a character (a lone surrogate)", hint="name the file anew") from None
    seen: set[Path] = set()
    for text in _spellings(name):
        path = Path(os.path.normpath(cwd / text)) if ".." not in Path(text).parts else cwd / text
        if path not in seen:
            seen.add(path)
            yield path


def _spellings(name: str) -> Iterator[str]:
    yield _expand_home(name)
    text = name.strip()
    if len(text) >= 2 and text[0] + text[-1] in _QUOTES:
        text = text[1:-1]
    if text.lower().startswith("file:"):
        text = _from_file_url(text)
    yield _expand_home(text)
    if text.startswith("@"):
        text = text[1:]
        if len(text) >= 2 and text[0] + text[-1] in _QUOTES:
            text = text[1:-1]
        yield _expand_home(text)
    if "\\" in text:
        yield _expand_home(re.sub(r"\\(.)", r"\1", text))


def _expand_home(text: str) -> str:
    return os.path.expanduser(text) if text.startswith("~") else text  # noqa: PTH111 (an unknown user stays as it is)


def _from_file_url(text: str) -> str:
    from urllib.parse import unquote  # 0.5 ms

    rest = text[len("file:") :]
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path if host in ("", "localhost") else rest
    return unquote(rest)


def _fold(name: str) -> str:
    composed = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).translate(_LOOKALIKES))
    return readable("".join(" " if unicodedata.category(char) == "Zs" else char for char in composed))


def _find_lookalike(path: Path) -> Path | None:
    """The one existing path whose parts fold to the same text as those of `path`."""
    missing: list[str] = []
    found = path
    while not os.path.lexists(found):
        if found == found.parent:
            return None
        missing.append(found.name)
        found = found.parent
    while missing:
        wanted = _fold(missing.pop())
        try:
            names = [entry for entry in _names_in(found) if _fold(entry) == wanted]
        except OSError:
            return None
        if len(names) > 1:
            listed = ", ".join(repr(entry) for entry in sorted(names))
            raise ToolError(f"{readable(path)} may stand for several files: {listed}", hint="use the exact name")
        if not names:
            return None
        found /= names[0]
    return found


def _names_in(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _not_found_hint(path: Path, cwd: Path) -> str:
    """What helps to find the file: names like it in its folder, or the first folder that is missing."""
    if not cwd.is_dir():
        return f"the working folder {cwd} does not exist"
    parent = path.parent
    if not parent.is_dir():
        while not parent.parent.is_dir():
            parent = parent.parent
        return f"there is no folder {readable(parent)}"
    import difflib  # 1 ms

    try:
        close = difflib.get_close_matches(path.name, _names_in(parent)[:5000], n=3, cutoff=0.6)
    except OSError:
        return ""
    return f"names like it in {display_path(parent, cwd)}: {readable(', '.join(close))}" if close else ""
