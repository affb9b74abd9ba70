"""Query: the words of a search, and how well and where a text or a path fits them.

Time is linear in a text's length. (Textual's own matcher tries every way in which the letters fit: millions in a line.)
"""

import heapq
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

MAX_SCORED = 10_000
"""`rank_paths` scores at most so many paths that fit, the first ones."""

_WHOLE, _START_OF_WORD, _WITHIN, _APART = 4_000.0, 3_000.0, 2_000.0, 1_000.0
_IN_FOLDER = 1_000.0
"""The score of a match before a path's last name, unless the path begins with it."""
_SPREAD = 6
"""Letters may be spread over at most this many times their number; further apart they fit by chance."""
_LEAST_SPREAD = 24


class Match(Struct, frozen=True):
    """How well and where a text fits."""

    score: float
    """More is better; comparable for one query."""
    places: tuple[int, ...]
    """Of the letters that were found, in order."""


class Query:
    """Words that must all occur, contiguous or with other letters between theirs. Their case does not matter."""

    def __init__(self, text: str) -> None:
        self.words = text.lower().split()

    def __bool__(self) -> bool:
        return bool(self.words)

    def match(self, text: str) -> Match | None:
        """Match a text; None if it does not fit."""
        lower = lowered(text)
        return self._joined(_as_it_stands(word, lower) or _apart(word, lower, _spread(word)) for word in self.words)

    def match_path(self, path: str) -> Match | None:
        """Match a path: its letters may be anywhere in it, and those of its last name count more."""
        lower = lowered(path)
        start = lower.rstrip("/").rfind("/") + 1
        return self._joined(_in_path(word, lower, start) for word in self.words)

    def rank_paths(self, paths: Sequence[str], limit: int) -> list[str]:
        """The `limit` paths that fit best; of equally good ones the shorter, then the first.

        Without words, the first paths.
        """
        if not self:
            return list(paths[:limit])
        fits = re.compile("".join(f"(?={_letters_of(word)})" for word in self.words)).match
        fitting: list[tuple[float, int, int]] = []
        for place, path in enumerate(paths):
            # Most paths do not fit: they fail here, which is fast.
            if fits(lowered(path)) and (match := self.match_path(path)):
                fitting.append((-match.score, len(path), place))
                if len(fitting) == MAX_SCORED:
                    break
        return [paths[place] for _, _, place in heapq.nsmallest(limit, fitting)]

    def is_in(self, text: str) -> bool:
        """Whether every word occurs contiguously."""
        lower = text.lower()
        return all(word in lower for word in self.words)

    def places(self, text: str) -> tuple[int, ...]:
        """Where the words occur contiguously, each once; those that do not are left out."""
        lower = lowered(text)
        found = (match for word in self.words if (match := _as_it_stands(word, lower)))
        return tuple(sorted({place for match in found for place in match.places}))

    def _joined(self, found: Iterable[Match | None]) -> Match | None:
        score, places = 0.0, set[int]()
        for match in found:
            if match is None:
                return None
            score += match.score
            places.update(match.places)
        return Match(score / max(len(self.words), 1), tuple(sorted(places)))


def lowered(text: str) -> str:
    """`text` in lower case, letter by letter, of the same length."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(letter.lower()[0] for letter in text)


def _in_path(word: str, path: str, start: int) -> Match | None:
    """In the last name, which begins at `start`, or anywhere."""
    if start == 0 or path.startswith(word):
        return _as_it_stands(word, path) or _apart(word, path, len(path))
    name = path[start:]
    if found := _as_it_stands(word, name):
        return _moved(found, start)
    if found := _as_it_stands(word, path):
        return Match(_IN_FOLDER + found.score / 10, found.places)
    if found := _apart(word, name, len(name)):
        return _moved(found, start)
    found = _apart(word, path, len(path))
    return found and Match(found.score - _IN_FOLDER, found.places)


def _moved(found: Match, by: int) -> Match:
    return Match(found.score, tuple(place + by for place in found.places))


def _letters_of(word: str) -> str:
    """A regular expression for the letters in order. It is possessive: a text that does not fit fails in one pass."""
    return "".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in word)


def _as_it_stands(word: str, text: str) -> Match | None:
    """Where the word occurs contiguously, at the start of a word if possible."""
    start = at = text.find(word)
    if start < 0:
        return None
    while at > 0 and text[at - 1].isalnum():
        at = text.find(word, at + 1)
    if at >= 0:
        start = at
    kind = _WHOLE if word == text else _START_OF_WORD if at >= 0 else _WITHIN
    return Match(kind - min(start, 500), tuple(range(start, start + len(word))))


def _spread(word: str) -> int:
    return max(_LEAST_SPREAD, _SPREAD * len(word))


def _apart(word: str, text: str, most: int) -> Match | None:
    """The letters in order: the first place where all have occurred, and from there back as close as can be.

    Args:
        word: the letters.
        text: where they are searched.
        most: the largest distance between the first and the last letter.
    """
    end = -1
    for letter in word:
        end = text.find(letter, end + 1)
        if end < 0:
            return None
    places: list[int] = []
    place = end + 1
    for letter in reversed(word):
        place = text.rfind(letter, 0, place)
        places.append(place)
    spread = end - place + 1
    if spread > most:
        return None
    return Match(_APART - 10 * (spread - len(word)) - min(place, 500) / 10, tuple(reversed(places)))
