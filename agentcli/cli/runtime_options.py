"""Runtime options: from what a command line says to what a runtime is told."""

from functools import partial
from math import isfinite
from pathlib import Path

from msgspec.structs import replace

from agentcli.agent.errors import UsageError
from agentcli.config.configuration import load_configuration
from agentcli.config.settings import PermissionMode, SandboxMode
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.session_choice import SessionChoice


def runtime_options(
    model: str | None,
    continue_: bool,
    session: str | None,
    no_session: bool,
    cwd: Path | None,
    permission_mode: PermissionMode | None,
    trust: bool,
    sandbox: SandboxMode | None,
) -> RuntimeOptions:
    """Each as the option of its name says."""
    return RuntimeOptions(
        load=partial(load_configuration, trust=trust),
        permission_mode=permission_mode,
        sandbox=sandbox,
        model=model,
        session=SessionChoice(continue_=continue_, reference=session, in_memory=no_session, cwd=cwd),
    )


def with_limits(
    options: RuntimeOptions, turns: int | None, tokens: int | None, cost: float | None, timeout: float | None
) -> RuntimeOptions:
    """Raises UsageError for what Python takes for a number and a limit cannot be."""
    for name, number in (("--max-cost", cost), ("--timeout", timeout)):
        if number is not None and not isfinite(number):
            raise UsageError(f"{name} {number} is no number to stop at", hint="leave it out for no limit")
    return replace(options, max_turns=turns, max_tokens=tokens, max_cost=cost, timeout=timeout)
