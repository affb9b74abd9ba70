"""ToolSources: tools that come and go while a session runs, as those of a server do."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Protocol

from agentcli.agent.agent import AgentState
from agentcli.agent.emitter import Emit
from agentcli.agent.text import one_line
from agentcli.agent.tools import AgentTool
from agentcli.runtime.events import NoticeEvent

START_WAIT_S = 10.0
"""How long a prompt waits for sources that are starting. Tools that come later are there from the next turn on."""
STOP_WAIT_S = 3.0
"""How long the end of a session waits for a source to stop."""

_log = logging.getLogger("agentcli.runtime")


class ToolSource(Protocol):
    """Something that has tools while it is started. All of it is called in the event loop's thread."""

    @property
    def name(self) -> str:
        """What users know it by."""
        ...

    async def start(self, on_change: Callable[[Sequence[AgentTool]], None], /) -> Sequence[AgentTool]:
        """Start, once, and return the first tools. What it raises is shown to the user as one line.

        Args:
            on_change: to be called with all tools of the source whenever they change.
        """
        ...

    async def stop(self) -> None:
        """Stop, once, and let go of everything; after a failed or cancelled start too."""
        ...


class ToolSources:
    """Keeps the tools of an agent up to date. The model is told of a change with its next request.

    Args:
        state: of the agent; the tools that it has now stay, and win over others of the same name.
        fit: makes the tools of a source ready for this agent; leaves out those that it may not have.
        emit: hands an event to the listeners.
    """

    def __init__(self, state: AgentState, fit: Callable[[Iterable[AgentTool]], list[AgentTool]], emit: Emit) -> None:
        self._state = state
        self._fit = fit
        self._emit = emit
        self._fixed = list(state.tools)
        self._waiting: list[ToolSource] = []
        self._starts: dict[asyncio.Task[None], ToolSource] = {}
        self._tools: dict[ToolSource, list[AgentTool]] = {}
        self._is_stopped = False

    def attach(self, source: ToolSource) -> None:
        """Let the agent have the tools of a source. It is started with the next prompt."""
        self._waiting.append(source)

    async def start(self) -> None:
        """Start what has been attached. Returns when all have started or failed, or after a while."""
        for source in self._waiting:
            self._starts[asyncio.ensure_future(self._start(source))] = source
        self._waiting = []
        starting = [task for task in self._starts if not task.done()]
        if starting:
            _, late = await asyncio.wait(starting, timeout=START_WAIT_S)
            for task in late:
                text = f"the tools of {self._starts[task].name} are not there yet: it is still starting"
                await self._emit(NoticeEvent(one_line(text, 500)))

    async def stop(self) -> None:
        """Stop all sources, and wait for them a limited time."""
        self._is_stopped = True
        for task in self._starts:
            task.cancel()
        stops = [asyncio.ensure_future(self._stop(source)) for source in self._starts.values()]
        if not stops:
            return
        _, late = await asyncio.wait([*self._starts, *stops], timeout=STOP_WAIT_S)
        for task in late:
            task.cancel()
        if late:
            _log.warning("a source of tools did not stop within %g s", STOP_WAIT_S)

    async def _start(self, source: ToolSource) -> None:
        try:
            # What on_change has said meanwhile is newer.
            tools = await source.start(lambda tools: self._change(source, tools))
            if source not in self._tools:
                self._change(source, tools)
        except Exception as error:
            self._change(source, ())
            text = f"the tools of {source.name} are not there: {error or type(error).__name__}"
            await self._emit(NoticeEvent(one_line(text, 500)))

    async def _stop(self, source: ToolSource) -> None:
        try:
            await source.stop()
        except Exception:
            _log.exception("a source of tools failed to stop: %s", source.name)

    def _change(self, source: ToolSource, tools: Sequence[AgentTool]) -> None:
        if self._is_stopped:
            return
        self._tools[source] = self._fit(tools)
        offered: dict[str, AgentTool] = {}
        for tool in chain(self._fixed, *self._tools.values()):
            offered.setdefault(tool.name, tool)
        self._state.tools = list(offered.values())
