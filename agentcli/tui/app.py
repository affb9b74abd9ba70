"""ChatApp: the screen, and what keys and messages do to it.

Composition only: what a run is belongs to the runtime, what is shown of it to `chat`, what keys mean to the widgets.
The runtime is made after the first paint, so that the prompt is there at once; what was sent before it is ready waits.
"""

import asyncio
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer

from agentcli.agent.errors import AgentcliError
from agentcli.tui.leaving import Leaving, crash_report
from agentcli.tui.palette import Palette
from agentcli.tui.terminal import Terminal, TerminalGone
from agentcli.tui.widgets.editor import Editor
from agentcli.tui.widgets.footer import Footer
from agentcli.tui.widgets.permission_prompt import ROOMY, Choice, PermissionPrompt
from agentcli.tui.widgets.queue_list import QueueList
from agentcli.tui.widgets.reason_editor import ReasonEditor
from agentcli.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from agentcli.runtime.options import RuntimeOptions
    from agentcli.runtime.runtime import Runtime
    from agentcli.tui.bridge import Bridge
    from agentcli.tui.chat import Chat

QUIT_WITHIN_S = 1.0
"""Two Ctrl+C in so short a time quit."""
SMALL_ROWS, SMALL_COLUMNS = 10, 24
"""A smaller terminal has no room for a frame round the editor."""


