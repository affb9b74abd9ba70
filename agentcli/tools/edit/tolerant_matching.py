"""Tolerant matching: a text that is not in the file as it stands, but for blanks, quotes, dashes or indentation.

Two steps, the second only if the first finds nothing. First: blanks at line ends do not count, typographic quotes,
dashes and spaces are plain ones, accents may be composed or not. Second: besides, the lines may all be indented by more
or by less; then the new text is indented as the file is. A match must be the only one.
"""

import unicodedata
from collections.abc import Iterator

from msgspec import Struct

from agentcli.tools.edit.matching import Span
from agentcli.tools.files.text_file import TextEncoding

MAX_BYTES = 8 << 20
"""Larger files are searched for the exact text only: taking all their lines apart would cost too much memory."""

_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_PLAIN = str.maketrans(
    dict.fromkeys("‘’‚‛′", "'")
    | dict.fromkeys("“”„‟″", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys(_SPACES, " ")
)


class Line(Struct, frozen=True):
    """A line of a file: its bytes from `start` to `end`, its line end behind them to `stop`."""

    start: int
    end: int
    stop: int
    text: str
    """Bytes that are no characters are lone surrogates."""
    plain: str
    """Normalised, without blanks at its end."""


class Indentation(Struct, frozen=True):
    """How the lines of a text are indented in the file: `theirs` in the text stands for `ours` in the file."""

    theirs: str = ""
    ours: str = ""
    unit: tuple[str, str] = ("", "")
    """What one deeper level is in the text and in the file, if they differ."""

    def apply(self, text: str) -> str:
        """A text with its lines indented as in the file."""
        return "\n".join(self._apply_to_line(line) for line in text.split("\n"))

    def _apply_to_line(self, line: str) -> str:
        if not line.strip() or not line.startswith(self.theirs):
            return line
        rest = line[len(self.theirs) :]
        blanks = rest[: len(rest) - len(rest.lstrip(" \t"))]
        if self.unit[0]:
            blanks = blanks.replace(*self.unit)
        return self.ours + blanks + rest.lstrip(" \t")


class Match(Struct, frozen=True):
    span: Span
    first_line: int
    """From 0."""
    indentation: Indentation | None = None
    """None if the new text goes in as it is."""


def plain(line: str) -> str:
    """A line as it is compared."""
    if not line.isascii():
        line = unicodedata.normalize("NFC", line.translate(_PLAIN))
    return line.rstrip()


def lines_of(data: bytes, kind: TextEncoding) -> list[Line]:
    """All lines of a file; a lone CR is a line end too."""
    encoding = kind.encoding
    ends = [end.encode(encoding) for end in ("\r\n", "\n", "\r")]
    errors = "surrogateescape" if kind.unit == 1 else "surrogatepass"
    lines: list[Line] = []
    start = len(kind.bom)
    for end, stop in _line_ends(data, kind, ends):
        text = data[start:end].decode(encoding, errors)
        lines.append(Line(start, end, stop, text, plain(text)))
        start = stop
    return lines


def _line_ends(data: bytes, kind: TextEncoding, ends: list[bytes]) -> Iterator[tuple[int, int]]:
    """Where each line ends, without and with its line end; a last line that is empty is none."""
    crlf, lf, cr = ends
    position = len(kind.bom)
    limit = len(data) - (len(data) - position) % kind.unit
    next_lf, next_cr = -2, -2
    while position < limit:
        if next_lf != -1 and next_lf < position:
            next_lf = _find_aligned(data, lf, position, kind)
        if next_cr != -1 and next_cr < position:
            next_cr = _find_aligned(data, cr, position, kind)
        hits = [hit for hit in (next_lf, next_cr) if hit >= 0]
        if not hits:
            yield limit, limit
            return
        end = min(hits)
        position = end + len(crlf if data.startswith(crlf, end) else lf)
        yield end, position


def _find_aligned(data: bytes, needle: bytes, position: int, kind: TextEncoding) -> int:
    hit = data.find(needle, position)
    while hit >= 0 and (hit - len(kind.bom)) % kind.unit:
        hit = data.find(needle, hit + 1)
    return hit


def find_tolerant(lines: list[Line], kind: TextEncoding, text: str) -> list[Match]:
    """The places that match within tolerance; more than one means that none may be taken."""
    wanted = text.replace("\r\n", "\n").split("\n")
    with_end = len(wanted) > 1 and not wanted[-1]
    if with_end:
        wanted.pop()
    if not any(line.strip() for line in wanted):
        return []
    return _same_columns(lines, kind, wanted, with_end) or _shifted(lines, wanted, with_end)


def _same_columns(lines: list[Line], kind: TextEncoding, wanted: list[str], with_end: bool) -> list[Match]:
    """Matches that may begin and end within a line."""
    goal = [plain(line) for line in wanted]
    inside = plain(f"{wanted[-1]}.")[:-1]
    found: list[Match] = []
    if len(goal) == 1:
        for index, line in enumerate(lines):
            column = line.plain.find(goal[0])
            while column >= 0:
                end = _end_in_line(line, kind, column, goal[0], inside, with_end)
                if end is not None:
                    found.append(Match(Span(_byte_at(line, kind, column), end), index))
                column = line.plain.find(goal[0], column + 1)
        return found
    for index in range(len(lines) - len(goal) + 1):
        first, last = lines[index], lines[index + len(goal) - 1]
        if not first.plain.endswith(goal[0]) or not last.plain.startswith(goal[-1]):
            continue
        if any(lines[index + offset].plain != goal[offset] for offset in range(1, len(goal) - 1)):
            continue
        end = _end_in_line(last, kind, 0, goal[-1], inside, with_end)
        if end is not None:
            start = _byte_at(first, kind, len(first.plain) - len(goal[0]))
            found.append(Match(Span(start, end), index))
    return found


def _end_in_line(line: Line, kind: TextEncoding, column: int, goal: str, inside: str, with_end: bool) -> int | None:
    """Where a match of the last line of a text ends: with the line, or within it (then blanks at its end count)."""
    if column + len(goal) == len(line.plain):
        return line.stop if with_end else line.end
    if not with_end and line.plain.startswith(inside, column):
        return _byte_at(line, kind, column + len(inside))
    return None


def _byte_at(line: Line, kind: TextEncoding, column: int) -> int:
    """The byte of the file at which a column of the plain line begins."""
    if column == 0:
        return line.start
    errors = "surrogateescape" if kind.unit == 1 else "surrogatepass"
    taken = done = 0
    text = line.text
    while taken < len(text) and done < column:
        step = taken + 1
        while step < len(text) and _joins(text[step]):
            step += 1
        done += len(unicodedata.normalize("NFC", text[taken:step]))
        taken = step
    return line.start + len(text[:taken].encode(kind.encoding, errors))


def _joins(char: str) -> bool:
    """Whether a character may become one with those before it."""
    return not char.isascii() and (unicodedata.combining(char) != 0 or "\u1160" <= char <= "\u11ff")


def _shifted(lines: list[Line], wanted: list[str], with_end: bool) -> list[Match]:
    """Matches of whole lines that are all indented by more, or all by less."""
    goal = [plain(line).lstrip(" \t") for line in wanted]
    found: list[Match] = []
    for index in range(len(lines) - len(goal) + 1):
        window = lines[index : index + len(goal)]
        if all(line.plain.lstrip(" \t") == content for line, content in zip(window, goal, strict=True)):
            indentation = _indentation(wanted, [line.text for line in window])
            if indentation is not None:
                last = window[-1]
                span = Span(window[0].start, last.stop if with_end else last.end)
                found.append(Match(span, index, indentation))
    return found


def _indentation(wanted: list[str], ours: list[str]) -> Indentation | None:
    """The one shift that explains the indentation of every line, or None."""
    pairs = [(_blanks(mine), _blanks(theirs)) for theirs, mine in zip(wanted, ours, strict=True) if theirs.strip()]
    base_ours = _common_prefix([mine for mine, _ in pairs])
    base_theirs = _common_prefix([theirs for _, theirs in pairs])
    rests = [(mine[len(base_ours) :], theirs[len(base_theirs) :]) for mine, theirs in pairs]
    for unit in _units(base_theirs, base_ours):
        if all((theirs.replace(*unit) if unit[0] else theirs) == mine for mine, theirs in rests):
            return Indentation(base_theirs, base_ours, unit)
    return None


def _units(theirs: str, ours: str) -> list[tuple[str, str]]:
    """What one level may be in the text and in the file, the likeliest first; empty texts for the same in both."""
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


def _blanks(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
