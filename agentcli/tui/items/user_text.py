"""A prompt of the user."""

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import guess_rows
from agentcli.tui.painting.rows import Row, wrapped

_MARK = "❯ "


class UserText:
    """A prompt.

    Args:
        text: of the prompt.
        images: how many came with it.
    """

    def __init__(self, text: str, images: int = 0) -> None:
        notes = [f"[{images} image{'s' if images > 1 else ''}]"] if images else []
        self.text = "\n".join([*([text] if text else []), *notes])

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        style = palette[Tone.USER]
        return wrapped([(self.text, style)], width, first=[(_MARK, style)], fill=style)

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        return guess_rows(self.text, width - len(_MARK))
