"""Settings: the schema of `config.toml`. `.agentcli.example.toml` shows every key with its default."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import asdict

from agentcli.agent.models import ThinkingLevel
from agentcli.agent.queues import QueueMode


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """`[providers.NAME]`: a server, new or known. What is not set stays as the catalog has it."""

    label: str | UnsetType = UNSET
    """The name that people read."""
    api: str | UnsetType = UNSET
    """`openai-completions` (any OpenAI-compatible server), `openai-responses` or `anthropic-messages`."""
    base_url: str | UnsetType = UNSET
    api_key_env: str | list[str] | UnsetType = UNSET
    """The environment variable that holds the key, or several, of which the first that is set counts."""
    headers: dict[str, str] | UnsetType = UNSET
    """Sent with every request."""
    compat: dict[str, Any] | UnsetType = UNSET
    """What is unusual about the server."""

    def overrides(self) -> dict[str, Any]:
        """The fields that are set, as fields of `agent.models.Provider`."""
        changes = {name: value for name, value in asdict(self).items() if value is not UNSET}
        if isinstance(names := changes.get("api_key_env"), str):
            changes["api_key_env"] = [names]
        return changes


class RetrySettings(Struct, frozen=True, kw_only=True):
    """`[retry]`: what happens when a model's server fails in a way that may pass."""

    max_retries: int = 3
    """0 tries once only."""
    base_delay: float = 2.0
    """Seconds before the first retry; each further one waits twice as long."""
    max_delay: float = 60.0
    """Seconds. A server that asks for a longer wait is not waited for."""


class Settings(Struct, frozen=True, kw_only=True):
    model: str | None = None
    """`provider/id`, with an optional `:level`."""
    thinking_level: ThinkingLevel | None = None
    """How much the model is asked to think; None is the model's own default."""
    bash_timeout: float = 300.0
    """Seconds that a command may take unless the model asks for another limit."""
    steering_mode: QueueMode = QueueMode.ONE_AT_A_TIME
    """`one-at-a-time` or `all`: how many steering messages the model gets at once."""
    follow_up_mode: QueueMode = QueueMode.ONE_AT_A_TIME
    retry: RetrySettings = RetrySettings()
    providers: dict[str, ProviderSettings] = {}
    models: dict[str, dict[str, Any]] = {}
    """`[models."provider/id"]`: fields of a model that differ from the catalog's, or a model it lacks."""
    warnings: list[str] = field(default_factory=list)
    """What was odd about the file; not a key of it."""

    def provider_overrides(self) -> dict[str, dict[str, Any]]:
        return {name: settings.overrides() for name, settings in self.providers.items()}
