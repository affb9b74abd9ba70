"""Offers: what the editor completes after `/`: the commands, and the arguments of those that take one of a few."""

from collections.abc import Callable, Sequence

from agentcli.tui import themes
from agentcli.tui.actions import COMMANDS
from agentcli.tui.chat import Chat
from agentcli.tui.choices import MODES
from agentcli.tui.completion import Choice
from agentcli.tui.writing_aids import Arguments


def commands(chat: Chat) -> list[Choice]:
    """Everything that can follow a `/`."""
    own = [Choice(each.name, each.title, each.argument) for each in COMMANDS]
    return [*own, *(Choice(each.name, each.description, each.argument_hint) for each in chat.runtime.commands())]


def arguments(chat: Chat) -> Arguments:
    def models() -> Sequence[Choice]:
        return [Choice(model.full_id, model.name) for model in chat.runtime.models()]

    def levels() -> Sequence[Choice]:
        return [Choice(str(level)) for level in chat.runtime.thinking_levels]

    def modes() -> Sequence[Choice]:
        return [Choice(str(mode), text) for mode, text in MODES.items()]

    def names() -> Sequence[Choice]:
        return [Choice(name) for name in themes.available()]

    offers: dict[str, Callable[[], Sequence[Choice]]] = {
        "model": models,
        "thinking": levels,
        "permissions": modes,
        "theme": names,
    }
    return offers
