"""GrowingText: what changes when a text becomes another one that is mostly the same."""

from agentcli.headless.serialized_events import TextChange

_PROBE = 64
"""Characters of the new text's beginning that are looked for in the old one."""


class GrowingText:
    """A text whose end grows or is written anew, and whose beginning may fall away."""

    def __init__(self) -> None:
        self._text = ""

    def become(self, text: str) -> TextChange:
        """The change from the text before to this one. About as long as what is new, if it grew at its end."""
        before, self._text = self._text, text
        start = max(before.find(text[:_PROBE]), 0)
        keep = _common(before, start, text)
        return TextChange(start, keep, text[keep:])


def _common(before: str, start: int, text: str) -> int:
    """How many characters `before` from `start` on and `text` have in common at their beginning."""
    low, high = 0, min(len(before) - start, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if before.startswith(text[low:middle], start + low):
            low = middle
        else:
            high = middle - 1
    return low
