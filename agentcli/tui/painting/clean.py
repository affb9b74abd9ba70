"""The border: text from models, tools, files and persons on its way to the screen, without what a terminal would obey.

Textual filters neither markup nor escape sequences. Every string that is shown goes through `clean`, at the latest in
`tui.rows`, which is the only maker of what the transcript paints. A sequence never reaches over the end of a line, so
whole lines may be cleaned one after the other.
"""

import re

from agentcli.agent.surrogates import without_surrogates
from agentcli.agent.text import printable

_STRINGS = (
    r"\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)|[\x9d\x90\x98\x9e\x9f][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
)
_CONTROL = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
_OTHER = r"\x1b[ -/]*[0-~]"
_SEQUENCE = re.compile(f"{_STRINGS}|{_CONTROL}|{_OTHER}")
_INTRODUCER = re.compile("[\x1b\x90\x98\x9b\x9d-\x9f]")
_INVISIBLE = re.compile("[\u200e\u200f\u061c\ufffe\uffff\U000e0000-\U000e007f]")

TAB_SIZE = 4


def clean(text: str) -> str:
    """`text` without escape sequences, control characters (but tab and LF), reordering marks and half characters.

    Line ends become LF. A sequence that has no end on its line loses its first characters, and its text stays.
    """
    if text.isascii() and text.isprintable():
        return text
    if _INTRODUCER.search(text):
        text = _SEQUENCE.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return without_surrogates(_INVISIBLE.sub("", printable(text)))


def shown(text: str) -> str:
    """`clean` text with its tabs as spaces, as rows need it."""
    text = clean(text)
    return text.expandtabs(TAB_SIZE) if "\t" in text else text


def one_line(text: str, width: int = 200) -> str:
    """`text` as one clean line of at most `width` characters."""
    # A megabyte need not be cleaned for a line.
    line = " ".join(clean(text[: width * 8]).split())
    return line if len(line) <= width else line[: width - 1] + "…"
