"""Token estimate of a context: what the server counted for the last answer, and a guess for what came after it."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from agentcli.agent.messages import AgentMessage, AssistantMessage, StopReason, Usage
from agentcli.agent.tools import AgentTool
from agentcli.sessions.context import SessionContext
from agentcli.sessions.token_estimate import CHARACTERS_PER_TOKEN, estimate_all


def context_tokens(messages: Sequence[AgentMessage], system_prompt: str = "", tools: Sequence[AgentTool] = ()) -> int:
    """Tokens of the next request. Answers without usage, or that failed, do not count as counted."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, AssistantMessage) and message.stop_reason not in (StopReason.ERROR, StopReason.ABORTED):
            usage = message.usage
            total = usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write
            if total:
                return total + estimate_all(messages[place + 1 :])
    described = sum(len(tool.description) + len(msgspec.json.encode(tool.parameters)) for tool in tools)
    return (len(system_prompt) + described) // CHARACTERS_PER_TOKEN + estimate_all(messages)


def messages_to_go_on_with(context: SessionContext) -> list[AgentMessage]:
    """The messages of a context, those from before a compaction without their usage: it counts what is gone."""
    return [
        replace(message, usage=Usage()) if index < context.kept and isinstance(message, AssistantMessage) else message
        for index, message in enumerate(context.messages)
    ]
