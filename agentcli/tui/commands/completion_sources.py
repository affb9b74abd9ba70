"""What the editor completes after `/`: the commands, and the arguments of those that have a list of them."""

import time
from collections.abc import Awaitable, Callable, Sequence

from agentcli.agent.errors import SessionError
from agentcli.agent.threads import to_thread
from agentcli.config.paths import sessions_folder
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.tui.colors import themes
from agentcli.tui.commands.choices import MODES
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.editing.completion import Arguments, Choice
from agentcli.tui.painting.session_labels import age, session_title
from agentcli.tui.session_controller import SessionController


def commands(controller: SessionController, keymap: Keymap) -> list[Choice]:
    """Everything that can follow a `/`."""
    own = [Choice(each.name, each.title, each.argument) for each in keymap.slash_commands]
    return [*own, *(Choice(each.name, each.description, each.argument_hint) for each in controller.runtime.commands())]


def arguments(controller: SessionController) -> Arguments:
    """Where the arguments of each command come from, by the command's name."""

    def models() -> Sequence[Choice]:
        return [Choice(model.full_id, model.name) for model in controller.runtime.models()]

    def levels() -> Sequence[Choice]:
        return [Choice(str(level)) for level in controller.runtime.thinking_levels]

    def modes() -> Sequence[Choice]:
        return [Choice(str(mode), text) for mode, text in MODES.items()]

    def names() -> Sequence[Choice]:
        return [Choice(name) for name in themes.available()]

    offers: dict[str, Callable[[], Sequence[Choice] | Awaitable[Sequence[Choice]]]] = {
        "model": models,
        "thinking": levels,
        "permissions": modes,
        "theme": names,
        "resume": lambda: _sessions(controller),
    }
    return offers


async def _sessions(controller: SessionController) -> Sequence[Choice]:
    """The other sessions of this directory, last used first; found by their titles and ids."""
    cwd, open_id = controller.runtime.cwd, controller.runtime.session.id
    try:
        infos = await to_thread(JsonlSessionRepo(sessions_folder()).list, cwd)
    except OSError as error:
        raise SessionError("storage", f"the sessions cannot be listed: {error.strerror}") from None
    now = time.time()
    return [
        Choice(info.id, f"{age(info.modified, now)} · {info.id[-12:]}", label=session_title(info))
        for info in infos
        if info.id != open_id
    ]
