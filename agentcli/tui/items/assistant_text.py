"""The model's text: Markdown that may still be streaming."""

from agentcli.transcript.items import TextItem
from agentcli.tui.colors.palette import Palette
from agentcli.tui.items.item import guess_rows
from agentcli.tui.painting.growing import GrowingMarkdown
from agentcli.tui.painting.markdown import markdown_rows
from agentcli.tui.painting.rows import Row


class AssistantText:
    """A text block of the model."""

    def __init__(self, item: TextItem) -> None:
        self.item = item
        self._growing: GrowingMarkdown | None = None

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        if not self.item.is_growing:
            self._growing = None
            return markdown_rows(self.item.text, width, palette)
        self._growing = self._growing or GrowingMarkdown()
        return self._growing.rows(self.item.text, width, palette)

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        return guess_rows(self.item.text, width)
