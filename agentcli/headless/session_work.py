"""Session work: what is done to a session from the command line with the help of a model."""

import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agentcli.headless.signals import StopSignals
from agentcli.headless.text_output import TextOutput
from agentcli.runtime.events import CompactionEndEvent
from agentcli.runtime.navigation import NavigationResult
from agentcli.runtime.runtime import Runtime, RuntimeOptions

T = TypeVar("T")


async def compact_session(options: RuntimeOptions, instructions: str) -> tuple[CompactionEndEvent | None, int | None]:
    """Compact the session that the options name. Returns how it ended, and the exit code if a signal stopped it."""
    return await _with_runtime(options, lambda runtime: runtime.compact(instructions))


async def go_to_entry(options: RuntimeOptions, entry: str, instructions: str) -> tuple[NavigationResult, int | None]:
    """Go on from another entry, with a summary of the branch that is left."""

    async def work(runtime: Runtime) -> NavigationResult:
        entry_id = runtime.session.storage.find_id(entry)
        return await runtime.go_to(entry_id, summarize=True, instructions=instructions)

    return await _with_runtime(options, work)


async def _with_runtime(options: RuntimeOptions, work: Callable[[Runtime], Awaitable[T]]) -> tuple[T, int | None]:
    runtime = Runtime.create(options)
    try:
        runtime.require_ready()
        output = TextOutput(None, sys.stderr)
        for line in runtime.notices:
            output.say(line)
        runtime.subscribe(output)
        with StopSignals(runtime) as stopping:
            result = await work(runtime)
    finally:
        await runtime.close()
    return result, stopping.exit_code
