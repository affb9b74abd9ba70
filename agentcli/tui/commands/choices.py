"""Choices: the model, how much it thinks, the permission mode and the colours, by argument or from a list."""

from enum import StrEnum
from typing import TypeVar

from agentcli.agent.errors import AgentcliError, UsageError
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.config.credentials import has_key
from agentcli.config.settings import PermissionMode
from agentcli.tui.commands.command_context import CommandContext
from agentcli.tui.screens.picker import PickerRow
from agentcli.tui.status import short

MODES = {
    PermissionMode.ASK: "looking into the folder is allowed, everything else is asked",
    PermissionMode.AUTO: "everything that no rule denies is allowed",
    PermissionMode.READ_ONLY: "only the tools that cannot change anything",
}
E = TypeVar("E", bound=StrEnum)


class Choices(CommandContext):
    """A part of `Commands`."""

    async def model(self, argument: str) -> None:
        runtime = self.chat.runtime
        if not argument:
            rows = [self._model_row(model) for model in runtime.models()]
            argument = await self.pick("Model", rows, current=runtime.agent.state.model.full_id) or ""
        if argument:
            model = runtime.set_model(argument)
            self.flash(f"{model.name or model.full_id} answers from the next request on")

    async def thinking(self, argument: str) -> None:
        runtime = self.chat.runtime
        levels = runtime.thinking_levels
        if not argument:
            rows = [PickerRow(str(level), str(level)) for level in levels]
            argument = await self.pick("Thinking", rows, current=str(runtime.agent.state.thinking_level)) or ""
        if argument:
            self._set_level(argument)

    async def cycle_thinking(self, argument: str) -> None:
        runtime = self.chat.runtime
        levels, now = runtime.thinking_levels, runtime.agent.state.thinking_level
        if len(levels) < 2:
            self.flash("this model has no levels of thinking")
            return
        place = levels.index(now) if now in levels else -1
        self._set_level(levels[(place + 1) % len(levels)])

    async def permissions(self, argument: str) -> None:
        runtime = self.chat.runtime
        if not argument:
            rows = [PickerRow(str(mode), str(mode), text) for mode, text in MODES.items()]
            argument = await self.pick("Permissions", rows, current=str(runtime.permission_mode)) or ""
        if argument:
            runtime.permission_mode = _one_of(PermissionMode, argument, "permission mode")
            self.flash(f"permissions: {runtime.permission_mode}")

    async def theme(self, argument: str) -> None:
        """Choose, with a look at each; what is chosen is kept in the config."""
        from agentcli.config.edit import set_key
        from agentcli.tui.colors import themes

        current = self.app.theming
        if not argument:
            rows = [PickerRow(name, name) for name in themes.available()]
            now = current.theme.name if current.theme else None
            argument = await self.pick("Theme", rows, current=now, on_highlight=self._preview) or ""
        if not argument:
            self.tell_all(current.restore())
            return
        themes.path_of(argument)
        set_key("theme", argument)
        self.tell_all(current.choose(argument))

    def _preview(self, name: str) -> None:
        try:
            self.app.theming.preview(name)
        except AgentcliError as error:
            self.flash(error.message)

    def _set_level(self, level: str) -> None:
        runtime = self.chat.runtime
        wanted = _one_of(ThinkingLevel, level, "thinking level")
        got = runtime.set_thinking_level(wanted)
        self.flash(f"thinking: {got}" + ("" if got == wanted else f" (the model has no {wanted})"))

    def _model_row(self, model: Model) -> PickerRow:
        provider = self.chat.runtime.catalog.provider(model.provider)
        price = f"${model.cost.input:g} / ${model.cost.output:g}" if model.cost.input or model.cost.output else ""
        key = "no key" if provider.needs_key and not has_key(provider) else ""
        detail = " · ".join(part for part in (f"{short(model.context_window)} tokens", price, key) if part)
        return PickerRow(model.full_id, model.full_id, detail, search=f"{model.full_id} {model.name}")


def _one_of(kind: type[E], text: str, what: str) -> E:
    try:
        return kind(text.strip().lower())
    except ValueError:
        raise UsageError(f"{text!r} is no {what}", hint=f"one of {', '.join(kind)}") from None
