"""Views of items that the tests write by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentcli.agent.messages import AgentMessage
from agentcli.transcript.items import (
    CompactionItem,
    NoticeItem,
    NoticeKind,
    SummaryItem,
    TextItem,
    ThinkingItem,
    ToolItem,
    UserItem,
)
from agentcli.transcript.model import TranscriptEvent, TranscriptModel
from agentcli.tui.items.assistant_text import AssistantText
from agentcli.tui.items.item import ItemView
from agentcli.tui.items.notice import Notice
from agentcli.tui.items.summary import Summary
from agentcli.tui.items.thinking import Thinking
from agentcli.tui.items.tool_panel import ToolPanel
from agentcli.tui.items.user_text import UserText
from agentcli.tui.items.views import view_of
from agentcli.tui.transcript_presenter import TranscriptPresenter
from agentcli.tui.widgets.transcript import Transcript


class Conversation:
    """A transcript that is painted as its model changes."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.model = TranscriptModel(TranscriptPresenter(transcript))

    def apply(self, *events: TranscriptEvent, now: float = 0.0) -> None:
        for event in events:
            self.model.apply(event, now)
        self.transcript.show()

    def tick(self, now: float) -> None:
        self.model.tick(now)
        self.transcript.show()


def user_text(text: str) -> UserText:
    return UserText(UserItem(text))


def assistant_text(text: str = "") -> AssistantText:
    return AssistantText(TextItem(text))


def thinking(text: str = "") -> Thinking:
    return Thinking(ThinkingItem(text))


def notice(text: str, kind: NoticeKind = NoticeKind.INFO, hint: str = "", *, subject: str = "") -> Notice:
    return Notice(NoticeItem(text, kind, hint, subject=subject))


def summary(title: str, text: str) -> Summary:
    return Summary(SummaryItem(title, text))


def compaction_summary(*arguments: Any) -> Summary:
    return Summary(CompactionItem(*arguments))


def tool_panel(name: str, arguments: Mapping[str, Any] | None = None) -> ToolPanel:
    return ToolPanel(ToolItem(name, arguments))


def finished(
    name: str, arguments: dict[str, Any], text: str = "", details: Any = None, is_error: bool = False
) -> ToolPanel:
    panel = tool_panel(name)
    panel.item.set_arguments(arguments)
    panel.item.finish(text, details, is_error)
    return panel


def views_of(messages: Sequence[AgentMessage]) -> list[ItemView]:
    """The views of complete messages."""
    model = TranscriptModel()
    model.add_messages(messages)
    return [view_of(item) for item in model.items]
