"""Editor: where the user writes. Its text is kept on disk until it is sent.

It works alone; history, completion and drafts are added after the first paint (`tui.app_settings`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.message import Message
from textual.widgets.text_area import Edit, EditResult, Location

from agentcli.agent.errors import AgentcliError
from agentcli.agent.threads import to_thread
from agentcli.tui.commands.actions import Where
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.editing.pastes import is_long, without_marks
from agentcli.tui.editing.prompt_history import HistoryWalk, PromptHistory
from agentcli.tui.painting.clean import typed
from agentcli.tui.terminal.keys import types_text
from agentcli.tui.widgets.marked_area import MarkedArea

if TYPE_CHECKING:
    from agentcli.tui.editing.drafts import Drafts
    from agentcli.tui.widgets.completing import Completing

PLACEHOLDER = "Ask anything · Enter sends · Ctrl+J new line · Alt+Enter after this run"


class Editor(MarkedArea, inherit_bindings=False):
    """The text area for prompts. Text enters by keys, pastes and `put` only, and is cleaned there.

    Keys are looked up in `keymap` when they are handled, in order with the letters typed before them. Textual would act
    on bindings first.

    Args:
        keymap: the keys; by default those of widgets only.
    """

    DEFAULT_CSS = """
    Editor {
        height: auto;
        max-height: 40%;
        border: round $border;
        padding: 0 1;
        background: $background;
        scrollbar-size-vertical: 1;
        &:focus { border: round $primary; }
        &.-idle { border: round $border; }
        &.-shell { border: heavy $warning; }
        &.-asked { max-height: 5; }
        &.-tiny { border: none; padding: 0; }
        &.-tiny.-asked { max-height: 1; }
        & .text-area--placeholder { color: $text-muted; }
    }
    """

    is_prompt: ClassVar[bool] = True
    """Whether it is for prompts, with commands, files and a history."""

    class Submitted(Message):
        """A prompt that is not blank. The editor is empty again."""

        def __init__(self, text: str, follow_up: bool) -> None:
            super().__init__()
            self.text = text
            self.follow_up = follow_up

    class ActionAsked(Message):
        """A key of an action of the app. It comes in order with what is typed."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Notice(Message):
        """One line for the user."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class HistoryAsked(Message):
        """The user wants to search `prompts.entries`, which are complete now. `recall` shows the chosen one."""

    class Interrupted(Message):
        """Ctrl+C with nothing to clear or copy."""

    class AbortAsked(Message):
        """Esc."""

    class QuitAsked(Message):
        """Ctrl+D with nothing written."""

    class EndAsked(Message):
        """End with nothing written: the end of the conversation is meant."""

    def __init__(self, keymap: Keymap | None = None) -> None:
        super().__init__(PLACEHOLDER)
        self.cursor_blink = False
        self.keymap = keymap or Keymap()
        self.prompts = PromptHistory(None)
        self.completing: Completing | None = None
        self.drafts: Drafts | None = None
        self.cwd: Path | None = None
        """The directory to which paths are relative."""
        self.external_editor: str | None = None
        """The command for it; None is the environment's."""
        self.aside = ""
        """Texts that the app has and that are not sent. They are kept as the draft is; see `keep_aside`."""
        self._walk: HistoryWalk | None = None
        self._is_put = False
        self._reported: set[str] = set()

    # The text

    @property
    def text(self) -> str:
        """The text that would be sent, pasted texts in place of their markers."""
        return self.whole

    @text.setter
    def text(self, value: str) -> None:
        self.put(value)

    @property
    def unsent(self) -> str:
        """The text that must not be lost: the draft, also while an entry of the history is shown in its place."""
        draft = self._walk.draft if self._walk is not None else None
        is_old = draft is not None and self.text in self.prompts.entries
        texts = (self.aside, self.pastes.expand(draft or ""), "" if is_old else self.text)
        return "\n\n".join(text for text in texts if text.strip())

    def keep_aside(self, text: str) -> None:
        """Save texts of the app, such as queued messages, together with the draft."""
        if text != self.aside:
            self.aside = text
            if self.drafts is not None:
                self.drafts.changed(lambda: self.unsent)

    def put(self, text: str) -> None:
        """Replace the whole text, the cursor at its end. It can be undone."""
        self._leave_walk()
        self._replace_all(without_marks(typed(text)))

    def put_before(self, text: str) -> None:
        """Put a text before the draft, whose markers and cursor stay as they are."""
        text = without_marks(typed(text))
        if self.text.strip():
            self._put_in(f"{text}\n\n", (0, 0), (0, 0), keeps_cursor=True)
        else:
            self.put(text)

    def recall(self, text: str) -> None:
        """Show an entry of the history, as if the user had gone back to it: the draft comes after it."""
        if self._walk is None:
            self._walk = HistoryWalk(self.prompts.entries, self.document.text)
        self._walk.to(text, self.document.text)
        self._replace_all(without_marks(typed(text)))

    def report(self, problem: str) -> None:
        """Show a problem of something that runs in the background, once. Nothing if it is empty."""
        if problem and problem not in self._reported:
            self._reported.add(problem)
            self.post_message(self.Notice(problem))

    def _replace_all(self, text: str) -> None:
        self._put_in(text, (0, 0), self.document.end)

    def _put_in(self, text: str, start: Location, end: Location, *, keeps_cursor: bool = False) -> None:
        """Replace a range without completing, as it was not typed."""
        self._is_put = True
        try:
            self.replace(text, start, end, maintain_selection_offset=keeps_cursor)
        finally:
            self._is_put = False
        if self.completing is not None and self.completing.is_open:
            self.completing.close()

    def edit(self, edit: Edit) -> EditResult:
        """Apply an edit and update the completion. Textual calls this for every edit."""
        result = super().edit(edit)
        if self.completing is not None and not self._is_put:
            self.completing.typed()
        return result

    def update_suggestion(self) -> None:
        """Textual calls this after every change of the text."""
        super().update_suggestion()
        if self.is_prompt:
            self.set_class(self.document.get_line(0).startswith("!"), "-shell")
        if self.drafts is not None:
            self.report(self.drafts.problem)
            self.drafts.changed(lambda: self.unsent)

    # Keys

    async def on_key(self, event: events.Key) -> None:
        """Do what the key means here, or leave it to the text area."""
        event.stop()
        completes = self.completing is not None and self.completing.is_open
        places = (Where.COMPLETION,) if completes else ()
        action = self.keymap.action(event.key, *places, Where.EDITOR, Where.APP)
        if action is None:
            is_modified = event.key.startswith(("alt+", "ctrl+", "super+"))
            if event.character is not None and (is_modified or not without_marks(event.character)):
                # A modified key or a marker: Textual would type its character.
                event.prevent_default()
            elif event.character is not None and not event.is_printable and types_text(event):
                # A joiner, a soft hyphen: Textual would not type it.
                event.prevent_default()
                self.type_over(typed(event.character), *self.selection)
            return
        event.prevent_default()
        if action.where is Where.APP:
            self.post_message(self.ActionAsked(action.name))
            return
        if self.completing is not None and action.where is Where.COMPLETION:
            self.completing.act(action.name)
            return
        try:
            await self.run_action(action.does or action.name)
        except AgentcliError as error:
            self.post_message(self.Notice(str(error)))
        if self.completing is not None and completes:
            self.completing.typed()

    def action_submit(self) -> None:
        """Send; after a backslash insert a line break in its place."""
        row, column = self.cursor_location
        if self.selection.is_empty and self.document.get_line(row)[:column].endswith("\\"):
            self.type_over("\n", (row, column - 1), (row, column))
        else:
            self._submit(follow_up=False)

    def action_follow_up(self) -> None:
        """Send for the end of the run."""
        self._submit(follow_up=True)

    def action_new_line(self) -> None:
        """Insert a line break."""
        self.type_over("\n", *self.selection)

    def action_interrupt(self) -> None:
        """Copy the selection; without one clear the draft; without a draft ask to interrupt."""
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
        """Delete to the right; without a draft ask to quit."""
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.QuitAsked())

    def action_abort(self) -> None:
        """Drop the selection and ask to abort."""
        self.screen.clear_selection()
        self.post_message(self.AbortAsked())

    def action_end_or_follow(self) -> None:
        """Go to the end of the line; without a draft to the end of the transcript."""
        if self.text:
            self.action_cursor_line_end()
        else:
            self.post_message(self.EndAsked())

    def action_cut(self) -> None:
        """Cut the selection, or the line."""
        start, end = self.selection
        result = self.delete_cursor_line() if start == end else self.delete_as_typed(start, end)
        if result is not None:
            self.app.copy_to_clipboard(self.pastes.expand(result.replaced_text))

    def _submit(self, follow_up: bool) -> None:
        text = self.text
        if not text.strip():
            return
        self._leave_walk()
        self.prompts.add(text)
        # One step: a second Enter finds an empty editor, and no key is lost in between.
        self._replace_all("")
        self.post_message(self.Submitted(text, follow_up))
        self.run_worker(self._with_history(self.prompts.save), name="save history")

    # The history

    async def action_up(self) -> None:
        """Line up; from the first line to the prompt before."""
        is_top = self.selection.is_empty and self.navigator.is_first_wrapped_line(self.cursor_location)
        if not is_top or not await self._step(-1):
            self.action_cursor_up()

    async def action_down(self) -> None:
        """Line down; from the last line to the prompt after."""
        is_bottom = self.selection.is_empty and self.navigator.is_last_wrapped_line(self.cursor_location)
        if not is_bottom or not await self._step(1):
            self.action_cursor_down()

    async def action_history_search(self) -> None:
        """Load the history and ask to search it."""
        if self.is_prompt:
            await self._with_history(self.prompts.load)
            self.post_message(self.HistoryAsked())

    async def _step(self, by: int) -> bool:
        """Show an earlier or later prompt, or the draft after the last. Returns whether there is one."""
        if self._walk is None:
            if by > 0:
                return False
            await self._with_history(self.prompts.load)
            self._walk = HistoryWalk(self.prompts.entries, self.document.text)
        text = self._walk.step(by, self.document.text)
        if text is None:
            return False
        self._replace_all(text)
        return True

    def _leave_walk(self) -> None:
        """Make the shown entry the draft. The draft before it is added to the history."""
        walk, self._walk = self._walk, None
        if walk is not None and walk.draft is not None:
            self.prompts.add(self.pastes.expand(walk.draft))

    async def _with_history(self, work: Callable[[], None]) -> None:
        """Read or write the history file in a thread, and report its problems."""
        await to_thread(work)
        self.report(self.prompts.problem)

    # Completion

    async def action_complete(self) -> None:
        """Complete what is before the cursor."""
        if self.completing is not None:
            await self.completing.tab()

    # Pastes and the external editor

    async def on_paste(self, event: events.Paste) -> None:
        """Insert a paste and take the focus."""
        event.prevent_default()
        event.stop()
        await self.take_paste(event.text)
        self.focus()

    async def take_paste(self, text: str) -> None:
        """Insert a text at the cursor, or a marker that stands for it; paths of image files are attached."""
        text = without_marks(typed(text))
        if self.is_prompt and text.lstrip(" \n\"'").startswith(("/", "~/", "file:")):
            from agentcli.tui.editing.pasted_paths import image_mentions  # only for such pastes

            if mentions := await to_thread(image_mentions, text, self.cwd):
                self.mention(mentions)
                return
        if text:
            self._put_in(self.pastes.marker(text) if is_long(text) else text, *self.selection)

    def mention(self, mentions: str) -> None:
        """Insert `@path`s at the cursor, as words of their own."""
        row, column = min(self.selection)
        is_glued = bool(self.document.get_line(row)[:column][-1:].strip())
        self._put_in(f"{' ' if is_glued else ''}{mentions} ", *self.selection)

    async def action_paste(self) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Insert the clipboard: text, or an image that becomes a file and is attached."""
        from agentcli.tui.editing.clipboard import read_clipboard  # on demand, as below
        from agentcli.tui.editing.pasted_paths import image_mention

        found = await to_thread(read_clipboard, self.app.clipboard, with_image=self.is_prompt)
        if isinstance(found, Path):
            self.mention(image_mention(found, self.cwd))
        else:
            await self.take_paste(found)

    async def action_external_editor(self) -> None:
        """Edit the draft in the user's own editor."""
        from agentcli.tui.editing.external_editor import edit_outside

        before = self.text
        if (text := await edit_outside(self.app, self.external_editor, before)) != before:
            self.put(text)

    def on_unmount(self) -> None:
        """Write the draft and the history."""
        if self.completing is not None:
            self.completing.end()
        self.prompts.save()
        if self.drafts is not None:
            self.drafts.close(self.unsent)
