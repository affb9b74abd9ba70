"""The model's text: Markdown that may still be streaming."""

from agentcli.tui.colors.palette import Palette
from agentcli.tui.items.item import guess_rows
from agentcli.tui.painting.growing import GrowingMarkdown
from agentcli.tui.painting.markdown import markdown_rows
from agentcli.tui.painting.rows import Row


class AssistantText:
    """A text block of the model."""

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._growing: GrowingMarkdown | None = None

    @property
    def text(self) -> str:
        """The Markdown."""
        return self._growing.text if self._growing else self._text

    def append(self, delta: str) -> None:
        """Add a delta."""
        if self._growing is None:
            self._growing = GrowingMarkdown()
            self._growing.append(self._text)
        self._growing.append(delta)

    def finish(self, text: str | None = None) -> None:
        """Note that the text is complete. `text`, if given, replaces it."""
        self._text = self.text if text is None else text
        self._growing = None

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        return self._growing.rows(width, palette) if self._growing else markdown_rows(self._text, width, palette)

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        return guess_rows(self.text, width)
