"""Placing edits: from what was asked to the places in the file and the bytes that go in; nothing is written here.

The strictest way that finds a place is taken: the exact text, then the steps of `tolerant_matching`, then the same with
the texts unwrapped. A place must be the only one, unless all are to be replaced.
"""

from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING

from msgspec import Struct

from agentcli.agent.errors import ToolError
from agentcli.tools.edit.matching import Span, Texts, find_exact, without_overlaps
from agentcli.tools.edit.replacement import fit_edges, has_substance, is_made, replacement
from agentcli.tools.files.line_counter import LineCounter
from agentcli.tools.files.text_file import TextEncoding

if TYPE_CHECKING:
    from agentcli.tools.edit.file_lines import FileLines
    from agentcli.tools.edit.tolerant_matching import Match, Step, Wanted

MAX_TOLERANT_BYTES = 8 << 20
"""Larger files are searched for the exact text only: taking all their lines apart would cost too much memory."""
_MOST_PLACES = 10_000


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
    tolerated: tuple[str, ...] = ()
    """In what the old text differed from the file."""
    is_made: bool = False
    """The new text is at this place already."""


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

    @cached_property
    def lines(self) -> "FileLines":
        """All lines of the file; only for what is at most `MAX_TOLERANT_BYTES`."""
        from agentcli.tools.edit.file_lines import FileLines  # with what follows 2 ms, for texts that are not exact

        return FileLines(self.data, self.kind)

    def _place_one(self, index: int, label: str, edit: Edit) -> list[EditMatch]:
        old, new = edit.old_text.removeprefix("\ufeff"), edit.new_text.removeprefix("\ufeff")
        if not self.kind.bom and (spans := self._exact(edit.old_text, edit.replace_all)):
            old, new = edit.old_text, edit.new_text  # the character stands in the text itself
        else:
            spans = self._exact(old, edit.replace_all)
        as_is = Texts(old, new)
        if spans:
            return self._exact_matches(index, label, edit, spans, as_is)
        if len(self.data) > MAX_TOLERANT_BYTES or not old.strip():
            raise self._not_found(label, old, new)
        from agentcli.tools.edit.tolerant_matching import LENIENT, STRICT
        from agentcli.tools.edit.unwrapping import unwrapped

        for step in STRICT:
            if found := self._tolerant_matches(index, label, edit, step, as_is):
                return found
        others = unwrapped(old, new)
        for texts in others:
            if spans := self._exact(texts.old, edit.replace_all):
                return self._exact_matches(index, label, edit, spans, texts)
        for step, texts in (*product(STRICT, others), *product(LENIENT, (as_is, *others))):
            if found := self._tolerant_matches(index, label, edit, step, texts):
                return found
        raise self._not_found(label, old, new)

    def _exact(self, old: str, replace_all: bool) -> list[Span]:
        try:
            return find_exact(self.data, self.kind, old, most=len(self.data) if replace_all else _MOST_PLACES)
        except UnicodeEncodeError:
            return []

    def _exact_matches(self, index: int, label: str, edit: Edit, spans: list[Span], texts: Texts) -> list[EditMatch]:
        if len(spans) > 1 and not edit.replace_all:
            raise self._ambiguous(label, spans)
        return [self._exact_match(index, span, texts) for span in without_overlaps(spans)]

    def _exact_match(self, index: int, span: Span, texts: Texts) -> EditMatch:
        if is_made(self.data, self.kind, span, texts.old, texts.new):
            return EditMatch(span, self.data[span.start : span.end], index, is_made=True)
        span, new = fit_edges(self.data, self.kind, span, texts.old, texts.new)
        try:
            new_bytes = replacement(self.data, self.kind, span, texts.old, new)
        except UnicodeEncodeError as error:
            raise self._cannot_encode(error) from None
        return EditMatch(span, new_bytes, index, (texts.what,) if texts.what else ())

    def _tolerant_matches(self, index: int, label: str, edit: Edit, step: "Step", texts: Texts) -> list[EditMatch]:
        """The places that a step finds; none if it finds none."""
        from agentcli.tools.edit.file_lines import call_lines
        from agentcli.tools.edit.tolerant_matching import Wanted

        (old, with_end), (new, _) = call_lines(texts.old), call_lines(texts.new)
        wanted = Wanted(old, new if texts.new else [], with_end)
        matches = step(self.lines, wanted)
        if len(matches) > 1 and not edit.replace_all:
            raise self._ambiguous(label, [self._span_of(match) for match in matches])
        placed: list[EditMatch] = []
        for match in matches:
            found = self._spliced(index, label, match, wanted, texts)
            if not placed or found.span.start >= placed[-1].span.end:
                placed.append(found)
        return placed

    def _spliced(self, index: int, label: str, match: "Match", wanted: "Wanted", texts: Texts) -> EditMatch:
        from agentcli.tools.edit.splice import Uncertain, splice

        try:
            made = splice(self.lines, match, wanted)
        except Uncertain as error:
            raise self._uncertain(label, match, str(error)) from None
        except UnicodeEncodeError as error:
            raise self._cannot_encode(error) from None
        span = Span(made.start, made.end)
        if is_made(self.data, self.kind, span, texts.old, texts.new):
            return EditMatch(span, self.data[span.start : span.end], index, is_made=True)
        return EditMatch(span, made.new, index, (*([texts.what] if texts.what else []), *made.tolerated))

    def _span_of(self, match: "Match") -> Span:
        return Span(self.lines.starts[match.first], self.lines.starts[match.stop])

    def _check_overlaps(self, placed: list[EditMatch]) -> None:
        for one, other in pairwise(placed):
            if other.span.start < one.span.end or one.span == other.span:
                line = self.line_of(other.span.start)
                raise ToolError(
                    f"edits[{one.edit}] and edits[{other.edit}] overlap in {self.name} at line {line}; "
                    "nothing was changed",
                    hint="make one edit of them",
                )

    def _cannot_encode(self, error: UnicodeEncodeError) -> ToolError:
        char = error.object[error.start]
        problem = f"the file is {self.kind.label or 'UTF-8'}, which has no {char!r}"
        return ToolError(f"{self.name} was not changed: {problem}", hint="use other characters")

    def _ambiguous(self, label: str, spans: list[Span]) -> ToolError:
        from agentcli.tools.edit import refusals

        count = f"{len(spans):,}" if len(spans) < _MOST_PLACES else f"{_MOST_PLACES:,} or more"
        numbers = [self.line_of(span.start) for span in spans[: refusals.MOST_NUMBERS]]
        lines = self.lines if len(self.data) <= MAX_TOLERANT_BYTES else None
        return refusals.ambiguous(label, self.name, count, numbers, len(spans), lines)

    def _uncertain(self, label: str, match: "Match", why: str) -> ToolError:
        from agentcli.tools.edit import refusals

        return refusals.uncertain(label, self.name, self.lines, match, why)

    def _not_found(self, label: str, old: str, new: str) -> ToolError:
        from agentcli.tools.edit import refusals

        if not self.data:
            return ToolError(
                f"{label} was not found in {self.name}; nothing was changed. The file is empty", hint="use write"
            )
        if len(self.data) > MAX_TOLERANT_BYTES:
            return refusals.too_large(label, self.name, len(self.data))
        made = self._made_at(old, new)
        return refusals.not_found(label, self.name, self.lines, old, made)

    def _made_at(self, old: str, new: str) -> int | None:
        """The line at which the new text is already, if it is there once and means something."""
        if not has_substance(new) or new in old:
            return None
        spans = self._exact(new, replace_all=False)
        return self.line_of(spans[0].start) if len(spans) == 1 else None


def _check(label: str, edit: Edit) -> None:
    if not edit.old_text:
        raise ToolError(
            f"{label} must not be empty; nothing was changed",
            hint="to insert, repeat the text beside the place in old_text and new_text; for a whole file use write",
        )
    if edit.old_text == edit.new_text:
        raise ToolError(f"{label} and its new_text are the same, so nothing would change")
