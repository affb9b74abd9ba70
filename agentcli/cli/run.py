"""`agentcli run`."""

from functools import partial
from typing import Annotated

from agentcli.cli import options
from agentcli.cli.declare import Argument


def run(
    prompt: Annotated[
        list[str] | None, Argument(metavar="[PROMPT | @FILE]...", help="What to do; @FILE attaches a file.")
    ] = None,
    model: options.Model = None,
    continue_: options.Continue = False,
    session: options.SessionReference = None,
    no_session: options.NoSession = False,
    cwd: options.Cwd = None,
    max_turns: options.MaxTurns = None,
    permission_mode: options.Mode = None,
    trust: options.Trust = False,
) -> int:
    """Work once on a prompt: the answer on stdout, the rest on stderr.

    What is piped in comes before the prompt. Exit codes: 0 done; 1 the agent or the provider failed; 2 usage,
    configuration or credentials; 3 stopped by a limit; 75 failed, but worth trying again.
    """
    import asyncio

    from agentcli.config.configuration import load_configuration
    from agentcli.headless.run import run_once
    from agentcli.runtime.options import RuntimeOptions
    from agentcli.runtime.session_choice import SessionChoice

    settings = RuntimeOptions(
        load=partial(load_configuration, trust=trust),
        permission_mode=permission_mode,
        model=model,
        session=SessionChoice(continue_=continue_, reference=session, in_memory=no_session, cwd=cwd),
        max_turns=max_turns,
    )
    return asyncio.run(run_once(prompt or [], settings))
