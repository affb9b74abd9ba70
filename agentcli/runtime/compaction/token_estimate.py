"""Token estimate of a context: what the server counted for the last answer, and a guess for what came after it.

The guess is set right by what the server counted before: its tokenizer may make twice as many tokens of the same text.
"""

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from agentcli.agent.messages import AgentMessage, AssistantMessage, StopReason, Usage
from agentcli.agent.tools import AgentTool
from agentcli.sessions.compaction.token_estimate import CHARACTERS_PER_TOKEN, estimate_tokens
from agentcli.sessions.context import SessionContext

LEAST_RATIO, MOST_RATIO = 0.8, 3.0
"""What a tokenizer may differ by from the guess. A count that differs by more has another reason and is left aside."""
_HALF = 0.5
_CUT = 0.25
_SIGNIFICANT = 256
"""So many tokens have to be new before the growth from one count to the next says something."""


class ContextTokens:
    """Tokens of the next request. Of a conversation that goes on only what is new is looked at.

    Args:
        shown: what the model is sent in place of a message.
    """

    def __init__(self, shown: Callable[[AgentMessage], AgentMessage] = lambda message: message) -> None:
        self.ratio: float = 1.0
        """Tokens, as the server counts them, for one that is guessed."""
        self._shown = shown
        self._grew = False
        """Whether the ratio comes from the growth between two counts."""
        self.forget()
        self._is_old = False

    def forget(self) -> None:
        """Look at all messages again: what is sent in place of one has changed."""
        self._messages: list[AgentMessage] = []
        """Those that are counted."""
        self._raw = 0
        """Guess for all of them."""
        self._since = 0
        """Guess for those after the last count."""
        self._counted: int | None = None
        """What the server counted, system prompt and tools included."""
        self._point: tuple[int, int] | None = None
        """Guess and count of the last request that was counted."""
        self._is_old = True
        """Whether what is looked at was sent before, perhaps in another form: its counts say nothing of the guess."""
        self.counted_by: AssistantMessage | None = None
        """The answer whose count is used."""

    def of(self, messages: Sequence[AgentMessage], system_prompt: str = "", tools: Sequence[AgentTool] = ()) -> int:
        """Answers without usage, or that failed, do not count as counted."""
        known = len(self._messages)
        if list(messages[:known]) != self._messages:
            self.forget()
            known = 0
        for message in messages[known:]:
            self._add(message, system_prompt, tools)
        self._is_old = False
        if self._counted is not None:
            return self._counted + round(self._since * self.ratio)
        return round((fixed_tokens(system_prompt, tools) + self._raw) * self.ratio)

    def _add(self, message: AgentMessage, system_prompt: str, tools: Sequence[AgentTool]) -> None:
        self._messages.append(message)
        size = estimate_tokens(self._shown(message))
        if isinstance(message, AssistantMessage) and message.stop_reason not in (StopReason.ERROR, StopReason.ABORTED):
            usage = message.usage
            total = usage.counted
            guessed = fixed_tokens(system_prompt, tools) + self._raw
            # Of a context that was cut before this process began, the count says nothing.
            if total and not 0 < input_tokens(usage) < guessed * _CUT:
                if not self._is_old:
                    self._calibrate(guessed, input_tokens(usage))
                self._counted, self.counted_by, self._since = total, message, 0
                self._raw += size
                return
        self._raw += size
        self._since += size

    def _calibrate(self, guessed: int, counted: int) -> None:
        before, self._point = self._point, (guessed, counted)
        grows = before is not None and guessed - before[0] >= _SIGNIFICANT
        if before is not None and grows:
            ratio = (counted - before[1]) / (guessed - before[0])
        elif not self._grew and guessed:
            ratio = counted / guessed
        else:
            return
        if _HALF <= ratio <= MOST_RATIO:
            self.ratio = max(ratio, LEAST_RATIO)
            self._grew = grows


def input_tokens(usage: Usage) -> int:
    """Tokens of a request, as the server counted them."""
    return usage.input + usage.cache_read + usage.cache_write


def fixed_tokens(system_prompt: str, tools: Sequence[AgentTool]) -> int:
    """Guess for what every request has: the system prompt and the tools."""
    described = sum(len(tool.description) + len(msgspec.json.encode(tool.parameters)) for tool in tools)
    return (len(system_prompt) + described) // CHARACTERS_PER_TOKEN


def context_messages(context: SessionContext) -> list[AgentMessage]:
    """The messages of a context, those from before a compaction without their usage: it counts what is gone."""
    return [
        replace(message, usage=Usage()) if index < context.kept and isinstance(message, AssistantMessage) else message
        for index, message in enumerate(context.messages)
    ]
