"""What docs/development/adding.md says: a new tool or wire API is a module and a line of a table."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.agent import Agent, AgentState
from agentcli.agent.messages import StopReason, TextContent, text_of
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.providers import stream_client
from agentcli.tools import toolset
from agentcli.tools.options import ToolOptions

MODULE = "tests.docs.a_new_module"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """An empty module that can be imported by its name."""
    made = types.ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, made)
    return made


async def test_a_new_tool(module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def create_shout_tool(options: ToolOptions) -> AgentTool:
        def execute(id: str, params: dict[str, Any], *rest: Any) -> AgentToolResult:
            return AgentToolResult(content=[TextContent(params["text"].upper())])

        parameters = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        return AgentTool(name="shout", description="Shout.", parameters=parameters, execute=execute)

    module.create_shout_tool = create_shout_tool
    monkeypatch.setitem(toolset._MODULES, "shout", MODULE)
    monkeypatch.setattr(toolset, "TOOL_NAMES", tuple(toolset._MODULES))
    made = toolset.create_toolset(ToolOptions(cwd=tmp_path), ["read", "shout"])
    assert [tool.name for tool in made.tools] == ["read", "shout"]
    result: Any = made.tools[1].execute("1", {"text": "hello"}, None, None, None)
    assert text_of(result.content) == "HELLO"
    await made.close()


async def test_a_new_wire_api(module: Any, monkeypatch: pytest.MonkeyPatch):
    async def stream(model: Model, context: Any, options: Any, clients: Any):
        partial = PartialMessage(model)
        yield partial.start()
        for event in [*partial.text(f"{model.id} answers"), *partial.done(StopReason.DONE)]:
            yield event

    module.stream = stream
    monkeypatch.setitem(stream_client.WIRE_APIS, "carrier-pigeon", MODULE)
    state = AgentState(model=Model(id="homing", api="carrier-pigeon", provider="loft"))
    agent = Agent(state=state, stream_function=stream_client.StreamClient())
    await agent.prompt("hello")
    assert text_of(agent.state.messages[-1].content) == "homing answers"
