"""ChatApp: the screen, and what keys and messages do to it.

Composition only: the runtime runs prompts, `SessionController` shows them, widgets interpret keys, and
`CommandRunner` runs commands. The runtime is created after the first paint, so that the prompt is there at once;
prompts submitted before it is ready wait.
"""

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, assert_never

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.screen import Screen
from textual.timer import Timer

from agentcli.agent.errors import AgentcliError
from agentcli.agent.threads import to_thread
from agentcli.transcript.queue import QueuedKind, QueuedText
from agentcli.tui.colors.current_theme import CSS, POLL_S, CurrentTheme, without_color
from agentcli.tui.colors.palette import Palette
from agentcli.tui.commands.actions import AppAction, Command
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.commands.table import ACTIONS, BY_NAME, SEARCH_HISTORY
from agentcli.tui.permission_controller import PermissionController
from agentcli.tui.queue_controller import QueueController
from agentcli.tui.status import Status
from agentcli.tui.terminal.background import BackgroundReported
from agentcli.tui.terminal.notifier import TerminalNotifier
from agentcli.tui.terminal.shutdown_handler import ShutdownHandler, crash_report
from agentcli.tui.terminal.terminal import Terminal, TerminalGone
from agentcli.tui.terminal.textual_private import PrivateApp
from agentcli.tui.widgets.editor import Editor
from agentcli.tui.widgets.footer import Footer
from agentcli.tui.widgets.permission_prompt import Choice, PermissionPrompt
from agentcli.tui.widgets.queue_bar import QueueBar
from agentcli.tui.widgets.reason_editor import ReasonEditor
from agentcli.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from agentcli.runtime.options import RuntimeOptions
    from agentcli.runtime.runtime import Runtime
    from agentcli.tui.commands.command_runner import CommandRunner
    from agentcli.tui.event_batcher import EventBatcher
    from agentcli.tui.session_controller import SessionController

TWICE_WITHIN_S = 1.0
"""Seconds within which two Ctrl+C quit and two Esc open the tree."""
SMALL_ROWS, SMALL_COLUMNS = 10, 24
"""In a smaller terminal the editor has no border."""


