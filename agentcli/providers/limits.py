"""How many tokens an answer may have: what was asked for, what the model can, and what its window still holds."""

from collections.abc import Sequence

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.messages import AssistantMessage, ImageContent, Message, StopReason, TextContent, ToolCall
from agentcli.agent.models import Model

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 1200
SMALLEST_ANSWER = 1024
"""Never ask for less: an answer cut off after a line is worse than the server's error, which leads to compaction."""

MARGIN = 4096
"""Tokens by which the estimate of the input may be wrong (or 15 % of the window, if that is less)."""


def output_limit(model: Model, context: Context, options: StreamOptions) -> int:
    """The output limit to send: not more than the model has, nor than fits beside the input."""
    wanted = min(options.max_tokens or model.max_tokens, model.max_tokens)
    margin = min(MARGIN, model.context_window * 15 // 100)
    room = model.context_window - input_estimate(context) - margin
    return max(1, min(wanted, max(room, SMALLEST_ANSWER)))


def input_estimate(context: Context) -> int:
    """Tokens of the next request: what the server counted for the last one, and a guess for what came after it."""
    messages = context.messages
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if (
            isinstance(message, AssistantMessage)
            and message.stop_reason not in (StopReason.ERROR, StopReason.ABORTED)
            and message.usage.total_tokens
        ):
            return message.usage.total_tokens + _guess(messages[place + 1 :])
    tools = sum(len(tool.description) + 600 for tool in context.tools) // CHARACTERS_PER_TOKEN
    return len(context.system_prompt) // CHARACTERS_PER_TOKEN + tools + _guess(messages)


def _guess(messages: Sequence[Message]) -> int:
    characters = 0
    for message in messages:
        for block in message.content:
            match block:
                case TextContent():
                    characters += len(block.text)
                case ImageContent():
                    characters += IMAGE_TOKENS * CHARACTERS_PER_TOKEN
                case ToolCall():
                    characters += len(block.name) + sum(len(str(value)) for value in block.arguments.values())
                case _:
                    characters += len(block.thinking)
    return characters // CHARACTERS_PER_TOKEN
