"""`agentcli` and `agentcli sessions resume`: the app."""

import sys
from functools import partial

from msgspec.structs import replace

from agentcli.agent.errors import UsageError
from agentcli.cli import options
from agentcli.cli.runtime_options import runtime_options
from agentcli.config.configuration import load_configuration


def open_chat(
    model: options.Model = None,
    continue_: options.Continue = False,
    session: options.SessionReference = None,
    no_session: options.NoSession = False,
    cwd: options.Cwd = None,
    permission_mode: options.Mode = None,
    sandbox: options.Sandbox = None,
    trust: options.Trust = False,
    no_mouse: options.NoMouse = False,
) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the app needs a terminal", hint='for one prompt: agentcli run "what to do"')
    settings = runtime_options(model, continue_, session, no_session, cwd, permission_mode, trust, sandbox)
    # A broken file is no reason not to start: the app says so, and nothing writes to it.
    settings = replace(settings, load=partial(load_configuration, trust=trust, lenient=True))
    theme, mouse = _looks()
    from agentcli.tui.app import ChatApp

    app = ChatApp(settings, theme)
    code = app.run(mouse=mouse and not no_mouse)
    if app.resume_hint:
        print(app.resume_hint)
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
