"""Diffs of edits: one numbered for people, one unified for programs.

Built from the known places of the edits, so their cost follows the size of the edits, not that of the file. Very long
lines are cut in what people see; a patch that would be very large is left out.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher  # 1 ms; this module is imported only when a file has been edited

from msgspec import Struct

from agentcli.tools.files.line_counter import LineCounter
from agentcli.tools.files.text_file import TextEncoding

_CONTEXT_SHOWN = 4
_CONTEXT_PATCH = 3
_MAX_SHOWN_CHARS = 500
_MAX_SHOWN_LINES = 2000
_MAX_PATCH_CHARS = 1 << 20
_MAX_COMPARISONS = 1_000_000

Opcode = tuple[str, int, int, int, int]


class Change(Struct, frozen=True):
    """Bytes `start` to `end` of the old file are replaced by `new`. Changes are in order and do not overlap."""

    start: int
    end: int
    new: bytes


class EditDiff(Struct, frozen=True):
    diff: str
    """`-12 old`, `+12 new`, ` 12 same`; `...` where lines are left out."""
    patch: str
    """Unified; empty if it would be very large."""
    first_changed_line: int | None
    """1-based line of the new file; None if nothing has changed."""


def diff_of(lines: LineCounter, kind: TextEncoding, changes: list[Change], name: str) -> EditDiff:
    """What `changes` do to the content of the file `name`."""
    if kind.unit > 1:
        data, changes = _as_utf8(lines.data, kind, changes)
        kind, lines = TextEncoding("utf-8"), LineCounter(data)
    hunks = [_Hunk.of(region, kind, lines.separator) for region in _regions(lines, changes)]
    numbered: list[str] = []
    for hunk in hunks:
        numbered += [*(["..."] if numbered else []), *hunk.numbered()]
    if len(numbered) > _MAX_SHOWN_LINES:
        numbered = [*numbered[:_MAX_SHOWN_LINES], f"... {len(numbered) - _MAX_SHOWN_LINES} more lines"]
    first = next((number for hunk in hunks if (number := hunk.first_changed_line()) is not None), None)
    is_large = sum(len(line) for hunk in hunks for line in (*hunk.old, *hunk.new)) > _MAX_PATCH_CHARS
    body = [] if is_large else [line for hunk in hunks for line in hunk.unified()]
    patch = "".join([f"--- a/{name}\n", f"+++ b/{name}\n", *body]) if body else ""
    return EditDiff("\n".join(numbered), patch, first)


class _Region(Struct, frozen=True):
    """Whole lines around changes that are near each other."""

    old: bytes
    new: bytes
    old_line: int
    """0-based number of the first line."""
    new_line: int


def _regions(lines: LineCounter, changes: list[Change]) -> Iterator[_Region]:
    data, separator = lines.data, lines.separator
    shift = 0
    for start, end, group in _grouped_changes(data, changes, separator):
        line = lines.line_at(start)
        parts: list[bytes] = []
        position = start
        for change in group:
            parts += (data[position : change.start], change.new)
            position = change.end
        old, new = data[start:end], b"".join([*parts, data[position:end]])
        yield _Region(old, new, line, line + shift)
        shift += new.count(separator) - old.count(separator)


def _grouped_changes(data: bytes, changes: list[Change], separator: bytes) -> Iterator[tuple[int, int, list[Change]]]:
    """Changes whose contexts touch, together with where the lines around them begin and end."""
    start, end, group = 0, -1, list[Change]()
    for change in changes:
        begins = change.start
        for _ in range(_CONTEXT_SHOWN + 1):
            begins = data.rfind(separator, 0, begins)
            if begins < 0:
                break
        begins += 1
        ends = change.end
        for _ in range(_CONTEXT_SHOWN + 1):
            newline = data.find(separator, ends)
            ends = newline + 1 if newline >= 0 else len(data)
        if begins > end:
            if group:
                yield start, end, group
            start, group = begins, []
        group.append(change)
        end = max(end, ends)
    if group:
        yield start, end, group


class _Hunk:
    """The lines of one region, compared."""

    def __init__(self, region: _Region, old: list[str], new: list[str]) -> None:
        self.region = region
        self.old = old
        self.new = new
        self.opcodes = compare(old, new)

    @classmethod
    def of(cls, region: _Region, kind: TextEncoding, separator: bytes) -> "_Hunk":
        old, new = (
            _split(data.decode(kind.encoding, "replace"), separator.decode()) for data in (region.old, region.new)
        )
        return cls(region, old, new)

    def first_changed_line(self) -> int | None:
        for tag, _, _, j1, _ in self.opcodes:
            if tag != "equal":
                return self.region.new_line + j1 + 1
        return None

    def numbered(self) -> Iterator[str]:
        width = len(str(max(self.region.old_line + len(self.old), self.region.new_line + len(self.new))))
        for index, (tag, i1, i2, j1, j2) in enumerate(self.opcodes):
            if tag == "equal":
                yield from self._context(index, i1, i2, j1, width)
                continue
            for number in range(i1, i2):
                yield f"-{self.region.old_line + number + 1:>{width}} {_shown(self.old[number])}"
            for number in range(j1, j2):
                yield f"+{self.region.new_line + number + 1:>{width}} {_shown(self.new[number])}"

    def _context(self, index: int, i1: int, i2: int, j1: int, width: int) -> Iterator[str]:
        head = 0 if index == 0 else _CONTEXT_SHOWN
        tail = 0 if index == len(self.opcodes) - 1 else _CONTEXT_SHOWN
        count = i2 - i1
        skipped = count > head + tail
        for number in range(count):
            if skipped and number == head and head and tail:
                yield "..."
            if not skipped or number < head or number >= count - tail:
                yield f" {self.region.new_line + j1 + number + 1:>{width}} {_shown(self.old[i1 + number])}"

    def unified(self) -> Iterator[str]:
        for group in _grouped_opcodes(self.opcodes, _CONTEXT_PATCH):
            old_first, old_stop = group[0][1], group[-1][2]
            new_first, new_stop = group[0][3], group[-1][4]
            old_range = _range(self.region.old_line + old_first, old_stop - old_first)
            new_range = _range(self.region.new_line + new_first, new_stop - new_first)
            yield f"@@ -{old_range} +{new_range} @@\n"
            for tag, i1, i2, j1, j2 in group:
                if tag == "equal":
                    yield from (_patch_line(" ", line) for line in self.old[i1:i2])
                    continue
                yield from (_patch_line("-", line) for line in self.old[i1:i2])
                yield from (_patch_line("+", line) for line in self.new[j1:j2])


def _split(text: str, separator: str) -> list[str]:
    """Lines with their ends."""
    lines = [f"{line}{separator}" for line in text.split(separator)]
    lines[-1] = lines[-1].removesuffix(separator)
    return lines if lines[-1] else lines[:-1]


def compare(old: list[str], new: list[str]) -> list[Opcode]:
    """How the old lines become the new ones, as difflib says it; long texts are compared at both ends only."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    i2, j2 = len(old) - tail, len(new) - tail
    if (i2 - head) * (j2 - head) > _MAX_COMPARISONS:
        middle: list[Opcode] = [("replace", head, i2, head, j2)]
    else:
        matcher = SequenceMatcher(None, old[head:i2], new[head:j2], autojunk=False)
        middle = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in matcher.get_opcodes()]
    opcodes = [("equal", 0, head, 0, head), *middle, ("equal", i2, len(old), j2, len(new))]
    return [opcode for opcode in opcodes if opcode[1] < opcode[2] or opcode[3] < opcode[4]]


