"""Glob patterns: `*`, `?`, `[…]`, `{a,b}` and `**`, as ripgrep and fd understand them, as regular expressions."""

import re
from itertools import pairwise


def glob_regex(glob: str) -> str:
    """A regular expression for whole paths; `*` and `?` stop at `/`, `**` does not. Raises `ValueError`."""
    parts: list[str] = []
    depth = position = 0
    while position < len(glob):
        char = glob[position]
        position += 1
        match char:
            case "*" if glob.startswith("*", position):
                position += 1
                if glob.startswith("/", position) and (position == 2 or glob[position - 3] == "/"):
                    position += 1
                    parts.append("(?:[^/]+/)*")
                else:
                    parts.append(".*")
            case "*":
                parts.append("[^/]*")
            case "?":
                parts.append("[^/]")
            case "[":
                group, position = _group(glob, position)
                parts.append(group)
            case "{":
                depth += 1
                parts.append("(?:")
            case "}" if depth:
                depth -= 1
                parts.append(")")
            case "," if depth:
                parts.append("|")
            case "\\" if position < len(glob):
                parts.append(re.escape(glob[position]))
                position += 1
            case _:
                parts.append(re.escape(char))
    if depth:
        raise ValueError(f"{glob!r} has a {{ without }}")
    return "".join(parts)


def _group(glob: str, position: int) -> tuple[str, int]:
    """A `[…]` that begins before `position`, and where it ends."""
    start = position
    if glob.startswith(("!", "^"), position):
        position += 1
    first = position
    if glob.startswith("]", position):
        position += 1
    end = glob.find("]", position)
    if end < 0:
        raise ValueError(f"{glob!r} has a [ without ]")
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", glob[first:end])
    negation = "^/" if first > start else ""
    return f"[{negation}{body}]", end + 1


def expand_braces(glob: str) -> list[str]:
    """The globs without `{a,b}` that a glob stands for."""
    depth = start = 0
    commas: list[int] = []
    for position, char in enumerate(glob):
        if char == "{":
            if depth == 0:
                start, commas = position, []
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                bounds = [start, *commas, position]
                choices = [glob[a + 1 : b] for a, b in pairwise(bounds)]
                return [
                    one for choice in choices for one in expand_braces(glob[:start] + choice + glob[position + 1 :])
                ]
        elif char == "," and depth == 1:
            commas.append(position)
    return [glob]
