"""PathGlob: which paths a glob of find means. The globs are those of ripgrep, and so those of grep.

Without `/` a glob is compared with names, with `/` with the path from the searched folder on. `*` and `?` stop at `/`;
`**` as a whole part is any number of folders. `!` before a glob means what it does not match, `/` behind it folders
only. Without capital letters both cases match. No glob makes comparing slow.
"""

import re
from itertools import pairwise

_MAX_CHOICES = 1000


class PathGlob:
    """Raises `ValueError` if the glob is none."""

    def __init__(self, glob: str) -> None:
        self._is_negated = glob.startswith("!")
        glob = glob.removeprefix("!").removeprefix("./")
        self._folders_only = glob.endswith("/")
        self._whole_path = "/" in glob.rstrip("/")
        choices = _expand_braces(glob.strip("/"))
        flags = re.DOTALL if any(char.isupper() for char in glob) else re.DOTALL | re.IGNORECASE
        try:
            self._regex = re.compile("|".join(_path_regex(choice) for choice in choices), flags)
        except re.error as error:
            raise ValueError(f"{glob!r}: {error}") from None

    def __call__(self, path: str) -> bool:
        """Whether the path, relative to the searched folder, is meant; that of a folder ends in `/`."""
        if not self._is_negated:
            return self._matches(path)
        ends = [place + 1 for place, char in enumerate(path) if char == "/"]
        return not any(self._matches(path[:end]) for end in {*ends, len(path)})

    def _matches(self, path: str) -> bool:
        if path.endswith("/"):
            path = path[:-1]
        elif self._folders_only:
            return False
        return self._regex.fullmatch(path if self._whole_path else path.rpartition("/")[2]) is not None


def _path_regex(glob: str) -> str:
    """Atomic groups keep what a part has matched: a later part never makes an earlier one try again."""
    first, *later = _sections([part for part in glob.split("/") if part])
    whole = "/".join(_part_regex(part) for part in first)
    if not later:
        return f"(?:{whole})"
    if first:
        whole += "/"
    for section in later[:-1]:
        inner = "/".join(_part_regex(part) for part in section)
        whole += f"(?>(?:[^/]+/)*?{inner}/)"
    last = "/".join(_part_regex(part) for part in later[-1])
    return f"(?:{whole}{f'(?:[^/]+/)*{last}' if last else '.+'})"


def _sections(parts: list[str]) -> list[list[str]]:
    """The parts between one `**` and the next; only the first and the last section may be empty."""
    sections: list[list[str]] = [[]]
    for part in parts:
        if part != "**":
            sections[-1].append(part)
        elif sections[-1] or len(sections) == 1:
            sections.append([])
    return sections


def _part_regex(part: str) -> str:
    """A regular expression for one part of a path."""
    chunks: list[list[str]] = [[]]
    position = 0
    while position < len(part):
        char = part[position]
        position += 1
        if char == "*":
            chunks.append([])
        elif char == "?":
            chunks[-1].append("[^/]")
        elif char == "[":
            end = _class_end(part, position)
            chunks[-1].append(_class_regex(part[position:end]))
            position = end + 1
        elif char == "\\":
            if position == len(part):
                raise ValueError(f"{part!r} ends in a lone backslash")
            chunks[-1].append(re.escape(part[position]))
            position += 1
        else:
            chunks[-1].append(re.escape(char))
    first, *later = ["".join(chunk) for chunk in chunks]
    middle = "".join(f"(?>[^/]*?{chunk})" for chunk in later[:-1] if chunk)
    return first + middle + (f"[^/]*{later[-1]}" if later else "")


def _class_end(glob: str, position: int) -> int:
    """Where the `]` stands of a `[` that stands before `position`."""
    first = position + glob.startswith(("!", "^"), position)
    end = glob.find("]", first + 1)
    if end < 0:
        raise ValueError(f"{glob!r} has a [ without ]")
    return end


def _class_regex(inside: str) -> str:
    negation = "^/" if inside[0] in "!^" else ""
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negation else inside)
    return f"[{negation}{body}]"


def _expand_braces(glob: str) -> list[str]:
    """The globs without `{a,b}` that a glob stands for."""
    depth = position = 0
    bounds: list[int] = []
    while position < len(glob):
        char = glob[position]
        if char == "\\":
            position += 1
        elif char == "[":
            position = _class_end(glob, position + 1)
        elif char == "{":
            depth += 1
            bounds += [position] if depth == 1 else []
        elif char == "," and depth == 1:
            bounds.append(position)
        elif char == "}":
            depth -= 1
            if depth < 0:
                raise ValueError(f"{glob!r} has a }} without {{")
            if depth == 0:
                return _choices(glob, [*bounds, position])
        position += 1
    if depth:
        raise ValueError(f"{glob!r} has a {{ without }}")
    return [glob]


def _choices(glob: str, bounds: list[int]) -> list[str]:
    before, after = glob[: bounds[0]], _expand_braces(glob[bounds[-1] + 1 :])
    choices = [
        before + inner + rest
        for start, end in pairwise(bounds)
        for inner in _expand_braces(glob[start + 1 : end])
        for rest in after
    ]
    if len(choices) > _MAX_CHOICES:
        raise ValueError(f"its braces stand for more than {_MAX_CHOICES:,} globs")
    return choices
