"""Transcript: the conversation, as one widget that paints rows.

Items are laid out when they come into view, and the view does not move when the guess at their height turns out wrong.
So an item costs the same in a conversation of any length, and so does a change of the width or of what is folded.

The other design, a widget for each message in a window of 200, was measured on the same rows (`transcript_designs.py`,
Python 3.11, a pty of 120 x 40, CPU). With 0, 100 and 1,000 answers in the transcript, 400 deltas at 100 a second cost
0.34, 0.28 and 0.29 s here, and 0.48, 0.85 and 1.16 s there; a new width 20, 15 and 20 ms, and 18, 142 and 184 ms.
"""

from collections.abc import Iterable
from typing import cast

from rich.style import Style
from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Fold, Foldable, ItemView
from agentcli.tui.painting.item_stack import ItemStack
from agentcli.tui.painting.rows import common_rows, row
from agentcli.tui.terminal.textual_private import set_virtual_size

_ITEM_ROWS = 1 << 24
"""Selections count rows as `item * _ITEM_ROWS + row of the item`, which stays true when heights change."""


class Transcript(ScrollView, can_focus=False):
    """The scrollable list of items."""

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
        """The view has left the end, or has come back to it."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.following = True
        """Whether the view stays at the end as the conversation grows. While something is selected it does not."""
        self.hide_thinking = False
        """Whether thinking that is over is not shown at all until it is unfolded. Applies to items added later."""
        self._stack = ItemStack()
        self._unfolded = dict.fromkeys(Fold, False)
        self._dirty: set[int] = set()
        """Items that have changed since they were shown."""
        self._fresh = 0
        """The first item that was not shown yet."""
        self._settling = False
        self._painting = False
        self._news = False
        """Whether something came below the view."""
        self._marked = ""
        """The mark as it was painted last."""

    @property
    def items(self) -> list[ItemView]:
        """All items, oldest first."""
        return self._stack.items

    def append(self, items: Iterable[ItemView]) -> None:
        """Add items at the end. `show` paints them."""
        self._fresh = min(self._fresh, len(self.items))
        for item in items:
            if isinstance(item, Foldable):
                item.expanded = self._unfolded[item.fold]
                item.hidden = self.hide_thinking and item.fold is Fold.THINKING
            self._stack.append(item)

    def clear(self) -> None:
        """Remove all items, and follow the end."""
        self._stack.clear()
        self._dirty.clear()
        self._fresh = 0
        self._deselect()
        self._set_following(True)
        self._settle()
        self.refresh()

    def changed(self, item: ItemView) -> None:
        """Note that an item has other rows now. `show` paints them."""
        self._dirty.add(self._stack.place_of(item))

    def show(self) -> None:
        """Paint what was added and changed."""
        stack = self._stack
        if stack.width <= 0:
            return
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.size.height
        moved = 0
        dirty: list[Region] = []
        lowest: int | None = None
        for place in sorted(self._dirty):
            if place >= self._fresh:
                stack.guess(place)
                lowest = place if lowest is None else lowest
                continue
            start, height = stack.starts[place], stack.heights[place]
            before = stack.forget_rows(place)
            after = stack.rows(place)
            last = start + len(after)
            if stack.heights[place] != height:
                if start + height <= top:
                    moved += stack.heights[place] - height
                lowest = place if lowest is None else lowest
                last = max(bottom, last)
            self._news = self._news or last > bottom
            dirty.append(self._region(start + common_rows(before, after), last))
        self._dirty.clear()
        if lowest is not None:
            stack.sum(lowest)
        if self._fresh < len(self.items):
            self._news = self._news or stack.height > bottom
            dirty.append(self._region(stack.starts[self._fresh], bottom))
            self._fresh = len(self.items)
        self._settle(moved)
        if self.scroll_offset.y == top:
            self._refresh(dirty)

    def _region(self, first: int, last: int) -> Region:
        """The part of the view that these rows of the whole take."""
        return Region(0, first - self.scroll_offset.y, self._stack.width, max(last - first, 0))

    def _refresh(self, dirty: list[Region]) -> None:
        view = Region(0, 0, self._stack.width, self.size.height)
        if self._mark() != self._marked:
            dirty.append(Region(0, self.size.height - 1, self._stack.width, 1))
        if regions := [part for region in dirty if (part := region.intersection(view))]:
            self.refresh(*regions)

    def set_palette(self, palette: Palette) -> None:
        """Paint with other styles."""
        self._stack.set_palette(palette)
        self.show()
        self.refresh()

    # Folding and moving

    def follow(self) -> None:
        """Scroll to the end and stay there."""
        if self._is_held:
            self._deselect()
        self._set_following(True)
        self._settle()

    def is_unfolded(self, fold: Fold) -> bool:
        """Whether items of a kind are unfolded."""
        return self._unfolded[fold]

    def unfold(self, fold: Fold, on: bool) -> None:
        """Unfold or fold every item of a kind, also those to come. The first item in view stays in its place."""
        self._unfolded[fold] = on
        first = self._stack.first_from(self.scroll_offset.y, self.size.height)
        row = self._stack.starts[first] - self.scroll_offset.y
        for place, item in enumerate(self.items):
            if isinstance(item, Foldable) and item.fold is fold and item.expanded is not on:
                self._fold(place, item, on)
        self._stack.sum(0)
        self._keep(first, row)

    def toggle(self, item: Foldable) -> None:
        """Unfold or fold one item. Its title stays where it is."""
        place = self._stack.place_of(cast("ItemView", item))
        row = self._stack.starts[place] - self.scroll_offset.y
        self._fold(place, item, not item.expanded)
        self._stack.sum(place)
        self._set_following(False)
        self._keep(place, row)

    def _fold(self, place: int, item: Foldable, on: bool) -> None:
        item.expanded = on
        self._stack.guess(place)
        self._dirty.discard(place)

    def _keep(self, place: int, row: int) -> None:
        """After heights have changed, have an item begin at this row of the view, unless it follows the end."""
        self._deselect()
        if self._stack.width > 0 and place < len(self.items):
            if self.following:
                self._settle()
            else:
                self._stack.rows(place)
                self._stack.sum(place)
                # Folded, it may not reach into the view any more.
                self._go(self._stack.starts[place] - (row if row > -self._stack.heights[place] else 0))
        self.refresh()

    def to_prompt(self, direction: int) -> None:
        """Scroll to the prompt before the top of the view (-1) or the one after (1); past the last one, to the end."""
        top = self.scroll_offset.y
        if direction < 0:
            self._go(self._stack.prompt_before(top) or 0)
        elif (start := self._stack.prompt_after(top)) is not None:
            self._go(start)
        else:
            self.follow()

    def _go(self, top: int) -> None:
        """Scroll to a row, as far as there are rows, and follow the end if that is in view."""
        self._lay_out(top)
        self._set_following(self.scroll_offset.y >= self.max_scroll_y)
        self._settle()

    # Layout

    def _settle(self, moved: int = 0) -> None:
        """Lay out what is in view, and keep it in its place.

        Args:
            moved: how many rows the part above the view has grown.
        """
        if self._stack.width <= 0:
            return
        if self.following and not self._is_held:
            self._settling = True
            self._stack.lay_out_end(self.scrollable_content_region.height)
            self._grow()
            self.scroll_to(y=self.max_scroll_y, animate=False)
            self._settling = False
        else:
            self._lay_out(self.scroll_offset.y + moved)
        self._news = self._news and self._below() > 0
        self._stack.trim(self.scroll_offset.y, self.scroll_offset.y + self.size.height)

    @property
    def _is_held(self) -> bool:
        """Whether the view stays where it is because something is selected, though it follows the end."""
        return self.following and self.is_attached and self.text_selection is not None

    def _deselect(self) -> None:
        # Events may come after the screen was removed.
        if self.is_attached:
            self.screen.clear_selection()

    def _lay_out(self, top: int) -> None:
        """Lay out the view with this row at its top, and scroll there."""
        self._settling = True
        top = self._stack.lay_out(top, self.scrollable_content_region.height)
        self._grow()
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)
        self._settling = False

    def _grow(self) -> None:
        size = Size(self._stack.width, self._stack.height)
        if size != self.virtual_size:
            set_virtual_size(self, size)

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new width, the same part of the same item at the top."""
        width = max(self.scrollable_content_region.width, 0)
        if width == self._stack.width:
            self._settle()
            return
        place, number = self._stack.at(self.scroll_offset.y)
        part = number / self._stack.heights[place] if place < len(self.items) and self._stack.heights[place] else 0.0
        self._stack.set_width(width)
        self._dirty.clear()
        self._deselect()
        if width > 0 and not self.following and place < len(self.items):
            self._stack.rows(place)
            self._stack.sum(place)
            self._lay_out(self._stack.starts[place] + int(part * self._stack.heights[place]))
        self._settle()
        self.refresh()

    # Scrolling

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the end when the user scrolls there."""
        super().watch_scroll_y(old_value, new_value)
        if self._settling or not self.items:
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
        """Paint rows, without the text offsets that only the mouse needs."""
        self._painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def render_line(self, y: int) -> Strip:
        """The row at `y` of the view. It has text offsets, which cost time, only when the mouse asks for them."""
        base, width = self._stack.palette[Tone.TEXT], self._stack.width
        place, number = self._stack.at(y + self.scroll_offset.y)
        strip = self._stack.row(y + self.scroll_offset.y) or (Strip.blank(width, base) if self._painting else Strip([]))
        line = place * _ITEM_ROWS + number
        if (selection := self.text_selection) is not None:
            strip = _selected(strip, selection, line, self.screen.get_component_rich_style("screen--selection"))
        if not self._painting:
            strip = strip.apply_offsets(0, line)
        strip = strip.crop_extend(0, width, base)
        if y == self.size.height - 1:
            self._marked = self._mark()
            strip = _at_right(strip, row([(self._marked, base + Style(reverse=True))], width), width)
        return strip

    def _below(self) -> int:
        """How many rows are below the view; the height of items that were never in view is a guess."""
        return self._stack.height - self.scroll_offset.y - self.size.height

    def _mark(self) -> str:
        """The note about the rows below in the last row, as long as there is room for."""
        if (below := self._below()) <= 0:
            return ""
        words = (f" ▼ {below:,} more below{', new' if self._news else ''} ", f" ▼ {below:,} ", " ▼ ")
        return next((text for text in words if len(text) < self._stack.width), "")

    # Selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, row by row."""
        first = selection.start or Offset(0, 0)
        last = selection.end or Offset(1 << 20, len(self.items) * _ITEM_ROWS)
        lines: list[str] = []
        for place in range(first.y // _ITEM_ROWS, min(last.y // _ITEM_ROWS + 1, len(self.items))):
            rows = self._stack.known_rows(place)
            if rows is None:
                # More rows may be selected than are cached.
                rows = self.items[place].rows(self._stack.width, self._stack.palette)
            texts = [strip.text for strip in rows] + ([""] if rows else [])
            for number, text in enumerate(texts):
                if (span := selection.get_span(place * _ITEM_ROWS + number)) is not None:
                    start, end = span
                    lines.append(text[start : None if end < 0 else end].rstrip())
        return "\n".join(lines), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Paint the selection."""
        self._settle()
        self.refresh()

    async def on_click(self, event: events.Click) -> None:
        """A click on a title folds and unfolds; two select a row, three an item. (Textual would select everything.)"""
        event.prevent_default()
        event.stop()
        place, number = self._stack.at(event.y + self.scroll_offset.y)
        text = (self._stack.row(event.y + self.scroll_offset.y) or Strip([])).text
        if not text.strip():
            return
        item, first = self.items[place], place * _ITEM_ROWS
        match event.chain:
            case 1 if isinstance(item, Foldable) and number < item.title_rows and self.text_selection is None:
                # With a selection it is the end of a drag.
                self.toggle(item)
            case 2:
                self._select(Offset(0, first + number), Offset(len(text), first + number))
            case 3:
                last = len(self._stack.rows(place)) - 1
                self._select(Offset(0, first), Offset(len(self._stack.rows(place)[last].text), first + last))
            case _:
                pass

    def _select(self, start: Offset, end: Offset) -> None:
        self.screen.selections = {self: Selection(start, end)}


def _at_right(strip: Strip, mark: Strip, width: int) -> Strip:
    return Strip.join([strip.crop(0, width - mark.cell_length), mark]) if mark.cell_length else strip


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
