"""Background: whether the terminal is light or dark, by its environment and by its own answer (OSC 11)."""

import re
from collections.abc import Mapping

from textual.message import Message

QUERY = "\x1b]11;?\x1b\\"
_PART = "([0-9a-fA-F]{1,4})"
_ANSWER = re.compile(rf"\x1b\]11;rgba?:{_PART}/{_PART}/{_PART}(?:/[0-9a-fA-F]*)?(?:\x07|\x1b\\)")
_LIGHT_COLORS = (7, *range(9, 16))
"""Of the 16: white, and the bright ones."""


class BackgroundReported(Message):
    """The terminal has reported its background colour."""

    def __init__(self, is_light: bool) -> None:
        super().__init__()
        self.is_light = is_light


def background_by_environment(environment: Mapping[str, str]) -> bool | None:
    """Whether the background is light by COLORFGBG (`15;0`, `0;default;15`), which some terminals set."""
    number = environment.get("COLORFGBG", "").rpartition(";")[2]
    return int(number) in _LIGHT_COLORS if number.isdecimal() and len(number) <= 3 else None


def background_of_answer(answer: str) -> bool | None:
    """Whether the background is light by an answer `rgb:ffff/ffff/ffff` or `rgba:…`; None if it is another."""
    if (match := _ANSWER.fullmatch(answer)) is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in match.groups())
    return 0.299 * red + 0.587 * green + 0.114 * blue >= 0.5
