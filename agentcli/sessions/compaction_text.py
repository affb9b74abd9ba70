"""Compaction text: a stretch of conversation as the text that a model summarises. Text only: images become a word."""

from collections.abc import Sequence

import msgspec

from agentcli.agent.convert import convert_message
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    ImageContent,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
)

RESULT_CHARACTERS = 2000
"""What is quoted of one tool result."""


def conversation_parts(messages: Sequence[AgentMessage]) -> list[str]:
    """Each message as text, in order; thinking is left out, and so is what has no text."""
    parts = [_part(message) for message in messages]
    return [part for part in parts if part]


def split_conversation(parts: Sequence[str], most: int) -> list[str]:
    """The parts joined into as few texts as there must be, none longer than `most` characters."""
    texts: list[str] = []
    for part in parts:
        for start in range(0, len(part), most):
            piece = part[start : start + most]
            if texts and len(texts[-1]) + len(piece) + 2 <= most:
                texts[-1] += "\n\n" + piece
            else:
                texts.append(piece)
    return texts


def _part(message: AgentMessage) -> str:
    match message:
        case AssistantMessage():
            return "\n\n".join(_assistant(message))
        case ToolResultMessage():
            kind = "Tool error" if message.is_error else "Tool result"
            return f"[{kind}]: {_cut(_text(message.content))}"
        case _:
            converted = convert_message(message)
            text = _text(converted.content) if converted is not None else ""  # pyright: ignore[reportArgumentType]
            return f"[User]: {text}" if text.strip() else ""


def _assistant(message: AssistantMessage) -> list[str]:
    lines: list[str] = []
    text = "".join(block.text for block in message.content if isinstance(block, TextContent))
    if text.strip():
        lines.append(f"[Assistant]: {text}")
    if message.tool_calls:
        lines.append("[Assistant tool calls]: " + "; ".join(_call(call) for call in message.tool_calls))
    if message.error_message:
        lines.append(f"[The answer ended here: {message.error_message}]")
    return lines


def _call(call: ToolCall) -> str:
    if call.partial_json is not None:
        return f"{call.name}({_cut(call.partial_json)})"
    arguments = ", ".join(f"{name}={msgspec.json.encode(value).decode()}" for name, value in call.arguments.items())
    return f"{call.name}({_cut(arguments)})"


def _text(content: Sequence[UserContent]) -> str:
    return "\n".join("[image]" if isinstance(block, ImageContent) else block.text for block in content)


def _cut(text: str) -> str:
    if len(text) <= RESULT_CHARACTERS:
        return text
    return f"{text[:RESULT_CHARACTERS]}\n[… {len(text) - RESULT_CHARACTERS} more characters were left out]"
