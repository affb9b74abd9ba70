"""LineEdit: one line of text and its cursor. It is no widget: a screen paints it and gives it keys.

So a key takes effect at once, and none is lost between two widgets.
"""

import re

from rich.cells import cell_len
from rich.style import Style

from agentcli.tui.editing.graphemes import beside_graphemes, grapheme_at
from agentcli.tui.painting.clean import typed
from agentcli.tui.painting.rows import Run

_LEFT_WORD = re.compile(r"\w+\W*\Z|\W+\Z")
_RIGHT_WORD = re.compile(r"\W*\w+|\W+")


class LineEdit:
    """A line that is being edited."""

    def __init__(self, text: str = "") -> None:
        self.put(text)

    def put(self, text: str) -> None:
        """Replace the text, the cursor at its end."""
        self.text = _flat(text)
        self.cursor = len(self.text)

    def insert(self, text: str) -> None:
        """Insert a text at the cursor."""
        text = _flat(text)
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor = beside_graphemes(self.text, self.cursor + len(text), back=False)

    def act(self, name: str) -> bool:
        """Do an action of `actions.Where.EDITOR` in the line. Returns whether it applies to one."""
        end = len(self.text)
        left = _LEFT_WORD.search(self.text, 0, self.cursor)
        right = _RIGHT_WORD.match(self.text, self.cursor)
        word_left = beside_graphemes(self.text, left.start(), back=True) if left else 0
        word_right = beside_graphemes(self.text, right.end(), back=False) if right else end
        before = grapheme_at(self.text, self.cursor - 1)[0] if self.cursor else 0
        after = grapheme_at(self.text, self.cursor)[1]
        match name:
            case "left":
                self.cursor = before
            case "right":
                self.cursor = after
            case "word_left":
                self.cursor = word_left
            case "word_right":
                self.cursor = word_right
            case "line_start":
                self.cursor = 0
            case "line_end":
                self.cursor = end
            case "delete_left":
                self._delete(before, self.cursor)
            case "delete_right" | "end":
                self._delete(self.cursor, after)
            case "delete_word_left":
                self._delete(word_left, self.cursor)
            case "delete_word_right":
                self._delete(self.cursor, word_right)
            case "delete_to_line_start":
                self._delete(0, self.cursor)
            case "delete_to_line_end":
                self._delete(self.cursor, end)
            case _:
                return False
        return True

    def _delete(self, start: int, end: int) -> None:
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start

    def runs(self, width: int, style: Style) -> list[Run]:
        """The part of the line around the cursor that fits into `width` cells, the cursor reversed."""
        end = grapheme_at(self.text, self.cursor)[1]
        under = self.text[self.cursor : end] or " "
        before = self.text[: self.cursor]
        room = width - cell_len(under)
        if cell_len(before) > room:
            # At most one character a cell can be seen.
            before = before[-max(room, 0) :] if room > 0 else ""
            while before and cell_len(before) > room - 1:
                before = before[1:]
            before = "…" + before if room > 0 else ""
        return [(before, style), (under, style + Style(reverse=True)), (self.text[max(end, self.cursor + 1) :], style)]


def _flat(text: str) -> str:
    """Clean, and on one line. Spaces stay as they are."""
    return re.sub(r"[\n\t]", " ", typed(text))
