"""ChatApp: the screen, and what keys and messages do to it.

Composition only: what a run is belongs to the runtime, what is shown of it to `chat`, what keys mean to the widgets,
what commands do to `commands`. The runtime is made after the first paint, so that the prompt is there at once; what was
sent before it is ready waits.
"""

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.timer import Timer

from agentcli.agent.errors import AgentcliError
from agentcli.agent.threads import to_thread
from agentcli.tui.colors.current_theme import CSS, LOOK_S, CurrentTheme, without_color
from agentcli.tui.colors.palette import Palette
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.commands.queue_edit import QueueEdit
from agentcli.tui.commands.scroll_actions import look
from agentcli.tui.permission_controller import PermissionController
from agentcli.tui.status import Status
from agentcli.tui.terminal.background import BackgroundReported
from agentcli.tui.terminal.notifier import TerminalNotifier
from agentcli.tui.terminal.shutdown_handler import ShutdownHandler, crash_report
from agentcli.tui.terminal.terminal import Terminal, TerminalGone
from agentcli.tui.terminal.textual_private import PrivateApp
from agentcli.tui.widgets.editor import Editor
from agentcli.tui.widgets.footer import Footer
from agentcli.tui.widgets.permission_prompt import Choice, PermissionPrompt
from agentcli.tui.widgets.queue_bar import QueueBar, QueuedKind, QueuedRow
from agentcli.tui.widgets.reason_editor import ReasonEditor
from agentcli.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from agentcli.runtime.options import RuntimeOptions
    from agentcli.runtime.runtime import Runtime
    from agentcli.tui.commands.commands import Commands
    from agentcli.tui.event_batcher import EventBatcher
    from agentcli.tui.session_controller import SessionController

TWICE_WITHIN_S = 1.0
"""Two Ctrl+C in so short a time quit, two Esc open the tree."""
SMALL_ROWS, SMALL_COLUMNS = 10, 24
"""A smaller terminal has no room for a frame round the editor."""


