"""MarkedArea: a text area with markers that stand for pasted texts.

No selection and no edit ends within a marker, or within a grapheme.
"""

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from agentcli.tui.editing.graphemes import beside_graphemes, grapheme_at
from agentcli.tui.editing.pastes import Pastes, beside_markers, marker_spans, shown_markers
from agentcli.tui.terminal.textual_private import PrivateTextArea


class _Line(Text):
    """A line in which the whole grapheme at the cursor is styled: a terminal would not join it across styles."""

    def stylize(self, style: str | Style, start: int = 0, end: int | None = None) -> None:
        if end == start + 1:
            start, end = grapheme_at(self.plain, start)
        super().stylize(style, start, end)


class MarkedArea(PrivateTextArea, inherit_bindings=False):
    """A text area with markers."""

    DEFAULT_CSS = "MarkedArea .marked-area--marker { color: $primary; text-style: bold; }"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"marked-area--marker"}

    def __init__(self, placeholder: str) -> None:
        self._is_styled = False
        self.pastes = Pastes()
        self._whole: str | None = None
        super().__init__(highlight_cursor_line=False, placeholder=placeholder)

    @property
    def whole(self) -> str:
        """The text, pasted texts in place of their markers."""
        if self._whole is None:
            self._whole = self.pastes.expand(self.document.text)
        return self._whole

    def update_suggestion(self) -> None:
        """Note that the text has changed. Textual calls this after every change."""
        self._whole = None

    def edit(self, edit: Edit) -> EditResult:
        """Apply an edit, widened to whole markers and graphemes."""
        top, bottom = self._beside_whole(edit.top, back=True), self._beside_whole(edit.bottom, back=False)
        if edit.top == edit.bottom:
            bottom = top
        takes_marker = bool(marker_spans(self.document.get_text_range(top, bottom)))
        if (top, bottom) != (edit.top, edit.bottom):
            edit = Edit(edit.text, top, bottom, edit.maintain_selection_offset)
        if takes_marker:
            # A step of its own for undo, as inserting it was.
            self.history.checkpoint()
        result = super().edit(edit)
        if takes_marker:
            self.history.checkpoint()
        return result

    def notify_style_update(self) -> None:
        """Compute the colours again with the next paint."""
        self._is_styled = False
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint, without computing the colours again if they have not changed."""
        if self._is_styled:
            # Textual would compute its colours again, which takes a sixth of the time of a key.
            return super(TextArea, self).render_lines(crop)
        self._is_styled = True
        return super().render_lines(crop)

    def get_line(self, line_index: int) -> Text:
        """A line with its markers shown."""
        line = self.document.get_line(line_index)
        text = (Text if line.isascii() else _Line)(shown_markers(line), end="", no_wrap=True)
        for start, end in marker_spans(line):
            text.stylize(self.get_component_rich_style("marked-area--marker"), start, end)
        return text

    def get_text_range(self, start: Location, end: Location) -> str:
        """A part of the text, pasted texts in place of their markers."""
        return self.pastes.expand(super().get_text_range(start, end))

    def _beside_whole(self, location: Location, *, back: bool) -> Location:
        row, column = location
        line = self.document.get_line(row)
        return row, beside_graphemes(line, beside_markers(line, column, back=back), back=back)

    def adjust_selection(self, selection: Selection) -> Selection:
        """Move the ends out of markers and graphemes."""
        start, end = selection
        back = end < self.selection.end
        return Selection(self._beside_whole(start, back=back), self._beside_whole(end, back=back))