class ChatApp(PrivateApp, inherit_bindings=False):
    """The app. `run` returns the exit code, and raises the `AgentcliError` that kept the runtime from being created.

    Args:
        options: what the runtime is created from.
        theme: the setting, if it is known already: it is read again with the runtime.
    """

    TITLE = "agentcli"
    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { layout: vertical; }" + CSS

    def __init__(self, options: "RuntimeOptions", theme: str | None = None) -> None:
        super().__init__(driver_class=Terminal, ansi_color=without_color())
        self.options = options
        self.failure: AgentcliError | None = None
        """Why the runtime could not be made."""
        self.controller: SessionController | None = None
        """None until the runtime is there."""
        self._command_runner: CommandRunner | None = None
        """None until the first command."""
        self.keymap = Keymap(actions=ACTIONS)
        self.palette = Palette({})
        self.theming = CurrentTheme(self, theme)
        self.permission_controller = PermissionController(self)
        self.queue_controller = QueueController(self)
        self._early: list[Editor.Submitted] = []
        """Submitted before there was a runtime."""
        self._shutdown_handler = ShutdownHandler(self._kill_children, lambda code: self.exit(return_code=code))
        self.notifier = TerminalNotifier(self.write_to_terminal)
        self._pressed_at = {"interrupt": -TWICE_WITHIN_S, "abort": -TWICE_WITHIN_S}
        """When these keys were pressed last, on the monotonic clock."""
        self._clock: Timer | None = None
        # Its problems are shown when the settings are applied.
        self.theming.start()

    def _kill_children(self) -> None:
        if self.runtime is not None:
            self.runtime.kill_now()

    @property
    def runtime(self) -> "Runtime | None":
        """The runtime of the session that is shown; None while it is being created."""
        return self.controller.runtime if self.controller else None

    @property
    def resume_hint(self) -> str:
        """How to resume the session, printed at the end; empty if nothing was kept."""
        runtime = self.runtime
        if runtime is None or not runtime.agent.state.messages or runtime.options.session.in_memory:
            return ""
        return f"go on with: agentcli --session {runtime.session.id[-12:]}"

    @property
    def main(self) -> Screen[Any]:
        """The screen with the transcript, below the screens that are open over it."""
        return self.screen_stack[0]

    def compose(self) -> ComposeResult:
        """The widgets from top to bottom. `ReasonEditor` is added when the runtime is there."""
        yield Transcript()
        yield QueueBar(self.keymap)
        yield PermissionPrompt(self.keymap)
        yield Editor(self.keymap)
        yield Footer()

    def run(self, **arguments: Any) -> int:  # type: ignore[override]
        """Run the app until it exits. Returns the exit code.

        Raises:
            AgentcliError: the runtime could not be created.
        """
        super().run(**arguments)
        if self.failure is not None:
            raise self.failure
        return self.return_code or 0

    def on_mount(self) -> None:
        """Start the theme, the signal handlers and, after the first paint, the runtime."""
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
        self._shutdown_handler.watch()
        self.call_after_refresh(self._start)

    def _use_theme(self) -> None:
        self.palette = Palette(self.get_css_variables())
        self.transcript.set_palette(self.palette)
        self.permission.set_palette(self.palette)

    def _come_back(self) -> None:
        self.notifier.again()
        self.refresh()
        self.show_state()

    # The runtime

    def _start(self) -> None:
        self.run_worker(self._open_session(), name="start")

    async def _open_session(self) -> None:
        try:
            # In a thread, so that keys are handled meanwhile.
            module = await to_thread(import_module, "agentcli.tui.session_controller")
            controller: SessionController = module.SessionController.open(
                self.options, self.transcript, self.post_message
            )
        except AgentcliError as error:
            self.failure = error
            self.exit(return_code=1)
            return
        from agentcli.tui.app_settings import apply_settings, equip_editor

        await self.main.mount(self.reason, after=self.editor)
        self.controller = controller
        self._notify_all(apply_settings(self, controller))
        self._clock = self.set_interval(1.0, self._tick, pause=True)
        self.set_interval(POLL_S, self._poll_theme)
        early, self._early = self._early, []
        for submitted in early:
            self._handle_submitted(controller, submitted)
        self.show_state()
        await equip_editor(self, controller)
        await controller.warm_up()
        self.show_state()

    def _poll_theme(self) -> None:
        self._notify_all(self.theming.poll())

    def on_background_reported(self, message: BackgroundReported) -> None:
        """Choose between the dark and the light theme by what the terminal reports."""
        self._notify_all(self.theming.set_background(message.is_light))

    def _notify_all(self, lines: list[str]) -> None:
        for line in lines:
            if self.controller is not None:
                self.controller.notice(line)

    def on_event_batcher_batch(self, batch: "EventBatcher.Batch") -> None:
        """Apply a batch of runtime events, unless it is of a session that was left."""
        if self.controller is None or batch.batcher is not self.controller.batcher:
            return
        applied = self.controller.apply(batch)
        (self.show_state if applied.has_new_state else self._show_status)()
        if applied.took is not None:
            self.notifier.run_ended(applied.took, self.controller.status)
        self.call_after_refresh(self.controller.batcher.done)

    def show_state(self) -> None:
        """Update all that is shown around the transcript."""
        self._show_status()
        waiting = [QueuedText(str(number), QueuedKind.EARLY, each.text) for number, each in enumerate(self._early)]
        if (controller := self.controller) is not None:
            waiting += controller.queue.waiting
        self.queue.show(waiting)
        texts = [row.text for row in waiting]
        if (draft := self.queue_controller.draft) is not None:
            texts.append(draft)
        self.editor.keep_aside("\n\n".join(texts))
        self.permission_controller.show()

    def _show_status(self) -> None:
        """Update the footer, the title and the clock."""
        if (controller := self.controller) is not None:
            status = controller.status
            self.footer.show(status)
            self.notifier.show(status)
            if self._clock is not None:
                (self._clock.resume if controller.transcript.has_clock else self._clock.pause)()

    def _tick(self) -> None:
        if self.controller is not None:
            self.controller.tick()

    # Submitting

    async def on_event(self, event: events.Event) -> None:
        """Offer keys and pastes to the permission prompt before the focused widget."""
        if not self.permission_controller.handle_event(event):
            await super().on_event(event)

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        """Run or send a text; keep it until the runtime is there."""
        self.transcript.follow()
        if self.controller is None:
            self._early.append(message)
        else:
            self._handle_submitted(self.controller, message)
        self.show_state()

    def _handle_submitted(self, controller: "SessionController", message: Editor.Submitted) -> None:
        """Run what a text calls, or send it."""
        if self.queue_controller.end_edit(message.text):
            return
        if message.text.startswith(("/", "!")) and self._commands(controller).handle(message.text):
            return
        if not controller.send(message.text, message.follow_up):
            self.prepend_to_draft([message.text])

    def prepend_to_draft(self, texts: list[str]) -> None:
        """Put texts that are not blank before the draft."""
        if texts := [text for text in texts if text.strip()]:
            self.editor.put_before("\n\n".join(texts))

    # Keys

    def on_editor_action_asked(self, message: Editor.ActionAsked) -> None:
        """Do what a key of the whole app means."""
        self.act(message.name)

    def act(self, name: str, argument: str = "") -> None:
        """Do an action of the table by its name: an `AppAction` at once, a command in a worker.

        Args:
            name: of the action.
            argument: what was written after a `/command`.
        """
        match BY_NAME[name]:
            case AppAction(handler=handler):
                handler(self)
            case Command() as command:
                self._run_command(command, argument)
            case unknown:
                assert_never(unknown)

    def _run_command(self, command: Command, argument: str = "") -> None:
        if self.controller is None:
            self.footer.flash("still starting")
        else:
            self.run_worker(self._commands(self.controller).run(command, argument), group="commands")

    def _commands(self, controller: "SessionController") -> "CommandRunner":
        if self._command_runner is None:
            # After the first paint; the first prompt does not wait for it either.
            from agentcli.tui.commands.command_context import CommandContext
            from agentcli.tui.commands.command_runner import CommandRunner

            self._command_runner = CommandRunner(CommandContext(self, controller))
        return self._command_runner

    def on_editor_abort_asked(self) -> None:
        """Stop the run and put queued messages before the draft; twice with nothing to stop: the tree."""
        if self.queue_controller.end_edit():
            return
        if not self._is_working and not self.editor.text and self._is_second("abort"):
            self.act("tree")
        else:
            self._stop()

    def _stop(self) -> None:
        waiting = [submitted.text for submitted in self._early]
        self._early = []
        if self.controller is not None:
            waiting += self.controller.stop()
        self.prepend_to_draft(waiting)
        self.show_state()

    def on_editor_interrupted(self) -> None:
        """Stop the run; with nothing to stop, quit if the key was pressed twice."""
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
        """Whether a key is pressed for the second time within `TWICE_WITHIN_S`."""
        before, self._pressed_at[key] = self._pressed_at[key], time.monotonic()
        return self._pressed_at[key] - before < TWICE_WITHIN_S

    def on_editor_quit_asked(self) -> None:
        """Quit."""
        self.exit()

    def on_editor_end_asked(self) -> None:
        """Scroll to the end."""
        self.transcript.follow()

    def on_editor_history_asked(self) -> None:
        """Open the search in the history."""
        self._run_command(SEARCH_HISTORY)

    def on_editor_notice(self, message: Editor.Notice) -> None:
        """Show a notice of the editor in the footer."""
        self.footer.flash(message.text)

    def on_reason_editor_given(self, message: ReasonEditor.Given) -> None:
        """Deny with a reason."""
        self.permission_controller.answer(Choice.REASON, message.reason)

    def on_reason_editor_left(self) -> None:
        """Go back from writing a reason to the choices."""
        self.permission_controller.stop_writing()

    def on_permission_prompt_ready_changed(self) -> None:
        """Show whether keys go to the editor or answer the request."""
        self.editor.set_class(self.permission.is_ready, "-idle")

    def on_text_area_changed(self) -> None:
        """Update the permission prompt, whose Enter depends on the draft."""
        self.permission_controller.show()

    @on(QueueBar.Asked)
    def change_queue(self, message: QueueBar.Change) -> None:
        """Change a queued message."""
        self.queue_controller.handle(message)

    def on_queue_bar_left(self) -> None:
        """Give the focus back to the editor."""
        self.editor.focus()

    # Resizing and exit

    def on_resize(self, event: events.Resize) -> None:
        """Adapt the layout to small terminals."""
        tiny = event.size.height < SMALL_ROWS or event.size.width < SMALL_COLUMNS
        self.query(Editor).set_class(tiny, "-tiny")
        self.query_one(Footer).use_rows(event.size.height)
        self.call_after_refresh(self.permission_controller.show)

    def on_terminal_gone(self, message: TerminalGone) -> None:
        """End the app when its terminal is closed."""
        self._shutdown_handler.leave(1)

    async def on_unmount(self) -> None:
        """Close the runtime. The terminal has been restored by then."""
        if self.controller is not None:
            await self.controller.close()
        self._shutdown_handler.done()

    def crash_report(self, error: Exception) -> Text:
        """Unlike Textual's report it has no local variables, which may hold keys, and no escape sequences."""
        return crash_report(error)
