"""RPC: another program drives a session with lines of JSON: commands on stdin, responses and events on stdout.

Each command has one response, with its id. Commands are done one after another, but for those that take long (a prompt,
which is answered as soon as it is known what happens to it, `bash`, `compact`, a branch summary): beside them others go
on. The end of stdin ends everything in order. A program that does not read is waited for, and then not listened to.
"""

import asyncio
import logging
import signal
import sys

from msgspec import Struct

from agentcli.agent.abort import AbortController, Aborted, interruptible
from agentcli.agent.errors import AgentcliError
from agentcli.headless.exit_codes import ExitCode
from agentcli.headless.json_lines import JsonLines
from agentcli.headless.rpc.commands import AnyCommand, BadCommandError, read_command
from agentcli.headless.rpc.data import Response
from agentcli.headless.rpc.handlers import HANDLERS, takes_long
from agentcli.headless.rpc.session import RpcSession
from agentcli.headless.signals import StopSignals
from agentcli.headless.stdin import lines
from agentcli.headless.stdout_writer import StdoutWriter, open_outlet
from agentcli.headless.text_output import TextOutput
from agentcli.runtime.runtime import Runtime, RuntimeOptions

LONGEST_LINE = 64 << 20
"""Bytes of one command. A longer line is passed over, and a failure response says so."""

_log = logging.getLogger("agentcli.rpc")


async def run_rpc(options: RuntimeOptions) -> int:
    """Serve until stdin ends, a signal comes or nobody reads any more. Returns the exit code.

    Raises:
        AgentcliError: there is no runtime to serve.
    """
    with open_outlet() as outlet, StopSignals() as stopping:
        server = _Server(outlet, stopping)
        await server.serve(options)
        await outlet.drain(stopping.signal)
        if stopping.exit_code is not None:
            return stopping.exit_code
        if outlet.broken is None:
            return ExitCode.DONE
        if isinstance(outlet.broken, BrokenPipeError):
            return 128 + signal.SIGPIPE
        TextOutput(None, sys.stderr).say(f"the events could not be written: {outlet.broken.strerror}")
        return ExitCode.FAILED


class _Server:
    def __init__(self, outlet: StdoutWriter, stopping: StopSignals) -> None:
        self._outlet = outlet
        self._lines = JsonLines(outlet)
        self._session = RpcSession(outlet, stopping)
        self._end = AbortController()
        """Fires when no more commands are to be read."""
        self._working: set[asyncio.Task[None]] = set()
        stopping.signal.on_abort(self._stop)
        outlet.on_broken = self._stop

    async def serve(self, options: RuntimeOptions) -> None:
        await self._session.use(Runtime.create(options))
        try:
            await self._read()
        finally:
            self._session.runtime.abort("the program that drives agentcli went away")
            self._session.runtime.abort_bash()
            self._outlet.hurry()
            if self._working:
                await asyncio.wait(self._working)
            await self._session.runtime.close()

    def _stop(self) -> None:
        self._outlet.hurry()
        self._end.abort()

    async def _read(self) -> None:
        if sys.stdin is None:  # It was closed before the start: that is its end.
            return
        commands = lines(sys.stdin.fileno(), LONGEST_LINE)
        while True:
            try:
                with interruptible(self._end.signal):
                    line = await anext(commands)
            except (Aborted, StopAsyncIteration):
                return
            await self._take(line)
            await self._outlet.room(self._end.signal)

    async def _take(self, line: bytes | None) -> None:
        """Do what a line says; what takes long is begun."""
        if line is None:
            return self._fail(BadCommandError(f"a line is longer than {LONGEST_LINE >> 20} MiB; it was passed over"))
        try:
            command = read_command(line)
        except BadCommandError as error:
            return self._fail(error)
        work = asyncio.ensure_future(self._do(command))
        self._working.add(work)
        work.add_done_callback(self._working.discard)
        # A command that takes long has begun when the next one is read: a prompt is there to be steered.
        await (asyncio.sleep(0) if takes_long(command) else asyncio.wait([work]))
        return None

    async def _do(self, command: AnyCommand) -> None:
        name = str(command.__struct_config__.tag)
        try:
            data = await HANDLERS[type(command)](self._session, command)
        except AgentcliError as error:
            response = Response(id=command.id, command=name, success=False, error=str(error), error_kind=error.kind)
        except Exception as error:
            _log.exception("%s failed", name)
            problem = f"{type(error).__name__}: {error}"
            response = Response(id=command.id, command=name, success=False, error=problem, error_kind="error")
        else:
            response = Response(id=command.id, command=name, success=True)
            if isinstance(data, Struct):
                response = Response(id=command.id, command=name, success=True, data=data)
        self._lines.write(response)

    def _fail(self, error: BadCommandError) -> None:
        self._lines.write(
            Response(id=error.id, command=error.command, success=False, error=error.problem, error_kind="usage")
        )
