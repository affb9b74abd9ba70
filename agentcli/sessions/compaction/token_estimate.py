"""Token estimate: the size of messages in tokens, from the length of their text. Off by up to a third, but fast.

Four characters are a token; in scripts other than Latin, four bytes of UTF-8.
"""

from collections.abc import Iterable
from functools import singledispatch

import msgspec

from agentcli.agent.messages import (
    AgentMessage,
    AssistantContent,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserContent,
    UserMessage,
)

CHARACTERS_PER_TOKEN = 4
IMAGE_CHARACTERS = 4800
"""An image of any size counts as 1,200 tokens."""


def estimate_tokens(message: AgentMessage) -> int:
    """Estimated tokens of one message."""
    return -(-_characters(message) // CHARACTERS_PER_TOKEN)


def estimate_all(messages: Iterable[AgentMessage]) -> int:
    """Estimated tokens of several messages."""
    return sum(estimate_tokens(message) for message in messages)


@singledispatch
def _characters(message: object) -> int:
    return 0


@_characters.register(UserMessage | AssistantMessage | ToolResultMessage)
def _of_blocks(message: UserMessage | AssistantMessage | ToolResultMessage) -> int:
    return sum(_of_block(block) for block in message.content)


@_characters.register
def _of_custom(message: CustomMessage) -> int:
    content = message.content
    return _length(content) if isinstance(content, str) else sum(_of_block(block) for block in content)


@_characters.register
def _of_command(message: BashExecutionMessage) -> int:
    return 0 if message.exclude_from_context else _length(message.command) + _length(message.output)


@_characters.register(CompactionSummaryMessage | BranchSummaryMessage)
def _of_summary(message: CompactionSummaryMessage | BranchSummaryMessage) -> int:
    return _length(message.summary)


def _of_block(block: UserContent | AssistantContent) -> int:
    match block:
        case TextContent():
            return _length(block.text)
        case ThinkingContent():
            return _length(block.thinking)
        case ImageContent():
            return IMAGE_CHARACTERS
        case _:
            return len(block.name) + len(block.partial_json or msgspec.json.encode(block.arguments))


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
