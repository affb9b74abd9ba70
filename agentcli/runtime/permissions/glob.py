"""Glob patterns of permission rules: `*`, `?`, `[…]`, `{a,b}` and `**`, as regular expressions."""

import re


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
