"""Query: the words that somebody typed to find something, and how well and where a text fits them.

Time is linear in a text's length. (Textual's own matcher tries every way in which the letters fit: millions in a line.)
"""

from msgspec import Struct

_WHOLE, _START_OF_WORD, _WITHIN, _APART = 4_000.0, 3_000.0, 2_000.0, 1_000.0
_SPREAD = 6
"""Letters that stand apart are found within so many times their number; further apart they are there by chance."""
_LEAST_SPREAD = 24


class Match(Struct, frozen=True):
    score: float
    """More is better; comparable for one query."""
    places: tuple[int, ...]
    """Of the letters that were found, in order."""


class Query:
    """Words that must all occur, as they stand or with other letters between theirs. Their case does not matter."""

    def __init__(self, text: str) -> None:
        self.words = text.lower().split()

    def __bool__(self) -> bool:
        return bool(self.words)

    def match(self, text: str) -> Match | None:
        lower = lowered(text)
        score, places = 0.0, set[int]()
        for word in self.words:
            found = _as_it_stands(word, lower) or _apart(word, lower)
            if found is None:
                return None
            score += found.score
            places.update(found.places)
        return Match(score / max(len(self.words), 1), tuple(sorted(places)))

    def is_in(self, text: str) -> bool:
        """Whether every word occurs as it stands."""
        lower = text.lower()
        return all(word in lower for word in self.words)

    def places(self, text: str) -> tuple[int, ...]:
        """Where the words occur as they stand, each once; those that do not are left out."""
        lower = lowered(text)
        found = (match for word in self.words if (match := _as_it_stands(word, lower)))
        return tuple(sorted({place for match in found for place in match.places}))


def lowered(text: str) -> str:
    """`text` in small letters, each at the place of its own."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(letter.lower()[0] for letter in text)


def _as_it_stands(word: str, text: str) -> Match | None:
    """Where it begins a word, else the first place."""
    start = at = text.find(word)
    if start < 0:
        return None
    while at > 0 and text[at - 1].isalnum():
        at = text.find(word, at + 1)
    if at >= 0:
        start = at
    kind = _WHOLE if word == text else _START_OF_WORD if at >= 0 else _WITHIN
    return Match(kind - min(start, 500), tuple(range(start, start + len(word))))


def _apart(word: str, text: str) -> Match | None:
    """The letters in order: the first place where they are over, and from there back as near together as can be."""
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
    if spread > max(_LEAST_SPREAD, _SPREAD * len(word)):
        return None
    return Match(_APART - 10 * (spread - len(word)) - min(place, 500) / 10, tuple(reversed(places)))
