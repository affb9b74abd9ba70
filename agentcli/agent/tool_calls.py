"""Tool calls: how one batch of calls becomes results.

A call goes through: find the tool, `prepare_arguments`, validate, `before_tool_call`, execute, `after_tool_call`. That
order is the contract: a policy sees what will run. Preflight (all but the last two) goes in source order; then the
allowed calls run: neighbours at the same time, a call of an exclusive tool alone and in its place. In sequential mode
each call goes all the way before the next. Whatever fails is an error result of that call alone.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent.abort import AbortController, Aborted, AbortSignal, interruptible
from agentcli.agent.context import AgentContext
from agentcli.agent.events import (
    AgentEvent,
    MessageEndEvent,
    MessageStartEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
)
from agentcli.agent.hooks import AfterToolCallContext, BeforeToolCallContext
from agentcli.agent.loop_config import AgentLoopConfig
from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage
from agentcli.agent.streaming import resolved
from agentcli.agent.threads import shortage
from agentcli.agent.tools import AgentTool, AgentToolResult, ToolExecutionMode
from agentcli.agent.validation import validate_arguments

ABORT_GRACE_S = 3.0
"""How long a tool that listens to the abort signal has to end by itself; one that does not is cancelled at once."""

ABORTED_TEXT = "Interrupted: aborted by the user; effects may remain."
FAILED_TEXT = "Not run: the message that holds this call failed before it was complete."
TRUNCATED_TEXT = (
    "Not run: your message was cut off at the output limit, so this call may be incomplete. "
    "Make the call again, in smaller parts."
)


class PreparedToolCall(Struct, frozen=True):
    """A call that passed its preflight."""

    tool_call: ToolCall
    tool: AgentTool
    args: dict[str, Any]


def error_result(text: str) -> AgentToolResult:
    return AgentToolResult(content=[TextContent(text)], is_error=True)


def answer(call: ToolCall, result: AgentToolResult) -> ToolResultMessage:
    """The message that the model reads for a result. `details` become plain data, as they are after a resume."""
    details = msgspec.to_builtins(result.details) if isinstance(result.details, Struct) else result.details
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=result.content,
        details=details,
        usage=result.usage,
        added_tool_names=result.added_tool_names,
        is_error=result.is_error,
    )


class ToolBatch:
    """The calls of one assistant message. Iterate `run()` or `refuse()`; then `messages` and `terminate` hold."""

    def __init__(
        self, message: AssistantMessage, context: AgentContext, config: AgentLoopConfig, signal: AbortSignal
    ) -> None:
        self.message = message
        self.calls: list[ToolCall] = message.tool_calls
        self.messages: list[ToolResultMessage] = []
        """One result for each call, in source order."""
        self._context = context
        self._config = config
        self._signal = signal
        self._results: dict[int, AgentToolResult] = {}
        self._events: asyncio.Queue[AgentEvent] = asyncio.Queue()

    @property
    def terminate(self) -> bool:
        """Whether every result of the batch asks to end the run."""
        return bool(self._results) and all(result.terminate for result in self._results.values())

    async def run(self) -> AsyncGenerator[AgentEvent, None]:
        if self._is_sequential():
            for index, call in enumerate(self.calls):
                if not self._signal.aborted:
                    async with aclosing(self._run_together([(index, call)])) as events:
                        async for event in events:
                            yield event
                for event in self._answers(index, index + 1):
                    yield event
        else:
            async with aclosing(self._run_together(list(enumerate(self.calls)))) as events:
                async for event in events:
                    yield event
            for event in self._answers(0, len(self.calls)):
                yield event

    async def refuse(self, text: str, *, run: bool = True) -> AsyncGenerator[AgentEvent, None]:
        """Answer every call with an error in place of running it; `run=False` leaves the execution events out."""
        for index, call in enumerate(self.calls):
            self._results[index] = error_result(text)
            if run:
                yield ToolExecutionStartEvent(call.id, call.name, call.arguments)
                yield self._end(call, self._results[index])
        for event in self._answers(0, len(self.calls)):
            yield event

    def _is_sequential(self) -> bool:
        if self._config.tool_execution == ToolExecutionMode.SEQUENTIAL:
            return True
        modes = {tool.name: tool.execution_mode for tool in self._context.tools}
        return any(modes.get(call.name) == ToolExecutionMode.SEQUENTIAL for call in self.calls)

    async def _run_together(self, calls: list[tuple[int, ToolCall]]) -> AsyncGenerator[AgentEvent, None]:
        """Preflight each call in order, then run those that passed, group by group; events as they happen."""
        prepared: list[tuple[int, PreparedToolCall]] = []
        for index, call in calls:
            if self._signal.aborted:
                break
            yield ToolExecutionStartEvent(call.id, call.name, call.arguments)
            outcome = await self._prepare(call)
            if isinstance(outcome, PreparedToolCall):
                prepared.append((index, outcome))
            else:
                self._results[index] = outcome
                yield self._end(call, outcome)
        for group in self._groups(prepared):
            async with aclosing(self._run_group(group)) as events:
                async for event in events:
                    yield event

    def _groups(self, prepared: Sequence[tuple[int, PreparedToolCall]]) -> Iterator[list[tuple[int, PreparedToolCall]]]:
        """Calls that may run at the same time: each exclusive one alone, and what stands between two of them."""
        group: list[tuple[int, PreparedToolCall]] = []
        for index, call in prepared:
            mode = call.tool.execution_mode or self._config.tool_execution
            if mode != ToolExecutionMode.EXCLUSIVE:
                group.append((index, call))
                continue
            if group:
                yield group
            yield [(index, call)]
            group = []
        if group:
            yield group

    async def _run_group(self, group: list[tuple[int, PreparedToolCall]]) -> AsyncGenerator[AgentEvent, None]:
        """Run calls at the same time. After an abort they only end."""
        if self._signal.aborted:
            for index, call in group:
                self._results[index] = error_result(ABORTED_TEXT)
                yield self._end(call.tool_call, self._results[index])
            return
        tasks = [asyncio.create_task(self._execute(index, call)) for index, call in group]
        try:
            for _ in range(len(tasks)):
                event = await self._events.get()
                while isinstance(event, ToolExecutionUpdateEvent):
                    yield event
                    event = await self._events.get()
                yield event
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _prepare(self, call: ToolCall) -> PreparedToolCall | AgentToolResult:
        """The call, ready to run, or the error that answers it."""
        tool = next((tool for tool in self._context.tools if tool.name == call.name), None)
        if tool is None:
            known = ", ".join(tool.name for tool in self._context.tools) or "none"
            return error_result(f"There is no tool named {call.name!r}. Tools: {known}.")
        if call.partial_json is not None:
            return error_result(_malformed(call))
        try:
            args = tool.prepare_arguments(call.arguments) if tool.prepare_arguments else call.arguments
            args, errors = validate_arguments(tool.parameters, args)
        except Exception as error:
            return error_result(f"The arguments could not be prepared: {error}")
        if errors:
            return error_result(f"Invalid arguments for {call.name}:\n" + "\n".join(f"- {error}" for error in errors))
        return await self._permit(call, tool, args)

    async def _permit(
        self, call: ToolCall, tool: AgentTool, args: dict[str, Any]
    ) -> PreparedToolCall | AgentToolResult:
        """Ask `before_tool_call`. If it raises, the call is blocked; an abort while it thinks answers the call."""
        hook = self._config.before_tool_call
        if hook is not None:
            context = BeforeToolCallContext(self.message, call, args, self._context)
            try:
                with interruptible(self._signal):
                    verdict = await resolved(hook(context, self._signal))
            except Aborted:
                return error_result(ABORTED_TEXT)
            except Exception as error:
                return error_result(f"Blocked: the check before this call failed: {error}")
            if verdict is not None and verdict.block:
                return error_result(verdict.reason or "Blocked before it ran.")
        if self._signal.aborted:
            return error_result(ABORTED_TEXT)
        return PreparedToolCall(call, tool, args)

    async def _execute(self, index: int, prepared: PreparedToolCall) -> None:
        """Run one call to its end event, whatever happens."""
        call = prepared.tool_call
        running = True

        def on_update(partial_result: AgentToolResult) -> None:
            if running:
                self._events.put_nowait(ToolExecutionUpdateEvent(call.id, call.name, call.arguments, partial_result))

        result = await self._result(prepared, on_update)
        running = False
        result = await self._after(prepared, result)
        self._results[index] = result
        self._events.put_nowait(self._end(call, result))

    async def _result(self, prepared: PreparedToolCall, on_update: Any) -> AgentToolResult:
        """What the tool returns, or the error that stands for what it raised, or for the abort."""
        child = AbortController()

        async def call() -> AgentToolResult:
            execute = prepared.tool.execute
            result = await resolved(
                execute(prepared.tool_call.id, prepared.args, child.signal, on_update, self._context)
            )
            if not isinstance(result, AgentToolResult):
                raise TypeError(f"the tool returned {type(result).__name__}, not AgentToolResult")
            return result

        task = asyncio.ensure_future(call())

        def stop() -> None:
            grace = ABORT_GRACE_S if child.signal.has_listeners else 0.0
            child.abort(self._signal.reason)
            asyncio.get_running_loop().call_later(grace, task.cancel)

        remove = self._signal.on_abort(stop)
        try:
            return await task
        except asyncio.CancelledError:
            if not self._signal.aborted:
                task.cancel()
                await asyncio.wait([task])
                raise
            return error_result(ABORTED_TEXT)
        except Exception as error:
            return error_result(str(shortage(error) or error) or type(error).__name__)
        finally:
            remove()

    async def _after(self, prepared: PreparedToolCall, result: AgentToolResult) -> AgentToolResult:
        hook = self._config.after_tool_call
        if hook is None:
            return result
        context = AfterToolCallContext(
            self.message, prepared.tool_call, prepared.args, result, result.is_error, self._context
        )
        try:
            patch = await resolved(hook(context, self._signal))
        except Exception as error:
            return error_result(f"The check after this call failed; the call itself has run: {error}")
        if patch is None:
            return result
        fields = ("content", "details", "is_error", "usage", "terminate")
        changes = {name: value for name in fields if (value := getattr(patch, name)) is not None}
        return msgspec.structs.replace(result, **changes)

    def _end(self, call: ToolCall, result: AgentToolResult) -> ToolExecutionEndEvent:
        return ToolExecutionEndEvent(call.id, call.name, result, result.is_error)

    def _answers(self, first: int, last: int) -> list[AgentEvent]:
        """The result messages of these calls. One without a result was stopped before it began."""
        events: list[AgentEvent] = []
        for index in range(first, last):
            result = self._results.setdefault(index, error_result(ABORTED_TEXT))
            message = answer(self.calls[index], result)
            self.messages.append(message)
            events += [MessageStartEvent(message), MessageEndEvent(message)]
        return events


def _malformed(call: ToolCall) -> str:
    raw = call.partial_json or ""
    shown = raw if len(raw) <= 2000 else f"{raw[:1000]}\n… ({len(raw) - 2000} characters left out) …\n{raw[-1000:]}"
    return f"The arguments of {call.name} are not one whole JSON object, so the call did not run. They were:\n{shown}"
