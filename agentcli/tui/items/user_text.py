"""A prompt of the user."""

from typing import TYPE_CHECKING

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import guess_rows
from agentcli.tui.painting.rows import Row, wrapped

if TYPE_CHECKING:
    from agentcli.transcript.items import UserItem

_MARK = "❯ "


class UserText:
    """A prompt."""

    def __init__(self, item: "UserItem") -> None:
        notes = [f"[{item.images} image{'s' if item.images > 1 else ''}]"] if item.images else []
        self.text = "\n".join([*([item.text] if item.text else []), *notes])

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        style = palette[Tone.USER]
        return wrapped([(self.text, style)], width, first=[(_MARK, style)], fill=style)

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        return guess_rows(self.text, width - len(_MARK))
