"""`agentcli` and `agentcli sessions resume`: the app."""

import sys
from pathlib import Path


def open_chat(
    model: str | None = None,
    continue_: bool = False,
    session: str | None = None,
    no_session: bool = False,
    cwd: Path | None = None,
) -> int:
    from agentcli.agent.errors import UsageError
    from agentcli.config.load import load_settings
    from agentcli.config.paths import config_file
    from agentcli.runtime.runtime import RuntimeOptions
    from agentcli.runtime.session_choice import SessionChoice

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the app needs a terminal", hint='for one prompt: agentcli run "what to do"')
    options = RuntimeOptions(
        settings=load_settings(config_file()),
        model=model,
        session=SessionChoice(continue_=continue_, reference=session, in_memory=no_session, cwd=cwd),
    )
    from agentcli.tui.app import ChatApp

    return ChatApp(options).run() or 0
