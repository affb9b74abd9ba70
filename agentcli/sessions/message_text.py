"""Message text: what a message contains, in full and as one printable line."""

from typing import Any, assert_never

import msgspec

from agentcli.agent.convert import convert_message
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from agentcli.agent.text import one_line

_ARGUMENT_CHARACTERS = 160


def message_text(message: AgentMessage) -> str:
    """The text of a message as it is; empty for one that has only calls or images."""
    match message:
        case BashExecutionMessage():
            return f"$ {message.command}\n{message.output}"
        case CompactionSummaryMessage() | BranchSummaryMessage():
            return message.summary
        case UserMessage() | AssistantMessage() | ToolResultMessage() | CustomMessage():
            return text_of(message.content)
        case _:
            assert_never(message)


def describe_message(message: AgentMessage) -> str:
    """A message as one printable line: who it is from, its text and its calls."""
    match message:
        case UserMessage():
            return one_line(f"user: {text_of(message.content) or '(image)'}")
        case AssistantMessage():
            calls = " ".join(f"● {call.name}({call_arguments(call.arguments)})" for call in message.tool_calls)
            failed = f"✗ {message.error_message}" if message.error_message else ""
            return one_line(" ".join(part for part in ("assistant:", text_of(message.content), calls, failed) if part))
        case ToolResultMessage():
            mark = "✗ " if message.is_error else ""
            return one_line(f"{mark}{message.tool_name}: {text_of(message.content)}")
        case BashExecutionMessage():
            return one_line(f"$ {message.command}")
        case CompactionSummaryMessage() | BranchSummaryMessage() | CustomMessage():
            converted = convert_message(message)
            return one_line(f"{message.role}: {text_of(converted.content) if converted else ''}")
        case _:
            assert_never(message)


def call_arguments(arguments: dict[str, Any]) -> str:
    """A call's arguments as `name="value", …`, cut to one short line."""
    pairs = (f"{name}={msgspec.json.encode(value).decode()}" for name, value in arguments.items())
    return one_line(", ".join(pairs), _ARGUMENT_CHARACTERS)
