"""Truncation: how a result is held within its limits, and the record of what was left out.

No cut goes through a character. A final line end does not begin another line.
"""

from enum import StrEnum

from msgspec import Struct


class TruncatedBy(StrEnum):
    LINES = "lines"
    BYTES = "bytes"


class Truncation(Struct, frozen=True, omit_defaults=True):
    """What of a text is shown. Bytes are counted as UTF-8."""

    truncated_by: TruncatedBy
    total_lines: int
    """0 if they were not counted."""
    total_bytes: int
    shown_lines: int
    shown_bytes: int
    first_line: int
    """1-based number of the first line that is shown; 0 if lines were not counted."""
    partial_line: bool = False
    """The one line that is shown is itself cut."""


def size(count: int) -> str:
    """A number of bytes for people: `123B`, `1.2KB`, `1.2MB`."""
    if count < 1024:
        return f"{count}B"
    for unit in ("KB", "MB", "GB"):
        count_in_unit = count / 1024
        if count_in_unit < 1024 or unit == "GB":
            return f"{count_in_unit:.1f}{unit}"
        count = int(count_in_unit)
    raise AssertionError("unreachable")


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 line`, `1,200 lines`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def line_count(text: str) -> int:
    """Lines of a text; a final line end does not begin another one."""
    return text.count("\n") + (not text.endswith("\n") if text else 0)


def utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def tail_of(text: str, max_lines: int, max_bytes: int) -> tuple[str, TruncatedBy | None]:
    """The last whole lines of `text` that fit, without a line end behind them; None if all of it fits.

    If the last line alone does not fit, its end.
    """
    body = text.removesuffix("\n")
    start, cut = len(body), None
    for _ in range(max_lines):
        start = body.rfind("\n", 0, start)
        if start < 0:
            break
    else:
        cut = TruncatedBy.LINES
    kept = body[start + 1 :]
    if utf8_size(kept) <= max_bytes:
        return kept, cut
    data = kept.encode("utf-8", "replace")
    newline = data.find(b"\n", len(data) - max_bytes - 1)
    start = newline + 1 if newline >= 0 else len(data) - max_bytes
    return data[start:].decode("utf-8", "ignore"), TruncatedBy.BYTES


def head_of(text: str, max_lines: int, max_bytes: int) -> tuple[str, TruncatedBy | None]:
    """The first whole lines of `text` that fit; if the first line alone does not, its beginning. None if all fits."""
    end, cut = -1, None
    for _ in range(max_lines):
        end = text.find("\n", end + 1)
        if end < 0:
            break
    else:
        cut = TruncatedBy.LINES if end + 1 < len(text) else None
    kept = text if cut is None else text[: end + 1]
    if utf8_size(kept) <= max_bytes:
        return kept, cut
    data = kept.encode("utf-8", "replace")[:max_bytes]
    newline = data.rfind(b"\n")
    return data[: newline + 1 if newline >= 0 else max_bytes].decode("utf-8", "ignore"), TruncatedBy.BYTES


def listing(text: str, max_lines: int, max_bytes: int, notes: list[str]) -> tuple[str, Truncation | None]:
    """The head of a list of lines, with notes below it, one of them about the cut; and the record of the cut."""
    kept, cut = head_of(text, max_lines, max_bytes)
    kept = kept.rstrip("\n")
    truncation = None
    if cut is not None:
        limit = size(max_bytes) if cut is TruncatedBy.BYTES else plural(max_lines, "line")
        notes = [*notes, f"Cut at {limit}; be more precise to see the rest."]
        truncation = Truncation(
            truncated_by=cut,
            total_lines=line_count(text),
            total_bytes=utf8_size(text),
            shown_lines=line_count(kept),
            shown_bytes=utf8_size(kept),
            first_line=1,
        )
    return kept + (f"\n\n[{' '.join(notes)}]" if notes else ""), truncation
