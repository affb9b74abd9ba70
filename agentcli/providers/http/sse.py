"""SseParser: server-sent events from bytes as they arrive, cut anywhere.

Lines end with CR LF, LF or CR, and with nothing else (U+2028 in a JSON string is no line end). Bytes are not decoded
here, so a character cut in two costs nothing.
"""

from agentcli.agent.errors import BadResponseError

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""A longer event, or line without an end, is no stream of a model."""

SseEvent = tuple[bytes, bytes]
"""The event's name (empty if it has none) and its data, lines joined by LF."""

_BOM = b"\xef\xbb\xbf"


class SseParser:
    """Args:
    limit: bytes of one event.
    """

    __slots__ = ("_at_start", "_counted", "_data", "_held", "_held_of", "_limit", "_name", "_rest", "_size", "_skip_lf")

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self._limit = limit
        self._rest: list[bytes] = []
        self._size = 0
        self._data: list[bytes] = []
        self._held_of = self._data
        """The lines of data that were counted,"""
        self._counted = self._held = 0
        """how many of them, and their bytes."""
        self._name = b""
        self._at_start = True
        self._skip_lf = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that are complete with these bytes.

        Raises:
            BadResponseError: an event is longer than the limit.
        """
        self._size += len(chunk)
        if self._at_start or self._skip_lf:
            chunk = self._begin(chunk)
        if b"\n" not in chunk and b"\r" not in chunk:
            if self._size > self._limit:
                self._refuse()
            if chunk:
                self._rest.append(chunk)
            return []
        if self._rest:
            self._rest.append(chunk)
            chunk = b"".join(self._rest)
            self._rest = []
        if b"\r" in chunk:
            self._skip_lf = chunk[-1:] == b"\r"
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if rest:
            self._rest.append(rest)
        return self._take(lines, len(rest))

    def close(self) -> list[SseEvent]:
        """The last event, if the stream ended without the blank line after it."""
        self._skip_lf = False
        return self.feed(b"\n\n") if self._rest or self._data else []

    def _begin(self, chunk: bytes) -> bytes:
        """The chunk without the LF of a CR LF that was cut in two, and without a byte order mark."""
        if self._skip_lf and chunk:
            self._skip_lf = False
            chunk = chunk.removeprefix(b"\n")
        if self._at_start and chunk:
            start = b"".join(self._rest) + chunk
            self._rest = []
            if len(start) < len(_BOM) and _BOM.startswith(start):
                self._rest = [start]
                return b""
            self._at_start = False
            chunk = start.removeprefix(_BOM)
        return chunk

    def _take(self, lines: list[bytes], rest: int) -> list[SseEvent]:
        events: list[SseEvent] = []
        for line in lines:
            if line[:5] == b"data:":
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                if self._data:
                    events.append((self._name, b"\n".join(self._data) if len(self._data) > 1 else self._data[0]))
                    self._data = []
                self._name = b""
            elif line[:6] == b"event:":
                self._name = line[6:].strip()
            elif line == b"data":
                self._data.append(b"")
        self._size = rest + self._size_of_data() if self._data else rest
        if self._size > self._limit:
            self._refuse()
        return events

    def _size_of_data(self) -> int:
        """The bytes of the event that is not complete; only what is new is counted."""
        if self._data is not self._held_of:
            self._held_of, self._counted, self._held = self._data, 0, 0
        self._held += sum(len(line) + 1 for line in self._data[self._counted :])
        self._counted = len(self._data)
        return self._held

    def _refuse(self) -> None:
        self._rest = []
        self._data = []
        raise BadResponseError(f"the server sent one event of more than {self._limit // 2**20} MiB, which is no answer")
