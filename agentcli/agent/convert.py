"""convert_to_llm: from the messages agentcli keeps to the messages a model reads.

A new kind of message is one function, registered for its type: `@convert_message.register`. It returns the `Message`
that the model gets, or None to leave it out.
"""

import re
from collections.abc import Iterable
from functools import singledispatch
from typing import cast

from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    Message,
    TextContent,
    ToolResultMessage,
    UserMessage,
)

COMPACTION_SUMMARY_PREFIX = "The conversation before this point was compacted into this summary:\n\n<summary>\n"
COMPACTION_SUMMARY_SUFFIX = "\n</summary>"
BRANCH_SUMMARY_PREFIX = (
    "The person came back from another branch of this conversation. What happened there:\n\n<summary>\n"
)
BRANCH_SUMMARY_SUFFIX = "\n</summary>"
_AS_THEY_ARE = frozenset[type]({UserMessage, AssistantMessage, ToolResultMessage})


def convert_to_llm(messages: Iterable[AgentMessage]) -> list[Message]:
    """Every message that the model is to read, in order."""
    listed = list(messages)
    if _AS_THEY_ARE.issuperset(map(type, listed)):
        # Before every request, and nearly always. One by one it would take longer with every turn.
        return cast("list[Message]", listed)
    converted = map(convert_message, listed)
    return [message for message in converted if message is not None]


@singledispatch
def convert_message(message: object) -> Message | None:
    """One message as the model reads it, or None. Kinds that nobody registered are left out."""
    return None


@convert_message.register(UserMessage | AssistantMessage | ToolResultMessage)
def _as_it_is(message: Message) -> Message:
    return message


@convert_message.register
def _bash_execution(message: BashExecutionMessage) -> Message | None:
    if message.exclude_from_context:
        return None
    return UserMessage([TextContent(bash_execution_to_text(message))], message.timestamp)


@convert_message.register
def _compaction_summary(message: CompactionSummaryMessage) -> Message:
    text = COMPACTION_SUMMARY_PREFIX + message.summary + COMPACTION_SUMMARY_SUFFIX
    return UserMessage([TextContent(text)], message.timestamp)


@convert_message.register
def _branch_summary(message: BranchSummaryMessage) -> Message:
    return UserMessage(
        [TextContent(BRANCH_SUMMARY_PREFIX + message.summary + BRANCH_SUMMARY_SUFFIX)], message.timestamp
    )


@convert_message.register
def _custom(message: CustomMessage) -> Message:
    content = [TextContent(message.content)] if isinstance(message.content, str) else message.content
    return UserMessage(list(content), message.timestamp)


def bash_execution_to_text(message: BashExecutionMessage) -> str:
    """A command the person ran, as text: its output stands in a fence that the output itself cannot close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", message.output)), default=2)
    fence = "`" * (longest + 1)
    output = message.output if message.output.endswith("\n") or not message.output else message.output + "\n"
    notes: list[str] = []
    if message.cancelled:
        notes.append("cancelled by the user")
    elif message.exit_code:
        notes.append(f"exit code {message.exit_code}")
    if message.truncated and message.full_output_path:
        notes.append(f"output cut; all of it is in {message.full_output_path}")
    tail = f"({'; '.join(notes)})\n" if notes else ""
    return f"Ran `{message.command}`\n{fence}\n{output}{fence}\n{tail}"
