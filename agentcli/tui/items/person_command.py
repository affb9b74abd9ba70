"""A shell command of the user, as a panel like that of a tool call."""

from agentcli.agent.messages import BashExecutionMessage
from agentcli.tui.items.tool_panel import ToolPanel


def person_command(command: str, exclude_from_context: bool) -> ToolPanel:
    """Its panel, before it has run."""
    label, note = ("!!", "the model is not told") if exclude_from_context else ("!", "the model is told")
    panel = ToolPanel("bash", label=label, note=note)
    panel.set_arguments({"command": command})
    return panel


def finish_command(panel: ToolPanel, message: BashExecutionMessage, now: float | None = None) -> None:
    """Args:
    now: see `ToolPanel.finish`.
    """
    text = message.output.rstrip("\n")
    if message.truncated and message.full_output_path:
        text += f"\n[all of it is in {message.full_output_path}]"
    details = {"exit_code": message.exit_code, "aborted": message.cancelled}
    panel.finish(text, details, message.cancelled or bool(message.exit_code), now)
