"""CommandOutput: what a command prints: its clean end in memory, all its raw bytes in a file once there are many.

Memory stays the same whatever is printed. The reader thread feeds it, others may look at it meanwhile.
"""

import os
import threading
from pathlib import Path

from msgspec import Struct

from agentcli.tools.clean_output import OutputCleaner, clean_text
from agentcli.tools.spill import SpillFolder
from agentcli.tools.truncate import TruncatedBy, Truncation, size, tail_of, utf8_size

_TAIL_BYTES = 1 << 17


class Snapshot(Struct, frozen=True):
    """The end of an output as it is at one moment, within the limits of a result."""

    text: str
    truncation: Truncation | None
    is_damaged: bool
    """Some bytes of the shown part were not UTF-8."""
    last_line_bytes: int
    """Length of the last line, also if only its end is shown."""


class CommandOutput:
    """Args:
    spill: where the file for a long output is made.
    max_lines, max_bytes: what a result may hold; more than that goes to the file.
    spill_limit: bytes that the file may have.
    """

    def __init__(self, spill: SpillFolder, max_lines: int, max_bytes: int, spill_limit: int) -> None:
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
        self._head: bytearray | None = bytearray()
        """Everything so far, while it is short enough to need no file."""
        self._descriptor = -1
        self._line_starts = [0, 0]
        """Where the last line and the one before begin, in raw bytes."""
        self.newlines = 0
        self.total_bytes = 0
        self.path: Path | None = None
        """The file with the raw bytes."""
        self.spill_problem = ""
        """Why the file is missing or not complete."""

    def feed(self, chunk: bytes) -> None:
        with self._lock:
            newlines = chunk.count(b"\n")
            if newlines:
                last = chunk.rfind(b"\n")
                before = chunk.rfind(b"\n", 0, last) if newlines > 1 else -1
                start = self.total_bytes + before + 1 if newlines > 1 else self._line_starts[1]
                self._line_starts = [start, self.total_bytes + last + 1]
            self.newlines += newlines
            self.total_bytes += len(chunk)
            self._append(self._cleaner.feed(chunk))
            self._keep_raw(chunk)

    def snapshot(self) -> Snapshot:
        with self._lock:
            return self._cut(bytes(self._tail) + self._cleaner.current_line(), self._tail_start > 0)

    def take_new(self) -> Snapshot:
        """What has been printed since the last call, or since the start."""
        with self._lock:
            start = max(self._seen - self._tail_start, 0)
            is_partial = self._seen < self._tail_start
            self._seen = self._tail_start + len(self._tail)
            return self._cut(bytes(self._tail[start:]) + self._cleaner.current_line(), is_partial)

    def close(self) -> None:
        """Close the file; nothing more will come."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

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
            data = data[skip:] if skip else data.lstrip(bytes(range(0x80, 0xC0)))
        text, is_damaged = clean_text(data)
        kept, cut = tail_of(text, self._max_lines, self._max_bytes)
        ends_line = self._line_starts[1] == self.total_bytes
        last_line_bytes = self.total_bytes - self._line_starts[0 if ends_line else 1] - ends_line
        if cut is None and not is_partial:
            return Snapshot(kept, None, is_damaged, last_line_bytes)
        total = self.newlines + (not ends_line)
        shown = kept.count("\n") + (not kept.endswith("\n"))
        truncation = Truncation(
            truncated_by=cut or TruncatedBy.BYTES,
            total_lines=total,
            total_bytes=self.total_bytes,
            shown_lines=shown,
            shown_bytes=utf8_size(kept),
            first_line=total - shown + 1,
            partial_line=shown == 1 and last_line_bytes > utf8_size(kept),
        )
        return Snapshot(kept, truncation, is_damaged, last_line_bytes)

    def _keep_raw(self, chunk: bytes) -> None:
        if self._head is not None:
            self._head += chunk
            if len(self._head) <= self._max_bytes and self.newlines <= self._max_lines:
                return
            chunk, self._head = bytes(self._head), None
            try:
                self._descriptor, self.path = self._spill.create_file("bash")
            except OSError as error:
                self.spill_problem = f"the full output could not be kept: {error.strerror or error}"
        if self._descriptor >= 0:
            self._write(chunk)

    def _write(self, chunk: bytes) -> None:
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
        what = (
            f"Showing the last {size(truncation.shown_bytes)} of line {truncation.total_lines} "
            f"(it is {size(snapshot.last_line_bytes)})"
        )
    else:
        last = truncation.total_lines
        limit = f" ({size(truncation.shown_bytes)} limit)" if truncation.truncated_by is TruncatedBy.BYTES else ""
        what = f"Showing lines {truncation.first_line}-{last} of {last}{limit}"
    where = f" Full output: {output.path}" if output.path else ""
    problem = f" ({output.spill_problem})" if output.spill_problem else ""
    return f"{what}.{where}{problem}"
