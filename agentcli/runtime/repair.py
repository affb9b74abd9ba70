"""Repair: a transcript that ends in the middle of a turn (a killed process) becomes one that can go on."""

from collections.abc import Sequence

from agentcli.agent.messages import AgentMessage, AssistantMessage, TextContent, ToolResultMessage
from agentcli.tools.bash.orphans import end_orphans

INTERRUPTED_TEXT = "Interrupted: agentcli ended before this call did; effects may remain."


def missing_results(messages: Sequence[AgentMessage]) -> list[ToolResultMessage]:
    """A result for each call at the transcript's end that has none, in the order of the calls."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolResultMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AssistantMessage):
            calls = [call for call in message.tool_calls if call.id not in answered]
            content = [TextContent(INTERRUPTED_TEXT)]
            return [ToolResultMessage(call.id, call.name, [*content], is_error=True) for call in calls]
        else:
            break
    return []


def answer_open_calls(messages: list[AgentMessage]) -> list[AgentMessage]:
    """Answer calls that a killed process left open, and end what it left running. Returns what was added."""
    missing: list[AgentMessage] = [*missing_results(messages)]
    if missing:
        end_orphans()
    messages += missing
    return missing


def drop_failed_turn(messages: list[AgentMessage]) -> None:
    """Take the failed answer at the end, and what answered its calls, out of the context. The session keeps them."""
    while messages and isinstance(messages[-1], AssistantMessage | ToolResultMessage):
        last = messages.pop()
        if isinstance(last, AssistantMessage):
            break
