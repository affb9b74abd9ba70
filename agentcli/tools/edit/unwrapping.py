"""Unwrapping: texts as they may be meant that came with something around them, or were escaped once too often.

Tried only when a text is nowhere in the file as it came. The new text is unwrapped as the old one is.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from agentcli.tools.edit.matching import Texts

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[^`\n]*\n(.*?)\n?[ \t]*(?:`{3,}|~{3,})\s*", re.DOTALL)
_NUMBER_ENDS = (": ", ":", "→", "\t", "| ", "|", " | ", "  ", " ")
_ENTITIES = {
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&#34;": '"',
    "&#39;": "'",
    "&#x27;": "'",
    "&apos;": "'",
    "&nbsp;": " ",
    "&amp;": "&",
}
_ENTITY = re.compile("|".join(_ENTITIES))

_MOST = 20

_Pair = tuple[str, str]
"""An old text and its new one."""


def unwrapped(old: str, new: str) -> list[Texts]:
    """What the texts may stand for, the likeliest first."""
    seen = {(old, new)}
    found = [Texts(old, new)]
    for texts in found:  # it grows: what is in a fence may have line numbers
        for name, unwrap in _UNWRAPPERS:
            for pair in unwrap(texts.old, texts.new):
                if pair[0].strip() and pair not in seen and len(seen) < _MOST:
                    seen.add(pair)
                    found.append(Texts(*pair, f"{texts.what}, {name}".removeprefix(", ")))
    return found[1:]


def _fence(old: str, new: str) -> Iterator[_Pair]:
    if match := _FENCE.fullmatch(old):
        inner = _FENCE.fullmatch(new)
        yield match[1], inner[1] if inner else new


def _line_numbers(old: str, new: str) -> Iterator[_Pair]:
    lines = old.split("\n")
    if not re.match(r" *\d+", next((line for line in lines if line.strip()), "")):
        return
    for end in _NUMBER_ENDS:
        numbered = re.compile(rf" *(\d+)(?:{re.escape(end)}|{re.escape(end.rstrip())}$)")
        matches = [numbered.match(line) if line.strip() else None for line in lines]
        numbers = [int(match[1]) for match in matches if match]
        if len(numbers) != sum(bool(line.strip()) for line in lines):
            continue
        # One after the other; a line that is blank may have come without its number.
        if any(second <= first for first, second in pairwise(numbers)):
            continue
        if numbers[-1] - numbers[0] > len(lines) - 1:
            continue
        stripped = [line[match.end() :] if match else line for line, match in zip(lines, matches, strict=True)]
        yield "\n".join(stripped), _without_numbers(new, numbered, set(lines))


def _without_numbers(new: str, numbered: re.Pattern[str], old_lines: set[str]) -> str:
    """The new text without numbers, if it has them: on every line, or on one that stays."""
    lines = new.split("\n")
    matches = [numbered.match(line) for line in lines]
    full = [(line, match) for line, match in zip(lines, matches, strict=True) if line.strip()]
    if not (all(match for _, match in full) or any(match and line in old_lines for line, match in full)):
        return new
    return "\n".join(line[match.end() :] if match else line for line, match in zip(lines, matches, strict=True))


def _escapes(old: str, new: str) -> Iterator[_Pair]:
    if "\\" not in old:
        return
    whole = _json_text(old)
    if whole is not None and "\n" not in old and "\n" in whole:
        # All of it was escaped once more. A new text that has line ends of its own was not.
        unescaped = new if "\n" in new else _json_text(new)
        if unescaped is not None:
            yield whole, unescaped
    for before, after in (('\\"', '"'), ("\\'", "'"), ("\\\\", "\\")):
        if before in old:
            yield old.replace(before, after), new.replace(before, after)
    if '\\"' in old and "\\'" in old:
        yield re.sub(r"\\([\"'])", r"\1", old), re.sub(r"\\([\"'])", r"\1", new)
    each_old, each_new = _json_text(old), _json_text(new)
    if each_old is not None and each_new is not None:
        yield each_old, each_new


def _json_text(text: str) -> str | None:
    try:
        return json.loads(f'"{text}"', strict=False)
    except ValueError:
        return None


def _entities(old: str, new: str) -> Iterator[_Pair]:
    if _ENTITY.search(old):
        yield _without_entities(old), _without_entities(new)


def _without_entities(text: str) -> str:
    return _ENTITY.sub(lambda match: _ENTITIES[match[0]], text)


_UNWRAPPERS: tuple[tuple[str, Callable[[str, str], Iterator[_Pair]]], ...] = (
    ("a Markdown fence", _fence),
    ("line numbers", _line_numbers),
    ("escapes", _escapes),
    ("HTML entities", _entities),
)
