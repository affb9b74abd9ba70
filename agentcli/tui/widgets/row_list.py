"""RowList: a list of any length with one chosen row, of which only the rows in view are drawn; and PaintedRows.

It holds numbers, no rows: the screen that shows it draws row `n` when it comes into view.
"""

from collections.abc import Callable

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

Draw = Callable[[int, int, bool], Strip]
"""Row, width in cells, whether it is the chosen one."""


class RowList(ScrollView, can_focus=False):
    """The list.

    Args:
        draw: makes the strip of a row, clean.
        draw_nothing: makes the strip that is shown without rows, for a width in cells.
        is_heading: whether a row cannot be chosen.
        id: of the widget.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    RowList {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        background: $background;
    }
    """

    class Clicked(Message):
        """A row was chosen by a click."""

        def __init__(self, again: bool) -> None:
            super().__init__()
            self.again = again
            """Whether it was the chosen one before: that it is meant."""

    def __init__(
        self, draw: Draw, draw_nothing: Callable[[int], Strip], is_heading: Callable[[int], bool], *, id: str
    ) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._draw_nothing = draw_nothing
        self._is_heading = is_heading
        self.count = 0
        self.chosen: int | None = None
        """None if there is nothing to choose."""
        self.takes_clicks = True

    def show(self, count: int, chosen: int | None = 0) -> None:
        """Set the number of rows and choose one of them: this one, or the nearest that can be chosen."""
        self.count = count
        self._choose(self._nearest(chosen or 0, 1))
        self._fit()
        self.refresh()

    def choose(self, number: int) -> None:
        """Choose this row, or the nearest that can be chosen."""
        self._choose(self._nearest(number, 1 if number >= (self.chosen or 0) else -1))

    def move(self, by: int) -> None:
        """Choose a row further down or up. One step past an end leads to the other."""
        if self.chosen is None:
            return
        target = self.chosen + by
        if abs(by) == 1:
            while 0 <= target < self.count and self._is_heading(target):
                target += by
            if not 0 <= target < self.count:
                target = 0 if by > 0 else self.count - 1
        self._choose(self._nearest(target, 1 if by > 0 else -1))

    def page(self, direction: int) -> None:
        """Move by a page."""
        self.move(direction * max(self.size.height - 1, 2))

    def _nearest(self, number: int, direction: int) -> int | None:
        """The row that can be chosen at or after this one, else before it."""
        number = min(max(number, 0), self.count - 1)
        for way in (direction, -direction):
            place = number
            while 0 <= place < self.count:
                if not self._is_heading(place):
                    return place
                place += way
        return None

    def _choose(self, number: int | None) -> None:
        before, self.chosen = self.chosen, number
        for row in {before, number} - {None}:
            self.refresh_line(row)  # type: ignore[arg-type]
        self._show_chosen()

    # Scrolling

    def _fit(self) -> None:
        self.virtual_size = Size(max(self.scrollable_content_region.width, 0), self.count)
        self._show_chosen()

    def _show_chosen(self) -> None:
        height = self.scrollable_content_region.height
        if self.chosen is None or height <= 0:
            return
        top = first = self.chosen
        while first > 0 and self._is_heading(first - 1) and top - first < height - 1:
            first -= 1
        # Forced, as a scrollbar that the rows need now appears only with the next layout.
        if first < self.scroll_offset.y:
            self.scroll_to(y=first, animate=False, force=True)
        elif top >= self.scroll_offset.y + height:
            self.scroll_to(y=top - height + 1, animate=False, force=True)

    def on_resize(self, event: events.Resize) -> None:
        """Fit to the new size."""
        self._fit()
        self.refresh()

    # Painting

    def render_line(self, y: int) -> Strip:
        """The row at `y` of the view."""
        number = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if number < self.count:
            strip = self._draw(number, width, number == self.chosen)
        else:
            strip = Strip.blank(width) if self.count or number else self._draw_nothing(width)
        return strip.crop_extend(0, width, self.rich_style)

    async def on_click(self, event: events.Click) -> None:
        """Choose the clicked row."""
        event.prevent_default()
        event.stop()
        number = event.y + self.scroll_offset.y
        if not self.takes_clicks or not 0 <= number < self.count or self._is_heading(number):
            return
        again = number == self.chosen
        self._choose(number)
        self.post_message(self.Clicked(again))


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
