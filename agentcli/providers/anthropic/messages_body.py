"""The request body of the Messages API: a context, a model and options, as Anthropic's server wants them.

Every message has a list of blocks, also if it is one text, so that marking one for the cache changes nothing else.
"""

from typing import TYPE_CHECKING, Any, cast

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.messages import AssistantContent, TextContent, ThinkingContent, ToolCall, UserContent
from agentcli.agent.models import Model
from agentcli.agent.tools import AgentTool
from agentcli.providers.catalog.compat import Compat
from agentcli.providers.history import History, RequestCache
from agentcli.providers.limits import output_limit
from agentcli.providers.thinking import thinking_of
from agentcli.providers.tool_names import CallIds, wire_name
from agentcli.providers.transform import AssistantTurn, ResultsTurn, ToolResult, Turn, UserTurn

if TYPE_CHECKING:
    from anthropic.types import (
        CacheControlEphemeralParam,
        ContentBlockParam,
        ImageBlockParam,
        MessageParam,
        TextBlockParam,
        ToolParam,
        ToolResultBlockParam,
    )
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

Json = dict[str, Any]

SMALLEST_BUDGET = 1024
"""Tokens: the API refuses a smaller budget for thinking; so many are left for the answer too."""

FIRST_USER_TEXT = "(The beginning of this conversation is not available.)"
LAST_USER_TEXT = "Continue."


def request_body(
    model: Model, context: Context, options: StreamOptions, compat: Compat, histories: RequestCache
) -> Json:
    """The JSON of the request. Not to be changed: it shares its messages with the next one."""
    history = histories.written(options.session_id or "", model, context.messages, lambda: _new_history(model))
    turns = history.turns
    messages = _framed(turns, history.items)
    system: list[TextBlockParam] = [_text(context.system_prompt)] if context.system_prompt.strip() else []
    tools = [_tool(tool) for tool in context.tools]
    if compat.cache_control is not False and options.cache_retention != "none":
        _mark_cached(system, tools, messages, long=options.cache_retention == "long" and compat.long_cache)
    limit = output_limit(model, context, options)
    body: MessageCreateParamsStreaming = {
        "model": model.id,
        "max_tokens": limit,
        "messages": messages,
        "stream": True,
    }
    if system:
        body["system"] = system
    if tools:
        body["tools"] = tools
    thinking = _thinking_fields(model, options, compat, limit, turns)
    if user := (options.metadata or {}).get("user_id"):
        body["metadata"] = {"user_id": str(user)}
    temperature = {} if options.temperature is None or thinking else {"temperature": options.temperature}
    return {**body, **temperature, **thinking, **compat.extra_body}


def _thinking_fields(model: Model, options: StreamOptions, compat: Compat, limit: int, turns: list[Turn]) -> Json:
    thinking = thinking_of(model, options)
    if thinking.body:
        return thinking.body
    if not thinking.on:
        # `off` has a word of its own only where a model would think without being told to.
        return {"thinking": {"type": thinking.word}} if thinking.word else {}
    if compat.thinking_format == "none":
        return {}
    if compat.thinking_format == "adaptive" or (thinking.word and compat.thinking_format != "budget"):
        adaptive = {"type": "adaptive", "display": "summarized"}
        return {"thinking": adaptive, "output_config": {"effort": thinking.word or str(thinking.level)}}
    budget = min(thinking.budget or SMALLEST_BUDGET, limit - SMALLEST_BUDGET)
    if budget < SMALLEST_BUDGET or _is_amid_calls_without_thinking(turns):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _is_amid_calls_without_thinking(turns: list[Turn]) -> bool:
    """Whether the last answer made calls without thinking first: after that the API refuses a budget until the next
    prompt. It happens when the model or the level changed while tools ran."""
    if len(turns) < 2 or not isinstance(turns[-1], ResultsTurn):
        return False
    asked = turns[-2]
    return isinstance(asked, AssistantTurn) and not any(_is_sent_thinking(block) for block in asked.content[:1])


def _new_history(model: Model) -> "History[MessageParam]":
    return History(model, CallIds(longest=64), _write)


def _write(turn: Turn, messages: "list[MessageParam]") -> None:
    match turn:
        case UserTurn():
            messages.append(_user([_block(block) for block in turn.content]))
        case AssistantTurn():
            messages.append({"role": "assistant", "content": _assistant_blocks(turn.content)})
        case ResultsTurn():
            messages.append(_user(_results(turn.results)))


def _framed(turns: list[Turn], messages: "list[MessageParam]") -> "list[MessageParam]":
    """The messages, begun and ended by the user, as the API wants it: newer models refuse to go on from an answer."""
    first = [] if isinstance(turns[0], UserTurn) else [_user([_text(FIRST_USER_TEXT)])]
    last = [_user([_text(LAST_USER_TEXT)])] if isinstance(turns[-1], AssistantTurn) else []
    return [*first, *messages, *last]


def _user(content: "list[ContentBlockParam]") -> "MessageParam":
    return {"role": "user", "content": content}


def _text(text: str) -> "TextBlockParam":
    return {"type": "text", "text": text}


def _block(block: UserContent) -> "TextBlockParam | ImageBlockParam":
    if isinstance(block, TextContent):
        return _text(block.text)
    media_type = cast("Any", block.mime_type)
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": block.data}}


def _assistant_blocks(content: list[AssistantContent]) -> "list[ContentBlockParam]":
    """Thinking only with its signature, byte for byte; what has none the API would refuse."""
    blocks: list[ContentBlockParam] = []
    for block in content:
        match block:
            case TextContent():
                blocks.append(_text(block.text))
            case ToolCall():
                blocks.append({"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments})
            case ThinkingContent() if block.redacted and block.signature:
                blocks.append({"type": "redacted_thinking", "data": block.signature})
            case ThinkingContent() if block.signature:
                blocks.append({"type": "thinking", "thinking": block.thinking, "signature": block.signature})
            case _:
                pass
    return blocks


def _is_sent_thinking(block: AssistantContent) -> bool:
    return isinstance(block, ThinkingContent) and bool(block.signature)


def _results(results: list[ToolResult]) -> "list[ContentBlockParam]":
    """The results first, as the API wants it; images of failed ones after them, for an error may hold text only."""
    blocks: list[ContentBlockParam] = []
    loose: list[ContentBlockParam] = []
    for result in results:
        block: ToolResultBlockParam = {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text}
        images = [_block(image) for image in result.images]
        if result.is_error:
            block["is_error"] = True
            loose += images
        elif images:
            block["content"] = [_text(result.text), *images]
        blocks.append(block)
    return blocks + loose


def _tool(tool: AgentTool) -> "ToolParam":
    schema = {"type": "object", "properties": {}, **tool.parameters}
    return {"name": wire_name(tool.name), "description": tool.description, "input_schema": schema}


def _mark_cached(
    system: "list[TextBlockParam]", tools: "list[ToolParam]", messages: "list[MessageParam]", *, long: bool
) -> None:
    """Breakpoints: the tools, the system prompt, and everything up to the last user message, which is the last."""
    control: CacheControlEphemeralParam = {"type": "ephemeral", "ttl": "1h"} if long else {"type": "ephemeral"}
    for blocks in (system, tools):
        if blocks:
            blocks[-1]["cache_control"] = control
    content = cast("list[TextBlockParam]", messages[-1]["content"])
    messages[-1] = _user([*content[:-1], {**content[-1], "cache_control": control}])
