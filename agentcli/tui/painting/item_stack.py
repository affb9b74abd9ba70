"""ItemStack: the items of the transcript one below the other: which rows each has, and where it begins.

Items are laid out when they come into view; until then their height is a guess. An empty row follows each item that
has rows. Changes of heights take effect when `sum` was called for the first of the changed items.
"""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from itertools import accumulate

from agentcli.tui.colors.palette import Palette
from agentcli.tui.items.item import ItemView
from agentcli.tui.items.user_text import UserText
from agentcli.tui.painting.rows import Row

KEPT_ROWS = 2_000
"""Rows of items out of view that are kept; a row takes 2 kB."""


class ItemStack:
    """Items, their rows and their positions."""

    def __init__(self) -> None:
        self.items: list[ItemView] = []
        self.heights: list[int] = []
        """Rows of each item, the empty one after it too; guessed if it was not laid out."""
        self.starts: list[int] = [0]
        """Where each begins, and where the last one ends."""
        self.width = 0
        self.palette = Palette({})
        self._places: dict[ItemView, int] = {}
        self._prompts: list[int] = []
        """The indexes of the user's prompts among the items."""
        self._rows: OrderedDict[int, list[Row]] = OrderedDict()
        """Exact rows by item, last used last."""

    @property
    def height(self) -> int:
        """Rows of all items."""
        return self.starts[-1]

    def place_of(self, item: ItemView) -> int:
        """The index of an item."""
        return self._places[item]

    def append(self, item: ItemView) -> None:
        """Add an item at the end."""
        place = len(self.items)
        self._places[item] = place
        if isinstance(item, UserText):
            self._prompts.append(place)
        self.items.append(item)
        self.heights.append(item.guess(self.width or 80) + 1)
        self.starts.append(self.starts[-1] + self.heights[-1])

    def clear(self) -> None:
        """Remove all items."""
        self.items.clear()
        self.heights.clear()
        self.starts = [0]
        self._places.clear()
        self._prompts.clear()
        self._rows.clear()

    def set_palette(self, palette: Palette) -> None:
        """Forget all rows, as the styles have changed."""
        self.palette = palette
        self._rows.clear()

    def set_width(self, width: int) -> None:
        """Set the width in cells. Every height is a guess again."""
        self.width = width
        self._rows.clear()
        self.heights = [item.guess(max(width, 1)) + 1 for item in self.items]
        self.sum(0)

    # Heights

    def known_rows(self, place: int) -> list[Row] | None:
        """The rows of an item, if they are cached."""
        return self._rows.get(place)

    def rows(self, place: int) -> list[Row]:
        """The rows of an item. Its height is exact afterwards."""
        rows = self._rows.get(place)
        if rows is None:
            rows = self.items[place].rows(self.width, self.palette)
            self._rows[place] = rows
            self.heights[place] = len(rows) + 1 if rows else 0
        else:
            self._rows.move_to_end(place)
        return rows

    def forget_rows(self, place: int) -> list[Row]:
        """Forget an item's rows, and return them if they were cached. Its height stays until it is laid out."""
        return self._rows.pop(place, [])

    def guess(self, place: int) -> None:
        """Forget an item's rows and height."""
        self.forget_rows(place)
        self.heights[place] = self.items[place].guess(max(self.width, 1)) + 1

    def sum(self, place: int) -> None:
        """Compute again where the items from this one on begin."""
        if place == len(self.heights) - 1:
            self.starts[place + 1] = self.starts[place] + self.heights[place]
            return
        self.starts[place:] = accumulate(self.heights[place:], initial=self.starts[place])

    def lay_out(self, top: int, height: int) -> int:
        """Compute the exact rows from `top` on, `height` of them. Returns where the top row is now.

        What is above keeps its guessed heights, so the top row stays the same.
        """
        while True:
            top = self._lay_out_from(top, height)
            last = max(self.height - height, 0)
            if top <= last:
                return top
            # Fewer rows than was guessed.
            top = last

    def _lay_out_from(self, top: int, height: int) -> int:
        place = max(bisect_right(self.starts, top) - 1, 0)
        while place < len(self.items) and self.starts[place] < top + height:
            before, known = self.heights[place], place in self._rows
            self.rows(place)
            if not known:
                self.sum(place)
                if self.starts[place] < top:
                    top = max(top + self.heights[place] - before, self.starts[place])
            place += 1
        return top

    def lay_out_end(self, height: int) -> None:
        """Compute the exact rows of the last `height` rows."""
        place = len(self.items)
        lowest = place
        while place > 0 and height > 0:
            place -= 1
            if place not in self._rows:
                lowest = place
            self.rows(place)
            height -= self.heights[place]
        if lowest < len(self.items):
            self.sum(lowest)

    def trim(self, top: int, bottom: int) -> None:
        """Forget rows that were not used lately and are not between these two."""
        kept = sum(map(len, self._rows.values()))
        while kept > KEPT_ROWS and len(self._rows) > 1:
            place = next(iter(self._rows))
            if self.starts[place] < bottom and self.starts[place + 1] > top:
                return
            kept -= len(self._rows.pop(place))

    # Places

    def at(self, y: int) -> tuple[int, int]:
        """The item at a row of the whole, and the row's number in it. There may be no such item, or row of it."""
        place = max(bisect_right(self.starts, y) - 1, 0)
        return place, y - self.starts[place]

    def row(self, y: int) -> Row | None:
        """The row there, if it is laid out."""
        place, number = self.at(y)
        rows = self._rows.get(place) or []
        return rows[number] if 0 <= number < len(rows) else None

    def first_from(self, top: int, height: int) -> int:
        """The first item that begins within `height` rows from `top` on; if none does, the one that fills them."""
        place = max(min(bisect_left(self.starts, top), len(self.items) - 1), 0)
        return place - 1 if place > 0 and self.starts[place] >= top + height else place

    def prompt_before(self, top: int) -> int | None:
        """Where the last of the user's prompts begins that begins above this row."""
        count = bisect_left(self._prompts, bisect_left(self.starts, top))
        return self.starts[self._prompts[count - 1]] if count else None

    def prompt_after(self, top: int) -> int | None:
        """Where the first of them begins that begins below this row."""
        count = bisect_left(self._prompts, bisect_right(self.starts, top))
        return self.starts[self._prompts[count]] if count < len(self._prompts) else None
