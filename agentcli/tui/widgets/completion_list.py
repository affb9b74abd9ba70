"""CompletionList: suggestions in a few lines above the editor, which keeps the focus and handles the keys."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.list_rows import MARK, NO_MARK, parts

if TYPE_CHECKING:
    from agentcli.tui.editing.completion import Suggestion

MAX_ROWS = 8
OTHER_ROWS = 8
"""Rows of the editor, the footer and a bit of the transcript. Of the rest the list gets half."""
MAX_LABEL = 0.6
"""Of the width, if there is a description beside it."""


class CompletionList(Widget):
    """The list of suggestions.

    Args:
        clicked: called when a line was clicked, which is then the chosen one.
    """

    DEFAULT_CSS = """
    CompletionList {
        height: auto;
        display: none;
        padding: 0 1;
        background: $background;
        color: $foreground;
    }
    """

    def __init__(self, clicked: Callable[[], None]) -> None:
        super().__init__()
        self._clicked = clicked
        self._suggestions: Sequence[Suggestion] = ()
        self._place = 0
        self._top = 0

    @property
    def is_open(self) -> bool:
        """Whether there are suggestions, and room for them."""
        return bool(self._suggestions) and self.rows > 0

    @property
    def rows(self) -> int:
        """How many lines there is room for."""
        return min(MAX_ROWS, max((self.app.size.height - OTHER_ROWS) // 2, 0))

    @property
    def chosen(self) -> "Suggestion":
        """The highlighted suggestion."""
        return self._suggestions[self._place]

    def show(self, suggestions: "Sequence[Suggestion]") -> None:
        """Show suggestions, the first one highlighted. Without any the list is closed."""
        if not suggestions and not self._suggestions:
            return
        self._suggestions = suggestions
        self._place = self._top = 0
        self.display = bool(suggestions)
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        """Highlight another one; past the last comes the first."""
        self._place = (self._place + by) % len(self._suggestions)
        self._top = min(max(self._top, self._place - self.rows + 1), self._place)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Insert the clicked suggestion."""
        place = self._top + event.y
        if place < len(self._suggestions):
            self._place = place
            self._clicked()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One line a suggestion."""
        return min(len(self._suggestions), self.rows)

    def render(self) -> Content:
        """The visible lines."""
        width = max(self.content_size.width, 1)
        visible = self._suggestions[self._top : self._top + max(self.rows, 1)]
        widest = max((cell_len(suggestion.label) for suggestion in visible), default=0)
        column = min(widest, int(width * MAX_LABEL))
        lines = [self._line(each, column, width, each is self.chosen) for each in visible]
        return Content("\n").join(lines)

    def _line(self, suggestion: "Suggestion", column: int, width: int, is_chosen: bool) -> Content:
        mark = MARK if is_chosen else NO_MARK
        detail = one_line(suggestion.detail)
        found = parts(one_line(suggestion.label), suggestion.places)
        name = Content.assemble(*((part, "bold underline" if is_found else "") for part, is_found in found))
        name = name.truncate(column if detail else width - len(mark), ellipsis=True, pad=bool(detail))
        line = Content.assemble(mark, name, ("  " + detail, "$text-muted") if detail else "")
        line = line.truncate(width, ellipsis=True)
        return line.stylize("bold $primary", 0, len(mark) + len(name)) if is_chosen else line
