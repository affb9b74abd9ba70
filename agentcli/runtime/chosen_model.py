"""ChosenModel: the model and the thinking level of a runtime, how they change, and how the session remembers them.

The level that is wanted is kept apart from what the model makes of it: another model may think more again.
"""

import contextlib
from collections.abc import Callable
from typing import Any

from agentcli.agent.agent import AgentState
from agentcli.agent.errors import SessionError, UsageError
from agentcli.agent.hooks import AgentLoopTurnUpdate
from agentcli.agent.models import Model, ThinkingLevel, clamp_thinking_level
from agentcli.config.credentials import has_key, is_quick, require_key
from agentcli.config.settings import Settings
from agentcli.providers.catalog.catalog import Catalog
from agentcli.runtime.events import ModelChangedEvent, NoticeEvent, ThinkingLevelChangedEvent
from agentcli.runtime.model_choice import OFFLINE_NOTICE, choice_of, choose_model, stored_model
from agentcli.sessions.context import ModelChoice, SessionContext
from agentcli.sessions.session import Session
from agentcli.tools.options import ToolOptions


class ChosenModel:
    """The model and the thinking level that hold.

    Args:
        state: of the agent that asks this model.
        session: where it is kept.
        context: what the session says of it.
        wanted_level: how much thinking is asked for; the state's level is what the model does of it.
        tool_options: are told whether the model takes images.
        put_event: takes an event for the listeners.
    """

    def __init__(
        self,
        state: AgentState,
        session: Session,
        context: SessionContext,
        wanted_level: ThinkingLevel,
        catalog: Catalog,
        settings: Settings,
        tool_options: ToolOptions,
        put_event: Callable[[Any], None],
    ) -> None:
        self._state = state
        self._session = session
        self._catalog = catalog
        self._settings = settings
        self._tool_options = tool_options
        self._put_event = put_event
        self._wanted = wanted_level
        self._effective = self._state.thinking_level
        """What was made of it for the model. A program may set the agent's level without us; then that is wanted."""
        self._recorded_model = context.model
        self._recorded_level = context.thinking_level

    @property
    def wanted(self) -> ThinkingLevel:
        """See `Runtime.wanted_thinking_level`."""
        if self._state.thinking_level != self._effective:
            self._wanted = self._effective = self._state.thinking_level
        return self._wanted

    @property
    def choice(self) -> ModelChoice:
        """What a session keeps of the model."""
        return choice_of(self._catalog, self._state.model)

    def set_model(self, reference: str | ModelChoice, level: ThinkingLevel | None) -> Model:
        """See `Runtime.set_model`."""
        catalog = self._catalog
        if isinstance(reference, ModelChoice):
            model, said = stored_model(catalog, reference, level), None
        else:
            model, said = catalog.resolve(reference, has_key=has_key)
        provider = catalog.provider(model.provider)
        if is_quick(provider):
            require_key(provider)
        self._use(model, said or level or self.wanted)
        return model

    def set_thinking_level(self, level: ThinkingLevel | str) -> ThinkingLevel:
        """See `Runtime.set_thinking_level`."""
        if level not in list(ThinkingLevel):
            hint = f"use one of {', '.join(ThinkingLevel)}"
            raise UsageError(f"there is no thinking level `{level}`", hint=hint)
        self._use(self._state.model, ThinkingLevel(level))
        return self._state.thinking_level

    def restore_from(self, context: SessionContext) -> None:
        """What was chosen at another place of the session, where anything was."""
        decision = choose_model(self._catalog, self._settings, None, context)
        self._recorded_model, self._recorded_level = context.model, context.thinking_level
        model = self._state.model if context.model is None else decision.model
        self._use(model, self.wanted if context.thinking_level is None else decision.wanted_level)
        if context.model is not None and decision.notice not in (None, OFFLINE_NOTICE):
            self._put_event(NoticeEvent(decision.notice))

    def record(self) -> None:
        """Note in the session what holds now, where it says something else."""
        model, wanted = self.choice, self.wanted
        # What cannot be written is tried again with the next message, and the person hears of that one.
        with contextlib.suppress(SessionError):
            if self._recorded_model != model:
                self._session.append_model_change(model.provider, model.model_id, model.thinks)
                self._recorded_model = model
            if self._recorded_level != wanted:
                self._session.append_thinking_level_change(wanted)
                self._recorded_level = wanted

    def prepare_request(self) -> AgentLoopTurnUpdate:
        """The hook of the loop: what holds now is what is asked, and the session has it before the answer."""
        self.record()
        state = self._state
        return AgentLoopTurnUpdate(model=state.model, thinking_level=state.thinking_level, tools=state.tools)

    def _use(self, model: Model, wanted: ThinkingLevel) -> None:
        state, level = self._state, clamp_thinking_level(model, wanted)
        is_other, is_other_level = model != state.model, level != state.thinking_level
        state.model, state.thinking_level = model, level
        self._wanted, self._effective = wanted, level
        self._tool_options.image_input = "image" in model.input
        if is_other:
            self._put_event(ModelChangedEvent(model.provider, model.id, level))
        elif is_other_level:
            self._put_event(ThinkingLevelChangedEvent(level))
