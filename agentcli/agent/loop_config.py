"""AgentConfig and AgentLoopConfig: the collaborators of an agent and of a run, all by keyword."""

from agentcli.agent.context import StreamOptions
from agentcli.agent.convert import convert_to_llm
from agentcli.agent.hooks import (
    AfterToolCall,
    BeforeToolCall,
    ConvertToLlm,
    FilterEvents,
    GetApiKey,
    GetMessages,
    PrepareNextTurn,
    PrepareRequest,
    ShouldStopAfterTurn,
    TransformContext,
)
from agentcli.agent.models import Model
from agentcli.agent.tools import ToolExecutionMode


class AgentConfig(StreamOptions, frozen=True, kw_only=True):
    """What every request is told (`session_id`, `headers` …), and the hooks of the loop; see `agent.hooks`.

    `prepare_next_turn_with_context` is the later name of `prepare_next_turn`, and is called in its place if both are
    given.
    """

    convert_to_llm: ConvertToLlm = convert_to_llm
    transform_context: TransformContext | None = None
    get_api_key: GetApiKey | None = None
    should_stop_after_turn: ShouldStopAfterTurn | None = None
    prepare_next_turn: PrepareNextTurn | None = None
    prepare_next_turn_with_context: PrepareNextTurn | None = None
    prepare_request: PrepareRequest | None = None
    tool_execution: ToolExecutionMode = ToolExecutionMode.PARALLEL
    before_tool_call: BeforeToolCall | None = None
    after_tool_call: AfterToolCall | None = None
    filter_events: FilterEvents | None = None


class AgentLoopConfig(AgentConfig, frozen=True, kw_only=True):
    """An agent's configuration, with what differs from run to run."""

    model: Model
    get_steering_messages: GetMessages | None = None
    get_follow_up_messages: GetMessages | None = None
