"""PersonCommands: shell commands that the person types, run as the bash tool runs those of the model."""

import asyncio
import itertools
from collections.abc import Callable

from agentcli.agent.abort import AbortController, AbortSignal
from agentcli.agent.agent import Agent
from agentcli.agent.errors import AgentBusyError, ToolError
from agentcli.agent.messages import BashExecutionMessage
from agentcli.agent.text import one_line
from agentcli.config.masking import hold_back, mask, mask_data
from agentcli.runtime.events import BashExecutionEndEvent, BashExecutionStartEvent, BashExecutionUpdateEvent
from agentcli.runtime.recorder import SessionRecorder
from agentcli.runtime.repair import answer_open_calls
from agentcli.tools.bash.command_output import Snapshot
from agentcli.tools.bash.process_manager import ProcessManager
from agentcli.tools.bash.shell_command import ShellCommand


class UserCommands:
    """One at a time. What a command printed comes into the conversation when no run goes on.

    Args:
        agent: whose transcript the messages go into, and who tells the events.
        recorder: keeps them.
        commands: who runs them.
        is_busy: whether a run goes on; whoever runs calls `deliver` when it has settled.
    """

    def __init__(
        self, agent: Agent, recorder: SessionRecorder, commands: ProcessManager, is_busy: Callable[[], bool]
    ) -> None:
        self.is_running: bool = False
        self.waiting: list[BashExecutionMessage] = []
        """What ended while a run went on."""
        self._agent = agent
        self._recorder = recorder
        self._commands = commands
        self._is_busy = is_busy
        self._numbers = itertools.count(1)
        self._current = ""
        self._controller = AbortController()
        self._tasks: set[asyncio.Task[BashExecutionMessage]] = set()

    async def run(self, command: str, *, exclude_from_context: bool) -> BashExecutionMessage:
        """See `Runtime.bash`."""
        if self.is_running:
            shown = one_line(mask(self._current), 60)
            raise AgentBusyError(f"the command `{shown}` is still running", hint="wait for its end, or stop it")
        from agentcli.tools.bash.bash import check_command  # 3 ms, for those who have switched the tool off

        check_command(command)
        self._controller = AbortController()
        live = _LiveOutput(self._agent, f"c{next(self._numbers)}")
        started = self._commands.launch(command, live.take, outside=True)
        self.is_running, self._current = True, command
        task = asyncio.ensure_future(self._see_through(started, live, exclude_from_context, self._controller.signal))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                self.abort()
                await asyncio.wait([task])
            raise

    def abort(self) -> None:
        self._controller.abort()

    async def close(self) -> None:
        """End what runs, and keep what it printed."""
        self.abort()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def deliver(self) -> None:
        """Put what waits at the end of the conversation. Only between runs: never between a call and its result."""
        while self.waiting:
            messages, self.waiting = self.waiting, []
            opened = answer_open_calls(self._agent.state.messages)
            self._agent.state.messages += messages
            await self._recorder.record(*opened, *messages)

    async def _see_through(
        self, command: ShellCommand, live: "_LiveOutput", exclude_from_context: bool, signal: AbortSignal
    ) -> BashExecutionMessage:
        """From the start event to the end event."""
        try:
            await self._agent.emit(BashExecutionStartEvent(live.id, mask(command.text), exclude_from_context))
            showing = asyncio.ensure_future(live.show())
            message = await self._message_of(command, exclude_from_context, signal)
        finally:
            self.is_running = False
            live.end()
        await showing
        self.waiting.append(message)
        if not self._is_busy():
            await self.deliver()
        await self._agent.emit(BashExecutionEndEvent(live.id, message))
        return message

    async def _message_of(
        self, command: ShellCommand, exclude_from_context: bool, signal: AbortSignal
    ) -> BashExecutionMessage:
        """What there is to say of a command when it has ended, or could not be started."""
        from agentcli.tools.bash.bash import run_to_end

        try:
            end = await run_to_end(self._commands, command, None, signal)
        except ToolError as error:
            return mask_data(BashExecutionMessage(command.text, str(error), exclude_from_context=exclude_from_context))
        output = end.snapshot.text
        if end.details.background:
            output = "\n".join(part for part in (output, *end.lines[1:]) if part)
        return mask_data(
            BashExecutionMessage(
                command.text,
                output,
                exit_code=end.details.exit_code,
                cancelled=end.details.aborted,
                truncated=end.snapshot.truncation is not None,
                full_output_path=end.details.full_output_path,
                exclude_from_context=exclude_from_context,
            )
        )


class _LiveOutput:
    """What a command prints, told as fast as the listeners take it; what was overtaken is left out."""

    def __init__(self, agent: Agent, id: str) -> None:
        self.id = id
        self._agent = agent
        self._latest: Snapshot | None = None
        self._changed = asyncio.Event()
        self._is_over = False

    def take(self, snapshot: Snapshot) -> None:
        self._latest = snapshot
        self._changed.set()

    def end(self) -> None:
        self._is_over = True
        self._changed.set()

    async def show(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._is_over:
                return
            if self._latest is not None:
                text = mask(self._latest.text)
                # The rest of a key may still come.
                shown = text[: len(text) - hold_back(text)]
                await self._agent.emit(BashExecutionUpdateEvent(self.id, shown))
