"""Changes to files, line by line: the diff of a result, the lines of a new file, and the edits of a call.

A sign at the start of each line says what its colour says.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from agentcli.tui.colors.palette import Tone

Line = tuple[str, Tone]


def diff_lines(diff: str) -> list[Line]:
    """A numbered or unified diff; the lines that only name the files are left out."""
    lines = diff.strip("\n").split("\n")
    return [(line, _tone(line)) for line in lines if not line.startswith(("--- ", "+++ "))]


def new_lines(content: str) -> list[Line]:
    """The text of a new file as added lines, with their numbers."""
    lines = _lines(content)
    width = len(str(len(lines)))
    return [(f"+{number:>{width}} {line}", Tone.ADDED) for number, line in enumerate(lines, 1)]


def marked(mark: str, text: str) -> list[Line]:
    """A text as added (`+`) or removed (`-`) lines."""
    tone = Tone.ADDED if mark == "+" else Tone.REMOVED
    return [(f"{mark} {line}", tone) for line in _lines(text)]


def edits_of(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The old and the new text of each edit of a call; what is not text is empty."""
    edits = arguments.get("edits")
    if not isinstance(edits, Sequence) or isinstance(edits, str):
        return []
    found = [cast("Mapping[str, Any]", edit) for edit in cast("Sequence[Any]", edits) if isinstance(edit, Mapping)]
    return [(_text(edit.get("old_text")), _text(edit.get("new_text"))) for edit in found]


def first_lines(lines: list[Line], most: int, noun: str = "lines") -> list[Line]:
    """At most so many of the lines, and one that counts the others.

    Args:
        lines: all of them.
        most: how many are shown.
        noun: what they are.
    """
    hidden = len(lines) - most
    return [*lines[:most], (f"… {hidden:,} more {noun}", Tone.QUOTE)] if hidden > 0 else lines


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _tone(line: str) -> Tone:
    match line[:1]:
        case "+":
            return Tone.ADDED
        case "-":
            return Tone.REMOVED
        case "@":
            return Tone.HUNK
        case _:
            return Tone.DIM
