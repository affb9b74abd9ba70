"""`agentcli run`."""

from pathlib import Path


def run_prompt(
    prompt: list[str],
    model: str | None,
    continue_: bool,
    session: str | None,
    no_session: bool,
    cwd: Path | None,
    max_turns: int | None,
) -> int:
    import asyncio

    from agentcli.config.load import load_settings
    from agentcli.config.paths import config_file
    from agentcli.headless.run import run_once
    from agentcli.runtime.runtime import RuntimeOptions
    from agentcli.runtime.session_choice import SessionChoice

    options = RuntimeOptions(
        settings=load_settings(config_file()),
        model=model,
        session=SessionChoice(continue_=continue_, reference=session, in_memory=no_session, cwd=cwd),
        max_turns=max_turns,
    )
    return asyncio.run(run_once(prompt, options))
