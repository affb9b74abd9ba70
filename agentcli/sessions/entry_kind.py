"""EntryKind: what an entry of a session is to somebody who looks for a place in its tree."""

from enum import StrEnum

from agentcli.agent.messages import AssistantMessage, ToolResultMessage, UserMessage, text_of
from agentcli.sessions.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    SessionInfoEntry,
)


class EntryKind(StrEnum):
    PROMPT = "prompt"
    ANSWER = "answer"
    """Of the model, with some text, or without any calls."""
    CALLS = "calls"
    """Of the model, nothing but calls of tools."""
    RESULT = "result"
    """What a tool answered."""
    SUMMARY = "summary"
    """Of what was compacted, or of a branch that was left."""
    OTHER = "other"
    """Another message: a command that the person ran, one of an extension."""
    SETTING = "setting"
    """The model, thinking level or tools were changed; an extension's data; what this version does not know."""
    MARK = "mark"
    """A label, a name or a move, which is no place in the conversation."""


def kind_of(entry: Entry) -> EntryKind:
    match entry:
        case MessageEntry(message=UserMessage()):
            return EntryKind.PROMPT
        case MessageEntry(message=AssistantMessage() as message):
            only_calls = message.tool_calls and not text_of(message.content).strip()
            return EntryKind.CALLS if only_calls else EntryKind.ANSWER
        case MessageEntry(message=ToolResultMessage()):
            return EntryKind.RESULT
        case CompactionEntry() | BranchSummaryEntry():
            return EntryKind.SUMMARY
        case MessageEntry() | CustomMessageEntry():
            return EntryKind.OTHER
        case LabelEntry() | SessionInfoEntry() | LeafEntry():
            return EntryKind.MARK
        case _:
            return EntryKind.SETTING