class ChatApp(App[None], inherit_bindings=False):
    """Args:
    options: what the runtime is made from.

    `run` returns the exit code, and raises the `AgentcliError` that kept the runtime from being made.
    """

    TITLE = "agentcli"
    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { layout: vertical; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page(-1)", "Page up", priority=True),
        Binding("pagedown", "page(1)", "Page down", priority=True),
        Binding("ctrl+home", "to_start", "Start of the conversation", priority=True),
        Binding("ctrl+end", "to_end", "End of the conversation", priority=True),
    ]

    def __init__(self, options: "RuntimeOptions") -> None:
        super().__init__(driver_class=Terminal)
        self.options = options
        self.failure: AgentcliError | None = None
        """Why the runtime could not be made."""
        self.chat: Chat | None = None
        """None until the runtime is there."""
        self._early: list[Editor.Submitted] = []
        """Sent before there was a runtime."""
        self._leaving = Leaving(self._kill_children, lambda code: self.exit(return_code=code))
        self._interrupted_at = -QUIT_WITHIN_S
        self._clock: Timer | None = None

    def _kill_children(self) -> None:
        if self.runtime is not None:
            self.runtime.kill_now()

    @property
    def runtime(self) -> "Runtime | None":
        return self.chat.runtime if self.chat else None

    def compose(self) -> ComposeResult:
        yield Transcript()
        yield QueueList()
        yield PermissionPrompt()
        yield Editor()
        yield ReasonEditor()
        yield Footer()

    def run(self, **arguments: Any) -> int:  # type: ignore[override]
        super().run(**arguments)
        if self.failure is not None:
            raise self.failure
        return self.return_code or 0

    def on_mount(self) -> None:
        self.transcript = self.query_one(Transcript)
        self.queue = self.query_one(QueueList)
        self.permission = self.query_one(PermissionPrompt)
        self.editor = self.query_one(Editor)
        self.reason = self.query_one(ReasonEditor)
        self.footer = self.query_one(Footer)
        self.editor.focus()
        self.footer.activity = "starting"
        self._use_theme()
        self.theme_changed_signal.subscribe(self, lambda theme: self._use_theme())
        self._leaving.watch()
        self.call_after_refresh(self._start)

    def _use_theme(self) -> None:
        palette = Palette(self.get_css_variables())
        self.transcript.set_palette(palette)
        self.permission.set_palette(palette)

    # The runtime

    def _start(self) -> None:
        self.run_worker(self._open_chat(), name="start")

    async def _open_chat(self) -> None:
        try:
            # In a thread, so that keys are taken meanwhile.
            module = await asyncio.to_thread(import_module, "agentcli.tui.chat")
            chat: Chat = module.Chat.open(self.options, self.transcript, self.post_message)
        except AgentcliError as error:
            self.failure = error
            self.exit(return_code=1)
            return
        self.chat = chat
        self.footer.set_folder(chat.runtime.cwd)
        self._clock = self.set_interval(1.0, self._tick, pause=True)
        early, self._early = self._early, []
        for submitted in early:
            self._send(chat, submitted)
        self._show_state()
        await chat.warm_up()

    def on_bridge_batch(self, batch: "Bridge.Batch") -> None:
        if self.chat is None:
            return
        self.chat.apply(batch)
        self._show_state()
        self.call_after_refresh(self.chat.bridge.done)

    def _show_state(self) -> None:
        """The queue, the footer, and whether a clock runs."""
        waiting = [("waits for the start", submitted.text) for submitted in self._early]
        if (chat := self.chat) is not None:
            waiting += chat.waiting
            conversation = chat.conversation
            self.footer.show(chat.model, chat.activity, conversation.input_tokens, conversation.output_tokens)
            if self._clock is not None:
                (self._clock.resume if conversation.has_clock else self._clock.pause)()
        self.queue.show(waiting)
        self._show_request()

    def _show_request(self) -> None:
        before = self.permission.request
        requests = self.chat.requests if self.chat else []
        self.permission.show(requests, draft=bool(self.editor.text.strip()), writing=self.reason.display)
        if self.permission.request is not before:
            # A reason that nobody asks for any more is not thrown away.
            unsent = self.reason.text if self.reason.display else ""
            self._write_reason(False)
            self.reason.put("")
            self._give_back([unsent])
        asked = self.permission.request is not None
        for widget in (self.editor, self.reason):
            widget.set_class(asked, "-asked")
        self.queue.set_class(asked and self.size.height < ROOMY, "-no-room")

    def _tick(self) -> None:
        if self.chat is not None:
            self.chat.conversation.tick(time.monotonic())

    # What the person does

    async def on_event(self, event: events.Event) -> None:
        typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        if typed and self.chat is not None and self.chat.requests and not self.reason.display:
            if isinstance(event, events.Key) and (choice := self.permission.take(event)):
                self._answer(choice)
                return
            if isinstance(event, events.Paste):
                self.permission.wait()
        await super().on_event(event)

    def _answer(self, choice: Choice, reason: str | None = None) -> None:
        """Answer the request that is shown, at once: the next key may be for the next one."""
        request = self.permission.request
        if self.chat is None or request is None:
            return
        if choice is Choice.REASON and reason is None:
            self._write_reason(True)
            return
        denied = choice in (Choice.DENY, Choice.REASON)
        self.chat.answer(request.id, allow=not denied, remember=Choice.ONCE if denied else choice, reason=reason)
        self._show_state()

    def _write_reason(self, writing: bool) -> None:
        """Have the editor for reasons in place of the editor, or the other way round."""
        if writing == self.reason.display:
            return
        shown, hidden = (self.reason, self.editor) if writing else (self.editor, self.reason)
        shown.display = True
        # Not `focus`, which comes late: the next letter is for the one that is shown.
        self.screen.set_focus(shown)
        hidden.display = False
        self._show_request()

    def on_reason_editor_given(self, message: ReasonEditor.Given) -> None:
        self._answer(Choice.REASON, message.reason)

    def on_reason_editor_left(self) -> None:
        self._write_reason(False)
        self.permission.wait()

    def on_permission_prompt_ready_changed(self) -> None:
        self.editor.set_class(self.permission.is_ready, "-idle")

    def on_text_area_changed(self) -> None:
        self._show_request()

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        self.transcript.follow()
        if self.chat is None:
            self._early.append(message)
        else:
            self._send(self.chat, message)
        self._show_state()

    def _send(self, chat: "Chat", message: Editor.Submitted) -> None:
        if not chat.send(message.text, message.follow_up):
            self._give_back([message.text])

    def _give_back(self, texts: list[str]) -> None:
        """Put texts before the draft."""
        if texts := [text for text in texts if text.strip()]:
            draft = self.editor.text
            self.editor.put("\n\n".join([*texts, *([draft] if draft.strip() else [])]))

    def on_editor_abort_asked(self) -> None:
        """Stop, and give what waits back before the draft."""
        waiting = [submitted.text for submitted in self._early]
        self._early = []
        if self.chat is not None:
            waiting += self.chat.stop()
        self._give_back(waiting)
        self._show_state()

    def on_editor_interrupted(self) -> None:
        if self._early or (self.runtime is not None and self.runtime.is_busy):
            self.on_editor_abort_asked()
            return
        now = time.monotonic()
        if now - self._interrupted_at < QUIT_WITHIN_S:
            self.exit()
            return
        self._interrupted_at = now
        self.footer.hint("Ctrl+C again quits")
        self.set_timer(QUIT_WITHIN_S, self.footer.hint)

    def on_editor_quit_asked(self) -> None:
        self.exit()

    def on_editor_end_asked(self) -> None:
        self.action_to_end()

    def action_page(self, direction: int) -> None:
        self.transcript.scroll_relative(y=direction * max(self.transcript.size.height - 2, 1), animate=False)

    def action_to_start(self) -> None:
        self.transcript.scroll_home(animate=False)

    def action_to_end(self) -> None:
        self.transcript.follow()

    def on_resize(self, event: events.Resize) -> None:
        tiny = event.size.height < SMALL_ROWS or event.size.width < SMALL_COLUMNS
        for widget in (self.query_one(Editor), self.query_one(ReasonEditor)):
            widget.set_class(tiny, "-tiny")
        self.call_after_refresh(self._show_request)

    # The end

    def on_terminal_gone(self, message: TerminalGone) -> None:
        self._leaving.leave(1)

    async def on_unmount(self) -> None:
        """The terminal has been put back; what the runtime holds is let go of."""
        if self.chat is not None:
            await self.chat.close()
        self._leaving.done()

    def _fatal_error(self) -> None:
        # Textual's report shows local variables, which may hold keys, and escape sequences as they are.
        if self._exception is not None:
            self._exit_renderables.append(crash_report(self._exception))
        self._close_messages_no_wait()
