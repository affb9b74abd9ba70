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
    from agentcli.tui.app import ChatApp

    return ChatApp(options).run() or 0