class ChatApp(PrivateApp, inherit_bindings=False):
    """Args:
    options: what the runtime is made from.
    theme: as the settings have it, if they are known already: they are read again with the runtime.

    `run` returns the exit code, and raises the `AgentcliError` that kept the runtime from being made.
    """

    TITLE = "agentcli"
    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { layout: vertical; }" + CSS

    def __init__(self, options: "RuntimeOptions", theme: str | None = None) -> None:
        super().__init__(driver_class=Terminal, ansi_color=without_color())
        self.options = options
        self.failure: AgentcliError | None = None
        """Why the runtime could not be made."""
        self.chat: SessionController | None = None
        """None until the runtime is there."""
        self.commands: Commands | None = None
        """None as long as `chat` is."""
        self.keymap = Keymap()
        self.palette = Palette({})
        self.theming = CurrentTheme(self, theme)
        self.asking = PermissionController(self)
        self._early: list[Editor.Submitted] = []
        """Sent before there was a runtime."""
        self._queue_edit: QueueEdit | None = None
        self._leaving = ShutdownHandler(self._kill_children, lambda code: self.exit(return_code=code))
        self.attention = TerminalNotifier(self.write_to_terminal)
        self._pressed_at = {"interrupt": -TWICE_WITHIN_S, "abort": -TWICE_WITHIN_S}
        """When the keys that mean more when pressed twice were pressed."""
        self._clock: Timer | None = None
        # What is wrong with it is told when the runtime has met the settings.
        self.theming.start()

    def _kill_children(self) -> None:
        if self.runtime is not None:
            self.runtime.kill_now()

    @property
    def runtime(self) -> "Runtime | None":
        return self.chat.runtime if self.chat else None

    @property
    def parting_words(self) -> str:
        """How to go on with what was said; empty if nothing was kept."""
        runtime = self.runtime
        if runtime is None or not runtime.agent.state.messages or runtime.options.session.in_memory:
            return ""
        return f"go on with: agentcli --session {runtime.session.id[-12:]}"

    @property
    def main(self) -> Screen[Any]:
        """The screen with the conversation, under whatever is open over it."""
        return self.screen_stack[0]

    def compose(self) -> ComposeResult:
        yield Transcript()
        yield QueueBar()
        yield PermissionPrompt()
        yield Editor()
        yield Footer()

    def run(self, **arguments: Any) -> int:  # type: ignore[override]
        super().run(**arguments)
        if self.failure is not None:
            raise self.failure
        return self.return_code or 0

    def on_mount(self) -> None:
        self.transcript = self.query_one(Transcript)
        self.queue = self.query_one(QueueBar)
        self.permission = self.query_one(PermissionPrompt)
        self.editor = self.query_one(Editor)
        self.reason = ReasonEditor()
        self.footer = self.query_one(Footer)
        self.editor.focus()
        self.footer.show(Status(activity="starting"))
        self._use_theme()
        self.theme_changed_signal.subscribe(self, lambda theme: self._use_theme())
        self.app_resume_signal.subscribe(self, lambda app: self._come_back())
        self._leaving.watch()
        self.call_after_refresh(self._start)

    def _use_theme(self) -> None:
        self.palette = Palette(self.get_css_variables())
        self.transcript.set_palette(self.palette)
        self.permission.set_palette(self.palette)

    def _come_back(self) -> None:
        self.attention.again()
        self.refresh()
        self.show_state()

    # The runtime

    def _start(self) -> None:
        self.run_worker(self._open_chat(), name="start")

    async def _open_chat(self) -> None:
        try:
            # In a thread, so that keys are taken meanwhile.
            module = await to_thread(import_module, "agentcli.tui.session_controller")
            chat: SessionController = module.SessionController.open(self.options, self.transcript, self.post_message)
        except AgentcliError as error:
            self.failure = error
            self.exit(return_code=1)
            return
        from agentcli.tui.app_settings import apply_settings, equip_editor  # 15 ms, after the first paint

        await self.main.mount(self.reason, after=self.editor)
        self.chat = chat
        self._tell(apply_settings(self, chat))
        self._clock = self.set_interval(1.0, self._tick, pause=True)
        self.set_interval(LOOK_S, self._look_at_theme)
        early, self._early = self._early, []
        for submitted in early:
            self._take(chat, submitted)
        self.show_state()
        await equip_editor(self, chat)
        await chat.warm_up()
        self.show_state()

    def _look_at_theme(self) -> None:
        self._tell(self.theming.look())

    def on_background_reported(self, message: BackgroundReported) -> None:
        self._tell(self.theming.background_is(message.is_light))

    def _tell(self, lines: list[str]) -> None:
        for line in lines:
            if self.chat is not None:
                self.chat.conversation.notice(line)

    def on_event_batcher_batch(self, batch: "EventBatcher.Batch") -> None:
        if self.chat is None or batch.bridge is not self.chat.bridge:
            return
        ended = self.chat.apply(batch)
        self.show_state()
        if ended is not None:
            self.attention.run_ended(ended, self.chat.status)
        self.call_after_refresh(self.chat.bridge.done)

    def show_state(self) -> None:
        """The queue, the footer, the title, and whether a clock runs."""
        waiting = [QueuedRow(str(number), QueuedKind.EARLY, each.text) for number, each in enumerate(self._early)]
        if (chat := self.chat) is not None:
            waiting += chat.waiting
            status = chat.status
            self.footer.show(status)
            self.attention.show(status)
            if self._clock is not None:
                (self._clock.resume if chat.conversation.has_clock else self._clock.pause)()
        self.queue.show(waiting)
        edited = [self._queue_edit.draft] if self._queue_edit else []
        self.editor.keep_aside("\n\n".join([*(row.text for row in waiting), *edited]))
        self.asking.show()

    def _tick(self) -> None:
        if self.chat is not None:
            self.chat.conversation.tick(time.monotonic())

    # What the person says

    async def on_event(self, event: events.Event) -> None:
        if not self.asking.take(event):
            await super().on_event(event)

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        self.transcript.follow()
        if self.chat is None:
            self._early.append(message)
        else:
            self._take(self.chat, message)
        self.show_state()

    def _take(self, chat: "SessionController", message: Editor.Submitted) -> None:
        """Do what a text calls, or send it."""
        edit, self._queue_edit = self._queue_edit, None
        if edit is not None:
            self.editor.put(edit.draft)
            if not edit.put_back(chat, message.text):
                self.give_back([message.text])
            return
        if message.text.startswith(("/", "!")) and self._commands(chat).take(message.text):
            return
        if not chat.send(message.text, message.follow_up):
            self.give_back([message.text])

    def give_back(self, texts: list[str]) -> None:
        """Put texts before the draft."""
        if texts := [text for text in texts if text.strip()]:
            self.editor.put_before("\n\n".join(texts))

    # What keys do

    def on_editor_action_asked(self, message: Editor.ActionAsked) -> None:
        self.act(message.name)

    def act(self, name: str, argument: str = "") -> None:
        """Do an action of the conversation: those that only look at once, the others as they have time."""
        if look(self.transcript, name):
            return
        if name == "dequeue":
            self._dequeue()
        elif name == "edit_queue":
            self._edit_queue()
        elif self.chat is None:
            self.footer.flash("still starting")
        else:
            self.run_worker(self._commands(self.chat).run(name, argument), group="commands")

    def _commands(self, chat: "SessionController") -> "Commands":
        if self.commands is None:
            from agentcli.tui.commands.commands import Commands  # 15 ms, and the first prompt does not wait for it

            self.commands = Commands(self, chat)
        return self.commands

    def on_editor_abort_asked(self) -> None:
        """Stop, and give what waits back before the draft; twice, with nothing to stop: the tree."""
        if (edit := self._queue_edit) is not None and self.chat is not None:
            self._queue_edit = None
            self.editor.put(edit.draft)
            if not edit.put_back(self.chat, edit.text):
                self.give_back([edit.text])
        elif not self._is_working and not self.editor.text and self._is_second("abort"):
            self.act("tree")
        else:
            self._stop()

    def _stop(self) -> None:
        waiting = [submitted.text for submitted in self._early]
        self._early = []
        if self.chat is not None:
            waiting += self.chat.stop()
        self.give_back(waiting)
        self.show_state()

    def on_editor_interrupted(self) -> None:
        if self._is_working:
            self._stop()
        elif self._is_second("interrupt"):
            self.exit()
        else:
            self.footer.flash("Ctrl+C again quits", TWICE_WITHIN_S)

    @property
    def _is_working(self) -> bool:
        runtime = self.runtime
        return bool(self._early) or (runtime is not None and (runtime.is_busy or runtime.is_bash_running))

    def _is_second(self, key: str) -> bool:
        """Whether a key is pressed the second time in a short while."""
        before, self._pressed_at[key] = self._pressed_at[key], time.monotonic()
        return self._pressed_at[key] - before < TWICE_WITHIN_S

    def on_editor_quit_asked(self) -> None:
        self.exit()

    def on_editor_end_asked(self) -> None:
        self.transcript.follow()

    def on_editor_history_asked(self) -> None:
        self.act("history_search")

    def on_editor_told(self, message: Editor.Told) -> None:
        self.footer.flash(message.text)

    def on_reason_editor_given(self, message: ReasonEditor.Given) -> None:
        self.asking.answer(Choice.REASON, message.reason)

    def on_reason_editor_left(self) -> None:
        self.asking.stop_writing()

    def on_permission_prompt_ready_changed(self) -> None:
        self.editor.set_class(self.permission.is_ready, "-idle")

    def on_text_area_changed(self) -> None:
        self.asking.show()

    # What waits

    def _edit_queue(self) -> None:
        if self.queue.rows:
            self.queue.focus()
        else:
            self.footer.flash("nothing waits")

    def on_queue_bar_edit_asked(self, message: QueueBar.EditAsked) -> None:
        """Have the message in the editor in place of the draft, which comes back when it is sent."""
        if self.chat is not None and (edit := QueueEdit.begin(self.chat, message.id, self.editor.text)) is not None:
            self._queue_edit = edit
            self.editor.put(edit.text)
            self.editor.focus()
            self.footer.flash("Enter puts it back into its place, Esc leaves it as it was")
        self.show_state()

    def on_queue_bar_remove_asked(self, message: QueueBar.RemoveAsked) -> None:
        if self.chat is not None:
            self.chat.take_back(message.id)
        self.show_state()

    def on_queue_bar_move_asked(self, message: QueueBar.MoveAsked) -> None:
        if self.chat is not None:
            self.chat.move(message.id, message.position)
        self.show_state()

    def on_queue_bar_switch_asked(self, message: QueueBar.SwitchAsked) -> None:
        if self.chat is not None:
            self.chat.switch_kind(message.id)
        self.show_state()

    def on_queue_bar_left(self) -> None:
        self.editor.focus()

    def _dequeue(self) -> None:
        """Take the last message that waits back into the editor."""
        if self.chat is not None and (waiting := self.chat.waiting):
            self.chat.take_back(waiting[-1].id)
            self.give_back([waiting[-1].text])
            self.show_state()

    # The screen, and the end

    def on_resize(self, event: events.Resize) -> None:
        tiny = event.size.height < SMALL_ROWS or event.size.width < SMALL_COLUMNS
        self.query(Editor).set_class(tiny, "-tiny")
        self.query_one(Footer).use_rows(event.size.height)
        self.call_after_refresh(self.asking.show)

    def on_terminal_gone(self, message: TerminalGone) -> None:
        self._leaving.leave(1)

    async def on_unmount(self) -> None:
        """The terminal has been put back; what the runtime holds is let go of."""
        if self.chat is not None:
            await self.chat.close()
        self._leaving.done()

    def crash_report(self, error: Exception) -> Text:
        # Textual's report shows local variables, which may hold keys, and escape sequences as they are.
        return crash_report(error)
