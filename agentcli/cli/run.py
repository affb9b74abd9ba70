"""`agentcli run`."""

from agentcli.config.settings import PermissionMode
from agentcli.runtime.session_choice import SessionChoice


def run_prompt(
    prompt: list[str],
    session: SessionChoice,
    model: str | None,
    max_turns: int | None,
    permission_mode: PermissionMode | None,
    trust: bool,
) -> int:
    import asyncio
    from functools import partial

    from agentcli.config.configuration import load_configuration
    from agentcli.headless.run import run_once
    from agentcli.runtime.runtime import RuntimeOptions

    options = RuntimeOptions(
        load=partial(load_configuration, trust=trust),
        model=model,
        session=session,
        max_turns=max_turns,
        permission_mode=permission_mode,
    )
    return asyncio.run(run_once(prompt, options))
