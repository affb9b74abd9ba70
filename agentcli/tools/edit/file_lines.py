"""FileLines: the lines of a file as texts, with their places in its bytes. A lone CR is a line end too."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from agentcli.tools.edit.folding import blind, fold
from agentcli.tools.files.text_file import TextEncoding


class FileLines:
    """All lines of one file.

    Args:
        data: the content.
        kind: its encoding.
    """

    def __init__(self, data: bytes, kind: TextEncoding) -> None:
        self.kind = kind
        self.errors = "surrogateescape" if kind.unit == 1 else "surrogatepass"
        content = data[len(kind.bom) :]
        if kind.unit > 1:
            content = content[: len(content) - len(content) % kind.unit]
        text = content.decode(kind.encoding, self.errors)
        self.texts: list[str] = _split(text)
        """The lines, without their ends. Bytes that are no characters are lone surrogates."""
        if kind.unit == 1:
            self._raw = content.splitlines(keepends=True)
        else:
            ended = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
            self._raw = [line.encode(kind.encoding, self.errors) for line in ended if line]
        self.starts: list[int] = list(accumulate(map(len, self._raw), initial=len(kind.bom)))
        """Where each line begins, in bytes, and where the last one ends."""

    def __len__(self) -> int:
        return len(self.texts)

    def end_of(self, index: int) -> str:
        """The line end of a line: CRLF, LF, CR, or nothing."""
        raw = self._raw[index]
        return next((end for end in ("\r\n", "\n", "\r") if raw.endswith(end.encode(self.kind.encoding))), "")

    def byte_at(self, index: int, column: int) -> int:
        """Where a character of a line begins, in bytes."""
        return self.starts[index] + len(self.encode(self.texts[index][:column]))

    def encode(self, text: str) -> bytes:
        """Raises `UnicodeEncodeError`, except for bytes that were no characters when they were read."""
        return text.encode(self.kind.encoding, self.errors)

    def is_faithful(self, first: int, stop: int) -> bool:
        """Whether the lines have, written again, the very same bytes."""
        return all(self._raw[at].startswith(self.encode(self.texts[at])) for at in range(first, stop))

    @cached_property
    def folded(self) -> "Keys":
        """The lines folded, without whitespace at their ends."""
        whole = "\n".join(self.texts)
        lines = self.texts if whole.isascii() else fold(whole).split("\n")
        return Keys([line.rstrip() for line in lines])

    @cached_property
    def unindented(self) -> "Keys":
        """The same without indentation."""
        return Keys([line.lstrip(" \t") for line in self.folded.keys])

    @cached_property
    def blind(self) -> tuple["Keys", list[int]]:
        """The lines that are not blank, with each run of whitespace as one space; and the numbers of these lines."""
        keys = [" ".join(line.split()) for line in self.folded.keys]
        numbers = [at for at, key in enumerate(keys) if key]
        return Keys([keys[at] for at in numbers]), numbers


class Keys:
    """What is compared of each line."""

    def __init__(self, keys: list[str]) -> None:
        self.keys = keys

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.keys)

    def runs(self, goal: list[str]) -> Iterator[int]:
        """Where the lines of `goal` stand, one after the other; overlapping places too."""
        keys = self.keys
        rarest = min(range(len(goal)), key=lambda at: self.counts[goal[at]])
        at = -1
        for _ in range(self.counts[goal[rarest]]):
            at = keys.index(goal[rarest], at + 1)
            start = at - rarest
            if start >= 0 and keys[start : start + len(goal)] == goal:
                yield start


def _split(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if "\r" in text else text.split("\n")
    return lines if lines[-1] else lines[:-1]


def call_lines(text: str) -> tuple[list[str], bool]:
    """The lines of a text in a call, and whether it ends with a line end."""
    lines = text.replace("\r\n", "\n").split("\n")
    ends = len(lines) > 1 and not lines[-1]
    return (lines[:-1] if ends else lines), ends


def is_blank(line: str) -> bool:
    return not blind(line)
