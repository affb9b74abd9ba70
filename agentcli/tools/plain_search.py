"""The search program: `python -m agentcli.tools.plain_search`, grep and find in plain Python.

A process of its own, so that a search can be ended at any moment, also within a pattern that takes for ever, and never
holds up the event loop. Its one argument is a `SearchOrder` as JSON. `grep` prints the events of `rg --json` (as far as
the grep tool reads them), `find` prints one path a line, as a JSON string; both in the order of the sorted tree.
"""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import msgspec

from agentcli.tools.glob_pattern import expand_braces, glob_regex
from agentcli.tools.ignore_rules import Folder, IgnoreFile, SharedRules, folder_with_rules
from agentcli.tools.search_order import SearchOrder
from agentcli.tools.text_file import sniff

_BINARY_LOOK = 65_536

Search = Callable[[str], re.Match[str] | None]


def main() -> int:
    order = msgspec.json.decode(sys.argv[1], type=SearchOrder)
    out = sys.stdout.buffer
    try:
        if order.kind == "find":
            return _find(order, out)
        return _grep(order, out)
    except BrokenPipeError:
        # The reader has what it wants. Python would complain once more when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        return 0


def walk(folder: Folder, globs: IgnoreFile | None, prefix: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every path below the folder that no rule leaves out, sorted by name, folders before what is in them."""
    try:
        with os.scandir(folder.path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:  # a folder that may not be read holds nothing for us
        return
    for entry in entries:
        if entry.name == ".git":
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        path = f"{prefix}{entry.name}"
        # A glob outranks the ignore files: what it names is searched, whatever they say.
        chosen = globs.verdict(f"{path}/" if is_folder else path) if globs else None
        if chosen is False or (globs and globs.names_something and chosen is None and not is_folder):
            continue
        if chosen is None and folder.ignores(entry.name, is_folder):
            continue
        yield path, entry
        if is_folder:
            yield from walk(folder.child(entry.name), globs, f"{path}/")


def _find(order: SearchOrder, out: BinaryIO) -> int:
    glob = order.pattern.removeprefix("./")
    flags = 0 if any(char.isupper() for char in glob) else re.IGNORECASE
    try:
        regex = re.compile(glob_regex(glob.removeprefix("/")), flags | re.DOTALL)
    except (ValueError, re.error) as error:
        return _complain(f"not a glob pattern: {error}")
    whole_path = "/" in glob
    left = order.most
    for path, entry in walk(folder_with_rules(SharedRules(os.path.realpath(order.target), ".fdignore")), None):
        if regex.fullmatch(path if whole_path else entry.name):
            shown = f"{path}/" if entry.is_dir(follow_symlinks=False) else path
            out.write(_json(shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace")) + b"\n")
            out.flush()
            left -= 1
            if left == 0:
                break
    return 0


def _grep(order: SearchOrder, out: BinaryIO) -> int:
    pattern = re.escape(order.pattern) if order.literal else order.pattern
    try:
        search = re.compile(pattern, re.IGNORECASE if order.ignore_case else 0).search
    except (re.error, OverflowError, RecursionError) as error:
        return _complain(f"not a regular expression: {error}")
    if "\n" in order.pattern:
        return _complain("the pattern holds a line end, but lines are searched one by one")
    for path in _files(order):
        try:
            events = list(_search_file(path, search, order))
        except OSError:  # what cannot be read is passed over, as ripgrep does when it is told to be silent
            continue
        for event in events:
            out.write(_json(event) + b"\n")
        out.flush()
    return 0


def _files(order: SearchOrder) -> Iterator[str]:
    if order.target != ".":
        yield order.target
        return
    globs = IgnoreFile(expand_braces(order.glob)) if order.glob else None
    for path, entry in walk(folder_with_rules(SharedRules(os.path.realpath("."), ".rgignore")), globs):
        if entry.is_file(follow_symlinks=False):
            yield path


def _search_file(path: str, search: Search, order: SearchOrder) -> Iterator[dict[str, Any]]:
    """The events of one file: each matching line, and the lines around it."""
    lines = _lines_of(path, explicit=order.target != ".")
    hits: list[int] = []
    places: dict[int, int] = {}
    for number, line in enumerate(lines):
        found = search(line)
        if found:
            hits.append(number)
            places[number] = found.start()
            if len(hits) == order.most:
                break
    shown = sorted({near for hit in hits for near in range(hit - order.context, hit + order.context + 1)})
    for number in shown:
        if 0 <= number < len(lines):
            text = lines[number].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            is_match = number in places
            start = len(lines[number][: places.get(number, 0)].encode("utf-8", "surrogateescape"))
            data = {
                "path": {"text": path},
                "lines": {"text": text},
                "line_number": number + 1,
                "submatches": [{"start": start}] if is_match else [],
            }
            yield {"type": "match" if is_match else "context", "data": data}


def _lines_of(path: str, *, explicit: bool) -> list[str]:
    """The lines of a file. As in ripgrep, only up to its first NUL byte, unless the file was asked for by its name."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return []
        data = file.read()
    kind = sniff(data[:_BINARY_LOOK])
    if kind is not None and kind.bom:
        data = data[len(kind.bom) :].decode(kind.encoding, "replace").encode("utf-8", "replace")
    nul = -1 if explicit else data.find(b"\0")
    if 0 <= nul < _BINARY_LOOK:
        return []
    if nul >= 0:
        data = data[: data.rfind(b"\n", 0, nul) + 1]
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _complain(problem: str) -> int:
    sys.stderr.write(f"{problem}\n")
    return 2


_json = msgspec.json.encode

if __name__ == "__main__":
    sys.exit(main())
