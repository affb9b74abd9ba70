"""Prompt report: what the model would be told before the first message, part by part, with an estimate of its cost."""

from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agentcli.config.configuration import Configuration
from agentcli.runtime.additions import Additions
from agentcli.runtime.options import RuntimeOptions
from agentcli.sessions.compaction.token_estimate import CHARACTERS_PER_TOKEN
from agentcli.tools.toolset import ToolOptions, create_toolset


class ReportedPart(Struct, frozen=True):
    name: str
    text: str
    tokens: int
    """Estimated."""


class PromptReport(Struct, frozen=True):
    parts: list[ReportedPart]
    """Those of the system prompt, then one for each tool."""
    notices: list[str]


def report_prompt(configuration: Configuration, cwd: Path, options: RuntimeOptions = RuntimeOptions()) -> PromptReport:
    """Nothing is sent. Raises ConfigError, UsageError as a run would."""
    settings = configuration.settings
    additions = Additions(cwd, replace(options, settings=settings), configuration.project)
    parts = [_part(part.name, part.text) for part in additions.prompt_parts()]
    tool_options = ToolOptions(cwd=cwd, bash_timeout_s=settings.bash_timeout)
    tools = create_toolset(tool_options, additions.tool_names(None)).tools
    for tool in [*tools, *additions.added_tools(tool_options)]:
        declared = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        parts.append(_part(f"tool {tool.name}", msgspec.json.encode(declared).decode()))
    return PromptReport(parts, [*settings.warnings, *additions.notices])


def _part(name: str, text: str) -> ReportedPart:
    return ReportedPart(name, text, -(-len(text) // CHARACTERS_PER_TOKEN))
