"""What the transcript needs of the view of an item, and of one that can be folded."""

from enum import StrEnum
from typing import ClassVar, Protocol

from agentcli.tui.colors.palette import Palette
from agentcli.tui.painting.rows import Row


class ItemView(Protocol):
    """The rows of an item of the transcript."""

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The item at this width, in cells. Called again only after `Transcript.changed`."""
        ...

    def guess(self, width: int) -> int:
        """The estimated number of rows. It must be cheap, as it is used for items that were never in view."""
        ...


class Fold(StrEnum):
    """Which items are folded and unfolded together."""

    TOOLS = "tools"
    """Calls with their results, summaries, notices."""
    THINKING = "thinking"


class Foldable:
    """An item that shows a part of its text until it is unfolded. The transcript sets these attributes."""

    fold: ClassVar[Fold] = Fold.TOOLS

    def __init__(self) -> None:
        self.expanded = False
        self.hidden = False
        """Whether it is not shown at all once it is complete, until it is unfolded."""
        self.title_rows = 1
        """How many rows of the last layout are the title, which a click folds and unfolds."""


def guess_rows(text: str, width: int) -> int:
    """About how many rows a text takes."""
    return text.count("\n") + 1 + len(text) // max(width, 1)
