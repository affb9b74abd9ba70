"""Tools that come and go while a session runs."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.context import Context
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent, ToolResultMessage, text_of
from agentcli.agent.tools import AgentTool, AgentToolResult, ToolKind
from agentcli.config.settings import PermissionMode
from agentcli.providers.scripted import ScriptedStream
from agentcli.runtime import tool_sources
from agentcli.runtime.events import NoticeEvent
from tests.agent.doubles import call, say
from tests.runtime.conftest import Make

BUILT_IN = ["read", "bash", "edit", "write"]


def tool(name: str, act: Callable[[], None] = lambda: None, kind: ToolKind = ToolKind.OTHER) -> AgentTool:
    def execute(*arguments: Any) -> AgentToolResult:
        act()
        return AgentToolResult(content=[TextContent(f"{name} has run")])

    return AgentTool(name=name, description="d", parameters={"type": "object"}, execute=execute, kind=kind)


class FakeSource:
    name = "the fake source"

    def __init__(self, *tools: AgentTool) -> None:
        self.tools: Sequence[AgentTool] = tools
        self.calls: list[str] = []
        self.change: Callable[[Sequence[AgentTool]], None] = lambda tools: None

    async def start(self, on_change: Callable[[Sequence[AgentTool]], None]) -> Sequence[AgentTool]:
        self.calls.append("start")
        self.change = on_change
        return self.tools

    async def stop(self) -> None:
        self.calls.append("stop")


class FailingSource(FakeSource):
    async def start(self, on_change: Callable[[Sequence[AgentTool]], None]) -> Sequence[AgentTool]:
        raise ToolError("no such program:\nserve-tools")


class HangingSource(FakeSource):
    async def start(self, on_change: Callable[[Sequence[AgentTool]], None]) -> Sequence[AgentTool]:
        await super().start(on_change)
        await asyncio.sleep(600)
        return self.tools


class UnstoppableSource(FakeSource):
    async def stop(self) -> None:
        await super().stop()
        while True:
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                return


class Listening(ScriptedStream):
    """Keeps the names of the tools of each request."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(list(answers))
        self.offered: list[list[str]] = []

    def __call__(self, model: Any, context: Context, options: Any = None) -> Any:
        self.offered.append([tool.name for tool in context.tools])
        return super().__call__(model, context, options)


def results(runtime: Any) -> list[str]:
    return [text_of(each.content) for each in runtime.agent.state.messages if isinstance(each, ToolResultMessage)]


def notices_of(runtime: Any) -> list[str]:
    notices: list[str] = []
    runtime.subscribe(lambda event, signal: notices.append(event.text) if isinstance(event, NoticeEvent) else None)
    return notices


async def test_a_source_starts_with_the_next_prompt_and_stops_with_the_session(make: Make):
    stream = Listening([say("one")], [call("look", "a")], [say("two")])
    runtime = make(stream_fn=stream)
    await runtime.prompt("first")
    source = FakeSource(tool("look"))
    runtime.add_tool_source(source)
    await runtime.prompt("second")
    assert stream.offered == [BUILT_IN, [*BUILT_IN, "look"], [*BUILT_IN, "look"]]
    assert results(runtime) == ["look has run"]
    assert source.calls == ["start"]
    await runtime.close()
    assert source.calls == ["start", "stop"]


async def test_tools_that_change_during_a_turn_are_offered_and_run_from_the_next_one_on(make: Make):
    stream = Listening([call("switch", "a")], [call("old", "b")], [call("new", "c")], [say("done")])
    source = FakeSource(tool("switch", lambda: source.change([tool("new")])), tool("old"))
    runtime = make(stream_fn=stream)
    runtime.add_tool_source(source)
    await runtime.prompt("go")
    assert stream.offered[0] == [*BUILT_IN, "switch", "old"]
    assert stream.offered[1:] == 3 * [[*BUILT_IN, "new"]]
    ran, refused, new = results(runtime)
    assert (ran, new) == ("switch has run", "new has run")
    assert "There is no tool named 'old'" in refused


