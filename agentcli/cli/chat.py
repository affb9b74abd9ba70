"""`agentcli` and `agentcli sessions resume`: the app."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcli.config.settings import PermissionMode


def open_chat(
    model: str | None = None,
    continue_: bool = False,
    session: str | None = None,
    no_session: bool = False,
    cwd: Path | None = None,
    permission_mode: "PermissionMode | None" = None,
    trust: bool = False,
    no_mouse: bool = False,
) -> int:
    from agentcli.agent.errors import UsageError
    from agentcli.config.configuration import load_configuration
    from agentcli.runtime.options import RuntimeOptions
    from agentcli.runtime.session_choice import SessionChoice

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the app needs a terminal", hint='for one prompt: agentcli run "what to do"')
    options = RuntimeOptions(
        # A broken file is no reason not to start: the app says so, and nothing writes to it.
        load=partial(load_configuration, trust=trust, lenient=True),
        permission_mode=permission_mode,
        model=model,
        session=SessionChoice(continue_=continue_, reference=session, in_memory=no_session, cwd=cwd),
    )
    theme, mouse = _looks()
    from agentcli.tui.app import ChatApp

    app = ChatApp(options, theme)
    code = app.run(mouse=mouse and not no_mouse)
    if app.parting_words:
        print(app.parting_words)
    return code


def _looks() -> tuple[str | None, bool]:
    """What of the person's settings has to be known before the first paint: the theme, and whether to take the mouse.

    The runtime meets the same file, and says what is wrong with it.
    """
    from agentcli.agent.errors import ConfigError
    from agentcli.config.load import load_settings
    from agentcli.config.paths import config_file

    try:
        settings = load_settings(config_file())
    except ConfigError:
        return None, True
    return settings.theme, settings.mouse
