"""ItemList: the items of a transcript, and what its listener is notified of."""

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from agentcli.transcript.items import Item, NoticeItem, TextItem, ThinkingItem


class ItemAdded(Struct, frozen=True):
    """An item was added at the end."""

    item: Item


class TextAppended(Struct, frozen=True):
    """A text that streams has grown."""

    item: TextItem | ThinkingItem
    delta: str
    """What was added; `item.text` has it already."""


class ItemChanged(Struct, frozen=True):
    """An item has changed in any other way."""

    item: Item


class ItemsReplaced(Struct, frozen=True):
    """Another conversation is shown: these are all items, and none of those before is left."""

    items: list[Item]


class QueueChanged(Struct, frozen=True):
    """Other messages are queued now."""


class RequestsChanged(Struct, frozen=True):
    """Other permission requests are open now."""


Change = ItemAdded | TextAppended | ItemChanged | ItemsReplaced | QueueChanged | RequestsChanged
ItemT = TypeVar("ItemT", bound=Item)


class ItemList:
    """The items, oldest first. They are only added at the end, and removed all at once.

    Args:
        notify: receives each change, after it was made.
    """

    def __init__(self, notify: Callable[[Change], None] = lambda change: None) -> None:
        self.items: list[Item] = []
        self.notify = notify

    def append(self, item: ItemT) -> ItemT:
        """Add an item at the end, and return it."""
        item.position = len(self.items)
        self.items.append(item)
        self.notify(ItemAdded(item))
        return item

    def add_notice(self, notice: NoticeItem) -> None:
        """Add a notice at the end; right after another one it is merged into that where possible."""
        last = self.items[-1] if self.items else None
        if isinstance(last, NoticeItem) and last.merge(notice):
            self.changed(last)
        else:
            self.append(notice)

    def append_text(self, item: TextItem | ThinkingItem, delta: str) -> None:
        """Add a delta to a text that streams."""
        item.append(delta)
        self.notify(TextAppended(item, delta))

    def changed(self, item: Item) -> None:
        """Notify that an item was changed."""
        self.notify(ItemChanged(item))

    def replace(self, add_items: Callable[[], None]) -> None:
        """Remove all items and add others, as one change.

        Args:
            add_items: adds them.
        """
        self.items.clear()
        notify, self.notify = self.notify, lambda change: None
        try:
            add_items()
        finally:
            self.notify = notify
        self.notify(ItemsReplaced(list(self.items)))
