"""What the transcript asks of an item, and of one that can be folded."""

from enum import StrEnum
from typing import ClassVar, Protocol

from agentcli.tui.colors.palette import Palette
from agentcli.tui.painting.rows import Row


class Item(Protocol):
    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The item at this width, in cells. Called again only after the transcript was told that it changed."""
        ...

    def guess(self, width: int) -> int:
        """About how many rows it has. Cheap: it stands for the rows of what nobody has looked at."""
        ...


class Fold(StrEnum):
    """Which items are folded and unfolded together."""

    TOOLS = "tools"
    """Calls and what came of them, summaries, notices."""
    THINKING = "thinking"


class Foldable:
    """An item that shows a part of what it has until it is unfolded. The transcript sets what is here."""

    fold: ClassVar[Fold] = Fold.TOOLS

    def __init__(self) -> None:
        self.expanded = False
        self.hidden = False
        """Whether nothing of it is shown once it is over, until it is unfolded."""
        self.title_rows = 1
        """So many rows of the last layout are the title, which a click folds and unfolds."""


def guess_rows(text: str, width: int) -> int:
    """About how many rows a text takes."""
    return text.count("\n") + 1 + len(text) // max(width, 1)