def _grouped_opcodes(opcodes: list[Opcode], context: int) -> Iterator[list[Opcode]]:
    """Changes with so many equal lines around them; far ones apart."""
    group: list[Opcode] = []
    for index, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        is_first, is_last = index == 0, index == len(opcodes) - 1
        if not is_first and not is_last and i2 - i1 <= 2 * context:
            group.append((tag, i1, i2, j1, j2))
            continue
        if not is_first:
            length = min(context, i2 - i1)
            yield [*group, ("equal", i1, i1 + length, j1, j1 + length)]
            group = []
        if not is_last:
            length = min(context, i2 - i1)
            group = [("equal", i2 - length, i2, j2 - length, j2)]
    if group and any(tag != "equal" for tag, *_ in group):
        yield group


def _range(start: int, length: int) -> str:
    """A range as a unified diff has it: an empty one names the line before it."""
    return f"{start + (length > 0)},{length}" if length != 1 else f"{start + 1}"


def _patch_line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def _shown(line: str) -> str:
    line = line.rstrip("\r\n")
    return line if len(line) <= _MAX_SHOWN_CHARS else f"{line[:_MAX_SHOWN_CHARS]}… ({len(line):,} characters)"


def _as_utf8(data: bytes, kind: TextEncoding, changes: list[Change]) -> tuple[bytes, list[Change]]:
    """The same file and changes as if the file were UTF-8."""

    def recode(part: bytes) -> bytes:
        return part.decode(kind.encoding, "replace").encode("utf-8", "replace")

    parts: list[bytes] = []
    recoded: list[Change] = []
    position, length = len(kind.bom), 0
    for change in changes:
        before, old = recode(data[position : change.start]), recode(data[change.start : change.end])
        start = length + len(before)
        recoded.append(Change(start, start + len(old), recode(change.new)))
        parts += (before, old)
        position, length = change.end, start + len(old)
    return b"".join([*parts, recode(data[position:])]), recoded
