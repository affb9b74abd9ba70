"""Window: how much of the model's context window a conversation may take, and how much it takes.

A small window has a small reserve and keeps little: what the settings say of tokens holds for large ones.
"""

from collections.abc import Sequence

from agentcli.agent.agent import AgentState
from agentcli.agent.messages import AgentMessage, AssistantMessage
from agentcli.config.settings import CompactionSettings
from agentcli.runtime.compaction.token_estimate import ContextTokens, fixed_tokens, input_tokens
from agentcli.sessions.compaction.token_estimate import estimate_all

SMALLEST_ANSWER = 1024


class Window:
    """All is in tokens as the server counts them, as far as that is known.

    Args:
        state: of an agent: its model and its conversation.
    """

    def __init__(self, state: AgentState, settings: CompactionSettings) -> None:
        self.state = state
        self.settings = settings
        self.replaced: dict[int, tuple[AgentMessage, AgentMessage]] = {}
        """By the `id()` of a message: it, and what the model is sent in its place."""
        self._tokens = ContextTokens(self.shown)
        self._model = state.model
        self._refused: float | None = None
        """The smallest request that the server refused, as the guess is, not as the server counts."""
        self._believed = 0.0
        """The size of the window that follows from it, as the guess is."""
        self._saved: tuple[AssistantMessage | None, int] = (None, 0)
        """What was cut out of the context since an answer was counted."""

    @property
    def size(self) -> int:
        self._notice_model()
        known = self.state.model.context_window
        return known if self._refused is None else min(known, round(self._believed * self.ratio))

    @property
    def reserve(self) -> int:
        """What stays free for the answer: what the settings say, but no more than a third."""
        return min(self.settings.reserve_tokens, self.size // 3)

    @property
    def limit(self) -> int:
        """What a context may have without being compacted."""
        return self.size - self.reserve

    @property
    def room(self) -> int:
        """What a request may have: what it holds beyond that is cut. A short answer still has its place."""
        answer = min(max(SMALLEST_ANSWER + self.size // 32, self.size // 16), self.size // 2)
        return max(self.limit, self.size - answer)

    @property
    def keep(self) -> int:
        """What a compaction keeps of the latest messages, about: half of the room that there is for messages."""
        return min(self.settings.keep_recent_tokens, max(self.limit - self.fixed, 0) // 2)

    @property
    def fixed(self) -> int:
        """What every request has: the system prompt and the tools."""
        state = self.state
        return round(fixed_tokens(state.system_prompt, state.tools) * self.ratio)

    @property
    def ratio(self) -> float:
        """Tokens for one that is guessed."""
        return self._tokens.ratio

    def tokens(self, messages: Sequence[AgentMessage] | None = None) -> int:
        """What a request with these messages has; the conversation's, if none are given."""
        self._notice_model()
        state = self.state
        counted = self._tokens.of(state.messages if messages is None else messages, state.system_prompt, state.tools)
        answer, saved = self._saved
        return counted - saved if answer is not None and answer is self._tokens.counted_by else counted

    def estimate(self, messages: Sequence[AgentMessage]) -> int:
        return round(estimate_all(map(self.shown, messages)) * self.ratio)

    def shown(self, message: AgentMessage) -> AgentMessage:
        """What the model is sent in place of a message."""
        found = self.replaced.get(id(message))
        return found[1] if found is not None else message

    def shown_like(self, message: AgentMessage) -> AgentMessage:
        """The same for a message that was read from the session again."""
        return next((shown for original, shown in self.replaced.values() if original == message), message)

    def replace(self, messages: Sequence[tuple[AgentMessage, AgentMessage]], context: Sequence[AgentMessage]) -> None:
        """Send other messages in place of some of a context from now on."""
        self.tokens(context)
        answer = self._tokens.counted_by
        counted: set[int] = set()
        for message in context if answer is not None else ():
            counted.add(id(message))
            if message is answer:
                break
        before = [message for message, _ in messages if id(message) in counted]
        saved = self.estimate(before)
        there = set(map(id, context))
        self.replaced = {place: pair for place, pair in self.replaced.items() if place in there}
        self.replaced.update((id(message), (message, shown)) for message, shown in messages)
        saved -= self.estimate(before)
        earlier = self._saved[1] if self._saved[0] is answer else 0
        self._saved = (answer, saved + earlier)
        self._tokens.forget()

    def carry_over(self, messages: Sequence[AgentMessage]) -> None:
        """Send what was cut in the same way also after it was read from the session again."""
        if self.replaced:
            pairs = [(message, self.shown_like(message)) for message in messages]
            self.replaced = {id(message): (message, shown) for message, shown in pairs if shown is not message}
            self._tokens.forget()

    def refuse(self, tokens: int, share: float) -> None:
        """The server refused so many tokens: take a share of them for the window."""
        self._refused = min(tokens / self.ratio, self._refused or tokens / self.ratio)
        self._believed = self._refused * share

    @property
    def was_refused(self) -> bool:
        """Whether the server has refused a request as too long for what is believed of the window."""
        return self._refused is not None

    def accept(self, answer: AssistantMessage) -> None:
        """The server answered: more fits into the window than was believed, perhaps."""
        accepted = input_tokens(answer.usage) / self.ratio
        if self._refused is None or accepted <= self._believed:
            return
        self._believed = min(accepted * 1.25, self._refused)
        if accepted >= self._refused:
            self._refused = None  # It was refused for another reason.

    def _notice_model(self) -> None:
        """Another model counts otherwise, and what did not fit into the window of one may fit into that of another."""
        model = self.state.model
        if model is self._model:
            return
        same = (model.full_id, model.context_window) == (self._model.full_id, self._model.context_window)
        self._model = model
        if not same:
            self._refused, self._saved = None, (None, 0)
            self.replaced.clear()
            self._tokens = ContextTokens(self.shown)
