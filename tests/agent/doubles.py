"""What the tests of the agent have in common: a scripted model, small tools, and events as short words."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from agentcli.agent.agent import Agent, AgentState
from agentcli.agent.context import AgentContext
from agentcli.agent.events import (
    AgentEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
)
from agentcli.agent.loop_config import AgentConfig, AgentLoopConfig
from agentcli.agent.messages import AgentMessage, StopReason, TextContent, text_of, user_message
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.agent.queues import MessageQueues
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.providers.scripted import ScriptedStream, Step

MODEL = Model(id="m1", api="scripted", provider="test")


def say(text: str, **step: Any) -> Step:
    return Step(text=text, **step)


def call(tool: str, id: str, **arguments: Any) -> Step:
    return Step(tool=tool, id=id, arguments=arguments)


def raw_call(tool: str, id: str, arguments: str) -> Step:
    return Step(tool=tool, id=id, arguments=arguments)


def scripted(*answers: list[Step]) -> ScriptedStream:
    return ScriptedStream(list(answers))


def stop(reason: StopReason) -> Step:
    return Step(stop=reason)


def fail(kind: str, text: str = "it failed") -> Step:
    return Step(error=kind, text=text)


def text_result(text: str, **fields: Any) -> AgentToolResult:
    return AgentToolResult(content=[TextContent(text)], **fields)


def tool(name: str, execute: Callable[..., Any] | None = None, **fields: Any) -> AgentTool:
    """A tool that takes anything; without `execute` it says its own name."""

    async def say_name(id: str, params: Any, signal: Any, on_update: Any, context: Any) -> AgentToolResult:
        return text_result(f"{name} {params.get('path', '')}".strip())

    fields.setdefault("parameters", {"type": "object", "properties": {}})
    return AgentTool(name=name, description=f"does {name}", execute=execute or say_name, **fields)


def sleeper(name: str, seconds: float) -> AgentTool:
    async def sleep(id: str, params: Any, signal: Any, on_update: Any, context: Any) -> AgentToolResult:
        await asyncio.sleep(seconds)
        return text_result(name)

    return tool(name, sleep)


def agent(
    stream: Any,
    *tools: AgentTool,
    messages: Sequence[AgentMessage] = (),
    thinking_level: ThinkingLevel = ThinkingLevel.OFF,
    queues: MessageQueues | None = None,
    **config: Any,
) -> Agent:
    state = AgentState(
        model=MODEL, system_prompt="be good", thinking_level=thinking_level, tools=list(tools), messages=list(messages)
    )
    return Agent(state=state, stream_function=stream, config=AgentConfig(**config), queues=queues)


def config(**fields: Any) -> AgentLoopConfig:
    return AgentLoopConfig(model=MODEL, **fields)


def context(*texts: str, tools: list[AgentTool] | None = None) -> AgentContext:
    return AgentContext("be good", [user_message(text) for text in texts], tools or [])


def word(event: AgentEvent) -> str:
    """An event as the traces write it, in one line."""
    kind = type(event).__struct_config__.tag
    match event:
        case MessageStartEvent() | MessageEndEvent():
            return f"{kind} {event.message.role}"
        case MessageUpdateEvent():
            return f"{kind} {type(event.assistant_message_event).__struct_config__.tag}"
        case ToolExecutionStartEvent() | ToolExecutionUpdateEvent() | ToolExecutionEndEvent():
            return f"{kind} {event.tool_call_id}"
        case _:
            return str(kind)


def record(listened: Agent) -> list[str]:
    """The events of an agent from now on, as words."""
    words: list[str] = []
    listened.subscribe(lambda event, signal: words.append(word(event)))
    return words


def texts(listened: Agent) -> list[str]:
    """The transcript as `role: text`."""
    return [f"{message.role}: {text_of(getattr(message, 'content', ''))}" for message in listened.state.messages]
