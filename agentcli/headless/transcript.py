"""A conversation as plain text, for reading in a terminal."""

from collections.abc import Iterable, Iterator

from agentcli.agent.convert import convert_message
from agentcli.agent.messages import AgentMessage, AssistantMessage, ToolCall, ToolResultMessage, UserMessage, text_of
from agentcli.agent.text import one_line, printable

RESULT_LINES = 20
"""What is shown of a tool's result."""


def transcript_lines(messages: Iterable[AgentMessage]) -> Iterator[str]:
    """Each message as lines without anything that a terminal would obey."""
    for message in messages:
        match message:
            case AssistantMessage():
                yield from _assistant(message)
            case ToolResultMessage():
                yield from _result(message)
            case _:
                converted = convert_message(message)
                if isinstance(converted, UserMessage):
                    yield from (f"> {line}" for line in _lines(text_of(converted.content)))
        yield ""


def _assistant(message: AssistantMessage) -> Iterator[str]:
    yield from _lines(text_of(message.content))
    for block in message.content:
        if isinstance(block, ToolCall):
            arguments = ", ".join(f"{name}={value!r}" for name, value in block.arguments.items())
            yield f"● {block.name}({one_line(block.partial_json or arguments)})"
    if message.error_message:
        yield f"✗ {one_line(message.error_message)}"


def _result(message: ToolResultMessage) -> Iterator[str]:
    lines = _lines(text_of(message.content))
    yield from (f"  {line}" for line in lines[:RESULT_LINES])
    if len(lines) > RESULT_LINES:
        yield f"  … {len(lines) - RESULT_LINES} more lines"


def _lines(text: str) -> list[str]:
    return printable(text).rstrip().split("\n") if text.strip() else []
