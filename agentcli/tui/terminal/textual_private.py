"""Every private name of Textual that the app depends on. No other module uses one.

An upgrade of Textual is checked here: `tests/tui/test_textual_private.py` has a test for each name.
"""

from collections.abc import Iterable

from rich.console import RenderableType
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location, Selection


class SequenceParser(XTermParser):
    """Textual's parser of terminal input, with a public hook for escape sequences."""

    @property
    def is_within_sequence(self) -> bool:
        """Whether the input so far ends with the beginning of a sequence."""
        return self._awaiting.timeout is not None

    def sequence_to_keys(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        """Convert a sequence, or one character, to key events. Subclasses extend it.

        Args:
            sequence: what the terminal sent.
            alt: whether an Esc came right before it.
        """
        return super()._sequence_to_key_events(sequence, alt)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        return self.sequence_to_keys(sequence, alt)


class PrivateDriver(LinuxDriver):
    """The driver for Unix terminals."""

    @property
    def has_writer(self) -> bool:
        """Whether output is written: false before the start, and while the process is in the background."""
        return self._writer_thread is not None


class PrivateApp(App[None]):
    """An app that can write to its terminal, and decides what is printed after a crash."""

    def write_to_terminal(self, text: str) -> None:
        """Send text, escape sequences included, to the terminal as it is. Does nothing before the app runs."""
        if self._driver is not None:
            self._driver.write(text)

    def crash_report(self, error: Exception) -> RenderableType:
        """What is printed when the app ends with an unhandled exception."""
        raise NotImplementedError

    def _fatal_error(self) -> None:
        if self._exception is not None:
            self._exit_renderables.append(self.crash_report(self._exception))
        self._close_messages_no_wait()


class PrivateTextArea(TextArea, inherit_bindings=False):
    """A text area whose edits by keyboard and whose selections can be changed by a subclass."""

    def type_over(self, text: str, start: Location, end: Location) -> EditResult | None:
        """Replace a range as typing does: one step of undo with what was typed before, the cursor after it."""
        return self._replace_via_keyboard(text, start, end)

    def delete_as_typed(self, start: Location, end: Location) -> EditResult | None:
        """Delete a range as a key does."""
        return self._delete_via_keyboard(start, end)

    def delete_cursor_line(self) -> EditResult | None:
        """Delete the line of the cursor as a key does."""
        return self._delete_cursor_line()

    def adjust_selection(self, selection: Selection) -> Selection:
        """Move the ends of a new selection, which are within the document, to where they may be."""
        return selection

    def _validate_selection(self, selection: Selection) -> Selection:
        return self.adjust_selection(super()._validate_selection(selection))

    def _recompute_cursor_offset(self) -> None:
        # Textual calls this during an undo that changes the scrollbar, when the cursor is past the end of the text.
        if self.cursor_location[0] < self.document.line_count:
            super()._recompute_cursor_offset()


def set_virtual_size(view: ScrollView, size: Size) -> None:
    """Change the size of what is scrolled without a new layout of the screen, which does not depend on it."""
    view.set_reactive(Widget.virtual_size, size)  # type: ignore[arg-type]
    view._scroll_update(size)
