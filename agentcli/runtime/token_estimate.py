"""Token estimate of a context: what the server counted for the last answer, and a guess for what came after it."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from agentcli.agent.messages import AgentMessage, AssistantMessage, StopReason, Usage
from agentcli.agent.tools import AgentTool
from agentcli.sessions.context import SessionContext
from agentcli.sessions.token_estimate import CHARACTERS_PER_TOKEN, estimate_tokens


class ContextTokens:
    """Tokens of the next request. Of a conversation that goes on only what is new is looked at."""

    def __init__(self) -> None:
        self._messages: list[AgentMessage] = []
        """Those that are counted."""
        self._tokens = 0
        self._is_counted = False
        """Whether a server's count is in it, which has the system prompt and the tools too."""

    def of(self, messages: Sequence[AgentMessage], system_prompt: str = "", tools: Sequence[AgentTool] = ()) -> int:
        """Answers without usage, or that failed, do not count as counted."""
        known = len(self._messages)
        if list(messages[:known]) != self._messages:
            self._messages, self._tokens, self._is_counted = [], 0, False
            known = 0
        for message in messages[known:]:
            self._add(message)
        if self._is_counted:
            return self._tokens
        described = sum(len(tool.description) + len(msgspec.json.encode(tool.parameters)) for tool in tools)
        return (len(system_prompt) + described) // CHARACTERS_PER_TOKEN + self._tokens

    def _add(self, message: AgentMessage) -> None:
        self._messages.append(message)
        if isinstance(message, AssistantMessage) and message.stop_reason not in (StopReason.ERROR, StopReason.ABORTED):
            usage = message.usage
            total = usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write
            if total:
                self._tokens, self._is_counted = total, True
                return
        self._tokens += estimate_tokens(message)


def messages_to_go_on_with(context: SessionContext) -> list[AgentMessage]:
    """The messages of a context, those from before a compaction without their usage: it counts what is gone."""
    return [
        replace(message, usage=Usage()) if index < context.kept and isinstance(message, AssistantMessage) else message
        for index, message in enumerate(context.messages)
    ]
