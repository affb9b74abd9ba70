"""Which model answers: what was asked for, else what the session had, else the settings, else what has a key."""

from msgspec import Struct

from agentcli.agent.errors import AgentcliError
from agentcli.agent.models import Model, ThinkingLevel, clamp_thinking_level
from agentcli.config.credentials import has_key
from agentcli.config.settings import Settings
from agentcli.providers.catalog import Catalog
from agentcli.sessions.context import SessionContext

OFFLINE_NOTICE = "no model is configured, so the offline pilot answers; it is not a language model (agentcli models)"


class ModelDecision(Struct, frozen=True):
    model: Model
    thinking_level: ThinkingLevel
    notice: str | None = None
    """What the person should know about the decision."""


def choose_model(catalog: Catalog, settings: Settings, asked: str | None, context: SessionContext) -> ModelDecision:
    """Raises UsageError when what was asked for, or what the settings name, is no model."""
    if asked is not None:
        return _decide(*catalog.resolve(asked, has_key=has_key), settings, context)
    notice: str | None = None
    if context.model is not None:
        full_id = f"{context.model.provider}/{context.model.model_id}"
        reference = reference_to(catalog, context.model.provider, context.model.model_id, context.thinking_level)
        try:
            model, asked_level = catalog.resolve(reference, has_key=has_key)
            return _decide(model, asked_level, settings, context, OFFLINE_NOTICE if model.api == "offline" else None)
        except AgentcliError as error:
            notice = f"the session's model {full_id} cannot be used: {error.message}"
    if settings.model is not None:
        return _decide(*catalog.resolve(settings.model, has_key=has_key), settings, context, notice)
    if model := catalog.default(has_key=has_key):
        return _decide(model, None, settings, context, notice)
    model, level = catalog.resolve("offline", has_key=has_key)
    return _decide(model, level, settings, context, notice or OFFLINE_NOTICE)


def reference_to(catalog: Catalog, provider: str, model_id: str, level: str | None) -> str:
    """How a model is named so that `Catalog.resolve` finds this one, where there is one.

    With its level: of a model that the catalog does not list, that is what says that it can think.
    """
    takes_level = provider in catalog.names() and level in list(ThinkingLevel)
    return f"{provider}/{model_id}:{level}" if takes_level else f"{provider}/{model_id}"


def models_by_readiness(catalog: Catalog) -> list[Model]:
    """All listed models, provider by provider; first those whose provider has its key, or needs none.

    Raises:
        ConfigError: the configuration of a model or a provider is wrong.
    """
    ready = {provider.name: not provider.needs_key or has_key(provider) for provider in catalog.providers()}
    return sorted(catalog.models(), key=lambda model: not ready[model.provider])


def _decide(
    model: Model,
    level: ThinkingLevel | None,
    settings: Settings,
    context: SessionContext,
    notice: str | None = None,
) -> ModelDecision:
    if level is None and context.thinking_level in list(ThinkingLevel):
        level = ThinkingLevel(context.thinking_level or "")
    level = level or settings.thinking_level or ThinkingLevel.MEDIUM
    return ModelDecision(model, clamp_thinking_level(model, level), notice)
