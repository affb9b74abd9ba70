"""Compaction text: a part of the conversation as the text that a model summarises, and the shortening of long texts.

Images become `[image]`.
"""

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
"""Quoted of one tool result."""
MESSAGE_CHARACTERS = 20_000
"""Quoted of any other message, such as a pasted log: its beginning and its end."""
_TOO_LONG = "the message is too long for a summary"


def conversation_parts(messages: Sequence[AgentMessage]) -> list[str]:
    """Each message as text, in order; thinking and messages without text are left out."""
    parts = [_part(message) for message in messages]
    return [shorten(part, MESSAGE_CHARACTERS, _TOO_LONG) for part in parts if part]


def split_conversation(parts: Sequence[str], most: int) -> list[str]:
    """The parts joined into as few texts as possible, none longer than `most` characters."""
    texts: list[str] = []
    for part in parts:
        for start in range(0, len(part), most):
            piece = part[start : start + most]
            if texts and len(texts[-1]) + len(piece) + 2 <= most:
                texts[-1] += "\n\n" + piece
            else:
                texts.append(piece)
    return texts


def fair_share(sizes: Sequence[int], most: int) -> int:
    """The limit for each size so that all fit into `most`: the smaller ones leave their unused part to the larger."""
    left = most
    for place, size in enumerate(sorted(sizes)):
        share = max(left, 0) // (len(sizes) - place)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def shorten(text: str, most: int, why: str) -> str:
    """The text, or its beginning and its end with a line between them.

    Args:
        text: the text.
        most: characters of the result, approximately, that line included.
        why: why something was left out, and what to do about it.
    """
    if len(text) <= most:
        return text
    kept = max(most - len(_mark(len(text), why)), 0)
    head = _line_end(text, kept * 2 // 3)
    tail = kept - kept * 2 // 3
    left_out = len(text) - head - tail
    return text[:head] + _mark(left_out, why) + text[len(text) - tail :]


def shorten_all(texts: Sequence[str], most: int, why: str) -> list[str]:
    """The texts, shortened to about `most` characters together."""
    share = fair_share([len(text) for text in texts], most)
    return [shorten(text, share, why) for text in texts]


def _mark(count: int, why: str) -> str:
    return f"\n… {count:,} characters left out: {why}\n"


def _line_end(text: str, place: int) -> int:
    """The end of the last whole line before a position, if that is near."""
    found = text.rfind("\n", max(place - 200, 0), place)
    return found if found > 0 else place


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
