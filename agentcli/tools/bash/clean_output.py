"""Clean output: from the bytes a command prints to the text a terminal would finally show.

Escape sequences go, and so do control characters; carriage returns, backspaces, and sequences that move within a line
or erase it are carried out, so of a progress bar only its last state is left. Moves to other lines are not followed.
`OutputCleaner` works on chunks as they come: line by line, in bounded memory, and fast where there is nothing to do.
"""

import re

_MAX_PENDING = 1 << 18
"""A line that is longer is passed on in parts."""
_COLLAPSE_OVER = 1 << 12

# A string sequence that is not closed ends with its line, or with the next sequence: binary data opens many.
_STRING_SEQUENCE = rb"\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\|(?=[\x1b\n]))"
_IN_LINE_CSI = re.compile(rb"\x1b\[([0-9;]*)([CDGKPX`])")
"""The sequences that change what stands in the line: moves of the cursor, erasing."""
_NO_EFFECT = re.compile(
    b"|".join((rb"\x1b\[(?![0-9;]*[CDGKPX`])[0-?]*[ -/]*[@-~]", _STRING_SEQUENCE, rb"\x1b[ -/]*[0-OQ-WYZ\\`-~]"))
)
_ABANDONED = re.compile(rb"\x1b(?:\[[0-?]*)?[ -/]*(?=\x1b)")
"""A sequence in which another one begins comes to nothing."""
_UNFINISHED_STRING = re.compile(rb"\x1b[\]PX^_][^\x07\x1b\n]*(\x1b?)\Z")
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[ -/]*)\Z")
_TOKENS = re.compile(r"\r|\x08|\x1b\[[0-9;]*[CDGKPX`]|[^\r\x08\x1b]+|\x1b")
_CRLF = re.compile(rb"\r+\n")
_C1_SEQUENCE = re.compile("\x9b[0-?]*[ -/]*[@-~]|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c]*(?:\x07|\x9c)")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class OutputCleaner:
    """Feed it chunks; it gives back finished lines and keeps the last one until that is finished too."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, chunk: bytes) -> bytes:
        """The lines that are final now, LF behind each, as UTF-8 with control characters still to be removed."""
        data = self._pending + chunk
        if b"\r" not in chunk and b"\x1b" not in chunk and b"\x08" not in chunk and not self._is_marked:
            cut = data.rfind(b"\n", len(self._pending)) + 1
        else:
            data, cut = self._resolve(data)
        self._pending = data[cut:]
        if len(self._pending) > _MAX_PENDING:
            cut, self._pending = len(data), b""
        return data[:cut]

    @property
    def _is_marked(self) -> bool:
        """Whether the line that is not finished holds something that later output may act on."""
        pending = self._pending
        return b"\r" in pending or b"\x1b" in pending or b"\x08" in pending

    def current_line(self) -> bytes:
        """The line that is not finished, as it looks now."""
        line, _ = _split_unfinished(self._pending)
        return resolve_line(_NO_EFFECT.sub(b"", _ABANDONED.sub(b"", line)))

    def _resolve(self, data: bytes) -> tuple[bytes, int]:
        """The data with every finished line resolved, and where the unfinished one starts."""
        data, held = _split_unfinished(data)
        data = _NO_EFFECT.sub(b"", _CRLF.sub(b"\n", _ABANDONED.sub(b"", data)))
        cut = data.rfind(b"\n") + 1
        finished, rest = data[:cut], data[cut:]
        if b"\r" in finished or b"\x1b" in finished or b"\x08" in finished:
            finished = b"\n".join(resolve_line(line) for line in finished.split(b"\n"))
        if len(rest) > _COLLAPSE_OVER:
            rest = _collapse(rest)
        return finished + rest + held, len(finished)


def resolve_line(line: bytes) -> bytes:
    """One line, without its line end, as it looks when everything in it has been carried out."""
    if b"\r" not in line and b"\x1b" not in line and b"\x08" not in line:
        return line
    cells, _ = _play(line)
    return "".join(cells).rstrip(" ").encode("utf-8", "surrogateescape")


def clean_text(data: bytes) -> tuple[str, bool]:
    """The text of resolved lines without control characters; and whether some bytes were not UTF-8."""
    try:
        text, is_damaged = data.decode("utf-8"), False
    except UnicodeDecodeError:
        text, is_damaged = data.decode("utf-8", "replace"), True
    if not text.isprintable():
        text = _CONTROLS.sub("", _C1_SEQUENCE.sub("", text))
    return text, is_damaged


def _split_unfinished(data: bytes) -> tuple[bytes, bytes]:
    """The data, and from its end what can only be understood together with what comes next.

    Of a string sequence only its beginning is kept, for its text has no effect.
    """
    if data.endswith(b"\r"):
        return data[:-1], b"\r"
    last = data.rfind(b"\x1b")
    if last < 0:
        return data, b""
    before = data.rfind(b"\x1b", 0, last)
    for start in (before, last):
        if start >= 0 and (string := _UNFINISHED_STRING.match(data, start)):
            return data[:start], data[start : start + 2] + string[1]
    if _UNFINISHED.match(data, last):
        return data[:last], data[last:]
    return data, b""


def _collapse(line: bytes) -> bytes:
    """A short line that looks like this one, with the cursor at the same place."""
    cells, column = _play(line)
    text = "".join(cells).encode("utf-8", "surrogateescape")
    return text if column == len(cells) else text + b"\r" + (b"\x1b[%dC" % column if column else b"")


def _play(line: bytes) -> tuple[list[str], int]:
    """Carry out a line: the characters in its cells, and the cell the cursor is at."""
    cells: list[str] = []
    column = 0
    for token in _TOKENS.findall(line.decode("utf-8", "surrogateescape")):
        match token[0]:
            case "\r":
                column = 0
            case "\x08":
                column = max(0, column - 1)
            case "\x1b":
                column = _move(cells, column, token) if len(token) > 1 else column
            case _:
                if len(cells) < column:
                    cells += " " * (column - len(cells))
                cells[column : column + len(token)] = token
                column += len(token)
    return cells, column


def _move(cells: list[str], column: int, sequence: str) -> int:
    """Carry out a sequence that moves in the line or erases part of it; returns the new column."""
    parameter = sequence[2:-1].partition(";")[0]
    count = min(int(parameter or "0"), 10_000) if len(parameter) < 6 else 10_000
    match sequence[-1]:
        case "C":
            return min(column + max(count, 1), 10_000)
        case "D":
            return max(0, column - max(count, 1))
        case "G" | "`":
            return max(count, 1) - 1
        case "K" if count == 0:
            del cells[column:]
        case "K" if count == 1:
            cells[: column + 1] = " " * min(column + 1, len(cells))
        case "K":
            cells.clear()
        case "P":
            del cells[column : column + max(count, 1)]
        case "X":
            stop = min(column + max(count, 1), len(cells))
            cells[column:stop] = " " * max(0, stop - column)
        case _:
            pass
    return column
