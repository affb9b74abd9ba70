"""Editor: where the person writes. What is in it is kept until it was sent."""

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from agentcli.tui.clean import clean

PLACEHOLDER = "Ask anything · Enter sends · Ctrl+J new line · Alt+Enter after this run"


KEYS = {
    "enter": "submit",
    "alt+enter": "follow_up",
    "ctrl+enter": "follow_up",
    "ctrl+q": "follow_up",
    "shift+enter": "new_line",
    "ctrl+j": "new_line",
    "ctrl+c": "interrupt",
    "ctrl+d": "end",
    "escape": "abort",
    "up": "up",
    "end": "end_or_follow",
}
"""The keys that mean more here than in any text area, and their actions.

They are no bindings: a priority binding is acted on when the key arrives, before the letters typed ahead of it are in.
"""


class Editor(TextArea):
    """Text comes in through keys and `put` only, and is clean."""

    DEFAULT_CSS = """
    Editor {
        height: auto;
        max-height: 40%;
        border: round $border;
        padding: 0 1;
        background: $background;
        scrollbar-size-vertical: 1;
        &:focus { border: round $primary; }
        &.-asked { max-height: 5; }
        &.-idle { border: round $border; }
        &.-tiny { border: none; padding: 0; }
        &.-tiny.-asked { max-height: 1; }
        & .text-area--placeholder { color: $text-muted; }
    }
    """

    class Submitted(Message):
        """A prompt that is not blank. The editor is empty again."""

        def __init__(self, text: str, follow_up: bool) -> None:
            super().__init__()
            self.text = text
            self.follow_up = follow_up

    class Interrupted(Message):
        """Ctrl+C with nothing to clear or copy."""

    class AbortAsked(Message):
        """Esc."""

    class QuitAsked(Message):
        """Ctrl+D with nothing written."""

    class EndAsked(Message):
        """End with nothing written: the end of the conversation is meant."""

    def __init__(self) -> None:
        super().__init__(highlight_cursor_line=False, placeholder=PLACEHOLDER)
        self.cursor_blink = False
        self._last_sent = ""

    def put(self, text: str) -> None:
        """Have this text and nothing else, the cursor at its end. It can be undone."""
        self.replace(clean(text), (0, 0), self.document.end, maintain_selection_offset=False)

    def action_submit(self) -> None:
        self._submit(follow_up=False)

    def action_follow_up(self) -> None:
        self._submit(follow_up=True)

    def action_new_line(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)

    def action_interrupt(self) -> None:
        if self.screen.get_selected_text():
            self.screen.action_copy_text()
            self.screen.clear_selection()
        elif self.selected_text:
            self.app.copy_to_clipboard(self.selected_text)
        elif self.text:
            self.put("")
        else:
            self.post_message(self.Interrupted())

    def action_end(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.QuitAsked())

    def action_abort(self) -> None:
        self.screen.clear_selection()
        self.post_message(self.AbortAsked())

    def action_up(self) -> None:
        if not self.text and self._last_sent:
            self.put(self._last_sent)
        else:
            self.action_cursor_up()

    def action_end_or_follow(self) -> None:
        if self.text:
            self.action_cursor_line_end()
        else:
            self.post_message(self.EndAsked())

    def _submit(self, follow_up: bool) -> None:
        text = self.text
        if not text.strip():
            return
        self._last_sent = text
        # One step: a second Enter finds an empty editor, and no key is lost in between.
        self.put("")
        self.post_message(self.Submitted(text, follow_up))

    def _recompute_cursor_offset(self) -> None:
        # Textual asks in the middle of an undo that changes the scrollbar, when the cursor is where no text is now.
        if self.cursor_location[0] < self.document.line_count:
            super()._recompute_cursor_offset()

    async def _on_key(self, event: events.Key) -> None:
        if action := KEYS.get(event.key):
            event.prevent_default()
            event.stop()
            await self.run_action(action)
        elif event.character is not None and event.key.startswith(("alt+", "ctrl+", "super+")):
            # The character of a key that means something else: Textual would type it.
            event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if text := clean(event.text):
            result = self._replace_via_keyboard(text, *self.selection)
            if result is not None:
                self.move_cursor(result.end_location)
            self.focus()
