"""A one-shot run: one prompt, the answer on stdout, everything else on stderr."""

import os
import signal
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
    words = [argument for argument in arguments if argument != "-"]
    piped, notice = read_piped(has_prompt=len(words) == len(arguments) > 0)
    runtime = Runtime.create(options)
    output = TextOutput(sys.stdout, sys.stderr, on_broken=lambda: runtime.abort("stdout takes no more"))
    try:
        message = build_prompt(words, runtime.cwd, piped, runtime.expand)
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
    if output.broken:
        return _leave_broken(output)
    if signalled is not None:
        output.say(runtime.agent.signal.reason or "stopped")
        return signalled
    if runtime.reached_max_turns:
        output.say(f"stopped after {runtime.options.max_turns} turns, as asked; go on with: agentcli run --continue")
        return ExitCode.LIMIT
    code, problem = outcome(runtime.last_message)
    if problem:
        output.say(problem)
    if code == ExitCode.DONE and not runtime.is_stored:
        output.say("the session was not stored, so it cannot be continued")
        return ExitCode.FAILED
    return code


def _leave_broken(output: TextOutput) -> int:
    """Stdout took no more. A closed pipe is the reader's own doing: quiet, and the code of SIGPIPE."""
    closed = isinstance(output.broken, BrokenPipeError)
    if output.broken and not closed:
        output.say(f"the answer could not be written: {getattr(output.broken, 'strerror', output.broken)}")
    # What is still in the buffer has nowhere to go; Python would complain of it at its own end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE if closed else ExitCode.FAILED
