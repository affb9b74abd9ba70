"""Which model answers: what was asked for, else what the session had, else the settings, else what has a key."""

from msgspec import Struct

from agentcli.agent.errors import AgentcliError
from agentcli.agent.models import Model, ThinkingLevel, clamp_thinking_level
from agentcli.config.credentials import has_key
from agentcli.config.settings import Settings
from agentcli.providers.catalog.catalog import PILOT, Catalog
from agentcli.sessions.context import ModelChoice, SessionContext

OFFLINE_NOTICE = "no model is configured, so the offline pilot answers; it is not a language model (agentcli models)"


class ModelDecision(Struct, frozen=True):
    model: Model
    wanted_level: ThinkingLevel
    """How much thinking is asked for, whatever the model can."""
    notice: str | None = None
    """What the person should know about the decision."""

    @property
    def thinking_level(self) -> ThinkingLevel:
        """How much the model does think of that."""
        return clamp_thinking_level(self.model, self.wanted_level)


def choose_model(
    catalog: Catalog,
    settings: Settings,
    asked: str | ModelChoice | None,
    context: SessionContext,
    asked_level: ThinkingLevel | None = None,
) -> ModelDecision:
    """Raises UsageError when what was asked for, or what the settings name, is no model."""
    if isinstance(asked, ModelChoice):
        return _decide(stored_model(catalog, asked), asked_level, settings, context)
    if asked is not None:
        model, level = catalog.resolve(asked, has_key=has_key)
        return _decide(model, level or asked_level, settings, context)
    notice: str | None = None
    if context.model is not None:
        full_id = f"{context.model.provider}/{context.model.model_id}"
        try:
            model = stored_model(catalog, context.model, context.thinking_level)
            offline = OFFLINE_NOTICE if model.api == "offline" else None
            return _decide(model, asked_level, settings, context, offline)
        except AgentcliError as error:
            notice = f"the session's model {full_id} cannot be used: {error.message}"
    if settings.model is not None:
        model, level = catalog.resolve(settings.model, has_key=has_key)
        return _decide(model, asked_level or level, settings, context, notice)
    if model := catalog.default(has_key=has_key):
        return _decide(model, asked_level, settings, context, notice)
    return _decide(PILOT, asked_level, settings, context, notice or OFFLINE_NOTICE)


def stored_model(catalog: Catalog, choice: ModelChoice, level: str | None = None) -> Model:
    """Exactly the model that a session or a program has kept.

    Args:
        level: what older versions kept of a model that nothing describes: it can think if it was asked to.

    Raises:
        UsageError: it is gone.
    """
    thinks = choice.thinks if choice.thinks is not None else level not in (None, ThinkingLevel.OFF)
    return catalog.find(choice.provider, choice.model_id, thinks=thinks)


def choice_of(catalog: Catalog, model: Model) -> ModelChoice:
    """How `stored_model` finds the model again."""
    return ModelChoice(model.provider, model.id, None if catalog.lists(model) else model.reasoning)


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
    return ModelDecision(model, level or settings.thinking_level or ThinkingLevel.MEDIUM, notice)
