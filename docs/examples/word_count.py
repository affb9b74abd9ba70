"""An extension with a tool: the model can count the words of a file, and a person can with `/words FILE`."""

from msgspec import Struct

from agentcli.agent.messages import TextContent
from agentcli.agent.tools import AgentTool, AgentToolResult, ToolKind, ToolTarget, parameters_of


class WordCountInput(Struct):
    path: str


def register(api):
    def count(path):
        return len((api.cwd / path).read_text().split())

    def execute(tool_call_id, params, signal, on_update, context):
        return AgentToolResult(content=[TextContent(f"{count(params['path'])} words")])

    api.add_tool(
        AgentTool(
            name="word_count",
            description="Count the words of a file.",
            parameters=parameters_of(WordCountInput),
            kind=ToolKind.READ,
            target=ToolTarget("path"),
            execute=execute,
        )
    )
    api.add_command(
        "words", lambda path: f"{path} has {count(path)} words. Is that too long?", "Ask about a file's length", "FILE"
    )
