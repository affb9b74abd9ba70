"""AgentLoopConfig: the collaborators of a run, all by keyword."""

from agentcli.agent.context import StreamOptions
from agentcli.agent.convert import convert_to_llm
from agentcli.agent.hooks import (
    AfterToolCall,
    BeforeToolCall,
    ConvertToLlm,
    GetApiKey,
    GetMessages,
    PrepareNextTurn,
    PrepareRequest,
    ShouldStopAfterTurn,
    TransformContext,
)
from agentcli.agent.models import Model
from agentcli.agent.tools import ToolExecutionMode


class AgentLoopConfig(StreamOptions, frozen=True, kw_only=True):
    """The stream's options (`reasoning`, `session_id` …), and what the loop itself asks."""

    model: Model
    convert_to_llm: ConvertToLlm = convert_to_llm
    transform_context: TransformContext | None = None
    get_api_key: GetApiKey | None = None
    get_steering_messages: GetMessages | None = None
    get_follow_up_messages: GetMessages | None = None
    should_stop_after_turn: ShouldStopAfterTurn | None = None
    prepare_next_turn: PrepareNextTurn | None = None
    prepare_request: PrepareRequest | None = None
    tool_execution: ToolExecutionMode = ToolExecutionMode.PARALLEL
    before_tool_call: BeforeToolCall | None = None
    after_tool_call: AfterToolCall | None = None
