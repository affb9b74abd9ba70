"""Placing edits: from what was asked to the places in the file and the bytes that go in; nothing is written here."""

from itertools import pairwise

from msgspec import Struct

from agentcli.agent.errors import ToolError
from agentcli.tools.edit.matching import Span, find_exact, without_overlaps
from agentcli.tools.edit.replacement import replacement
from agentcli.tools.edit.tolerant_matching import MAX_BYTES, Line, Match, find_tolerant, lines_of
from agentcli.tools.files.line_counter import LineCounter
from agentcli.tools.files.text_file import TextEncoding
from agentcli.tools.truncate import size

_MOST_PLACES = 10_000
_LINES_NAMED = 10


class Edit(Struct, omit_defaults=True):
    old_text: str
    new_text: str
    replace_all: bool = False


class EditMatch(Struct, frozen=True):
    """One place of one edit."""

    span: Span
    new: bytes
    edit: int
    """Index of the edit."""
    is_exact: bool


class EditPlacer:
    """Places edits in one file.

    Args:
        name: the file, for messages.
    """

    def __init__(self, data: bytes, kind: TextEncoding, name: str) -> None:
        self.data = data
        self.kind = kind
        self.name = name
        self.counter: LineCounter = LineCounter(data)
        self._lines: list[Line] | None = None

    def place(self, edits: list[Edit]) -> list[EditMatch]:
        """All places, in the order of the file. Raises `ToolError` unless each edit has its place of its own."""
        labels = ["old_text" if len(edits) == 1 else f"edits[{index}].old_text" for index in range(len(edits))]
        for label, edit in zip(labels, edits, strict=True):
            _check(label, edit)
        placed = [
            placement
            for index, (label, edit) in enumerate(zip(labels, edits, strict=True))
            for placement in self._place_one(index, label, edit)
        ]
        placed.sort(key=lambda placement: (placement.span.start, placement.span.end))
        self._check_overlaps(placed)
        return placed

    def line_of(self, position: int) -> int:
        """1-based number of the line that a byte is in."""
        if self.kind.unit > 1:
            before = self.data[len(self.kind.bom) : position].decode(self.kind.encoding, "replace")
            return before.count("\n") + 1
        return self.counter.line_at(position) + 1

    def _place_one(self, index: int, label: str, edit: Edit) -> list[EditMatch]:
        old_text = edit.old_text.removeprefix("\ufeff") if self.kind.bom else edit.old_text
        try:
            most = len(self.data) if edit.replace_all else _MOST_PLACES
            spans = find_exact(self.data, self.kind, old_text, most=most)
        except UnicodeEncodeError:
            spans = []
        if len(spans) > 1 and not edit.replace_all:
            raise self._ambiguous(label, spans)
        if spans:
            return [self._placement(span, edit, index, edit.new_text) for span in without_overlaps(spans)]
        return [self._place_tolerantly(index, label, old_text, edit)]

    def _place_tolerantly(self, index: int, label: str, old_text: str, edit: Edit) -> EditMatch:
        matches = find_tolerant(self._all_lines(), self.kind, old_text) if len(self.data) <= MAX_BYTES else []
        if not matches:
            raise self._not_found(label, old_text)
        if len(matches) > 1:
            raise self._ambiguous(label, [match.span for match in matches])
        new_text = self._fitting(matches[0], old_text, edit.new_text)
        return self._placement(matches[0].span, edit, index, new_text, is_exact=False)

    def _fitting(self, match: Match, old_text: str, new_text: str) -> str:
        """The new text as a tolerant match needs it: indented as the file, and no line end where the file has none."""
        if match.indentation is not None:
            new_text = match.indentation.apply(new_text)
        ends_file = match.span.end == len(self.data) and not self.data.endswith((b"\n", b"\r", b"\n\0"))
        if old_text.endswith("\n") and ends_file:
            new_text = new_text.removesuffix("\n")
        return new_text

    def _placement(self, span: Span, edit: Edit, index: int, new_text: str, *, is_exact: bool = True) -> EditMatch:
        try:
            new = replacement(self.data, self.kind, span, edit.old_text, new_text)
        except UnicodeEncodeError as error:
            char = error.object[error.start]
            problem = f"the file is {self.kind.label or 'UTF-8'}, which has no {char!r}"
            raise ToolError(f"{self.name} was not changed: {problem}", hint="use other characters") from None
        return EditMatch(span, new, index, is_exact)

    def _all_lines(self) -> list[Line]:
        if self._lines is None:
            self._lines = lines_of(self.data, self.kind)
        return self._lines

    def _check_overlaps(self, placed: list[EditMatch]) -> None:
        for one, other in pairwise(placed):
            if other.span.start < one.span.end or one.span == other.span:
                line = self.line_of(other.span.start)
                raise ToolError(
                    f"edits[{one.edit}] and edits[{other.edit}] overlap in {self.name} at line {line}; "
                    "nothing was changed",
                    hint="make one edit of them",
                )

    def _ambiguous(self, label: str, spans: list[Span]) -> ToolError:
        lines = ", ".join(str(self.line_of(span.start)) for span in spans[:_LINES_NAMED])
        more = " …" if len(spans) > _LINES_NAMED else ""
        count = f"{len(spans):,}" if len(spans) < _MOST_PLACES else f"{_MOST_PLACES:,} or more"
        return ToolError(
            f"{label} is not unique: it is in {self.name} {count} times (lines {lines}{more}); nothing was changed",
            hint="take in lines around it, or set replace_all",
        )

    def _not_found(self, label: str, old_text: str) -> ToolError:
        message = f"{label} was not found in {self.name}; nothing was changed"
        if not self.data:
            return ToolError(f"{message}. The file is empty", hint="use write")
        if len(self.data) > MAX_BYTES:
            return ToolError(
                message, hint=f"it must be exact: the file has {size(len(self.data))}; read the place again"
            )
        from agentcli.tools.edit.closest_match import describe_nearest  # 1 ms, for difflib

        nearest = describe_nearest(self._all_lines(), old_text)
        if not nearest:
            return ToolError(message, hint="nothing in the file is like it; read the file again")
        return ToolError(f"{message}. {nearest}")


def _check(label: str, edit: Edit) -> None:
    if not edit.old_text:
        raise ToolError(
            f"{label} must not be empty; nothing was changed",
            hint="to insert, repeat the text beside the place in old_text and new_text; for a whole file use write",
        )
    if edit.old_text == edit.new_text:
        raise ToolError(f"{label} and its new_text are the same, so nothing would change")
