"""Printable text: what of a text may reach a terminal, and what of it nobody would see.

Control characters are left out. Characters that are not shown, or that change the order of others, are written out as
`⟨U+202E⟩`: they may hide a part of a command, or say something to a model that a person cannot read. They stay as they
are where writing needs them: within an emoji, between letters that join, after the character that they vary.
"""

import re
from functools import cache

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_HIDDEN = (
    "\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Default ignorables, separators of lines, reordering marks, annotations. The soft hyphen is not among them."""
_PICTURE = (
    "\u00a9\u00ae\u203c\u2049\u2100-\u214f\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_JOINING = (
    "\u0600-\u061b\u061d-\u0dff\u0f00-\u109f\u1700-\u17b3\u17b6-\u180a\u1810-\u18af\u1a00-\u1bff\ua840-\uabff\ufb50-\ufdff"
    "\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_IDEOGRAPH = "\u3000-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uff65\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u3040-\u30ff\u3400-\u9fff"
_NEEDED = "|".join(
    (
        "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f",  # the flag of a region
        f"(?:(?<=[{_PICTURE}])|(?<=[{_PICTURE}]\ufe0f))\u200d(?=[{_PICTURE}])",
        f"(?<=[{_JOINING}])[\u200c\u200d]",
        f"(?<=[{_PICTURE}0-9#*])[\ufe0e\ufe0f]",
        f"(?<=[{_IDEOGRAPH}])[\ufe00-\ufe0f\U000e0100-\U000e01ef]",
        "(?<=[\u2200-\u22ff\u2a00-\u2aff\u1000-\u109f])\ufe00",
        "(?<=[\u1820-\u18aa])[\u180b-\u180f]",
        f"(?<=[{_UNSPACED}])\u200b(?=[{_UNSPACED}])",
        "\u115f(?=[\u1160-\u11a7])|(?<=[\u1100-\u115f])\u1160",
        "\u034f(?=[\u0300-\u034e\u0350-\u036f\u0591-\u05c7])",
    )
)
_SOME_HIDDEN = re.compile(f"[{_HIDDEN}]")
_BETWEEN = re.compile(f"[\U0001f3f4{_HIDDEN}]*\\Z")


@cache
def _mark_or_keep() -> re.Pattern[str]:
    return re.compile(f"{_NEEDED}|([{_HIDDEN}])")  # 7 ms, for those who have such a text


def without_controls(text: str) -> str:
    """`text` without control characters but tab and newline."""
    return _UNPRINTABLE.sub("", text)


def marked(text: str, start: int = 0, end: int | None = None) -> str:
    """`text`, from `start` to `end`, with what nobody would see written out. What stands around counts."""
    end = len(text) if end is None else end
    # Whether a text is ASCII is known without a look at it.
    if text.isascii() or not _SOME_HIDDEN.search(text, start, end):
        return text[start:end]
    pieces: list[str] = []
    for match in _mark_or_keep().finditer(text, start):
        if match.start() >= end:
            break
        if match[1]:
            pieces += text[start : match.start()], f"⟨U+{ord(match[1]):04X}⟩"
            start = match.end()
    return "".join([*pieces, text[start:end]])


def printable(text: str) -> str:
    """`text` without what a terminal would obey, and with what nobody would see written out."""
    return marked(without_controls(text))


class PrintableStream:
    """`printable` for a text that comes in pieces."""

    def __init__(self) -> None:
        self._before = ""
        self._held = ""
        """What the next piece may give a meaning."""

    def add(self, piece: str) -> str:
        """What may be shown of it by now, and of the pieces before."""
        text = self._held + without_controls(piece)
        between = _BETWEEN.search(text)
        cut = between.start() if between else len(text)
        text, self._held = text[:cut], text[cut:]
        return self._shown(text)

    def end(self) -> str:
        """The rest."""
        text, self._held = self._held, ""
        return self._shown(text)

    def _shown(self, text: str) -> str:
        whole, start = self._before + text, len(self._before)
        self._before = whole[-2:]
        return marked(whole, start)


def one_line(text: str, width: int = 200) -> str:
    """`text` as one printable line of at most `width` characters."""
    text = text.strip()
    # A megabyte need not be cleaned for a line.
    for most in (width * 2, width * 8):
        line = " ".join(printable(text[:most]).split())
        if len(line) > width or len(text) <= most:
            break
    return line if len(line) <= width and len(text) <= width * 8 else line[: width - 1] + "…"
