"""TranscriptPresenter: turns events into the items of the transcript, and knows what the agent is doing."""

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from msgspec import Struct

from agentcli.agent.assistant_events import (
    DoneEvent,
    ErrorEvent,
    StartEvent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ThinkingDeltaEvent,
    ThinkingEndEvent,
    ThinkingStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from agentcli.agent.errors import AgentcliError
from agentcli.agent.events import (
    AgentEndEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnStartEvent,
)
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
)
from agentcli.runtime.events import (
    AgentSettledEvent,
    BashExecutionEndEvent,
    BashExecutionStartEvent,
    BashExecutionUpdateEvent,
    CompactionEndEvent,
    CompactionStartEvent,
    ModelChangedEvent,
    NoticeEvent,
    RetryEndEvent,
    RetryStartEvent,
    SessionInfoChangedEvent,
    ThinkingLevelChangedEvent,
)
from agentcli.tui.items.assistant_text import AssistantText
from agentcli.tui.items.history import history_items
from agentcli.tui.items.item import Item
from agentcli.tui.items.notice import Notice, NoticeKind, outcome_notice
from agentcli.tui.items.result import result_text
from agentcli.tui.items.summary import compaction_summary
from agentcli.tui.items.thinking import Thinking
from agentcli.tui.items.tool_panel import ToolPanel, finish_user_command, user_command
from agentcli.tui.widgets.transcript import Transcript


class HistoryReplaced(Struct, frozen=True):
    """The session has moved to another place of its tree: these are its messages now."""

    messages: list[AgentMessage]


