"""What the person said."""

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import guess_rows
from agentcli.tui.painting.rows import Row, wrapped

_MARK = "❯ "


class UserText:
    """Args:
    images: how many came with it.
    """

    def __init__(self, text: str, images: int = 0) -> None:
        notes = [f"[{images} image{'s' if images > 1 else ''}]"] if images else []
        self.text = "\n".join([*([text] if text else []), *notes])

    def rows(self, width: int, palette: Palette) -> list[Row]:
        style = palette[Tone.USER]
        return wrapped([(self.text, style)], width, first=[(_MARK, style)], fill=style)

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width - len(_MARK))
