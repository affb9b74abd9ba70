"""Which view shows an item of the transcript."""

from typing import assert_never

from agentcli.transcript.items import (
    Item,
    NoticeItem,
    RetryItem,
    SummaryItem,
    TextItem,
    ThinkingItem,
    ToolItem,
    UserItem,
)
from agentcli.tui.items.assistant_text import AssistantText
from agentcli.tui.items.item import ItemView
from agentcli.tui.items.notice import Notice, Retry
from agentcli.tui.items.summary import Summary
from agentcli.tui.items.thinking import Thinking
from agentcli.tui.items.tool_panel import ToolPanel
from agentcli.tui.items.user_text import UserText


def view_of(item: Item) -> ItemView:
    """A new view of an item."""
    match item:
        case UserItem():
            return UserText(item)
        case TextItem():
            return AssistantText(item)
        case ThinkingItem():
            return Thinking(item)
        case ToolItem():
            return ToolPanel(item)
        case NoticeItem():
            return Notice(item)
        case RetryItem():
            return Retry(item)
        case SummaryItem():
            return Summary(item)
        case _:
            assert_never(item)
