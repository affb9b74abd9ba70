"""What the model says: Markdown that may still grow."""

from agentcli.tui.colors.palette import Palette
from agentcli.tui.items.item import guess_rows
from agentcli.tui.painting.growing import GrowingMarkdown
from agentcli.tui.painting.markdown import markdown_rows
from agentcli.tui.painting.rows import Row


class AssistantText:
    def __init__(self, text: str = "") -> None:
        self._text = text
        self._growing: GrowingMarkdown | None = None

    @property
    def text(self) -> str:
        return self._growing.text if self._growing else self._text

    def append(self, delta: str) -> None:
        if self._growing is None:
            self._growing = GrowingMarkdown()
            self._growing.append(self._text)
        self._growing.append(delta)

    def finish(self, text: str | None = None) -> None:
        """Nothing more comes. `text`, if given, is what there is in the end."""
        self._text = self.text if text is None else text
        self._growing = None

    def rows(self, width: int, palette: Palette) -> list[Row]:
        return self._growing.rows(width, palette) if self._growing else markdown_rows(self._text, width, palette)

    def guess(self, width: int) -> int:
        return guess_rows(self.text, width)
