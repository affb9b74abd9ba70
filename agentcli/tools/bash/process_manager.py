"""ProcessManager: the shell commands of one toolset, running ones and background jobs, and how all of them end."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from agentcli.agent.errors import ToolError
from agentcli.agent.threads import to_thread
from agentcli.tools.bash.command_output import CommandOutput, Snapshot
from agentcli.tools.bash.environment import READ_BY_SHELLS, environment, hide_keys
from agentcli.tools.bash.orphans import mark_name
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.bash.process_tree import ProcessTag, find_tree, kill_all
from agentcli.tools.bash.shell_command import ShellCommand
from agentcli.tools.bash.shell_start import ShellStart, arguments_for, start_failure
from agentcli.tools.options import ToolOptions

_ENDED_JOBS_KEPT = 10


class ProcessManager:
    """Belongs to the thread of the event loop, but for `kill_now`."""

    def __init__(self, options: ToolOptions, spill: SpillFolder) -> None:
        self._options = options
        self._spill = spill
        self._mark_name = mark_name()
        self._count = 0
        self._living: dict[int, ShellCommand] = {}
        """Commands that run or have left something running."""
        self.jobs: dict[str, ShellCommand] = {}
        """Background jobs by id, until their end has been reported."""
        self._proven: set[tuple[str, ...]] = set()
        """Shells, with what they read at their start, that have run a command."""
        self._watchers: set[asyncio.Task[None]] = set()

    def launch(
        self, text: str, on_output: Callable[[Snapshot], None] | None = None, *, outside: bool = False
    ) -> ShellCommand:
        """Start a command in the working folder. Raises `ToolError` if that is not there, or no thread is.

        Args:
            outside: not in the sandbox, if there is one.
        """
        options = self._options
        hide_keys(options.hidden_env)
        self._drop_ended()
        self._count += 1
        mark = ProcessTag(self._mark_name, str(self._count))
        if options.sandbox is not None:
            options.sandbox.prepare()
        start = self._start_of(text, mark, outside=outside)
        command = ShellCommand(
            text,
            start,
            mark=mark,
            output=CommandOutput(
                self._spill,
                options.max_lines,
                options.max_bytes,
                options.spill_limit,
                options.kept_output() if options.kept_output is not None else None,
            ),
            spill=self._spill,
            on_output=on_output,
            prepare=lambda: self._prove(start),
        )
        command.start()
        number = self._count
        self._living[number] = command
        command.closed.add_done_callback(lambda _: self._forget(number, command))
        return command

    def register_job(self, command: ShellCommand) -> str:
        """Make the command a job; returns its id."""
        known = next((job for job, other in self.jobs.items() if other is command), None)
        job = known or command.mark.value
        self.jobs[job] = command
        command.go_to_background()
        return job

    def limit(self, command: ShellCommand, seconds: float) -> None:
        """Stop the command when so many seconds have passed, unless it has ended by then."""

        async def watch() -> None:
            if not await command.wait_until_gone(seconds):
                command.end_note = f"Timed out after {seconds:g} s"
                await command.stop()

        task = asyncio.create_task(watch())
        self._watchers.add(task)
        task.add_done_callback(self._watchers.discard)

    async def close(self) -> None:
        """End everything: TERM, then KILL. Nothing that a command has started is alive afterwards."""
        for watcher in self._watchers:
            watcher.cancel()
        commands = {*self._living.values(), *self.jobs.values()}
        await asyncio.gather(*(command.stop() for command in commands))
        for command in commands:
            command.abandon()
        if self._count:
            await to_thread(self._kill_marked)
        if self._options.sandbox is not None:
            await to_thread(self._options.sandbox.close)
        self._living.clear()
        self.jobs.clear()

    def kill_now(self) -> None:
        """KILL everything at once, from whatever thread or signal handler."""
        for command in [*self._living.values(), *self.jobs.values()]:
            command.kill_now()
        if self._count:
            self._kill_marked()
        if self._options.sandbox is not None:
            self._options.sandbox.close()

    def _drop_ended(self) -> None:
        """Let go of commands whose last process has ended; of ended jobs that nobody asked about, keep the newest."""
        self._living = {
            number: command for number, command in self._living.items() if command.is_alive or command.has_group
        }
        ended = [job for job, command in self.jobs.items() if not command.is_alive]
        for job in ended[:-_ENDED_JOBS_KEPT]:
            del self.jobs[job]

    def _kill_marked(self) -> None:
        """KILL whatever carries the mark of any command of this toolset."""
        kill_all(lambda: find_tree(ProcessTag(self._mark_name, ""), set()))

    def _forget(self, number: int, command: ShellCommand) -> None:
        """A command that has ended and left nothing running need not be ended later."""
        if not command.left.processes and not command.has_group:
            self._living.pop(number, None)

    def _shell(self) -> str:
        return str(self._options.shell or default_shell())

    def _start_of(self, text: str, mark: ProcessTag, *, outside: bool) -> ShellStart:
        shell = self._shell()
        sandbox = None if outside else self._options.sandbox
        env = {**environment(self._options), mark.name: mark.value}
        if sandbox is not None:
            env = sandbox.environment(env)
        folder = self._folder_for(text)
        try:
            arguments, script = arguments_for(shell, text, self._spill)
        except OSError as error:
            raise start_failure(error, env) from None
        return ShellStart(shell, arguments, folder, env, script, sandbox)

    def _prove(self, start: ShellStart) -> None:
        """Make sure, once, that a shell that was chosen, or reads a chosen file, runs what it is given."""
        read = [start.env.get(name, "") for name in READ_BY_SHELLS]
        key = (start.shell, *read)
        if (self._options.shell is None and not any(read)) or key in self._proven:
            return
        start.prove()
        self._proven.add(key)

    def _folder_for(self, text: str) -> Path:
        """The working folder. If it is gone, a command that goes elsewhere by itself gets an empty one to start in."""
        cwd = self._options.cwd
        if cwd.is_dir():
            return cwd
        if names_its_folder(text):
            try:
                return self._spill.empty_folder()
            except OSError as error:
                raise start_failure(error, {}) from None
        raise ToolError(
            f"The working folder {cwd} does not exist, so nothing was run",
            hint=f"bring it back with `mkdir -p {cwd}`, or begin the command with `cd` to a folder by its full path",
        )


def names_its_folder(text: str) -> bool:
    """Whether a command begins with `cd` or `mkdir` and a full path, so that it needs no working folder."""
    words = text.split(maxsplit=3)
    if not words or words[0] not in ("cd", "mkdir"):
        return False
    paths = [word for word in words[1:] if not word.startswith("-")]
    return bool(paths) and paths[0].strip("\"'").startswith(("/", "~", "$HOME"))


def default_shell() -> str:
    if os.access("/bin/bash", os.X_OK):
        return "/bin/bash"
    import shutil  # 2 ms

    return shutil.which("bash") or shutil.which("sh") or "/bin/sh"
