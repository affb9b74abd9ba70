"""Splicing: what goes in for a tolerant match: the file's own lines wherever the call does not change them.

The old and the new text of the call are compared line by line. A line that stays keeps the file's bytes. Of a line that
changes only the words that differ come from the call, written as the file writes: with its indentation, and in plain
typography where the call was typographic and the file is not.
"""

import unicodedata
from difflib import SequenceMatcher  # 1 ms; this module is imported only when no exact place was found
from functools import cached_property
from typing import Literal

from msgspec import Struct

from agentcli.tools.edit.edit_diff import compare
from agentcli.tools.edit.file_lines import FileLines, is_blank
from agentcli.tools.edit.folding import blind, fold, indentation_of, plain_typography, tokens_of
from agentcli.tools.edit.indentation import common_shift
from agentcli.tools.edit.tolerant_matching import Match, Wanted

_LEAST_ALIKE = 0.5
_MOST_PAIRED = 4000
"""Old times new lines of one change up to which each line is paired with the one most like it."""


class Uncertain(Exception):
    """What is meant cannot be told; the message says why."""


class Splice(Struct, frozen=True):
    start: int
    """In bytes."""
    end: int
    new: bytes
    tolerated: tuple[str, ...]
    """In what the old text differed from the file."""


def splice(lines: FileLines, match: Match, wanted: Wanted) -> Splice:
    """What replaces the match.

    Raises:
        Uncertain: the new lines' indentation cannot be told, or lines that are not shown would change.
        UnicodeEncodeError: the file's encoding has not all characters.
    """
    if not lines.is_faithful(match.first, match.stop):
        raise Uncertain("the lines have bytes that are no characters of the file's encoding")
    work = _Splicing(lines, match, wanted)
    last = match.stop - 1
    start = lines.byte_at(match.first, match.head)
    if match.tail is not None:
        end = lines.byte_at(last, match.tail)
    else:
        end = lines.starts[match.stop] if wanted.with_end else lines.byte_at(last, len(lines.texts[last]))
    return Splice(start, end, lines.encode(work.result()), tuple(work.tolerated))


class _Pair(Struct, frozen=True):
    """A line of the old text that is not blank, and the file's line for it."""

    ours: str
    theirs: str
    our_tokens: list[str]
    their_tokens: list[str]

    @property
    def indentation(self) -> tuple[str, str]:
        """The call's and the file's."""
        return indentation_of(self.theirs), indentation_of(self.ours)


