"""PaintedRows: a widget as high as the rows that a function paints for it."""

from collections.abc import Callable

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget


class PaintedRows(Widget):
    """Rows painted by a function.

    Args:
        paint: returns the rows for a width in cells. They are at most that wide, and clean.
        id: of the widget.
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
        """One line a row."""
        self._rows = self._paint(width) if width > 0 else []
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        """The row at `y`."""
        style = self.rich_style
        if y >= len(self._rows):
            return Strip.blank(self.size.width, style)
        return self._rows[y].crop_extend(0, self.size.width, style)
