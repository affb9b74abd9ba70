"""The bash tool: runs a shell command, or looks after one that runs in the background.

Standard input is empty, and nothing can ask or wait for a person. A command that takes too long, or is aborted, is
ended with everything it has started. What a command leaves running when its shell exits stays alive, is named in the
result, and is ended with agentcli. `shell_command` says when a result is there, `clean_output` what the model reads.
"""

import asyncio
import contextlib
import math
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agentcli.agent.abort import Aborted, AbortSignal, interruptible
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent
from agentcli.agent.tools import (
    AgentTool,
    AgentToolResult,
    OnUpdate,
    ToolExecutionMode,
    ToolKind,
    ToolTarget,
    parameters_of,
)
from agentcli.tools.bash.command_output import BYTES_PER_S, Snapshot, describe
from agentcli.tools.bash.exit_status import exit_code_of, exit_line, signal_of
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.bash.process_manager import ProcessManager
from agentcli.tools.bash.process_tree import Process, command_of
from agentcli.tools.bash.shell_command import ShellCommand
from agentcli.tools.options import ToolOptions
from agentcli.tools.truncate import Truncation, size

MAX_TIMEOUT_S = 2_147_483
_SHOWN = 20
"""Processes that a result names."""
_FIRST_LOOK_S = 0.5
"""How long the start of a background job is watched, so that a job that fails at once is seen to."""

DESCRIPTION = (
    "Run a bash command in the working folder and show its output: the last 2000 lines or 50 KB; the file with all of "
    "a longer one is named. There is no stdin, so nothing can ask. Start servers and the like with background. "
    "Of several calls in one message a command runs alone, in its place."
)


TARGET = ToolTarget(
    "command",
    is_sandboxed=lambda arguments: not arguments.get("unsandboxed"),
    is_follow_up=lambda arguments: bool(arguments.get("job")),
)


class BashToolInput(Struct, omit_defaults=True):
    command: str
    timeout: Annotated[float, Meta(description="seconds; with job: how long to wait for its end")] | None = None
    background: Annotated[bool, Meta(description="start a job and return its id")] | None = None
    job: Annotated[str, Meta(description="id: show what is new of this job, command stays empty")] | None = None
    kill: Annotated[bool, Meta(description="end the job")] | None = None
    unsandboxed: (
        Annotated[
            bool,
            Meta(description="run it outside the sandbox, once that has refused what is needed; the person is asked"),
        ]
        | None
    ) = None


class BackgroundProcess(Struct, frozen=True):
    pid: int
    command: str


class BashToolDetails(Struct, omit_defaults=True):
    truncation: Truncation | None = None
    full_output_path: str | None = None
    """The file with the raw output, if that was long."""
    exit_code: int | None = None
    """128 + n if signal n ended the shell; None while it runs."""
    signal: str | None = None
    """Name of the signal that ended the shell."""
    timed_out: bool = False
    aborted: bool = False
    duration_ms: int = 0
    job: str | None = None
    """Id of the background job."""
    running: bool = False
    """The job goes on."""
    background: list[BackgroundProcess] = []
    """What was left running."""


class CommandEnd(Struct, frozen=True):
    """How a command ended."""

    snapshot: Snapshot
    details: BashToolDetails
    lines: list[str]
    """What there is to say of its end, what it left running last."""
    is_error: bool


def create_bash_tool(options: ToolOptions, commands: ProcessManager | None = None) -> AgentTool:
    """Args:
    commands: who runs them and ends what they leave; without it, nobody ends what is left when the loop is closed.
    """
    manager = commands or ProcessManager(options, SpillFolder(options.spill_dir))

    async def execute(
        tool_call_id: str,
        params: dict[str, Any],
        signal: AbortSignal,
        on_update: OnUpdate | None = None,
        context: Any = None,
    ) -> AgentToolResult:
        arguments = msgspec.convert(params, BashToolInput)
        timeout = _checked_timeout(arguments.timeout)
        _check_meaning(arguments)
        if arguments.job:
            return await _look_after(manager, arguments, timeout, signal)
        check_command(arguments.command)
        command = manager.launch(arguments.command, _shower(on_update), outside=bool(arguments.unsandboxed))
        if arguments.background:
            return await _start_job(manager, command, timeout)
        end = await run_to_end(manager, command, timeout or options.bash_timeout_s, signal)
        return _result(command, end.snapshot, end.lines, end.details, is_error=end.is_error)

    return AgentTool(
        name="bash",
        label="Bash",
        description=_description(options),
        parameters=_parameters(options),
        kind=ToolKind.EXECUTE,
        target=TARGET,
        prepare_arguments=_prepare,
        execute=execute,
        execution_mode=ToolExecutionMode.EXCLUSIVE,
    )


