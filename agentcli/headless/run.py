"""A one-shot run: one prompt, the answer on stdout, everything else on stderr."""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentcli.agent.abort import Aborted, interruptible
from agentcli.agent.events import MessageEndEvent
from agentcli.agent.messages import UserMessage
from agentcli.agent.text import printable
from agentcli.agent.threads import shortages, to_thread
from agentcli.headless.exit_codes import ExitCode, outcome
from agentcli.headless.output_format import OutputFormat
from agentcli.headless.signals import StopSignals
from agentcli.headless.stdin import read_piped
from agentcli.headless.stdout_writer import StdoutWriter, open_outlet
from agentcli.headless.text_output import TextOutput
from agentcli.runtime.runtime import Runtime, RuntimeOptions

if TYPE_CHECKING:
    from agentcli.headless.answer_schema import OutputSchema
    from agentcli.headless.result import UsageCounter


class RunOptions(Struct, frozen=True, kw_only=True):
    """What a run is told beside what a runtime is."""

    runtime: RuntimeOptions
    output: OutputFormat = OutputFormat.TEXT
    schema: Path | None = None
    """A file with a JSON Schema that the answer must fit."""


async def run_once(arguments: Sequence[str], options: RunOptions) -> int:
    """Work on the prompt that `arguments` and standard input make. Returns the exit code.

    Raises:
        AgentcliError: before anything was sent. A program that reads stdout has got its result nevertheless.
    """
    with open_outlet() as outlet, StopSignals() as stopping:
        run = _OneRun(options, outlet, stopping)
        try:
            code = await run.work(arguments)
        except Exception as error:
            if options.output != OutputFormat.TEXT:
                # Its imports are for programs that ask for it: a plain run does without.
                from agentcli.headless.json_lines import JsonLines
                from agentcli.headless.result import result_of_error

                JsonLines(outlet).write(result_of_error(error))
                await outlet.drain(stopping.signal)
            raise
        if await outlet.drain(stopping.signal):
            return code
        return _could_not_write(outlet, run.text) if outlet.broken else stopping.exit_code or code


def told_shortage(code: int) -> int:
    """The exit code of a run that has ended: if it met a shortage only then, that is said, and worth another try."""
    if code != ExitCode.DONE or not shortages:
        return code
    TextOutput(None, sys.stderr).say(shortages[0])
    return ExitCode.TRY_AGAIN


