"""Cleaning: text from models, tools, files and the user without what a terminal would obey.

Textual filters neither markup nor escape sequences. Every string that is shown goes through `clean`, at the latest in
`tui.painting.rows`, which makes all rows of the transcript. A sequence never reaches over the end of a line, so whole
lines may be cleaned one after the other. What the user writes goes through `typed`, and is sent as it is.
"""

import re
from collections.abc import Sequence
from itertools import accumulate

from agentcli.agent.surrogates import without_surrogates
from agentcli.agent.text import marked, without_controls

_STRINGS = (
    r"\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)|[\x9d\x90\x98\x9e\x9f][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
)
_CONTROL = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
_OTHER = r"\x1b[ -/]*[0-~]"
_SEQUENCE = re.compile(f"{_STRINGS}|{_CONTROL}|{_OTHER}")
_INTRODUCER = re.compile("[\x1b\x90\x98\x9b\x9d-\x9f]")
_NEVER_TYPED = re.compile(
    "\U0001f3f4?[\u2028-\u202e\u2066-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]+"
)
"""Characters that no keyboard has, and that would hide or reorder parts of a pasted text."""

TAB_SIZE = 4


def clean(text: str) -> str:
    """Remove escape sequences, control characters (but tab and LF) and lone surrogates from a text.

    Line ends become LF. A sequence that has no end on its line loses its first characters, and its text stays.
    Invisible characters are written out, as `agent.text.marked` does.
    """
    if text.isascii() and text.isprintable():
        return text
    return marked(_without_commands(text))


def typed(text: str) -> str:
    """Clean a text of the user: what a terminal would obey is removed, joiners, soft hyphens and the like stay.

    Only characters that no keyboard has are written out: marks that reorder or hide parts of a pasted text.
    """
    if text.isascii() and text.isprintable():
        return text
    return _NEVER_TYPED.sub(lambda found: marked(found.string, *found.span()), _without_commands(text))


def _without_commands(text: str) -> str:
    if _INTRODUCER.search(text):
        text = _SEQUENCE.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return without_surrogates(without_controls(text))


def shown(text: str) -> str:
    """Clean a text and replace its tabs by spaces, as rows need it."""
    text = clean(text)
    return text.expandtabs(TAB_SIZE) if "\t" in text else text


def shown_pieces(texts: Sequence[str]) -> list[str]:
    """Each piece of a text as `shown`. A joiner may be in another piece than the characters it joins."""
    if len(texts) == 1 or all(text.isascii() for text in texts):
        return [shown(text) for text in texts]
    texts = [_without_commands(text) for text in texts]
    whole, ends = "".join(texts), list(accumulate(map(len, texts)))
    pieces = [marked(whole, end - len(text), end) for text, end in zip(texts, ends, strict=True)]
    return [text.expandtabs(TAB_SIZE) if "\t" in text else text for text in pieces]


def one_line(text: str, width: int = 200) -> str:
    """`text` as one clean line of at most `width` characters."""
    # Long texts are not cleaned as a whole for one line.
    line = " ".join(clean(text[: width * 8]).split())
    return line if len(line) <= width else line[: width - 1] + "…"