def _parameters(options: ToolOptions) -> dict[str, Any]:
    parameters = parameters_of(BashToolInput)
    timeout = parameters["properties"]["timeout"]
    timeout["description"] = f"{timeout['description']}; default {options.bash_timeout_s:g}"
    if options.sandbox is None:
        del parameters["properties"]["unsandboxed"]
    return parameters


def _description(options: ToolOptions) -> str:
    if options.sandbox is None:
        return DESCRIPTION
    sandbox = options.sandbox
    own = "; other tools do not see its /tmp" if sandbox.back_end.tmp == "/tmp" else ""
    return f"{DESCRIPTION} Commands run in a sandbox: {sandbox.policy.describe(sandbox.back_end.tmp)}{own}."


def _prepare(arguments: dict[str, Any]) -> dict[str, Any]:
    """A call about a job needs no command."""
    return {"command": "", **arguments} if arguments.get("job") else arguments


def _checked_timeout(timeout: float | None) -> float | None:
    if timeout is None or (math.isfinite(timeout) and 0 < timeout <= MAX_TIMEOUT_S):
        return timeout
    raise ToolError(f"timeout must be more than 0 and at most {MAX_TIMEOUT_S} seconds, not {timeout:g}")


def _check_meaning(arguments: BashToolInput) -> None:
    """Refuse arguments that cannot all be meant."""
    if arguments.job and (arguments.command.strip() or arguments.background):
        raise ToolError("a call has a command or a job, not both; nothing was run", hint="leave command empty")
    if arguments.kill and not arguments.job:
        raise ToolError("kill ends a job, and none is named; nothing was run", hint="give the id of the job")


def check_command(text: str) -> None:
    """Raises ToolError if a text is no command."""
    if not text.strip():
        raise ToolError("command must not be empty")
    if "\0" in text:
        raise ToolError("command holds a NUL character, which no shell takes", hint="write it as \\0 for printf")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        char = f"U+{ord(text[error.start]):04X}"
        raise ToolError(f"command holds half a character (lone surrogate {char})", hint="write it anew") from None


def _shower(on_update: OnUpdate | None) -> Callable[[Snapshot], None] | None:
    if on_update is None:
        return None

    def show(snapshot: Snapshot) -> None:
        on_update(
            AgentToolResult(
                content=[TextContent(snapshot.text)], details=BashToolDetails(truncation=snapshot.truncation)
            )
        )

    return show


