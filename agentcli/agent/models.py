"""Models and providers: what agentcli knows of them before it sends a request, and the form of a key."""

from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from agentcli.agent.errors import CredentialsError


class ThinkingLevel(StrEnum):
    """How much a model is asked to think, least first."""

    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class CostTier(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """US dollars per million tokens of a request whose prompt is longer than `above` tokens."""

    above: int
    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0


class ModelCost(Struct, frozen=True, omit_defaults=True):
    """US dollars per million tokens; 0 is free, or not known."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    tiers: list[CostTier] = []
    """What longer prompts cost, where that differs."""

    def rates(self, prompt_tokens: int) -> "ModelCost | CostTier":
        """What a request with so long a prompt (cached tokens included) costs, as a whole."""
        reached = [tier for tier in self.tiers if prompt_tokens > tier.above]
        return max(reached, key=lambda tier: tier.above, default=self)


class Model(Struct, frozen=True, omit_defaults=True, kw_only=True):
    id: str
    """The name that the provider's API takes."""
    name: str = ""
    """The name that people read."""
    api: str
    """The wire API: `openai-completions`, `offline` …"""
    provider: str
    base_url: str = ""
    reasoning: bool = False
    input: list[str] = field(default_factory=lambda: ["text"])
    """`text`, `image`."""
    cost: ModelCost = ModelCost()
    context_window: int = 128_000
    """Tokens."""
    max_tokens: int = 16_384
    """Output tokens."""
    headers: dict[str, str] = {}
    thinking_levels: dict[str, Any] = {}
    """Level to what the API is told for it; empty means the API's own words. None hides a level."""
    compat: dict[str, Any] = {}
    """What is unusual about the server; the wire API says which keys it knows."""

    @property
    def full_id(self) -> str:
        """`provider/id`, as `--model` takes it."""
        return f"{self.provider}/{self.id}"


class Provider(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A server that answers for models: an entry of the catalog, or a table `[providers.NAME]` in the config."""

    name: str = ""
    """The part of `provider/id` before the slash."""
    label: str = ""
    """The name that people read."""
    api: str = "openai-completions"
    base_url: str = ""
    api_key: str = ""
    """The key itself; empty if it comes from elsewhere."""
    api_key_env: list[str] = []
    """Environment variables that may hold the key, first one that is set."""
    api_key_command: str = ""
    """A shell command that prints the key; asked when no variable holds one."""
    needs_key: bool = True
    headers: dict[str, str] = {}
    compat: dict[str, Any] = {}


_LEVELS = list(ThinkingLevel)
_USUAL = [ThinkingLevel.OFF, ThinkingLevel.MINIMAL, ThinkingLevel.LOW, ThinkingLevel.MEDIUM, ThinkingLevel.HIGH]


def supported_thinking_levels(model: Model) -> list[ThinkingLevel]:
    """The levels a person may choose for this model, least first; `xhigh` and `max` only where the model names them."""
    if not model.reasoning:
        return [ThinkingLevel.OFF]
    if not model.thinking_levels:
        return list(_USUAL)
    return [level for level in _LEVELS if model.thinking_levels.get(level, level in _USUAL or None) is not None]


def clamp_thinking_level(model: Model, level: ThinkingLevel) -> ThinkingLevel:
    """The level nearest to `level` that the model has: the next one up, else the next one down."""
    supported = supported_thinking_levels(model)
    wanted = _LEVELS.index(level)
    above = [known for known in supported if _LEVELS.index(known) >= wanted]
    return above[0] if above else supported[-1]


def clean_key(key: str | None, *, source: str = "the API key") -> str | None:
    """The key as it can be sent in a header: trimmed, None if it is empty.

    Args:
        source: where the key comes from, for the error message.

    Raises:
        CredentialsError: it contains a character that no key has. The message says which and where, never the key.
    """
    key = (key or "").strip()
    for position, character in enumerate(key, 1):
        if not "!" <= character <= "~":
            raise CredentialsError(
                f"{source} has a character that no key has: U+{ord(character):04X} at position {position}",
                hint="copy the key again, without line breaks, blanks or look-alike letters",
            )
    return key or None
