"""The items of messages that are complete: a resumed session, and messages that are not streamed."""

from collections.abc import Sequence

from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from agentcli.runtime.repair import INTERRUPTED_TEXT
from agentcli.tui.items.assistant_text import AssistantText
from agentcli.tui.items.item import Item
from agentcli.tui.items.notice import Notice, outcome_notice
from agentcli.tui.items.result import result_text
from agentcli.tui.items.summary import branch_summary, compaction_summary
from agentcli.tui.items.thinking import Thinking
from agentcli.tui.items.tool_panel import ToolPanel, finish_user_command, user_command
from agentcli.tui.items.user_text import UserText


def history_items(messages: Sequence[AgentMessage]) -> tuple[list[Item], dict[str, ToolPanel]]:
    """The items, and the panel of each tool call by the call's id."""
    items: list[Item] = []
    panels: dict[str, ToolPanel] = {}
    for message in messages:
        match message:
            case UserMessage():
                items.append(_user(message))
            case AssistantMessage():
                items += _assistant(message, panels)
            case ToolResultMessage():
                panel = panels.get(message.tool_call_id)
                if panel is None or panel.is_over:
                    panels[message.tool_call_id] = panel = ToolPanel(message.tool_name)
                    items.append(panel)
                panel.finish(result_text(message.content), message.details, message.is_error)
            case BashExecutionMessage():
                items.append(_command(message))
            case CompactionSummaryMessage():
                items.append(compaction_summary(message.summary, message.tokens_before))
            case BranchSummaryMessage():
                items.append(branch_summary(message.summary))
            case CustomMessage() if message.display:
                items.append(Notice(text_of(message.content)))
            case _:
                pass
    for panel in panels.values():
        if not panel.is_over:
            panel.finish(INTERRUPTED_TEXT, None, is_error=True)
    return items, panels


def _user(message: UserMessage) -> UserText:
    return UserText(text_of(message.content), sum(isinstance(block, ImageContent) for block in message.content))


def _assistant(message: AssistantMessage, panels: dict[str, ToolPanel]) -> list[Item]:
    items: list[Item] = []
    for block in message.content:
        match block:
            case TextContent() if block.text:
                items.append(AssistantText(block.text))
            case ThinkingContent():
                items.append(Thinking(block.thinking, block.redacted))
            case ToolCall():
                panels[block.id] = panel = ToolPanel(block.name)
                panel.set_arguments(block.arguments)
                items.append(panel)
            case _:
                pass
    if notice := outcome_notice(message):
        items.append(notice)
    return items


def _command(message: BashExecutionMessage) -> ToolPanel:
    panel = user_command(message.command, message.exclude_from_context)
    finish_user_command(panel, message)
    return panel
