"""TranscriptPresenter: shows each item of a transcript's model with a view of its own."""

from typing import assert_never

from agentcli.transcript.item_list import (
    Change,
    ItemAdded,
    ItemChanged,
    ItemsReplaced,
    QueueChanged,
    RequestsChanged,
    TextAppended,
)
from agentcli.tui.items.views import view_of
from agentcli.tui.widgets.transcript import Transcript


class TranscriptPresenter:
    """A listener of a `TranscriptModel`. What it changes is painted with `Transcript.show`.

    Args:
        transcript: where the views go. It contains no others.
    """

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript

    def __call__(self, change: Change) -> None:
        """Apply a change."""
        match change:
            case TextAppended(item) | ItemChanged(item):
                self.transcript.changed(self.transcript.items[item.position])
            case ItemAdded(item):
                self.transcript.append([view_of(item)])
            case ItemsReplaced(items):
                self.transcript.clear()
                self.transcript.append(map(view_of, items))
            case QueueChanged() | RequestsChanged():
                pass
            case _:
                assert_never(change)