class _Splicing:
    def __init__(self, lines: FileLines, match: Match, wanted: Wanted) -> None:
        self.lines = lines
        self.match = match
        self.old, self.new, self.with_end = wanted.old, wanted.new, wanted.with_end
        self.pairs: dict[int, _Pair] = {}
        for at, (first, stop) in enumerate(match.ranges):
            if first < stop and not is_blank(self.old[at]) and blind(self.old[at]) == blind(self._text(first)):
                ours = self._text(first)
                self.pairs[at] = _Pair(ours, self.old[at], tokens_of(ours.strip()), tokens_of(self.old[at].strip()))
        self.shift = common_shift(
            [pair.theirs for pair in self.pairs.values()], [pair.ours for pair in self.pairs.values()]
        )
        self.reindented: set[tuple[str, str]] = set()
        """By how much lines are indented more or less than they were."""

    def _text(self, at: int) -> str:
        """A line of the file, without what is before or behind the match."""
        tail = self.match.tail if at == self.match.stop - 1 else None
        return self.lines.texts[at][self.match.head if at == self.match.first else 0 : tail]

    def _end(self, at: int) -> str:
        return "" if at == self.match.stop - 1 and not self.with_end else self.lines.end_of(at)

    def result(self) -> str:
        """The new text of the whole match."""
        done: list[tuple[str, str]] = []
        for tag, i1, i2, j1, j2 in compare(self.old, self.new):
            if tag == "equal":
                done += [self._kept(at) for line in range(i1, i2) for at in range(*self.match.ranges[line])]
            else:
                done += self._changed(i1, i2, j1, j2)
        if (self.shift is None and len(self.reindented) > 1) or (self.reindented and self._hides_lines):
            raise Uncertain("the edit changes the indentation of lines whose indentation in old_text is not the file's")
        return self._joined(done)

    def _kept(self, at: int) -> tuple[str, str]:
        return self._text(at), self._end(at)

    @property
    def _hides_lines(self) -> bool:
        """Whether lines of the file stand for a line of the text that is not one of them (`...`)."""
        return any(
            first < stop and at not in self.pairs and not is_blank(self.old[at])
            for at, (first, stop) in enumerate(self.match.ranges)
        )

    def _joined(self, done: list[tuple[str, str]]) -> str:
        """The lines with their ends; a line without one gets that of a neighbour, but for the last."""
        usual = next((end for _, end in done if end), "") or self._usual_end()
        texts = [text + (end or usual) for text, end in done[:-1]]
        if done:
            text, end = done[-1]
            at_end_of_file = self.match.stop == len(self.lines) and not self._end(self.match.stop - 1)
            texts.append(text + ("" if not self.with_end or at_end_of_file else end or usual))
        return "".join(texts)

    def _usual_end(self) -> str:
        near = range(min(self.match.stop, len(self.lines) - 1), -1, -1)
        return next((end for at in near if (end := self.lines.end_of(at))), "\n")

    def _changed(self, i1: int, i2: int, j1: int, j2: int) -> list[tuple[str, str]]:
        done: list[tuple[str, str]] = []
        paired = _paired(self.old[i1:i2], self.new[j1:j2])
        for at, (i, j) in enumerate(paired):
            first, stop, pair = 0, 0, None
            if i is not None:
                first, stop = self.match.ranges[i1 + i]
                pair = self.pairs.get(i1 + i)
                if pair is None and stop > first and not is_blank(self.old[i1 + i]):
                    raise Uncertain("lines would change that old_text leaves out")
            if j is not None:
                new = self.new[j1 + j]
                if pair is not None:
                    done.append((self._changed_line(pair, new), self._end(first)))
                else:
                    start = next(
                        (i1 + one + 1 for one, other in paired[at::-1] if one is not None and other is not None), i1
                    )
                    end = next((i1 + one for one, other in paired[at:] if one is not None and other is not None), i2)
                    done.append((self._added_line(new, range(start, end)), self._end(first) if stop > first else ""))
            # Blank lines that the old text has not stay.
            done += [self._kept(at) for at in range(first + 1, stop)]
        return done

    def _changed_line(self, pair: _Pair, new: str) -> str:
        if not new.strip():
            return new
        our_indentation, our_tail = _line_parts(pair.ours)
        their_indentation, their_tail = _line_parts(pair.theirs)
        indentation, tail = _line_parts(new)
        if indentation == their_indentation:
            indentation = our_indentation
        else:
            indentation = self._reindented(our_indentation, their_indentation, indentation)
        return indentation + self._changed_words(pair, new.strip()) + (our_tail if tail == their_tail else tail)

    def _changed_words(self, pair: _Pair, new: str) -> str:
        tokens = tokens_of(new)
        matcher = SequenceMatcher(None, pair.their_tokens, tokens, autojunk=False)
        return "".join(
            "".join(pair.our_tokens[i1:i2]) if tag == "equal" else self._as_written("".join(tokens[j1:j2]))
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        )

    def _reindented(self, ours: str, old: str, new: str) -> str:
        """The indentation of a line that the edit itself indents by more or less."""
        longer, shorter = (new, old) if new.startswith(old) else (old, new)
        if not longer.startswith(shorter):
            raise Uncertain(
                "the edit changes spaces into tabs, or back, in lines that are indented otherwise in the file"
            )
        by = longer[len(shorter) :]
        self.reindented.add((by, "more" if longer is new else "less"))
        if self.shift is not None:
            indentation = self.shift.apply(new)
        elif longer is new:
            indentation = ours + by if len({*ours, *by}) < 2 else None
        else:
            indentation = ours.removesuffix(by) if ours.endswith(by) else None
        if indentation is None:
            raise Uncertain("the indentation of a changed line cannot be told")
        return indentation

    def _added_line(self, new: str, instead: range) -> str:
        """A line that comes instead of lines of the old text, or, if there are none, before the next."""
        if not new.strip():
            return new
        theirs = indentation_of(new)
        indentation = self.shift.apply(theirs) if self.shift is not None else self._indentation_like(theirs, instead)
        if indentation is None:
            raise Uncertain("the indentation of an added line cannot be told")
        return indentation + self._as_written(new[len(theirs) :])

    def _indentation_like(self, theirs: str, instead: range) -> str | None:
        """The file's indentation of the lines around that are indented like that in the call, if it is the same."""
        like = {at: ours for at, pair in self.pairs.items() for other, ours in [pair.indentation] if other == theirs}
        above = max((at for at in like if at < instead.start), default=None)
        below = min((at for at in like if at >= instead.stop), default=None)
        near = {like[at] for at in (above, *instead, below) if at in like}
        return near.pop() if len(near) == 1 else None

    def _as_written(self, text: str) -> str:
        """New words, written as the file writes."""
        if text.isascii():
            return text
        text = text.translate(self._typography)
        return unicodedata.normalize(self._form, text) if self._form else text

    @cached_property
    def _typography(self) -> dict[int, str]:
        table: dict[int, str] = {}
        for pair in self.pairs.values():
            table |= plain_typography(pair.our_tokens, pair.their_tokens)
        return table

    @cached_property
    def _form(self) -> Literal["NFC", "NFD"] | None:
        """The Unicode form of the file's accents, if the call's have another."""
        differing = [
            (ours, theirs)
            for pair in self.pairs.values()
            for ours, theirs in zip(pair.our_tokens, pair.their_tokens, strict=True)
            if ours != theirs and unicodedata.normalize("NFC", ours) == unicodedata.normalize("NFC", theirs)
        ]
        for form in ("NFC", "NFD"):
            if differing and all(unicodedata.is_normalized(form, ours) for ours, _ in differing):
                return form
        return None

    @property
    def tolerated(self) -> list[str]:
        """In what the old text differs from the file, in words."""
        pairs = list(self.pairs.values())
        tokens = [pair for each in pairs for pair in zip(each.our_tokens, each.their_tokens, strict=True)]
        differing = [(ours, theirs) for ours, theirs in tokens if ours != theirs]
        found = {
            "indentation": any(theirs != ours for pair in pairs for theirs, ours in [pair.indentation]),
            "whitespace at line ends": any(_line_parts(p.ours)[1] != _line_parts(p.theirs)[1] for p in pairs),
            "whitespace within lines": any(ours.isspace() and fold(ours) != fold(theirs) for ours, theirs in differing),
            "quotes, dashes or accents": any(not (ours + theirs).isascii() for ours, theirs in differing),
            "blank lines": any(
                stop - first != 1 and not (at not in self.pairs and not is_blank(self.old[at]))
                for at, (first, stop) in enumerate(self.match.ranges)
            ),
        }
        return [what for what, is_so in found.items() if is_so]


