"""LineCounter: which line of a file a byte is in."""


class LineCounter:
    """Counts on from where it counted last, so places asked for in order cost one pass over the file.

    Args:
        data: text whose line ends are single bytes: LF, or CR in a file that has no LF.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.separator = b"\n" if b"\n" in data or b"\r" not in data else b"\r"
        self._position = 0
        self._lines = 0

    def line_at(self, position: int) -> int:
        """The 0-based number of the line."""
        if position < self._position:
            self._position = self._lines = 0
        step = 1 << 22  # between steps other threads get their turn
        for start in range(self._position, position, step):
            self._lines += self.data.count(self.separator, start, min(start + step, position))
        self._position = position
        return self._lines