class _OneRun:
    def __init__(self, options: RunOptions, outlet: StdoutWriter, stopping: StopSignals) -> None:
        self.options = options
        self.outlet = outlet
        self.stopping = stopping
        streams = options.output == OutputFormat.TEXT and options.schema is None
        self.text = TextOutput(outlet if streams else None, sys.stderr)
        self.schema: OutputSchema | None = None
        self.tally: UsageCounter | None = None
        session = options.runtime.session
        self._wants_session = session.continue_ or session.reference is not None
        """Whether a session was asked for: then an answer that is not in it is no success."""
        stopping.signal.on_abort(outlet.hurry)

    async def work(self, arguments: Sequence[str]) -> int:
        if self.options.schema is not None:
            from agentcli.headless.answer_schema import OutputSchema

            self.schema = OutputSchema(self.options.schema)
        words = [argument for argument in arguments if argument != "-"]
        try:
            with interruptible(self.stopping.signal):
                piped, notice = await read_piped(has_prompt=len(words) == len(arguments) > 0)
        except Aborted:
            piped, notice = "", None
        runtime = Runtime.create(self.options.runtime)
        self.outlet.on_broken = lambda: runtime.abort("stdout takes no more")
        self.stopping.runtime = runtime
        try:
            self._attach(runtime)
            if not self.stopping.signal.aborted:
                message = await _message(runtime, words, piped)
                notices = [*runtime.attachments.notices, *([notice] if notice else [])]
                await self._prompt(runtime, message, notices)
            self.text.end_line()
        finally:
            await runtime.close()
        return self._finish(runtime)

    async def _prompt(self, runtime: Runtime, message: UserMessage, notices: list[str]) -> None:
        runtime.require_ready()
        for line in [*runtime.notices, *_price_notices(runtime), *notices]:
            await runtime.notify(line)
        if not self.stopping.signal.aborted and not self.outlet.broken:
            await runtime.prompt(message)

    def _attach(self, runtime: Runtime) -> None:
        runtime.subscribe(self.text)
        if self._wants_session:

            def stop_unless_stored(event: object, signal: object) -> None:
                problem = runtime.storage_problem
                if problem and isinstance(event, MessageEndEvent) and isinstance(event.message, UserMessage):
                    runtime.abort(problem)

            runtime.subscribe(stop_unless_stored)
        match self.options.output:
            case OutputFormat.TEXT:
                runtime.subscribe(lambda event, signal: self.outlet.room(signal))
            case OutputFormat.JSON | OutputFormat.EVENTS:
                from agentcli.headless.result import UsageCounter

                self.tally = UsageCounter()
                runtime.subscribe(self.tally)
        if self.options.output == OutputFormat.EVENTS:
            from agentcli.headless.event_serializer import EventSerializer
            from agentcli.headless.json_lines import JsonLines

            EventSerializer(runtime, JsonLines(self.outlet), self.outlet.room)
        if self.schema is not None:
            self.schema.attach(runtime)

    def _finish(self, runtime: Runtime) -> int:
        if self.outlet.broken:
            return ExitCode.FAILED
        code, problem = self._ending(runtime)
        if problem and problem != self.text.last_said:
            self.text.say(problem)
        answer = self.schema.json if self.schema is not None else None
        if self.tally is None and answer is not None:
            self.outlet.write(f"{printable(answer) if self.outlet.isatty() else answer}\n")
        elif self.tally is not None:
            self._write_result(runtime, code, problem)
        return code

    def _ending(self, runtime: Runtime) -> tuple[int, str | None]:
        """The exit code, and what to tell the person if it is not 0."""
        if self.stopping.exit_code is not None:
            return self.stopping.exit_code, self.stopping.signal.reason
        if limit := runtime.limit_text:
            return ExitCode.LIMIT, f"{limit}; go on with: agentcli run --continue" if runtime.is_kept else limit
        code, problem = outcome(runtime.last_message)
        if code == ExitCode.DONE and self.schema is not None and self.schema.json is None:
            return ExitCode.FAILED, self.schema.problem
        if code == ExitCode.DONE and self._wants_session and runtime.storage_problem:
            return ExitCode.FAILED, "the session could not be stored to its end"
        if code == ExitCode.DONE and shortages:
            return ExitCode.TRY_AGAIN, shortages[0]
        return code, problem

    def _write_result(self, runtime: Runtime, code: int, problem: str | None) -> None:
        from msgspec.structs import replace

        from agentcli.headless.json_lines import JsonLines
        from agentcli.headless.result import result_of

        assert self.tally is not None
        result = result_of(runtime, self.tally, code, problem)
        if self.schema is not None:
            fits = self.schema.json is not None
            result = replace(result, text=self.schema.json, data=self.schema.data) if fits else result
        JsonLines(self.outlet).write(result)


async def _message(runtime: Runtime, words: Sequence[str], piped: str) -> UserMessage:
    build = runtime.attachments.build_prompt
    if not any("@" in word for word in words):
        return build(words, piped, runtime.expand)
    return await to_thread(build, words, piped, runtime.expand)


def _price_notices(runtime: Runtime) -> list[str]:
    model = runtime.agent.state.model
    if not runtime.options.max_cost or model.cost.input or model.cost.output or model.cost.tiers:
        return []
    return [f"there are no prices of {model.full_id}, so --max-cost stops nothing"]


def _could_not_write(outlet: StdoutWriter, text: TextOutput) -> int:
    """Stdout took no more. A closed pipe is the reader's own doing: quiet, and the code of SIGPIPE."""
    if isinstance(outlet.broken, BrokenPipeError):
        return 128 + signal.SIGPIPE
    text.say(f"the answer could not be written: {getattr(outlet.broken, 'strerror', outlet.broken)}")
    return ExitCode.FAILED
