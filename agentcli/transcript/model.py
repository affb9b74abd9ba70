"""TranscriptModel: turns a session's events and stored entries into items, and knows what the agent is doing.

It paints nothing and starts nothing: a frontend hands it every event (`follow` subscribes it to a runtime), calls
`tick` each second while `has_clock`, and is notified of the changes. A delta costs the same in a transcript of any
length.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from agentcli.agent.events import (
    AgentEndEvent,
    AgentEvent,
    AgentStartEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ImageContent,
    ToolResultMessage,
    Usage,
    UserMessage,
    text_of,
)
from agentcli.runtime.events import (
    AgentSettledEvent,
    BashExecutionEndEvent,
    BashExecutionStartEvent,
    BashExecutionUpdateEvent,
    CompactionEndEvent,
    CompactionStartEvent,
    EntryAppendedEvent,
    ModelChangedEvent,
    NoticeEvent,
    PermissionEndEvent,
    PermissionRequestEvent,
    QueueUpdateEvent,
    RetryEndEvent,
    RetryStartEvent,
    RuntimeEvent,
    SessionInfoChangedEvent,
    SessionMovedEvent,
    SpentEvent,
    ThinkingLevelChangedEvent,
    usage_of,
)
from agentcli.sessions.entries import CompactionEntry, Entry
from agentcli.transcript.answer import Answer
from agentcli.transcript.calls import Calls
from agentcli.transcript.item_list import Change, ItemList, QueueChanged, RequestsChanged
from agentcli.transcript.items import (
    BranchSummaryItem,
    CommandItem,
    CompactionItem,
    Item,
    NoticeItem,
    NoticeKind,
    RetryItem,
    UserItem,
)
from agentcli.transcript.notices import change_notice, outcome_notice

if TYPE_CHECKING:
    from agentcli.runtime.runtime import Runtime


class HistoryReplaced(Struct, frozen=True):
    """The session has moved to another place of its tree: these are its messages now."""

    messages: list[AgentMessage]


TranscriptEvent = AgentEvent | RuntimeEvent | HistoryReplaced


def follow(runtime: "Runtime", apply: Callable[[TranscriptEvent], None]) -> Callable[[], None]:
    """Call a function with every event of a runtime, in the form that `TranscriptModel.apply` takes.

    Args:
        runtime: whose events.
        apply: called at once; it may keep the event for later.

    Returns:
        What ends the subscription.
    """

    def on_event(event: AgentEvent | RuntimeEvent, signal: object) -> None:
        if isinstance(event, SessionMovedEvent):
            # The messages as they are now: when the event is applied, there may be more.
            apply(HistoryReplaced(list(runtime.agent.state.messages)))
        else:
            apply(event)

    return runtime.subscribe(on_event)


class TranscriptModel:
    """The items of one session's transcript, with what waits and what is asked.

    Args:
        listener: receives each change, after it was made.
    """

    def __init__(self, listener: Callable[[Change], None] = lambda change: None) -> None:
        self.steering: list[AgentMessage] = []
        """Queued messages that the agent gets after the running tools, next first."""
        self.follow_up: list[AgentMessage] = []
        """Queued messages that it gets at the end of its work, next first."""
        self.requests: list[PermissionRequestEvent] = []
        """Open permission requests, oldest first."""
        self.usage: Usage = Usage()
        """What the events have reported since `open`; the frontend may add what the session used before."""
        self._list = ItemList(listener)
        self._calls = Calls(self._list)
        self._answer = Answer(self._list, self._calls)
        self._activity = ""
        self._retry: tuple[RetryItem, float] | None = None
        """The retry that is waited for, and when the wait ends."""

    @property
    def items(self) -> list[Item]:
        """All items, oldest first."""
        return self._list.items

    @property
    def has_clock(self) -> bool:
        """Whether an item has a running time, so that `tick` has to be called."""
        return self._retry is not None or self._calls.is_running

    @property
    def activity(self) -> str:
        """What the agent is doing, in a word or two; empty if nothing."""
        if names := self._calls.running_names:
            return f"running {', '.join(names)}"
        return self._activity

    # Stored conversations

    def open(self, messages: Iterable[AgentMessage]) -> None:
        """Show another session: these messages of its context, and nothing of the session before."""
        self._calls.forget_commands()
        self.steering, self.follow_up, self.requests, self.usage = [], [], [], Usage()
        self.replace(messages)

    def replace(self, messages: Iterable[AgentMessage]) -> None:
        """Show these messages and no others; a shell command of the user that is running stays."""
        self._calls.clear()
        self._answer.clear()
        self._retry, self._activity = None, ""

        def add_items() -> None:
            self.add_messages(messages)
            self._calls.add_commands()

        self._list.replace(add_items)

    def add_messages(self, messages: Iterable[AgentMessage]) -> None:
        """Add the items of complete messages. A call without a result among them was interrupted."""
        for message in messages:
            self._add_message(message)
        self._calls.end_open()

    def add_entries(self, entries: Iterable[Entry]) -> None:
        """Add the items of a stored branch, in full: what was compacted too. Settings and marks have none.

        Args:
            entries: from the root on, as `Session.get_branch` returns them.
        """
        for entry in entries:
            messages = entry.to_messages()
            # What a compaction has retained is a message of an entry before it.
            for message in messages[:1] if isinstance(entry, CompactionEntry) else messages:
                self._add_message(message)
        self._calls.end_open()

    # What the frontend does

    def add_notice(self, notice: NoticeItem) -> None:
        """Add a notice at the end; right after another one it is merged into that where possible."""
        self._list.add_notice(notice)

    def end_request(self, id: str) -> None:
        """Note that a permission request was answered. The event that says so too comes later."""
        for request in self.requests:
            if request.id == id:
                self.requests = [other for other in self.requests if other is not request]
                self._calls.mark_asking(request.tool_call_id, is_open=False)
                self._list.notify(RequestsChanged())

    def tick(self, now: float) -> None:
        """Update the running times. `now` is of the monotonic clock, in seconds."""
        self._calls.tick(now)
        if self._retry is not None:
            item, end = self._retry
            item.left = max(end - now, 0.0)
            self._list.changed(item)

    # Events

    def apply(self, event: TranscriptEvent, now: float) -> None:
        """Update the items by an event. `now` is of the monotonic clock, in seconds."""
        match event:
            case MessageUpdateEvent():
                self._activity = self._answer.apply(event.assistant_message_event) or self._activity
            case MessageStartEvent():
                self._start_message(event.message)
            case MessageEndEvent(message):
                self._count(event)
                if isinstance(message, AssistantMessage | ToolResultMessage):
                    self._add_message(message, now)
            case ToolExecutionStartEvent() | ToolExecutionUpdateEvent() | ToolExecutionEndEvent():
                self._calls.apply(event, now)
            case BashExecutionStartEvent() | BashExecutionUpdateEvent() | BashExecutionEndEvent():
                self._calls.apply_command(event, now)
            case TurnStartEvent():
                self._activity = "waiting for the model"
            case QueueUpdateEvent(steering, follow_up):
                self.steering, self.follow_up = steering, follow_up
                self._list.notify(QueueChanged())
            case PermissionRequestEvent():
                self.requests = [*self.requests, event]
                self._calls.mark_asking(event.tool_call_id, is_open=True)
                self._list.notify(RequestsChanged())
            case PermissionEndEvent(id=id):
                self.end_request(id)
            case RetryStartEvent():
                item = RetryItem(event.error_message, event.attempt, event.max_attempts, event.delay)
                self._retry = (self._list.append(item), now + event.delay)
                self._activity = "waiting to try again"
            case RetryEndEvent():
                self._end_retry()
            case HistoryReplaced(messages):
                self.replace(messages)
                if messages:
                    self.add_notice(NoticeItem("the conversation goes on from here, another place of its tree"))
            case CompactionStartEvent():
                self._activity = "summarising the conversation"
            case CompactionEndEvent():
                self._count(event)
                self._end_compaction(event)
            case AgentEndEvent() | AgentSettledEvent():
                self._end_retry()
                self._activity = ""
            case NoticeEvent() | ModelChangedEvent() | ThinkingLevelChangedEvent() | SessionInfoChangedEvent():
                self.add_notice(change_notice(event))
            case SpentEvent():
                self._count(event)
            case AgentStartEvent() | TurnEndEvent() | EntryAppendedEvent() | SessionMovedEvent():
                pass
            case _:
                assert_never(event)

    def _count(self, event: TranscriptEvent) -> None:
        self.usage += usage_of(event) or Usage()

    def _start_message(self, message: AgentMessage) -> None:
        self._end_retry()
        if isinstance(message, AssistantMessage):
            self._answer.clear()
        elif not isinstance(message, ToolResultMessage):
            self._add_message(message)

    def _add_message(self, message: AgentMessage, now: float | None = None) -> None:
        """Add the items of a complete message, or complete those that its events have added."""
        match message:
            case UserMessage(content):
                images = sum(isinstance(block, ImageContent) for block in content)
                self._list.append(UserItem(text_of(content), images))
            case AssistantMessage():
                self._answer.complete(message)
                if notice := outcome_notice(message):
                    self.add_notice(notice)
            case ToolResultMessage():
                self._calls.end(message, now)
            case BashExecutionMessage():
                item = CommandItem(message.command, message.exclude_from_context)
                item.finish_with(message)
                self._list.append(item)
            case CompactionSummaryMessage():
                self._list.append(CompactionItem(message.summary, message.tokens_before))
            case BranchSummaryMessage():
                self._list.append(BranchSummaryItem(message.summary))
            case CustomMessage():
                if message.display:
                    self._list.append(NoticeItem(text_of(message.content)))
            case _:
                assert_never(message)

    def _end_retry(self) -> None:
        if self._retry is not None:
            item, _ = self._retry
            item.left, self._retry = None, None
            self._list.changed(item)

    def _end_compaction(self, event: CompactionEndEvent) -> None:
        self._activity = ""
        if event.summary is not None:
            made = (event.summary, event.tokens_before, event.tokens_after, event.reason, event.message_count)
            self._list.append(CompactionItem(*made))
        elif event.error_message is not None:
            self.add_notice(NoticeItem(event.error_message, NoticeKind.ERROR))
        elif event.aborted:
            self.add_notice(NoticeItem("the conversation was not summarised"))