def _line_parts(line: str) -> tuple[str, str]:
    """The whitespace at the beginning and at the end of a line that is not blank."""
    return indentation_of(line), line[len(line.rstrip()) :]


def _paired(old: list[str], new: list[str]) -> list[tuple[int | None, int | None]]:
    """Old and new lines of one change in their order; those that are alike together, others alone."""
    if len(old) == len(new) == 1:
        return [(0, 0)]
    if len(old) * len(new) > _MOST_PAIRED:
        if len(old) == len(new):
            return [(at, at) for at in range(len(old))]
        return [*[(at, None) for at in range(len(old))], *[(None, at) for at in range(len(new))]]
    likeness = [[_likeness(one, other) for other in new] for one in old]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + likeness[i][j])
    paired: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i][j] and best[i][j] == best[i + 1][j + 1] + likeness[i][j]:
            paired.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i][j + 1]:
            paired.append((None, j))
            j += 1
        else:
            paired.append((i, None))
            i += 1
    return [*paired, *[(at, None) for at in range(i, len(old))], *[(None, at) for at in range(j, len(new))]]


def _likeness(one: str, other: str) -> float:
    """1 for lines that differ in whitespace only, 0 for such that have too little in common."""
    one, other = blind(one), blind(other)
    if one == other:
        return 1.0
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return ratio if ratio >= _LEAST_ALIKE else 0.0
