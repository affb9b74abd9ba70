"""Fuzzy: which of many names a few letters mean, the likeliest first."""

import heapq
import re
from collections.abc import Callable, Sequence

MAX_SCORED = 20_000
"""Of so many that fit, the first ones, the best are chosen."""


def rank(letters: str, names: Sequence[str], limit: int) -> list[int]:
    """The places of the names that hold these letters in this order, whatever their case.

    Names that begin with them come first, then those that hold them in one piece; of those alike the shorter one. What
    stands before the last `/` counts less. Without letters, the first names.

    Args:
        limit: how many places at most.
    """
    if not letters:
        return list(range(min(limit, len(names))))
    fits = _subsequence(letters).match
    fitting: list[int] = []
    for place, name in enumerate(names):
        if fits(name):
            fitting.append(place)
            if len(fitting) == MAX_SCORED:
                break
    wanted = letters.lower()
    scored = ((_tier(wanted, names[place].lower(), fits), len(names[place]), place) for place in fitting)
    return [place for _, _, place in heapq.nsmallest(limit, scored)]


def _subsequence(letters: str) -> re.Pattern[str]:
    # Possessive: a name that does not fit is given up in one pass.
    parts = (f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in letters)
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


def _tier(wanted: str, name: str, fits: Callable[[str], object]) -> int:
    base = name.rstrip("/").rpartition("/")[2]
    if base == wanted or name == wanted:
        return 0
    if base.startswith(wanted) or name.startswith(wanted):
        return 1
    if wanted in base:
        return 2
    if wanted in name:
        return 3
    return 4 if fits(base) else 5
