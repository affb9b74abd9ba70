"""PaintedRows: a few rows that somebody else paints, as high as they are many."""

from collections.abc import Callable

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget


class PaintedRows(Widget):
    """Args:
    paint: the rows for a width in cells. They are as wide at most, and clean.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "PaintedRows { height: auto; background: $background; }"

    def __init__(self, paint: Callable[[int], list[Strip]], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._paint = paint
        self._rows: list[Strip] = []

    def renew(self) -> None:
        """Paint again."""
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self._rows = self._paint(width) if width > 0 else []
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        style = self.rich_style
        if y >= len(self._rows):
            return Strip.blank(self.size.width, style)
        return self._rows[y].crop_extend(0, self.size.width, style)
