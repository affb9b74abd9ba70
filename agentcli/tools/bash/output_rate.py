"""OutputRate: how fast the output of what runs in the background is read.

A server that logs does not notice. What prints without end waits for its reader most of the time, and costs little.
"""

BYTES_PER_S = 1 << 20
BURST_BYTES = 8 << 20


class OutputRate:
    """Times are those of one clock, in seconds."""

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
