"""RpcSession: the runtime that RPC commands speak to, in turn those of several sessions, and its events."""

import asyncio
from collections.abc import Sequence
from typing import Any

from agentcli.agent.abort import AbortSignal
from agentcli.agent.events import AgentStartEvent
from agentcli.agent.messages import ImageContent
from agentcli.headless.event_serializer import EventSerializer
from agentcli.headless.json_lines import JsonLines
from agentcli.headless.rpc import data
from agentcli.headless.signals import StopSignals
from agentcli.headless.stdout_writer import StdoutWriter
from agentcli.runtime.events import (
    CompactionEndEvent,
    CompactionStartEvent,
    PermissionEndEvent,
    PermissionRequestEvent,
)
from agentcli.runtime.runtime import Runtime


class RpcSession:
    """Args:
    outlet: where events and responses go.
    stopping: whose runtime is kept up to date.
    """

    def __init__(self, outlet: StdoutWriter, stopping: StopSignals) -> None:
        self.runtime: Runtime
        """The one that is spoken to now; there is one after the first `use`."""
        self.lines: JsonLines = JsonLines(outlet)
        self._outlet = outlet
        self._stopping = stopping
        self._wire: EventSerializer | None = None
        self._is_compacting = False
        self._requests: dict[str, PermissionRequestEvent] = {}
        self._starting: asyncio.Future[None] | None = None

    async def use(self, runtime: Runtime, text: str | None = None) -> data.SessionOpened:
        """Speak to another runtime from now on. The one before has been closed.

        Args:
            text: what the user said where a fork begins.
        """
        undelivered = data.Queues([], [])
        if self._wire is not None and runtime is not self.runtime:
            left = self.runtime.agent
            undelivered = data.Queues(left.steering_queue.items, left.follow_up_queue.items)
            self._wire.detach()
            self._wire = None
        if self._wire is None:
            self.runtime = self._stopping.runtime = runtime
            self._is_compacting = False
            self._requests.clear()
            self._wire = EventSerializer(runtime, self.lines, self._outlet.room)
            runtime.subscribe(self._listen)
            for line in runtime.notices:
                await runtime.notify(line)
        session = runtime.session
        return data.SessionOpened(session.id, self._file(), undelivered, text)

    async def start(self, message: str, images: Sequence[ImageContent]) -> bool:
        """Begin to work on a prompt. Returns, as soon as that is known, whether there is a run for it."""
        starting = self._starting = asyncio.get_running_loop().create_future()
        task = self.runtime.prompt(message, images)
        await asyncio.wait([task, starting], return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            task.result()  # What went wrong in a command of an extension is told here.
        return starting.done()

    def state(self) -> data.State:
        runtime, session = self.runtime, self.runtime.session
        agent = runtime.agent
        return data.State(
            model=data.ModelInfo.of(agent.state.model),
            thinking_level=agent.state.thinking_level,
            wanted_thinking_level=runtime.wanted_thinking_level,
            is_busy=runtime.is_busy,
            is_streaming=agent.state.is_streaming,
            is_compacting=self._is_compacting,
            is_bash_running=runtime.is_bash_running,
            steering_mode=agent.steering_queue.mode,
            follow_up_mode=agent.follow_up_queue.mode,
            permission_mode=runtime.permission_mode,
            permission_requests=list(self._requests.values()),
            auto_compaction_enabled=runtime.options.settings.compaction.enabled,
            cwd=str(runtime.cwd),
            session_id=session.id,
            session_file=self._file(),
            session_name=session.name,
            leaf_id=session.leaf_id,
            message_count=len(agent.state.messages),
            pending_message_count=len(agent.steering_queue) + len(agent.follow_up_queue),
            context_tokens=runtime.context_tokens,
            reached_limit=runtime.reached_limit,
        )

    def _file(self) -> str | None:
        path = getattr(self.runtime.session.storage, "path", None)
        return str(path) if path is not None else None

    def _listen(self, event: Any, signal: AbortSignal) -> None:
        match event:
            case AgentStartEvent():
                self._started()
            case CompactionStartEvent():
                self._is_compacting = True
                self._started()
            case CompactionEndEvent():
                self._is_compacting = False
            case PermissionRequestEvent():
                self._requests[event.id] = event
            case PermissionEndEvent():
                self._requests.pop(event.id, None)
            case _:
                pass

    def _started(self) -> None:
        if self._starting is not None and not self._starting.done():
            self._starting.set_result(None)
