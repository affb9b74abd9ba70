"""ListScreen: what the screens share: a title, a line to type in, a list, a preview where there is room, and the keys.

No widget in it has the focus, so every key comes to the screen and takes effect at once, in order. Keys without an
action go into the line. A `Question` takes the line for as long as it is open.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Offset
from textual.keys import Keys
from textual.screen import ModalScreen
from textual.strip import Strip

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.commands.actions import Where
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.editing.line_edit import LineEdit
from agentcli.tui.painting.list_rows import MARK, NO_MARK, fit, lit, two_columns
from agentcli.tui.painting.rows import Run, wrapped
from agentcli.tui.terminal.keys import types_text
from agentcli.tui.widgets.row_list import PaintedRows, RowList

T = TypeVar("T")

FRAMED_ROWS, FRAMED_COLUMNS = 12, 40
"""A smaller terminal has no border."""
TITLE_ROWS, HINT_ROWS, PREVIEW_ROWS = 6, 4, 20
"""Rows of the terminal from which on each is shown."""
PREVIEW_CHARACTERS = 4_000
NOTICE_ROWS = 3
"""Of a notice, at most."""
_NO_TEXT = ("alt+", "ctrl+", "super+")
"""Keys that mean something else than their character."""


class Question:
    """One line that is asked for.

    Args:
        prompt: shown before the line.
        text: what is in the line at first.
        done: called with the line on Enter. Esc closes the question.
    """

    def __init__(self, prompt: str, text: str, done: Callable[[str], None]) -> None:
        self.prompt = prompt
        self.line = LineEdit(text)
        self.done = done


class ListScreen(ModalScreen[T | None], inherit_bindings=False):
    """A screen with a list. Subclasses override the methods under "The list".

    Args:
        title: what is listed.
        keymap: which key does what.
        palette: the styles, until the app's theme changes.
        placeholder: shown in the empty line.
    """

    PLACES: ClassVar[tuple[Where, ...]] = (Where.LIST,)
    preview_lines = 0
    """How many rows of `preview` are shown, if there is room."""
    DEFAULT_CSS = """
    ListScreen {
        align: center middle;
        & > #panel {
            width: 100%;
            max-width: 120;
            height: 100%;
            max-height: 40;
            padding: 0 1;
            border: round $primary;
            background: $background;
        }
        &.-tiny > #panel { border: none; padding: 0; }
    }
    """

    def __init__(self, title: str, *, keymap: Keymap, palette: Palette, placeholder: str = "type to search") -> None:
        super().__init__()
        self.heading = title
        self.keymap = keymap
        self.palette = palette
        self.placeholder = placeholder
        self.line = LineEdit()
        """The search."""
        self.question: Question | None = None
        self.notice = ""
        """A message about the last key, until the next key."""
        self.notice_tone = Tone.WARNING
        self.list = RowList(self._draw, self._draw_nothing, self.is_heading, id="list")
        self._title = PaintedRows(self._paint_title, id="title")
        self._line = PaintedRows(self._paint_line, id="line")
        self._preview = PaintedRows(self._paint_preview, id="preview")
        self._foot = PaintedRows(self._paint_foot, id="foot")

    def compose(self) -> ComposeResult:
        """The parts from top to bottom."""
        with Vertical(id="panel"):
            yield self._title
            yield self._line
            yield self.list
            yield self._preview
            yield self._foot

    def on_mount(self) -> None:
        """Fill the list."""
        self.app.theme_changed_signal.subscribe(self, lambda theme: self._use_theme())
        self.place_list()
        self._renew()

    def _use_theme(self) -> None:
        self.set_palette(Palette(self.app.get_css_variables()))

    def set_palette(self, palette: Palette) -> None:
        """Paint with other styles."""
        self.palette = palette
        self._renew()
        self.list.refresh()

    # The list

    def place_list(self) -> None:
        """Fill the list with what the line leaves of it. Called at the start and when the line has changed."""
        raise NotImplementedError

    def draw_row(self, number: int, width: int, chosen: bool) -> Strip:
        """A row, with `MARK` before the chosen one, which is also highlighted."""
        raise NotImplementedError

    def choose(self) -> None:
        """Act on the chosen row, after Enter."""
        raise NotImplementedError

    def handle_action(self, name: str) -> None:
        """Do an action of the subclass."""

    def is_heading(self, number: int) -> bool:
        """Whether a row cannot be chosen."""
        return False

    def moved(self) -> None:
        """Note that another row may be the chosen one."""

    def counted(self) -> str:
        """How much is shown, for the title."""
        return str(self.list.count)

    def hints(self) -> Sequence[tuple[str, str]]:
        """Actions and a word on each for the last line, the most important first."""
        return (("list_choose", "choose"), ("list_cancel", "close"))

    def preview(self) -> str:
        """More about the chosen row, of which the beginning is shown if there is room."""
        return ""

    def nothing(self) -> str:
        """What is shown when nothing is listed."""
        return "nothing fits"

    # Keys and the mouse

    async def on_key(self, event: events.Key) -> None:
        """Do what the key means, or put its character into the line."""
        event.stop()
        event.prevent_default()
        if event.key == Keys.Ignore:
            return
        self.clear_notice()
        if self.question is not None:
            self._answer(self.question, event)
        elif action := self.keymap.action(event.key, *self.PLACES):
            self._act(action.name)
        elif self._typed(self.line, event):
            self.place_list()
        self.changed()

    def _answer(self, question: Question, event: events.Key) -> None:
        match self.keymap.action(event.key, Where.LIST):
            case action if action is not None and action.name == "list_choose":
                self.question = None
                question.done(question.line.text.strip())
            case action if action is not None and action.name == "list_cancel":
                self.question = None
            case _:
                self._typed(question.line, event)

    def _typed(self, line: LineEdit, event: events.Key) -> bool:
        """Apply a key to a line. Returns whether the text changed."""
        before = line.text
        if action := self.keymap.action(event.key, Where.EDITOR):
            line.act(action.name)
        elif event.character is not None and types_text(event) and not event.key.startswith(_NO_TEXT):
            line.insert(event.character)
        return line.text != before

    async def on_paste(self, event: events.Paste) -> None:
        """Put a paste into the line."""
        event.stop()
        event.prevent_default()
        self.clear_notice()
        line = self.question.line if self.question else self.line
        line.insert(event.text)
        if self.question is None:
            self.place_list()
        self.changed()

    def _act(self, name: str) -> None:
        match name:
            case "list_up":
                self.list.move(-1)
            case "list_down":
                self.list.move(1)
            case "list_page_up":
                self.list.page(-1)
            case "list_page_down":
                self.list.page(1)
            case "list_start":
                self.list.choose(0)
            case "list_end":
                self.list.choose(self.list.count - 1)
            case "list_choose":
                self.choose()
            case "list_cancel":
                self.dismiss(None)
            case _:
                self.handle_action(name)

    def on_row_list_clicked(self, message: RowList.Clicked) -> None:
        """Choose by the second click on a row."""
        self.clear_notice()
        if message.again and self.list.chosen is not None:
            self.choose()
        self.changed()

    def ask(self, prompt: str, text: str, done: Callable[[str], None]) -> None:
        """Use the line for a question."""
        self.question = Question(prompt, text, done)

    def clear_notice(self) -> None:
        """Remove the notice, as the next key, paste or click has come."""
        self.notice = ""

    def show_notice(self, text: str, tone: Tone = Tone.WARNING) -> None:
        """Show a line until the next key."""
        self.notice, self.notice_tone = text, tone
        self._renew()

    def changed(self) -> None:
        """Paint what a key or the mouse has changed."""
        self.list.takes_clicks = self.question is None
        self.moved()
        self._renew()

    # Painting

    def on_resize(self, event: events.Resize) -> None:
        """Fit to the new size."""
        width, height = event.size
        framed = width >= FRAMED_COLUMNS and height >= FRAMED_ROWS
        self.set_class(not framed, "-tiny")
        self._title.display = height >= TITLE_ROWS
        self._renew()

    def _renew(self) -> None:
        height = self.size.height
        self._foot.display = height >= HINT_ROWS or bool(self.notice and height > 1)
        self._preview.display = height >= PREVIEW_ROWS and self.preview_lines > 0
        for rows in (self._title, self._line, self._preview, self._foot):
            rows.renew()

    def _paint_title(self, width: int) -> list[Strip]:
        palette = self.palette
        right = [(self.counted(), palette[Tone.DIM])]
        return [two_columns([(self.heading, palette[Tone.HEADING])], right, width, palette[Tone.TEXT])]

    def _paint_line(self, width: int) -> list[Strip]:
        palette = self.palette
        line = self.question.line if self.question else self.line
        prompt = f"{self.question.prompt}: " if self.question else MARK
        if cell_len(prompt) > width // 2:
            prompt = MARK if width > 8 else ""
        runs: list[Run] = [(prompt, palette[Tone.HEADING])]
        runs += line.runs(max(width - cell_len(prompt), 1), palette[Tone.TEXT])
        # The terminal shows the text of an input method here.
        self.app.cursor_position = self._line.region.offset + Offset(sum(cell_len(text) for text, _ in runs[:2]), 0)
        if not line.text and self.question is None:
            runs.append((self.placeholder, palette[Tone.DIM]))
        return [fit(runs, width, palette[Tone.TEXT])]

    def _paint_preview(self, width: int) -> list[Strip]:
        """Always the same number of rows, so that the list stays in its place."""
        palette = self.palette
        text = self.preview()[:PREVIEW_CHARACTERS]
        rows = wrapped([(text, palette[Tone.DIM])], width, fill=palette[Tone.TEXT])[: self.preview_lines]
        rows += [fit([], width, palette[Tone.TEXT])] * (self.preview_lines - len(rows))
        return [fit([("─" * width, palette[Tone.DIM])], width, palette[Tone.TEXT]), *rows]

    def _draw(self, number: int, width: int, chosen: bool) -> Strip:
        strip = self.draw_row(number, width, chosen)
        return lit(strip, self.palette) if chosen else strip

    def _draw_nothing(self, width: int) -> Strip:
        return fit([(NO_MARK + self.nothing(), self.palette[Tone.DIM])], width, self.palette[Tone.TEXT])

    def _paint_foot(self, width: int) -> list[Strip]:
        palette = self.palette
        if self.notice:
            room = NOTICE_ROWS if self.size.height >= TITLE_ROWS else 1
            return wrapped([(self.notice, palette[self.notice_tone])], width, fill=palette[Tone.TEXT])[:room]
        hints = (("list_choose", "take it"), ("list_cancel", "leave it")) if self.question else self.hints()
        shown = [(self.keymap.shown(name), word) for name, word in hints]
        text = " · ".join(f"{key} {word}" for key, word in shown if key)
        return [fit([(text, palette[Tone.DIM])], width, palette[Tone.TEXT])]
