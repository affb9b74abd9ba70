"""What the transcript asks of an item."""

from typing import Protocol

from agentcli.tui.palette import Palette
from agentcli.tui.rows import Row


class Item(Protocol):
    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The item at this width, in cells. Called again only after the transcript was told that it changed."""
        ...

    def guess(self, width: int) -> int:
        """About how many rows it has. Cheap: it stands for the rows of what nobody has looked at."""
        ...


def guess_rows(text: str, width: int) -> int:
    """About how many rows a text takes."""
    return text.count("\n") + 1 + len(text) // max(width, 1)
