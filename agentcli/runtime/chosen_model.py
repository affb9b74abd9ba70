"""ChosenModel: the model and the thinking level of a runtime, how they change, and how the session remembers them."""

import contextlib
from collections.abc import Callable
from typing import Any

from agentcli.agent.errors import SessionError, UsageError
from agentcli.agent.hooks import AgentLoopTurnUpdate
from agentcli.agent.models import Model, ThinkingLevel, clamp_thinking_level
from agentcli.config.credentials import has_key, is_quick, require_key
from agentcli.runtime.events import ModelChangedEvent, ThinkingLevelChangedEvent
from agentcli.runtime.foundation import Foundation
from agentcli.runtime.model_choice import choose_model
from agentcli.sessions.context import ModelChoice, SessionContext


class ChosenModel:
    """Args:
    foundation: its agent asks this model.
    tell: takes an event for the listeners.
    """

    def __init__(self, foundation: Foundation, tell: Callable[[Any], None]) -> None:
        self._foundation = foundation
        self._state = foundation.agent.state
        self._session = foundation.recorder.session
        self._tell = tell
        self._wanted = self._state.thinking_level
        """What was asked for. A model that cannot think so much does not change it for the next one."""
        self._recorded_model = foundation.context.model
        self._recorded_level = foundation.context.thinking_level

    def set_model(self, reference: str) -> Model:
        """See `Runtime.set_model`."""
        catalog = self._foundation.catalog
        model, level = catalog.resolve(reference, has_key=has_key)
        provider = catalog.provider(model.provider)
        if is_quick(provider):
            require_key(provider)
        self._wanted = level or self._wanted
        self._use(model, clamp_thinking_level(model, self._wanted))
        return model

    def set_thinking_level(self, level: ThinkingLevel | str) -> ThinkingLevel:
        """See `Runtime.set_thinking_level`."""
        if level not in list(ThinkingLevel):
            hint = f"use one of {', '.join(ThinkingLevel)}"
            raise UsageError(f"there is no thinking level `{level}`", hint=hint)
        self._wanted = ThinkingLevel(level)
        self._use(self._state.model, clamp_thinking_level(self._state.model, self._wanted))
        return self._state.thinking_level

    def adopt(self, context: SessionContext) -> None:
        """What was chosen at another place of the session, where anything was."""
        decision = choose_model(self._foundation.catalog, self._foundation.options.settings, None, context)
        self._recorded_model, self._recorded_level = context.model, context.thinking_level
        model = self._state.model if context.model is None else decision.model
        level = self._state.thinking_level if context.thinking_level is None else decision.thinking_level
        self._wanted = level
        self._use(model, level)

    def record(self) -> None:
        """Note in the session what holds now, where it says something else."""
        model = ModelChoice(self._state.model.provider, self._state.model.id)
        # What cannot be written is tried again with the next message, and the person hears of that one.
        with contextlib.suppress(SessionError):
            if self._recorded_model != model:
                self._session.append_model_change(model.provider, model.model_id)
                self._recorded_model = model
            if self._recorded_level != self._state.thinking_level:
                self._session.append_thinking_level_change(self._state.thinking_level)
                self._recorded_level = self._state.thinking_level

    def prepare_request(self) -> AgentLoopTurnUpdate:
        """The hook of the loop: what holds now is what is asked, and the session has it before the answer."""
        self.record()
        return AgentLoopTurnUpdate(model=self._state.model, thinking_level=self._state.thinking_level)

    def _use(self, model: Model, level: ThinkingLevel) -> None:
        state = self._state
        is_other, is_other_level = model != state.model, level != state.thinking_level
        state.model, state.thinking_level = model, level
        self._foundation.tool_options.image_input = "image" in model.input
        if is_other:
            self._tell(ModelChangedEvent(model.provider, model.id, level))
        elif is_other_level:
            self._tell(ThinkingLevelChangedEvent(level))