async def test_all_calls_of_a_message_have_the_tools_that_it_was_asked_with(make: Make):
    source = FakeSource(tool("switch", lambda: source.change([])), tool("old"))
    runtime = make([call("switch", "a"), call("old", "b")], [say("done")])
    runtime.add_tool_source(source)
    await runtime.prompt("go")
    assert results(runtime) == ["switch has run", "old has run"]
    assert [tool.name for tool in runtime.agent.state.tools] == BUILT_IN


async def test_a_source_that_fails_to_start_is_one_line_and_the_session_goes_on(make: Make):
    runtime = make([say("done")])
    notices = notices_of(runtime)
    runtime.add_tool_source(FailingSource())
    runtime.add_tool_source(FakeSource(tool("look")))
    await runtime.prompt("go")
    assert notices == ["the tools of the fake source are not there: no such program: serve-tools"]
    assert runtime.last_message is not None
    assert text_of(runtime.last_message.content) == "done"
    assert [tool.name for tool in runtime.agent.state.tools] == [*BUILT_IN, "look"]


async def test_a_prompt_does_not_wait_long_for_a_source_that_starts(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tool_sources, "START_WAIT_S", 0.05)
    runtime = make([say("one")], [say("two")])
    notices = notices_of(runtime)
    source = HangingSource()
    runtime.add_tool_source(source)
    await runtime.prompt("go")
    assert notices == ["the tools of the fake source are not there yet: it is still starting"]
    source.change([tool("late")])
    await runtime.prompt("again")
    assert [tool.name for tool in runtime.agent.state.tools] == [*BUILT_IN, "late"]
    await runtime.close()
    assert source.calls == ["start", "stop"]


async def test_an_abort_ends_the_wait_for_a_source(make: Make):
    runtime = make([say("one")])
    runtime.add_tool_source(HangingSource())
    task = runtime.prompt("go")
    asyncio.get_running_loop().call_later(0.05, runtime.abort)
    await asyncio.wait_for(task, 5)


async def test_the_end_of_a_session_waits_only_so_long_for_a_source(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tool_sources, "STOP_WAIT_S", 0.05)
    runtime = make([say("done")])
    source = UnstoppableSource()
    runtime.add_tool_source(source)
    await runtime.prompt("go")
    begun = time.monotonic()
    await runtime.close()
    assert source.calls == ["start", "stop"]
    assert time.monotonic() - begun < 2


async def test_a_tool_of_a_source_takes_no_name_that_is_taken(make: Make):
    runtime = make([call("read", "a", path="a.txt")], [say("done")])
    (Path(runtime.cwd) / "a.txt").write_text("the text\n")
    runtime.add_tool_source(FakeSource(tool("read"), tool("look")))
    await runtime.prompt("go")
    assert [tool.name for tool in runtime.agent.state.tools] == [*BUILT_IN, "look"]
    assert "the text" in results(runtime)[0]


async def test_a_run_that_may_only_read_has_only_tools_of_a_source_that_declare_it(make: Make):
    runtime = make([say("done")], permission_mode=PermissionMode.READ_ONLY)
    runtime.add_tool_source(FakeSource(tool("act"), tool("look", kind=ToolKind.READ)))
    await runtime.prompt("go")
    assert [tool.name for tool in runtime.agent.state.tools] == ["read", "grep", "find", "ls", "look"]


async def test_an_extension_adds_a_source(make: Make, tmp_path: Path):
    folder = tmp_path / "home" / "extensions"
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text(
        "from tests.runtime.test_tool_sources import FakeSource, tool\n"
        "def register(api):\n"
        "    api.add_tool_source(FakeSource(tool('look')))\n"
    )
    runtime = make([say("done")])
    await runtime.prompt("go")
    assert [tool.name for tool in runtime.agent.state.tools] == [*BUILT_IN, "look"]
