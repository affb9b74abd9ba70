"""How entries appear to a user who looks for a place in the tree."""

import pytest

from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agentcli.sessions.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    EntryKind,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    UnknownEntry,
)

BASE = {"id": "1", "parent_id": None, "timestamp": "2026-01-01T00:00:00.000Z"}
CALL = ToolCall("c", "bash", {"command": "ls"})


def message(message: AgentMessage) -> MessageEntry:
    return MessageEntry(**BASE, message=message)


@pytest.mark.parametrize(
    "entry, kind, text",
    [
        (message(UserMessage([TextContent("a\nb")])), EntryKind.PROMPT, "a\nb"),
        (message(AssistantMessage([TextContent("yes"), CALL])), EntryKind.ANSWER, "yes"),
        (message(AssistantMessage([TextContent(" \n"), CALL])), EntryKind.CALLS, " \n"),
        (message(AssistantMessage([], error_message="failed")), EntryKind.ANSWER, ""),
        (message(ToolResultMessage("c", "bash", [TextContent("out")])), EntryKind.RESULT, "out"),
        (message(BashExecutionMessage("ls", "out", exclude_from_context=True)), EntryKind.OTHER, "$ ls\nout"),
        (message(CustomMessage("note", "text")), EntryKind.OTHER, "text"),
        (message(CompactionSummaryMessage("short")), EntryKind.OTHER, "short"),
        (message(BranchSummaryMessage("left", "1")), EntryKind.OTHER, "left"),
        (CompactionEntry(**BASE, summary="short"), EntryKind.SUMMARY, "short"),
        (BranchSummaryEntry(**BASE, from_id="0", summary="left"), EntryKind.SUMMARY, "left"),
        (CustomMessageEntry(**BASE, custom_type="note", content="text"), EntryKind.OTHER, "text"),
        (CustomEntry(**BASE, custom_type="state"), EntryKind.SETTING, ""),
        (ModelChangeEntry(**BASE, provider="p", model_id="m"), EntryKind.SETTING, ""),
        (UnknownEntry(type="later", id="1"), EntryKind.SETTING, ""),
        (LabelEntry(**BASE, target_id="0", label="x"), EntryKind.MARK, ""),
        (SessionInfoEntry(**BASE, name="x"), EntryKind.MARK, ""),
        (LeafEntry(**BASE, target_id="0"), EntryKind.MARK, ""),
    ],
)
def test_every_entry_has_a_kind_and_a_description_of_one_line(entry: Entry, kind: EntryKind, text: str) -> None:
    assert entry.kind is kind
    assert entry.text() == text
    assert entry.describe().strip() and "\n" not in entry.describe()


def test_a_command_of_the_user_is_described_by_itself() -> None:
    assert message(BashExecutionMessage("make\ntest", "ok", exclude_from_context=True)).describe() == "$ make test"
