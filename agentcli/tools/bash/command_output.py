"""CommandOutput: what a command prints: its clean end in memory, all its bytes in a file once there are many.

Memory stays the same whatever is printed. The reader thread feeds it, others may look at it meanwhile.
"""

import os
import re
import threading
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from agentcli.tools.bash.clean_output import OutputCleaner, clean_text
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.truncate import TruncatedBy, Truncation, plural, size, tail_of, utf8_size

_TAIL_BYTES = 1 << 17
_FLOOD_CHUNK = _TAIL_BYTES
"""A chunk as long as this makes all before it unimportant: a command that prints so fast is not read line by line."""
_COUNT_LINES_IN = 1 << 26
"""Lines are counted in so many bytes; counting them in gigabytes would take as long as reading them."""
_HALF_CHARACTER = re.compile(rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z")
_CONTINUATION = bytes(range(0x80, 0xC0))
BYTES_PER_S = 1 << 20
"""As fast as the output of a background job is read, after a beginning of `BURST_BYTES`."""
BURST_BYTES = 8 << 20


class Snapshot(Struct, frozen=True):
    """The end of an output as it is at one moment, within the limits of a result."""

    text: str
    truncation: Truncation | None
    is_damaged: bool
    """Some bytes of the shown part were not UTF-8."""
    last_line_bytes: int
    """Length of the last line, also if only its end is shown."""


class ByteFilter(Protocol):
    """What of bytes that come in pieces is kept, and the rest of it at their end."""

    def add(self, piece: bytes, /) -> bytes: ...

    def end(self) -> bytes: ...


class CommandOutput:
    """Args:
    spill: where the file for a long output is made.
    max_lines, max_bytes: what a result may hold; more than that goes to the file.
    spill_limit: bytes that the file may have.
    kept: changes what goes to the file.
    """

    def __init__(
        self, spill: SpillFolder, max_lines: int, max_bytes: int, spill_limit: int, kept: ByteFilter | None = None
    ) -> None:
        self._kept = kept
        self._spill = spill
        self._max_lines = max_lines
        self._max_bytes = max_bytes
        self._spill_left = spill_limit
        self._lock = threading.Lock()
        self._cleaner = OutputCleaner()
        self._tail = bytearray()
        """The end of what the cleaner has finished."""
        self._tail_start = 0
        """How many finished bytes were dropped before it."""
        self._seen = 0
        """Up to where the finished bytes were handed out by `take_new`."""
        self._live = ""
        """The last finished lines that `live` has read, as text, a few more than a result may have."""
        self._live_to = 0
        """Up to where it has read the finished bytes."""
        self._is_live_cut = False
        """Whether lines before `_live` were dropped."""
        self._flood: bytes | None = None
        """A long chunk that was not cleaned yet, because the next may make that needless."""
        self._is_ended = False
        self._was_flooded = False
        """Something before `_flood` was left out."""
        self._head: bytearray | None = bytearray()
        """Everything so far, while it is short enough to need no file."""
        self._descriptor = -1
        self._line_starts = [0, 0]
        """Where the last line and the one before begin, in raw bytes."""
        self.newlines = 0
        self.total_bytes = 0
        self.path: Path | None = None
        """The file with the raw bytes."""
        self.spill_problem: str = ""
        """Why the file is missing or not complete."""

    def feed(self, chunk: bytes) -> None:
        with self._lock:
            last = chunk.rfind(b"\n")
            if last >= 0:
                before = chunk.rfind(b"\n", 0, last)
                start = self.total_bytes + before + 1 if before >= 0 else self._line_starts[1]
                self._line_starts = [start, self.total_bytes + last + 1]
            if self.total_bytes <= _COUNT_LINES_IN:
                self.newlines += chunk.count(b"\n")
            self.total_bytes += len(chunk)
            if len(chunk) >= _FLOOD_CHUNK:
                self._was_flooded = self._was_flooded or self._flood is not None
                self._flood = chunk
            else:
                self._clean_flood()
                self._append(self._cleaner.feed(chunk))
            self._keep_raw(chunk)

    def limit_file(self, count: int) -> None:
        """Keep at most so many more bytes in the file."""
        with self._lock:
            self._spill_left = min(self._spill_left, count)

    def snapshot(self) -> Snapshot:
        with self._lock:
            self._clean_flood()
            return self._cut(bytes(self._tail) + self._cleaner.current_line(), self._tail_start > 0)

    def take_new(self) -> Snapshot:
        """What has been printed since the last call, or since the start."""
        with self._lock:
            self._clean_flood()
            start = max(self._seen - self._tail_start, 0)
            is_partial = self._seen < self._tail_start
            self._seen = self._tail_start + len(self._tail)
            return self._cut(bytes(self._tail[start:]) + self._cleaner.current_line(), is_partial)

    def live(self) -> Snapshot:
        """The same as `snapshot`, for repeated calls: only what is new is cleaned. Damage is not noted."""
        with self._lock:
            self._clean_flood()
            end = self._tail.rfind(b"\n") + 1
            new = bytes(self._tail[max(self._live_to - self._tail_start, 0) : end])
            if self._live_to < self._tail_start:
                self._live, self._is_live_cut = "", True
                new = new[new.find(b"\n") + 1 :]
            self._live_to = self._tail_start + end
            if new:
                text = self._live + clean_text(new)[0]
                kept, cut = tail_of(text, self._max_lines + 1, 2 * self._max_bytes)
                self._live, self._is_live_cut = f"{kept}\n", self._is_live_cut or cut is not None
            last = bytes(self._tail[end:]) + self._cleaner.current_line()
            if not self._is_ended:
                last = _HALF_CHARACTER.sub(b"", last)
            return self._snapshot_of(self._live + clean_text(last)[0], False, self._is_live_cut)

    def end(self) -> None:
        """Nothing more will come: close the file; half a character at the end is damage now."""
        with self._lock:
            self._is_ended = True
            self._close_file()

    @property
    def total_lines(self) -> int | None:
        """None if there are too many bytes to count the lines in them."""
        if self.total_bytes > _COUNT_LINES_IN:
            return None
        return self.newlines + (self._line_starts[1] < self.total_bytes)

    def _clean_flood(self) -> None:
        """Clean the long chunk that was put off; if something before it was left out, from its first whole line on."""
        chunk, self._flood = self._flood, None
        if chunk is None:
            return
        if self._was_flooded:
            self._was_flooded = False
            self._cleaner = OutputCleaner()
            self._tail_start += len(self._tail) + 1
            self._tail.clear()
            newline = chunk.find(b"\n")
            chunk = chunk[newline + 1 :] if newline >= 0 else chunk.lstrip(_CONTINUATION)
        self._append(self._cleaner.feed(chunk))

    def _append(self, finished: bytes) -> None:
        if len(finished) >= _TAIL_BYTES:
            self._tail_start += len(self._tail) + len(finished) - _TAIL_BYTES
            self._tail = bytearray(finished[-_TAIL_BYTES:])
            return
        self._tail += finished
        if len(self._tail) > 2 * _TAIL_BYTES:
            drop = len(self._tail) - _TAIL_BYTES
            del self._tail[:drop]
            self._tail_start += drop

    def _cut(self, data: bytes, is_partial: bool) -> Snapshot:
        if is_partial:  # may begin within a line, or even within a character
            newline = data.find(b"\n")
            skip = newline + 1 if 0 <= newline < len(data) - 1 else 0
            data = data[skip:] if skip else data.lstrip(_CONTINUATION)
        if not self._is_ended:
            data = _HALF_CHARACTER.sub(b"", data)
        text, is_damaged = clean_text(data)
        return self._snapshot_of(text, is_damaged, is_partial)

    def _snapshot_of(self, text: str, is_damaged: bool, is_partial: bool) -> Snapshot:
        kept, cut = tail_of(text, self._max_lines, self._max_bytes)
        ends_line = self._line_starts[1] == self.total_bytes
        last_line_bytes = self.total_bytes - self._line_starts[0 if ends_line else 1] - ends_line
        if cut is None and not is_partial:
            return Snapshot(kept, None, is_damaged, last_line_bytes)
        if self._head is not None:  # short as it came, but long in what stands for bytes that are no text
            self._begin_file()
        total = self.total_lines or 0
        shown = kept.count("\n") + 1
        truncation = Truncation(
            truncated_by=cut or TruncatedBy.BYTES,
            total_lines=total,
            total_bytes=self.total_bytes,
            shown_lines=shown,
            shown_bytes=utf8_size(kept),
            first_line=total - shown + 1 if total else 0,
            partial_line=shown == 1 and last_line_bytes > utf8_size(kept),
        )
        return Snapshot(kept, truncation, is_damaged, last_line_bytes)

    def _keep_raw(self, chunk: bytes) -> None:
        if self._head is None:
            self._write(chunk)
            return
        self._head += chunk
        lines = self.newlines + (not self._head.endswith(b"\n"))
        if len(self._head) > self._max_bytes or lines > self._max_lines:
            self._begin_file()

    def _begin_file(self) -> None:
        """Put all that came so far into a file, to which the rest will go too."""
        head, self._head = bytes(self._head or b""), None
        try:
            self._descriptor, self.path = self._spill.create_file("bash")
        except OSError as error:
            self.spill_problem = f"the full output could not be kept: {error.strerror or error}"
        self._write(head)
        if self._is_ended:
            self._close_file()

    def _close_file(self) -> None:
        if self._descriptor >= 0:
            if self._kept is not None:
                self._write_out(self._kept.end())
            try:
                os.close(self._descriptor)
            except OSError as error:  # a file system in the network tells of a full disk only now
                self.spill_problem = f"the file is not complete: {error.strerror or error}"
            self._descriptor = -1

    def _write(self, chunk: bytes) -> None:
        if self._descriptor >= 0:
            self._write_out(chunk if self._kept is None else self._kept.add(chunk))

    def _write_out(self, chunk: bytes) -> None:
        view = memoryview(chunk)[: self._spill_left]
        if len(view) < len(chunk):
            self.spill_problem = "only the beginning of the output is in the file"
        self._spill_left -= len(view)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            self.spill_problem = f"the file is not complete: {error.strerror or error}"
            self._spill_left = 0


def describe(snapshot: Snapshot, output: CommandOutput) -> str:
    """The notice that says what is left out and where it is; empty if nothing is."""
    truncation = snapshot.truncation
    if truncation is None:
        return ""
    if truncation.partial_line:
        line = f"line {truncation.total_lines}" if truncation.total_lines else "the last line"
        what = f"Showing the last {size(truncation.shown_bytes)} of {line} (it is {size(snapshot.last_line_bytes)})"
    elif not truncation.total_lines:
        what = f"Showing the last {plural(truncation.shown_lines, 'line')} of {size(truncation.total_bytes)}"
    else:
        last = truncation.total_lines
        limit = f" ({size(truncation.shown_bytes)} limit)" if truncation.truncated_by is TruncatedBy.BYTES else ""
        what = f"Showing lines {truncation.first_line}-{last} of {last}{limit}"
    where = f" Full output: {output.path}" if output.path else ""
    problem = f" ({output.spill_problem})" if output.spill_problem else ""
    return f"{what}.{where}{problem}"


class OutputRate:
    """How fast the output of what runs in the background is read; times are those of one clock, in seconds.

    A server that logs does not notice. What prints without end waits for its reader most of the time, and costs little.
    """

    def __init__(self, now: float) -> None:
        self._left = float(BURST_BYTES)
        self._at = now

    def take(self, count: int, now: float) -> None:
        """So many bytes were read."""
        self._left = min(BURST_BYTES, self._left + (now - self._at) * BYTES_PER_S) - count
        self._at = now

    def wait_s(self, now: float) -> float:
        """How long to read nothing from now on."""
        return max(0.0, -self._left / BYTES_PER_S - (now - self._at))
