"""Markdown export: a conversation as one readable document."""

import re
from collections.abc import Iterator

import msgspec

from agentcli.agent.convert import convert_message
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agentcli.agent.text import one_line, printable
from agentcli.sessions.session import Session


def to_markdown(session: Session) -> str:
    """The active branch from its root, compacted parts included."""
    title = one_line(session.name or "Session") if session.name else f"Session {session.id}"
    parts = [f"# {title}", f"{session.header.timestamp}, in `{one_line(session.header.cwd)}`"]
    for entry in session.get_branch():
        for message in entry.to_messages():
            parts += _message(message)
    return "\n\n".join(parts) + "\n"


def _message(message: AgentMessage) -> Iterator[str]:
    match message:
        case AssistantMessage():
            yield f"## Assistant ({one_line(message.model)})" if message.model else "## Assistant"
            for block in message.content:
                yield from _block(block)
            if message.error_message:
                yield f"**Failed:** {one_line(message.error_message, 1000)}"
        case ToolResultMessage():
            yield f"### Result of {one_line(message.tool_name)}" + (" (error)" if message.is_error else "")
            for block in message.content:
                yield "*(image)*" if isinstance(block, ImageContent) else fenced(printable(block.text))
        case _:
            converted = convert_message(message)
            if isinstance(converted, UserMessage):
                yield "## User" if message.role == "user" else f"## {message.role}"
                for block in converted.content:
                    yield from _block(block)


def _block(block: TextContent | ThinkingContent | ToolCall | ImageContent) -> Iterator[str]:
    match block:
        case TextContent() if block.text.strip():
            yield printable(block.text).strip("\n")
        case ImageContent():
            yield "*(image)*"
        case ToolCall():
            arguments = block.partial_json or msgspec.json.format(msgspec.json.encode(block.arguments)).decode()
            yield f"### Call of {one_line(block.name)}"
            yield fenced(printable(arguments), "json")
        case _:
            return


def fenced(text: str, language: str = "") -> str:
    """Text in a fence that is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