class TranscriptPresenter:
    """Keeps the transcript up to date with the events of a session.

    Args:
        transcript: where the items go.
    """

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self._activity = ""
        self._blocks: dict[int, Item] = {}
        """Items of the streaming message, by content index."""
        self._panels: dict[str, ToolPanel] = {}
        """The last panel of each call id."""
        self._running: dict[ToolPanel, None] = {}
        """Running calls, in order."""
        self._commands: dict[str, ToolPanel] = {}
        """Running shell commands of the user, by id."""
        self._retry: tuple[Notice, RetryStartEvent, float] | None = None
        """The notice that counts down, its event, and when the wait ends."""

    @property
    def has_clock(self) -> bool:
        """Whether an item shows a running time, so that `tick` has to be called."""
        return self._retry is not None or bool(self._running) or bool(self._commands)

    @property
    def activity(self) -> str:
        """What the agent is doing, in a word or two; empty if nothing."""
        if self._running:
            return f"running {', '.join(dict.fromkeys(panel.call.name for panel in self._running))}"
        return self._activity

    def begin(self, messages: Sequence[AgentMessage]) -> None:
        """Show another session."""
        self._commands.clear()
        self.replace_history(messages)

    def replace_history(self, messages: Sequence[AgentMessage]) -> None:
        """Show these messages and no others; a shell command of the user that is running stays."""
        self.transcript.clear()
        self._running.clear()
        self._blocks, self._retry, self._activity = {}, None, ""
        self.show_history(messages)

    def show_history(self, messages: Sequence[AgentMessage]) -> None:
        """Append the items of these messages."""
        items, self._panels = history_items(messages)
        self.transcript.append(items)
        self.transcript.append(self._commands.values())
        self.transcript.show()

    def notice(self, text: str, hint: str = "") -> None:
        """Append a notice."""
        self._add(Notice(text, hint=hint))
        self.transcript.show()

    def failure(self, error: AgentcliError) -> None:
        """Append an error with its hint."""
        self._add(Notice(error.message, NoticeKind.ERROR, error.hint))
        self.transcript.show()

    def apply(self, events: Iterable[Any], now: float) -> None:
        """Update the items by events. `now` is of the monotonic clock, in seconds."""
        for event in events:
            self._apply(event, now)
        self.transcript.show()

    def tick(self, now: float) -> None:
        """Update the running times. `now` is of the monotonic clock, in seconds."""
        for panel in (*self._running, *self._commands.values()):
            panel.tick(now)
            self.transcript.changed(panel)
        if self._retry is not None:
            notice, event, end = self._retry
            notice.text = _retry_text(event, max(end - now, 0.0))
            self.transcript.changed(notice)
        self.transcript.show()

    def _apply(self, event: Any, now: float) -> None:
        match event:
            case MessageUpdateEvent():
                self._update(event)
            case MessageStartEvent():
                self._start_message(event.message)
            case MessageEndEvent():
                self._end_message(event.message, now)
            case ToolExecutionStartEvent() | ToolExecutionUpdateEvent() | ToolExecutionEndEvent():
                self._follow_call(event, now)
            case TurnStartEvent():
                self._activity = "waiting for the model"
            case RetryStartEvent():
                notice = Notice(_retry_text(event, event.delay), NoticeKind.RETRY)
                self._retry = (notice, event, now + event.delay)
                self._activity = "waiting to try again"
                self._add(notice)
            case RetryEndEvent():
                self._end_retry()
            case HistoryReplaced(messages):
                self.replace_history(messages)
                if messages:
                    self._add(Notice("the conversation goes on from here, another place of its tree"))
            case CompactionStartEvent():
                self._activity = "summarising the conversation"
            case CompactionEndEvent():
                self._end_compaction(event)
            case AgentEndEvent() | AgentSettledEvent():
                self._end_retry()
                self._activity = ""
            case BashExecutionStartEvent() | BashExecutionUpdateEvent() | BashExecutionEndEvent():
                self._follow_command(event, now)
            case _:
                if notice := _notice_of(event):
                    self._add(notice)

    def _follow_call(
        self, event: ToolExecutionStartEvent | ToolExecutionUpdateEvent | ToolExecutionEndEvent, now: float
    ) -> None:
        panel = self._panel(event.tool_call_id, event.tool_name)
        match event:
            case ToolExecutionStartEvent():
                panel.set_arguments(event.args)
                panel.start(now)
                self._running[panel] = None
            case ToolExecutionUpdateEvent():
                panel.update(result_text(event.partial_result.content), event.partial_result.details)
            case ToolExecutionEndEvent():
                panel.finish(result_text(event.result.content), event.result.details, event.is_error, now)
                self._running.pop(panel, None)
        self.transcript.changed(panel)

    def _follow_command(
        self, event: BashExecutionStartEvent | BashExecutionUpdateEvent | BashExecutionEndEvent, now: float
    ) -> None:
        """Show a shell command of the user as it runs."""
        match event:
            case BashExecutionStartEvent(id, command, exclude_from_context):
                self._commands[id] = panel = user_command(command, exclude_from_context)
                panel.start(now)
                self._add(panel)
                return
            case BashExecutionUpdateEvent(id, output):
                panel = self._commands.get(id)
                if panel is not None:
                    panel.update(output, None)
            case BashExecutionEndEvent(id, message):
                panel = self._commands.pop(id, None)
                if panel is not None:
                    finish_user_command(panel, message, now)
        if panel is not None:
            self.transcript.changed(panel)

    def _start_message(self, message: AgentMessage) -> None:
        self._end_retry()
        match message:
            case AssistantMessage():
                self._blocks = {}
            case ToolResultMessage():
                pass
            case _:
                self.transcript.append(history_items([message])[0])

    def _update(self, event: MessageUpdateEvent) -> None:
        match event.assistant_message_event:
            case TextStartEvent(index):
                self._open(index, AssistantText())
                self._activity = "writing"
            case ThinkingStartEvent(index):
                self._open(index, Thinking())
                self._activity = "thinking"
            case ToolCallStartEvent(index, id, name):
                panel = ToolPanel(name)
                self._panels[id] = panel
                self._open(index, panel)
                self._activity = f"writing a call of {name}"
            case TextDeltaEvent(index, delta) | ThinkingDeltaEvent(index, delta):
                item = self._blocks.get(index)
                if isinstance(item, AssistantText | Thinking):
                    item.append(delta)
                    self.transcript.changed(item)
            case ToolCallDeltaEvent(index, delta):
                item = self._blocks.get(index)
                if isinstance(item, ToolPanel):
                    item.write(delta)
                    self.transcript.changed(item)
            case TextEndEvent(index) | ThinkingEndEvent(index):
                item = self._blocks.get(index)
                if isinstance(item, AssistantText | Thinking):
                    item.finish()
                    self.transcript.changed(item)
            case ToolCallEndEvent(index, call):
                item = self._blocks.get(index)
                if isinstance(item, ToolPanel):
                    item.set_arguments(call.arguments)
                    self.transcript.changed(item)
            case StartEvent() | DoneEvent() | ErrorEvent():
                pass
            case unknown:
                assert_never(unknown)

    def _end_message(self, message: AgentMessage, now: float) -> None:
        match message:
            case AssistantMessage():
                self._complete(message)
                if notice := outcome_notice(message):
                    self._add(notice)
                self._blocks = {}
            case ToolResultMessage():
                panel = self._panels.get(message.tool_call_id)
                if panel is not None and not (panel.is_over and panel.text):
                    panel.finish(result_text(message.content), message.details, message.is_error, now)
                    self._running.pop(panel, None)
                    self.transcript.changed(panel)
            case _:
                pass

    def _complete(self, message: AssistantMessage) -> None:
        """Show what a message contains that no update announced, and finish what is still open."""
        for index, block in enumerate(message.content):
            item = self._blocks.get(index)
            match block, item:
                case TextContent(), None if block.text:
                    self._open(index, AssistantText(block.text))
                case ThinkingContent(), None:
                    self._open(index, Thinking(block.thinking, block.redacted))
                case ToolCall(), None:
                    self._panels[block.id] = panel = ToolPanel(block.name)
                    self._open(index, panel)
                    panel.set_arguments(block.arguments)
                case ToolCall(), ToolPanel() if not item.is_over and message.stop_reason in _ENDED_BADLY:
                    item.set_arguments(block.arguments)
                    item.finish("", None, is_error=True)
                    self.transcript.changed(item)
                case ThinkingContent(redacted=True), Thinking():
                    item.redacted = True
                    self.transcript.changed(item)
                case _:
                    pass

    def _open(self, index: int, item: Item) -> None:
        self._blocks[index] = item
        self._add(item)

    def _panel(self, id: str, name: str) -> ToolPanel:
        """The panel of a call; a new one if the message did not announce the call."""
        if id not in self._panels:
            self._panels[id] = panel = ToolPanel(name)
            self._add(panel)
        return self._panels[id]

    def _add(self, item: Item) -> None:
        """Append an item; a notice right after another one is merged into it where possible."""
        last = self.transcript.items[-1] if self.transcript.items else None
        if isinstance(item, Notice) and isinstance(last, Notice) and last.merge(item):
            self.transcript.changed(last)
            return
        self.transcript.append([item])

    def _end_retry(self) -> None:
        if self._retry is not None:
            notice, event, _ = self._retry
            notice.text = f"tried again ({event.attempt} of {event.max_attempts}) after: {event.error_message}"
            self.transcript.changed(notice)
            self._retry = None

    def _end_compaction(self, event: CompactionEndEvent) -> None:
        self._activity = ""
        if event.summary is not None:
            made = (event.summary, event.tokens_before, event.tokens_after, event.reason, event.message_count)
            self._add(compaction_summary(*made))
        elif event.error_message is not None:
            self._add(Notice(event.error_message, NoticeKind.ERROR))
        elif event.aborted:
            self._add(Notice("the conversation was not summarised"))


_ENDED_BADLY = (StopReason.ERROR, StopReason.ABORTED)


def _notice_of(event: Any) -> Notice | None:
    """The notice for a change between two messages; None for other events."""
    match event:
        case NoticeEvent(text):
            return Notice(text)
        case ModelChangedEvent(provider, model_id, thinking_level):
            return Notice(f"from here on: {provider}/{model_id}, thinking {thinking_level}", subject="model")
        case ThinkingLevelChangedEvent(thinking_level):
            return Notice(f"from here on: thinking {thinking_level}", subject="thinking")
        case SessionInfoChangedEvent(name):
            return Notice(f"this session is called {name}" if name else "this session has no name", subject="name")
        case _:
            return None


def _retry_text(event: RetryStartEvent, left: float) -> str:
    again = f"trying again in {left:.0f} s" if left >= 0.5 else "trying again"
    return f"{event.error_message}\n{again} ({event.attempt} of {event.max_attempts}; Esc stops)"
