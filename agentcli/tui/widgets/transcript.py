"""Transcript: the conversation, as one widget that paints rows.

Items are laid out when they come into view; until then a guess stands for their height, and the view does not move when
the guess turns out wrong. So an item costs the same in a conversation of any length, and so does a change of the width.

The other design, a widget for each message in a window of 200, was measured on the same rows (`bench_tui.py designs`,
Python 3.11, a pty of 120 x 40, CPU). With 0, 100 and 1,000 answers in the transcript, 400 deltas at 100 a second cost
0.34, 0.28 and 0.29 s here, and 0.48, 0.85 and 1.16 s there; a new width 20, 15 and 20 ms, and 18, 142 and 184 ms.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from itertools import accumulate

from rich.style import Style
from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from agentcli.tui.items.item import Item
from agentcli.tui.palette import Palette, Tone
from agentcli.tui.rows import Row, row

KEPT_ROWS = 2_000
"""Rows of items out of view that are kept; a row takes 2 kB."""
_ITEM_ROWS = 1 << 24
"""Selections count rows as `item * _ITEM_ROWS + row of the item`, which stays true when heights change."""
_MORE = " ▼ more below "
_NOTHING = Strip([], 0)


class Transcript(ScrollView, can_focus=False):
    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        background: $background;
    }
    """

    class FollowChanged(Message):
        """The view has left the end, or come back to it."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.following = True
        """Whether the view stays at the end as the conversation grows."""
        self._items: list[Item] = []
        self._places: dict[Item, int] = {}
        self._heights: list[int] = []
        self._starts: list[int] = [0]
        self._rows: OrderedDict[int, list[Row]] = OrderedDict()
        """Exact rows by item, last used last."""
        self._dirty: set[int] = set()
        """Items that have changed since they were shown."""
        self._fresh = 0
        """The first item that was not shown yet."""
        self._width = 0
        self._palette = Palette({})
        self._settling = False
        self._painting = False

    @property
    def items(self) -> list[Item]:
        return self._items

    def append(self, items: Iterable[Item]) -> None:
        """Add items at the end. `show` brings them to the screen."""
        self._fresh = min(self._fresh, len(self._items))
        for item in items:
            self._places[item] = len(self._items)
            self._items.append(item)
            self._heights.append(item.guess(self._width or 80) + 1)
            self._starts.append(self._starts[-1] + self._heights[-1])

    def clear(self) -> None:
        """Have no items, and be at the end."""
        self._items.clear()
        self._places.clear()
        self._heights.clear()
        self._starts = [0]
        self._rows.clear()
        self._dirty.clear()
        self._fresh = 0
        self.screen.clear_selection()
        self._set_following(True)
        self._settle()
        self.refresh()

    def changed(self, item: Item) -> None:
        """Note that an item has other rows now. `show` brings them to the screen."""
        self._dirty.add(self._places[item])

    def show(self) -> None:
        """Bring to the screen what was added and changed."""
        if self._width <= 0:
            return
        top = self.scroll_offset.y
        moved = 0
        dirty: list[Region] = []
        lowest: int | None = None
        for place in sorted(self._dirty):
            before, height = self._rows.pop(place, []), self._heights[place]
            after = self._measure(place)
            first = self._starts[place] + _common(before, after)
            last = self._starts[place] + len(after)
            if self._heights[place] != height:
                if self._starts[place] + height <= top:
                    moved += self._heights[place] - height
                lowest = place if lowest is None else lowest
                last = top + self.size.height
            dirty.append(Region(0, first - top, self._width, max(last - first, 0)))
        self._dirty.clear()
        if lowest is not None:
            self._sum(lowest)
        if self._fresh < len(self._items):
            first = self._starts[self._fresh]
            dirty.append(Region(0, first - top, self._width, max(top + self.size.height - first, 0)))
            self._fresh = len(self._items)
        self._settle(moved)
        if self.scroll_offset.y == top:
            view = Region(0, 0, self._width, self.size.height)
            if regions := [part for region in dirty if (part := region.intersection(view))]:
                self.refresh(*regions)

    def set_palette(self, palette: Palette) -> None:
        self._palette = palette
        self._rows.clear()
        self.show()
        self.refresh()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._set_following(True)
        self._settle()

    # Layout

    def _measure(self, place: int) -> list[Row]:
        """The rows of an item, which fixes its height."""
        rows = self._rows.get(place)
        if rows is None:
            rows = self._items[place].rows(self._width, self._palette)
            self._rows[place] = rows
            self._heights[place] = len(rows) + 1 if rows else 0
        else:
            self._rows.move_to_end(place)
        return rows

    def _sum(self, place: int) -> None:
        """Compute again where the items from this one on begin."""
        if place == len(self._heights) - 1:
            self._starts[place + 1] = self._starts[place] + self._heights[place]
            return
        self._starts[place:] = accumulate(self._heights[place:], initial=self._starts[place])

    def _settle(self, moved: int = 0) -> None:
        """Lay out what is in view, and keep it in its place.

        Args:
            moved: how many rows what is above the view has grown.
        """
        if self._width <= 0:
            return
        height = self.scrollable_content_region.height
        self._settling = True
        try:
            if self.following:
                self._measure_end(height)
                self._grow()
                self.scroll_to(y=self.max_scroll_y, animate=False)
            else:
                top = self._measure_from(self.scroll_offset.y + moved, height)
                self._grow()
                if top != self.scroll_offset.y:
                    self.scroll_to(y=top, animate=False)
        finally:
            self._settling = False
        self._forget()

    def _measure_end(self, height: int) -> None:
        place = len(self._items)
        lowest = place
        while place > 0 and height > 0:
            place -= 1
            if place not in self._rows:
                lowest = place
            self._measure(place)
            height -= self._heights[place]
        if lowest < len(self._items):
            self._sum(lowest)

    def _measure_from(self, top: int, height: int) -> int:
        """Lay out what is in view from `top` on. Returns where the top row is now."""
        place = max(bisect_right(self._starts, top) - 1, 0)
        while place < len(self._items) and self._starts[place] < top + height:
            before, known = self._heights[place], place in self._rows
            self._measure(place)
            if not known:
                self._sum(place)
                if self._starts[place] < top:
                    top = max(top + self._heights[place] - before, self._starts[place])
            place += 1
        return top

    def _grow(self) -> None:
        size = Size(self._width, self._starts[-1])
        if size == self.virtual_size:
            return
        # As a reactive it would lay out the whole screen again, which does not depend on it.
        self.set_reactive(Widget.virtual_size, size)  # type: ignore[arg-type]
        self._scroll_update(size)

    def _forget(self) -> None:
        """Let go of rows that were not looked at lately."""
        kept = sum(map(len, self._rows.values()))
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.size.height
        while kept > KEPT_ROWS and len(self._rows) > 1:
            place = next(iter(self._rows))
            if self._starts[place] < bottom and self._starts[place + 1] > top:
                return
            kept -= len(self._rows.pop(place))

    def on_resize(self, event: events.Resize) -> None:
        region = self.scrollable_content_region
        if region.width == self._width:
            self._settle()
            return
        anchor = self._anchor()
        self._width = max(region.width, 0)
        self._rows.clear()
        self._dirty.clear()
        self._heights = [item.guess(max(self._width, 1)) + 1 for item in self._items]
        self._starts = [*accumulate(self._heights, initial=0)]
        self.screen.clear_selection()
        self._settle_at(anchor)
        self.refresh()

    def _anchor(self) -> tuple[int, float]:
        """The item at the top of the view, and how much of it is above."""
        top = self.scroll_offset.y
        place = min(max(bisect_right(self._starts, top) - 1, 0), max(len(self._items) - 1, 0))
        height = self._heights[place] if self._items else 0
        return place, (top - self._starts[place]) / height if height else 0.0

    def _settle_at(self, anchor: tuple[int, float]) -> None:
        place, part = anchor
        if self._width > 0 and not self.following and place < len(self._items):
            self._measure(place)
            self._sum(place)
            self._grow()
            self._settling = True
            self.scroll_to(y=self._starts[place] + int(part * self._heights[place]), animate=False)
            self._settling = False
        self._settle()

    # Scrolling

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._settling or not self._items:
            return
        self._set_following(new_value >= self.max_scroll_y)
        self._settle()

    def _set_following(self, following: bool) -> None:
        if following == self.following:
            return
        self.following = following
        self.post_message(self.FollowChanged(following))
        self.refresh()

    # Painting

    def render_lines(self, crop: Region) -> list[Strip]:
        self._painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def render_line(self, y: int) -> Strip:
        """The row at `y` of the view. It carries text offsets, which cost, only when the mouse asks for them."""
        base = self._palette[Tone.TEXT]
        place, number, strip = self._row_at(y + self.scroll_offset.y)
        if not strip and self._painting:
            strip = Strip.blank(self._width, base)
        line = place * _ITEM_ROWS + number
        if (selection := self.text_selection) is not None:
            strip = _selected(strip, selection, line, self.screen.get_component_rich_style("screen--selection"))
        if not self._painting:
            strip = strip.apply_offsets(0, line)
        strip = strip.crop_extend(0, self._width, base)
        if y == self.size.height - 1 and not self.following and self._width > len(_MORE):
            mark = row([(_MORE, base + Style(reverse=True))], len(_MORE))
            strip = Strip.join([strip.crop(0, self._width - len(_MORE)), mark])
        return strip

    def _row_at(self, y: int) -> tuple[int, int, Strip]:
        """The item at a row of the whole, the row's number in it, and the row."""
        place = bisect_right(self._starts, y) - 1
        if place < 0 or place >= len(self._items):
            return max(place, 0), 0, _NOTHING
        number = y - self._starts[place]
        rows = self._rows.get(place) or []
        return place, number, rows[number] if number < len(rows) else _NOTHING

    # Selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, row by row."""
        first = selection.start or Offset(0, 0)
        last = selection.end or Offset(1 << 20, len(self._items) * _ITEM_ROWS)
        lines: list[str] = []
        for place in range(first.y // _ITEM_ROWS, min(last.y // _ITEM_ROWS + 1, len(self._items))):
            rows = self._items[place].rows(self._width, self._palette)
            texts = [strip.text for strip in rows] + ([""] if rows else [])
            for number, text in enumerate(texts):
                if (span := selection.get_span(place * _ITEM_ROWS + number)) is not None:
                    start, end = span
                    lines.append(text[start : None if end < 0 else end].rstrip())
        return "\n".join(lines), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    async def _on_click(self, event: events.Click) -> None:
        """Two clicks select a row. (Textual would select everything.)"""
        event.prevent_default()
        event.stop()
        place, number, strip = self._row_at(event.y + self.scroll_offset.y)
        if event.chain == 2 and strip.text.strip():
            line = place * _ITEM_ROWS + number
            chosen = Selection(Offset(0, line), Offset(len(strip.text), line))
            self.screen.selections = {self: chosen}


def _common(before: list[Row], after: list[Row]) -> int:
    """How many rows at the start are the same."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and old != new:
            break
        count += 1
    return count


def _selected(strip: Strip, selection: Selection, line: int, style: Style) -> Strip:
    if (span := selection.get_span(line)) is None:
        return strip
    start, end = span
    text = strip.text
    end = len(text) if end < 0 else min(end, len(text))
    if start >= end:
        return strip
    left, right = strip.index_to_cell_position(start), strip.index_to_cell_position(end)
    before, middle, after = strip.crop(0, left), strip.crop(left, right), strip.crop(right)
    lit = Strip([type(segment)(segment.text, (segment.style or Style()) + style) for segment in middle])
    return Strip.join([before, lit, after])
