"""read_lines: a range of lines out of a file of any size, in bounded memory.

The file is passed over in blocks; only the lines that are shown are kept, and of each no more than its beginning.
Line ends are LF, CRLF, or a lone CR in a file whose beginning has no LF.
"""

import codecs
from collections.abc import Iterator
from typing import Protocol

import msgspec
from msgspec import Struct

from agentcli.agent.errors import ToolError
from agentcli.agent.threads import Stopped
from agentcli.tools.files.text_file import TextEncoding, encoding_of
from agentcli.tools.truncate import TruncatedBy, utf8_size

MAX_LINE_CHARS = 2000
_MAX_LINE_BYTES = 4 * MAX_LINE_CHARS + 4
_BLOCK = 1 << 18
_COUNT_ON_BYTES = 1 << 24
"""How far behind the shown lines the rest is still counted."""


class RawFile(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...


class CutLine(Struct, frozen=True):
    """A line of which only the first `MAX_LINE_CHARS` characters are shown."""

    number: int
    bytes: int
    """Length in the file; for UTF-16 and UTF-32, of the line as UTF-8."""


class LineRange(Struct):
    text: str
    """The lines, LF between them, without the last line end."""
    shown: int
    total: int | None
    """Lines of the file; None if it goes on too far to count them."""
    has_more: bool
    stopped_by: TruncatedBy | None
    """The limit of the result that ended the range; None if the wanted lines are all there."""
    cut: list[CutLine]
    kind: TextEncoding
    replaced: bool
    """Bytes that are no characters of the encoding, or NULs, are shown as U+FFFD."""


class _Collector:
    """Takes blocks, passes over the first lines, keeps the wanted ones, counts the rest."""

    def __init__(self, first: int, count: int, max_bytes: int, separator: bytes) -> None:
        self.separator = separator
        self.skip = first - 1
        self.count = count
        self.budget = max_bytes
        self.lines: list[tuple[bytes, int]] = []
        """The beginning of each line that is kept, and its whole length."""
        self.newlines = 0
        self.kept = bytearray()
        self.length = 0
        self.full: TruncatedBy | None = None
        self.last = b""
        self.behind = 0
        """Bytes passed since the range was complete."""

    def feed(self, block: bytes | bytearray, end: int) -> None:
        self.last = bytes(block[end - 1 : end])
        start = 0
        if self.newlines < self.skip:
            start = self._pass_over(block, end)
            if start < 0:
                return
        while start < end and not self.is_complete:
            newline = block.find(self.separator, start, end)
            stop = newline if newline >= 0 else end
            room = _MAX_LINE_BYTES - len(self.kept)
            if room > 0:
                self.kept += block[start : min(stop, start + room)]
            self.length += stop - start
            start = stop + 1
            if newline >= 0:
                self.newlines += 1
                self._finish_line()
        if start < end:
            self.behind += end - start
            self.newlines += block.count(self.separator, start, end)

    @property
    def is_complete(self) -> bool:
        return self.full is not None or len(self.lines) >= self.count

    def finish(self) -> None:
        """The file has ended: what came after the last line end is a line too."""
        if self.length and not self.is_complete:
            self._finish_line()

    def _finish_line(self) -> None:
        size = min(self.length, _MAX_LINE_BYTES) + 1
        if self.lines and self.budget < size:
            self.full = TruncatedBy.BYTES
        else:
            self.budget -= size
            self.lines.append((bytes(self.kept), self.length))
        self.kept.clear()
        self.length = 0

    def _pass_over(self, block: bytes | bytearray, end: int) -> int:
        """Where the first wanted line starts in the block, or -1 if it starts behind it."""
        wanted = self.skip - self.newlines
        here = block.count(self.separator, 0, end)
        if here < wanted:
            self.newlines += here
            return -1
        self.newlines = self.skip
        start = 0
        for _ in range(wanted):
            start = block.find(self.separator, start, end) + 1
        return start


def read_lines(
    file: RawFile,
    sample: bytes,
    kind: TextEncoding,
    *,
    first: int,
    count: int,
    max_bytes: int,
    stopped: Stopped,
) -> LineRange:
    """Lines `first` (from 1) to at most `first + count - 1` of a file whose first bytes, `sample`, are read already.

    Raises:
        ToolError: `stopped()` came true.
        OSError: the file cannot be read.
    """
    separator = b"\r" if b"\r" in sample and b"\n" not in sample and kind.unit == 1 else b"\n"
    collector = _Collector(first, count, max_bytes, separator)
    at_end = True
    for block, end in _blocks(file, sample, kind):
        if stopped():
            raise ToolError("aborted by the user while reading")
        collector.feed(block, end)
        if collector.is_complete and collector.behind > _COUNT_ON_BYTES:
            at_end = False
            break
    if at_end:
        collector.finish()
    total = collector.newlines + (collector.last not in (b"", separator)) if at_end else None
    return _as_range(collector, kind, total, max_bytes, first)


def _blocks(file: RawFile, sample: bytes, kind: TextEncoding) -> Iterator[tuple[bytes | bytearray, int]]:
    """The content without BOM, as blocks and their lengths; what has no single-byte line ends, as UTF-8."""
    rest = sample[len(kind.bom) :]
    decoder = codecs.getincrementaldecoder(kind.encoding)("replace") if kind.unit > 1 else None
    if decoder is None:
        if rest:
            yield rest, len(rest)
    elif data := decoder.decode(rest).encode("utf-8", "replace"):
        yield data, len(data)
    buffer = bytearray(_BLOCK)
    view = memoryview(buffer)
    while size := file.readinto(view):
        if decoder is None:
            yield buffer, size
        elif data := decoder.decode(view[:size]).encode("utf-8", "replace"):
            yield data, len(data)
    if decoder is not None and (data := decoder.decode(b"", final=True).encode("utf-8", "replace")):
        yield data, len(data)


def _as_range(collector: _Collector, kind: TextEncoding, total: int | None, max_bytes: int, first: int) -> LineRange:
    raw = [(line[:-1] if line.endswith(b"\r") else line, length) for line, length in collector.lines]
    if kind.unit == 1 and kind.encoding == "utf-8" and not all(_is_utf8_beginning(line) for line, _ in raw):
        kind = msgspec.structs.replace(kind, encoding=encoding_of(b"\n".join([*(line for line, _ in raw), b""])))
    encoding = "utf-8" if kind.unit > 1 else kind.encoding
    lines = LineRange("", 0, total, has_more=False, stopped_by=collector.full, cut=[], kind=kind, replaced=False)
    whole = _decode_at_once(raw, encoding, max_bytes)
    if whole is None:
        _decode_one_by_one(lines, raw, encoding, max_bytes, first)
    else:
        lines.text, lines.shown = whole, len(raw)
    lines.has_more = total is None or total > first - 1 + lines.shown
    return lines


def _decode_one_by_one(
    lines: LineRange, raw: list[tuple[bytes, int]], encoding: str, max_bytes: int, first: int
) -> None:
    """Put the lines into `lines`, long ones cut, as many as fit."""
    shown: list[str] = []
    budget = max_bytes
    for number, (line, length) in enumerate(raw, first):
        # A character may be cut at the end of a line's kept beginning, never in the first MAX_LINE_CHARS.
        text = codecs.getincrementaldecoder(encoding)("replace").decode(line, final=length <= _MAX_LINE_BYTES)
        lines.replaced = lines.replaced or "\ufffd" in text or "\0" in text
        text = text.replace("\0", "\ufffd")
        is_cut = len(text) > MAX_LINE_CHARS
        if is_cut:
            text = f"{text[:MAX_LINE_CHARS]}… [line {number} is cut]"
        budget -= utf8_size(text) + 1
        if budget < -1 and shown:
            lines.stopped_by = TruncatedBy.BYTES
            break
        if is_cut:
            lines.cut.append(CutLine(number, length))
        shown.append(text)
    lines.text, lines.shown = "\n".join(shown), len(shown)


def _decode_at_once(raw: list[tuple[bytes, int]], encoding: str, max_bytes: int) -> str | None:
    """All lines together, which is much faster, if none is long or damaged and they fit; else None."""
    if not raw or any(length > MAX_LINE_CHARS for _, length in raw):
        return None
    try:
        text = b"\n".join([line for line, _ in raw]).decode(encoding)
    except UnicodeDecodeError:
        return None
    return text if utf8_size(text) <= max_bytes and "\0" not in text and "\ufffd" not in text else None


def _is_utf8_beginning(line: bytes) -> bool:
    if line.isascii():
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(line, final=len(line) < _MAX_LINE_BYTES - 1)
    except UnicodeDecodeError:
        return False
    return True
