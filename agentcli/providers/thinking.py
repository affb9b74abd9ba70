"""Thinking levels: what a wire API is told for one.

`Model.thinking_levels` says it per level: a word (an effort), a number (a budget of tokens), or a table, which is put
into the request body as it stands. A level that is not named there is told in the API's own words.
"""

from typing import Any

from msgspec import Struct

from agentcli.agent.context import StreamOptions
from agentcli.agent.models import Model, ThinkingLevel, clamp_thinking_level

BUDGETS: dict[ThinkingLevel, int] = {
    ThinkingLevel.MINIMAL: 1024,
    ThinkingLevel.LOW: 2048,
    ThinkingLevel.MEDIUM: 8192,
    ThinkingLevel.HIGH: 16384,
    ThinkingLevel.XHIGH: 32768,
    ThinkingLevel.MAX: 65536,
}
"""Tokens, where a model wants a budget and nobody set one."""


class Thinking(Struct, frozen=True):
    """A thinking level as it applies to a model."""

    level: ThinkingLevel
    word: str | None = None
    """The effort; None if the model names none for this level."""
    budget: int | None = None
    """Tokens; None only for `off`."""
    body: dict[str, Any] = {}
    """What goes into the request body in place of both."""

    @property
    def on(self) -> bool:
        return self.level is not ThinkingLevel.OFF


def thinking_of(model: Model, options: StreamOptions) -> Thinking:
    """What the model is told about thinking; `off` if it cannot think."""
    level = clamp_thinking_level(model, ThinkingLevel(options.reasoning))
    told = model.thinking_levels.get(level)
    budget = (options.thinking_budgets or {}).get(level)
    match told:
        case dict():
            return Thinking(level, body=told)
        case str():
            return Thinking(level, word=told, budget=budget or BUDGETS.get(level))
        case int() if not isinstance(told, bool):
            return Thinking(level, budget=budget or told)
        case _:
            return Thinking(level, budget=budget or BUDGETS.get(level))