async def run_to_end(
    manager: ProcessManager, command: ShellCommand, seconds: float | None, signal: AbortSignal
) -> CommandEnd:
    """Run to the end, or to the timeout (None: there is none), or to the abort.

    Raises:
        ToolError: it could not be started.
    """
    aborted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    remove = signal.on_abort(lambda: None if aborted.done() else aborted.set_result(None))
    try:
        await asyncio.wait([command.settled, aborted], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if command.settled.done():
            _raise_if_not_started(command)
            return _ended(manager, command)
        had_exited = command.return_code is not None
        await command.stop()
        how = _how_stopped(command, aborted.done(), seconds or 0.0, had_exited)
        return _stopped(command, how, was_aborted=aborted.done())
    except asyncio.CancelledError:
        command.kill_now()
        raise
    finally:
        remove()
        aborted.cancel()


def _raise_if_not_started(command: ShellCommand) -> None:
    if (error := command.settled.exception()) is not None:
        raise error


def _how_stopped(command: ShellCommand, was_aborted: bool, seconds: float, had_exited: bool) -> str:
    if command.end_note:
        return command.end_note
    how = f"Aborted by the user after {command.duration_s:.1f} s" if was_aborted else f"Timed out after {seconds:g} s"
    if had_exited:
        return f"{how}; the shell had exited before with code {exit_code_of(command.return_code or 0)}"
    if command.unended:
        return f"{how}; killed, but this lives on: {_listed(command.unended)}"
    return f"{how}; the command and all it had started were killed"


def _listed(processes: list[Process], names: dict[int, str] | None = None) -> str:
    shown = [f"{one.pid} {(names or {}).get(one.pid) or command_of(one.pid)}" for one in processes[:_SHOWN]]
    more = len(processes) - len(shown)
    return "; ".join([*shown, f"and {more:,} more"] if more else shown)


def _ended(manager: ProcessManager, command: ShellCommand) -> CommandEnd:
    snapshot = command.output.take_new()
    return_code = command.return_code or 0
    lines = [command.end_note or exit_line(return_code)]
    if command.sandbox is not None and return_code and not command.end_note:
        from agentcli.tools.sandbox.refusal import refusal_line  # for those who have a sandbox

        lines.append(refusal_line(snapshot.text))
    lines += _sandbox_notes(command)
    details = _details(command, snapshot)
    left = command.left
    if left.processes and not command.end_note:
        job = details.job = manager.register_job(command)
        details.background = [
            BackgroundProcess(one.pid, left.names.get(one.pid, "")) for one in left.processes[:_SHOWN]
        ]
        listed = _listed(left.processes, left.names)
        lines.append(f"Still running in the background (job {job}, ends with agentcli): {listed}")
        lines.append(_slowed(command))
    return CommandEnd(snapshot, details, lines, return_code != 0 or bool(command.end_note))


def _slowed(command: ShellCommand) -> str:
    if not command.is_slowed:
        return ""
    return f"It prints more than a background job may and is slowed down to {size(BYTES_PER_S)} a second"


def _stopped(command: ShellCommand, how: str, *, was_aborted: bool) -> CommandEnd:
    snapshot = command.output.snapshot()
    details = _details(command, snapshot)
    details.aborted = was_aborted
    details.timed_out = not was_aborted
    return CommandEnd(snapshot, details, [how, *_sandbox_notes(command)], True)


def _sandbox_notes(command: ShellCommand) -> list[str]:
    return command.sandbox.take_notes() if command.sandbox is not None else []


async def _start_job(manager: ProcessManager, command: ShellCommand, seconds: float | None) -> AgentToolResult:
    job = manager.register_job(command)
    if seconds is not None:
        manager.limit(command, seconds)
    await asyncio.wait([command.settled], timeout=_FIRST_LOOK_S)
    if command.settled.done():
        _raise_if_not_started(command)
    return _job_result(manager, job, command)


async def _look_after(
    manager: ProcessManager, arguments: BashToolInput, seconds: float | None, signal: AbortSignal
) -> AgentToolResult:
    job = arguments.job or ""
    command = manager.jobs.get(job)
    if command is None:
        known = ", ".join(manager.jobs) or "none"
        raise ToolError(f"There is no job {job!r}; it may have ended. Jobs: {known}")
    if arguments.kill:
        command.end_note = "Killed"
        await command.stop()
    elif seconds is not None:
        with contextlib.suppress(Aborted), interruptible(signal):
            await command.wait_until_gone(seconds)
    return _job_result(manager, job, command)


def _job_result(manager: ProcessManager, job: str, command: ShellCommand) -> AgentToolResult:
    """What is new of a job. One that has ended is reported once and then forgotten."""
    snapshot = command.output.take_new()
    details = _details(command, snapshot)
    details.job = job
    details.running = command.is_alive
    if details.running:
        state = f"Job {job} is running (pid {command.pid}, {command.duration_s:.0f} s). Use job={job} to look again"
        return _result(command, snapshot, [state, _slowed(command)], details, is_error=False)
    del manager.jobs[job]
    return_code = command.return_code or 0
    state = command.end_note or exit_line(return_code) or "Command exited with code 0"
    is_error = return_code != 0 and not command.end_note
    return _result(command, snapshot, [f"Job {job} has ended. {state}"], details, is_error=is_error)


def _details(command: ShellCommand, snapshot: Snapshot) -> BashToolDetails:
    return_code = command.return_code
    return BashToolDetails(
        truncation=snapshot.truncation,
        full_output_path=str(command.output.path) if command.output.path else None,
        exit_code=None if return_code is None else exit_code_of(return_code),
        signal=None if return_code is None else signal_of(return_code),
        duration_ms=round(command.duration_s * 1000),
    )


def _result(
    command: ShellCommand, snapshot: Snapshot, lines: list[str], details: BashToolDetails, *, is_error: bool
) -> AgentToolResult:
    notes = [describe(snapshot, command.output)]
    if snapshot.is_damaged:
        notes.append("Bytes that are not UTF-8 are shown as \ufffd.")
    note = " ".join(note for note in notes if note)
    body = snapshot.text.rstrip("\n")
    parts = [body if body.strip() else "(no output)", f"[{note}]" if note else "", *lines]
    text = "\n\n".join(part for part in (parts[0], "\n".join(line for line in parts[1:] if line)) if part)
    return AgentToolResult(content=[TextContent(text)], details=details, is_error=is_error)
