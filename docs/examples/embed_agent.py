"""The agent alone: a model, two of agentcli's tools and one of our own; no session, no settings, no permissions."""

import asyncio
import sys
from pathlib import Path

from agentcli import Agent, AgentState, AgentTool, AgentToolResult, providers, tools
from agentcli.agent.messages import AssistantMessage, TextContent, text_of


def greet(tool_call_id, params, signal, on_update, context):
    return AgentToolResult(content=[TextContent(f"Hello, {params['name']}!")])


GREET = AgentTool(
    name="greet",
    description="Greet somebody.",
    parameters={"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    execute=greet,
)


async def main(model, prompt):
    toolset = tools.create_toolset(tools.ToolOptions(cwd=Path.cwd()), ["read", "ls"])
    client = providers.StreamClient()
    chosen, _ = providers.Catalog().resolve(model, has_key=lambda provider: True)
    state = AgentState(model=chosen, system_prompt="Be brief.", tools=[*toolset.tools, GREET])
    agent = Agent(state=state, stream_function=client)
    await agent.prompt(prompt)
    match agent.state.messages[-1]:
        case AssistantMessage() as answer:
            print(answer.error_message or text_of(answer.content))
    await toolset.close()
    await client.aclose()


asyncio.run(main(*sys.argv[1:]))
