"""Indentation: how the lines of a call are indented in the file."""

from msgspec import Struct

from agentcli.tools.edit.folding import indentation_of


class Shift(Struct, frozen=True):
    """The indentation `theirs` in a call stands for `ours` in the file, on every line."""

    theirs: str = ""
    ours: str = ""
    unit: tuple[str, str] = ("", "")
    """What one deeper level is in the call and in the file, if they differ."""

    def apply(self, indentation: str) -> str | None:
        """The file's indentation for one of a call; None if that cannot be told."""
        if indentation.startswith(self.theirs):
            return self.ours + self._converted(indentation[len(self.theirs) :])
        if not self.theirs.startswith(indentation):
            return None
        less = self._converted(self.theirs[len(indentation) :])
        return self.ours.removesuffix(less) if self.ours.endswith(less) else None

    def _converted(self, deeper: str) -> str:
        return deeper.replace(*self.unit) if self.unit[0] else deeper


def common_shift(theirs: list[str], ours: list[str]) -> Shift | None:
    """The one shift that explains the indentation of every line, or None.

    Args:
        theirs: the lines of the call.
        ours: those of the file, one for one.
    """
    pairs = [
        (indentation_of(mine), indentation_of(other)) for other, mine in zip(theirs, ours, strict=True) if other.strip()
    ]
    if not pairs:
        return Shift()
    base_ours = _common_prefix([mine for mine, _ in pairs])
    base_theirs = _common_prefix([other for _, other in pairs])
    rests = [(mine[len(base_ours) :], other[len(base_theirs) :]) for mine, other in pairs]
    for unit in _units(base_theirs, base_ours):
        if all((other.replace(*unit) if unit[0] else other) == mine for mine, other in rests):
            return Shift(base_theirs, base_ours, unit)
    return None


def _units(theirs: str, ours: str) -> list[tuple[str, str]]:
    """What one level may be in the call and in the file, the likeliest first; empty texts for the same in both."""
    units = [
        ("", ""),
        *((" " * width, "\t") for width in (4, 2, 8, 3)),
        *(("\t", " " * width) for width in (4, 2, 8, 3)),
    ]
    spaces, tabs = (theirs, ours) if "\t" in ours else (ours, theirs)
    if spaces.strip(" ") == "" == tabs.strip("\t") and tabs and spaces and len(spaces) % len(tabs) == 0:
        width = " " * (len(spaces) // len(tabs))
        units.insert(0, (width, "\t") if tabs is ours else ("\t", width))
    return units


def _common_prefix(texts: list[str]) -> str:
    first, last = min(texts), max(texts)
    length = next((at for at, char in enumerate(first) if last[at] != char), len(first))
    return first[:length]
