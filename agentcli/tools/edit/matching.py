"""Matching: where a text stands in the bytes of a file.

`find_exact` takes the text as it is; only line ends may differ (LF in the text is any line end in the file), and only
if the very same bytes are not there. `tolerant_matching` is for when this finds nothing. Places are byte spans of the
file, so whatever lies outside them is never touched, in whatever encoding.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from agentcli.tools.files.text_file import TextEncoding

MULTIBYTE = ("gb", "big5", "cp932", "cp936", "cp949", "cp950", "shift", "euc", "johab", "hz", "iso2022")
"""How the names of encodings begin in which a part of one character may look like another one."""


class Span(Struct, frozen=True):
    """Bytes `start` to `end` of a file."""

    start: int
    end: int


class Texts(Struct, frozen=True):
    """An old text and its new one, as they came or as they may be meant."""

    old: str
    new: str
    what: str = ""
    """What was around them, in words; empty if they are as they came."""


def find_exact(data: bytes, kind: TextEncoding, text: str, *, most: int) -> list[Span]:
    """The places of `text`, overlapping ones too, in order; no more than `most`.

    Raises:
        UnicodeEncodeError: the encoding of the file has not all its characters, so it is not there.
    """
    found = _same_bytes(data, kind, text, most)
    normal = text.replace("\r\n", "\n")
    if not found and normal != text:
        found = _same_bytes(data, kind, normal, most)
    if not found and "\n" in normal and b"\r" in data:
        found = _any_line_ends(data, kind, normal, most)
    return found


def without_overlaps(spans: list[Span]) -> list[Span]:
    """Of overlapping places the first, as replacing from left to right takes them."""
    kept: list[Span] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _same_bytes(data: bytes, kind: TextEncoding, text: str, most: int) -> list[Span]:
    needle = text.encode(kind.encoding)
    is_whole = _character_test(data, kind)
    splits_line_end = _line_end_test(data, kind, text)
    found: list[Span] = []
    for start in _positions(data, needle, len(kind.bom)):
        if is_whole(start, start + len(needle)) and not splits_line_end(start, start + len(needle)):
            found.append(Span(start, start + len(needle)))
            if len(found) >= most:
                break
    return found


def _any_line_ends(data: bytes, kind: TextEncoding, text: str, most: int) -> list[Span]:
    """Find the longest line of the text, then look whether the others stand around it."""
    lines = [line.encode(kind.encoding) for line in text.split("\n")]
    anchor = max(range(len(lines)), key=lambda index: len(lines[index]))
    ends = _LineEnds(data, kind)
    is_whole = _character_test(data, kind)
    found: list[Span] = []
    positions = _positions(data, lines[anchor], len(kind.bom)) if lines[anchor] else ends.positions()
    for position in positions:
        start = ends.backwards(position, lines[:anchor])
        stop = ends.forwards(position + len(lines[anchor]), lines[anchor + 1 :])
        if start is None or stop is None or not is_whole(start, stop):
            continue
        if not found or start > found[-1].start:
            found.append(Span(start, stop))
        if len(found) >= most:
            break
    return found


def _positions(data: bytes, needle: bytes, start: int) -> Iterator[int]:
    position = data.find(needle, start)
    while position >= 0:
        yield position
        position = data.find(needle, position + 1)


def _line_end_test(data: bytes, kind: TextEncoding, text: str) -> Callable[[int, int], bool]:
    """Tells whether a span begins or ends between the CR and the LF of one line end."""
    cr, lf = "\r".encode(kind.encoding), "\n".encode(kind.encoding)
    begins, ends = text.startswith("\n"), text.endswith("\r")
    if not begins and not ends:
        return lambda start, end: False
    return lambda start, end: (begins and data.endswith(cr, 0, start)) or (ends and data.startswith(lf, end))


def _character_test(data: bytes, kind: TextEncoding) -> Callable[[int, int], bool]:
    """Tells whether a span begins and ends between characters. UTF-8 and single-byte encodings need no look."""
    if kind.unit > 1:
        return lambda start, end: (start - len(kind.bom)) % kind.unit == 0
    if not kind.encoding.startswith(MULTIBYTE):
        return lambda start, end: True

    def is_whole(start: int, end: int) -> bool:
        line = max(data.rfind(b"\n", 0, start), data.rfind(b"\r", 0, start)) + 1
        return _decodes(data[line:start], kind.encoding) and _decodes(data[start:end], kind.encoding)

    return is_whole


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


class _LineEnds:
    """Line ends in the encoding of one file: CRLF, LF, lone CR."""

    def __init__(self, data: bytes, kind: TextEncoding) -> None:
        self.data = data
        self.first = len(kind.bom)
        self.ends = [end.encode(kind.encoding) for end in ("\r\n", "\n", "\r")]

    def positions(self) -> Iterator[int]:
        """Where there is an empty line's place: before every line end."""
        lf, cr = self.ends[1], self.ends[2]
        position = self.first
        while True:
            hits = [hit for end in (lf, cr) if (hit := self.data.find(end, position)) >= 0]
            if not hits:
                return
            position = min(hits)
            yield position
            position += len(next(end for end in self.ends if self.data.startswith(end, position)))

    def forwards(self, position: int, lines: list[bytes]) -> int | None:
        """Where the lines end if they follow at `position`, each after a line end."""
        for line in lines:
            end = next((end for end in self.ends if self.data.startswith(end, position)), None)
            if end is None or not self.data.startswith(line, position + len(end)):
                return None
            position += len(end) + len(line)
        return position

    def backwards(self, position: int, lines: list[bytes]) -> int | None:
        """Where the lines begin if they stand before `position`, each with a line end."""
        for line in reversed(lines):
            end = next((end for end in self.ends if self.data.endswith(end, self.first, position)), None)
            if end is None or not self.data.endswith(line, self.first, position - len(end)):
                return None
            position -= len(end) + len(line)
        return position
