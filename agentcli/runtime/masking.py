"""Masking of what a runtime passes on: what tools say, while it grows and when it is done, and what models say."""

from typing import Any

from msgspec.structs import replace

from agentcli.agent.assistant_events import AssistantMessageEvent, DoneEvent, ErrorEvent
from agentcli.agent.errors import AgentcliError, ToolError
from agentcli.agent.streaming import resolved
from agentcli.agent.tools import AgentTool, AgentToolResult, OnUpdate
from agentcli.config.masking import holds_key, mask, mask_data


def masked_end(event: AssistantMessageEvent) -> AssistantMessageEvent:
    """The end of an answer with every known key taken out of the message; other events as they are."""
    match event:
        case DoneEvent():
            return replace(event, message=mask_data(event.message))
        case ErrorEvent():
            return replace(event, error=mask_data(event.error))
        case _:
            return event


def masked_error(error: AgentcliError) -> AgentcliError:
    """The error, with every known key taken out of what it says."""
    error.message, error.hint = mask(error.message), mask(error.hint)
    return error


def masked_tool(tool: AgentTool) -> AgentTool:
    """The tool, with every known key taken out of what it says."""

    async def execute(
        tool_call_id: str, params: dict[str, Any], signal: Any, on_update: OnUpdate | None = None, context: Any = None
    ) -> AgentToolResult:
        def show(partial: AgentToolResult) -> None:
            if on_update is not None:
                on_update(mask_data(partial))

        try:
            result = await resolved(tool.execute(tool_call_id, params, signal, show, context))
        except Exception as error:
            if holds_key(str(error)):
                raise ToolError(mask(str(error))) from None
            raise
        return mask_data(result)

    return replace(tool, execute=execute)
