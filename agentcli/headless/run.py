"""A one-shot run: one prompt, the answer on stdout, everything else on stderr."""

import sys
from collections.abc import Sequence

from agentcli.headless.exit_codes import ExitCode, outcome
from agentcli.headless.signals import StopSignals
from agentcli.headless.stdin import read_piped
from agentcli.headless.text_output import TextOutput
from agentcli.runtime.attachments import build_prompt
from agentcli.runtime.runtime import Runtime, RuntimeOptions


async def run_once(arguments: Sequence[str], options: RuntimeOptions) -> int:
    """Work on the prompt that `arguments` and standard input make. Returns the exit code.

    Raises:
        AgentcliError: before anything was sent.
    """
    output = TextOutput()
    words = [argument for argument in arguments if argument != "-"]
    piped, notice = read_piped(has_prompt=len(words) == len(arguments) > 0)
    runtime = Runtime.create(options)
    try:
        message = build_prompt(words, runtime.cwd, piped)
        runtime.require_ready()
        for line in [*runtime.notices, *([notice] if notice else [])]:
            output.say(line)
        runtime.subscribe(output)
        with StopSignals(runtime) as stopping:
            await runtime.prompt(message)
        output.end_line()
    finally:
        await runtime.close()
    return _finish(runtime, output, stopping.exit_code)


def _finish(runtime: Runtime, output: TextOutput, signalled: int | None) -> int:
    if signalled is not None:
        output.say(runtime.agent.signal.reason or "stopped")
        return signalled
    if runtime.reached_max_turns:
        output.say(f"stopped after {runtime.options.max_turns} turns, as asked; go on with: agentcli run --continue")
        return ExitCode.LIMIT
    code, problem = outcome(runtime.last_message)
    if problem:
        output.say(problem)
    sys.stdout.flush()
    return code
