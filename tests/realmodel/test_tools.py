"""A real model works with a tool: it calls it, reads the result, and answers with what it read. One step, no more."""

from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.agent import Agent, AgentState
from agentcli.agent.loop_config import AgentConfig
from agentcli.agent.messages import AssistantMessage, StopReason, TextContent, ToolResultMessage, text_of
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.providers.stream_client import StreamClient
from tests.realmodel.server import API_KEY, BASE_URLS, Server

pytestmark = pytest.mark.large

SYSTEM = "You are a coding agent. You answer questions about the files of this project. Be brief."


def read_tool(folder: Path) -> AgentTool:
    async def read(id: str, params: dict[str, Any], *rest: Any) -> AgentToolResult:
        return AgentToolResult(content=[TextContent((folder / params["path"]).read_text())])

    parameters = {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "The file to read."}},
        "required": ["path"],
    }
    return AgentTool(name="read", description="Read a text file.", parameters=parameters, execute=read)


@pytest.mark.parametrize("api", BASE_URLS)
async def test_the_model_reads_a_file_and_says_what_is_in_it(qwen_coder: Server, api: str, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[server]\nport = 8471\n")
    client = StreamClient()
    agent = Agent(
        state=AgentState(model=qwen_coder.as_model(api), system_prompt=SYSTEM, tools=[read_tool(tmp_path)]),
        stream_function=client,
        config=AgentConfig(get_api_key=lambda provider: API_KEY, temperature=0.0, max_tokens=200),
    )
    await agent.prompt("Read settings.toml and tell me the port of the server.")
    await client.aclose()
    assert agent.state.error_message is None
    _, called, result, said = agent.state.messages
    assert isinstance(called, AssistantMessage)
    assert called.stop_reason is StopReason.TOOL_CALLS
    assert [(call.name, call.arguments) for call in called.tool_calls] == [("read", {"path": "settings.toml"})]
    assert isinstance(result, ToolResultMessage)
    assert not result.is_error
    assert isinstance(said, AssistantMessage)
    assert said.stop_reason is StopReason.DONE
    assert "8471" in text_of(said.content)
    assert called.usage.input > 0
    assert said.usage.output > 0
