"""Commands that choose the model, the thinking level, the permission mode or the theme, by argument or from a list."""

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


async def model(context: CommandContext, argument: str) -> None:
    """Set the model of the next request."""
    runtime = context.runtime
    if not argument:
        rows = [_model_row(context, model) for model in runtime.models()]
        argument = await context.pick("Model", rows, current=runtime.agent.state.model.full_id) or ""
    if argument:
        model = runtime.set_model(argument)
        context.flash(f"{model.name or model.full_id} answers from the next request on")


async def thinking(context: CommandContext, argument: str) -> None:
    """Set the thinking level."""
    runtime = context.runtime
    levels = runtime.thinking_levels
    if not argument:
        rows = [PickerRow(str(level), str(level)) for level in levels]
        argument = await context.pick("Thinking", rows, current=str(runtime.agent.state.thinking_level)) or ""
    if argument:
        _set_level(context, argument)


async def cycle_thinking(context: CommandContext, argument: str) -> None:
    """Set the next thinking level of those that the model has."""
    runtime = context.runtime
    levels, now = runtime.thinking_levels, runtime.agent.state.thinking_level
    if len(levels) < 2:
        context.flash("this model has no levels of thinking")
        return
    place = levels.index(now) if now in levels else -1
    _set_level(context, levels[(place + 1) % len(levels)])


async def permissions(context: CommandContext, argument: str) -> None:
    """Set the permission mode."""
    runtime = context.runtime
    if not argument:
        rows = [PickerRow(str(mode), str(mode), text) for mode, text in MODES.items()]
        argument = await context.pick("Permissions", rows, current=str(runtime.permission_mode)) or ""
    if argument:
        runtime.permission_mode = _one_of(PermissionMode, argument, "permission mode")
        context.flash(f"permissions: {runtime.permission_mode}")


async def theme(context: CommandContext, argument: str) -> None:
    """Choose a theme, with a preview of each; the chosen one is written to the config."""
    from agentcli.config.edit import set_key
    from agentcli.tui.colors import themes

    current = context.app.theming
    if not argument:
        rows = [PickerRow(name, name) for name in themes.available()]
        now = current.theme.name if current.theme else None
        argument = (
            await context.pick("Theme", rows, current=now, on_highlight=lambda name: _preview(context, name)) or ""
        )
    if not argument:
        context.notify(*current.restore())
        return
    themes.path_of(argument)
    set_key("theme", argument)
    context.notify(*current.choose(argument))


def _preview(context: CommandContext, name: str) -> None:
    try:
        context.app.theming.preview(name)
    except AgentcliError as error:
        context.flash(error.message)


def _set_level(context: CommandContext, level: str) -> None:
    runtime = context.runtime
    wanted = _one_of(ThinkingLevel, level, "thinking level")
    got = runtime.set_thinking_level(wanted)
    context.flash(f"thinking: {got}" + ("" if got == wanted else f" (the model has no {wanted})"))


def _model_row(context: CommandContext, model: Model) -> PickerRow:
    provider = context.runtime.catalog.provider(model.provider)
    price = f"${model.cost.input:g} / ${model.cost.output:g}" if model.cost.input or model.cost.output else ""
    key = "no key" if provider.needs_key and not has_key(provider) else ""
    detail = " · ".join(part for part in (f"{short(model.context_window)} tokens", price, key) if part)
    return PickerRow(model.full_id, model.full_id, detail, search=f"{model.full_id} {model.name}")


def _one_of(kind: type[E], text: str, noun: str) -> E:
    try:
        return kind(text.strip().lower())
    except ValueError:
        raise UsageError(f"{text!r} is no {noun}", hint=f"one of {', '.join(kind)}") from None
