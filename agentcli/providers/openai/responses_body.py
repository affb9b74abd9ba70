"""The request body of the Responses API: a context, a model and options, as OpenAI's server wants them."""

from typing import TYPE_CHECKING, Any, cast

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.messages import TextContent, ThinkingContent, ToolCall, UserContent
from agentcli.agent.models import Model
from agentcli.agent.tools import AgentTool
from agentcli.providers.catalog.compat import Compat
from agentcli.providers.history import History, RequestCache
from agentcli.providers.limits import output_limit
from agentcli.providers.thinking import thinking_of
from agentcli.providers.tool_names import CallIds, wire_name
from agentcli.providers.transform import AssistantTurn, ResultsTurn, ToolResult, Turn, UserTurn
from agentcli.providers.wire_json import kept_json, to_json

if TYPE_CHECKING:
    from openai.types.responses import (
        FunctionToolParam,
        ResponseFunctionToolCallParam,
        ResponseInputImageParam,
        ResponseInputItemParam,
        ResponseInputTextParam,
        ResponseOutputMessageParam,
    )
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

Json = dict[str, Any]

SMALLEST_OUTPUT = 16
"""Tokens: the API refuses less."""


def request_body(
    model: Model, context: Context, options: StreamOptions, compat: Compat, histories: RequestCache
) -> Json:
    """The JSON of the request. Not to be changed: it shares its items with the next one."""
    history = histories.written(options.session_id or "", model, context.messages, lambda: _new_history(model))
    body: ResponseCreateParamsStreaming = {
        "model": model.id,
        "input": list(history.items),
        "stream": True,
        "store": False,
    }
    if context.system_prompt.strip():
        body["instructions"] = context.system_prompt
    if context.tools:
        body["tools"] = [_tool(tool) for tool in context.tools]
    if options.max_tokens is not None or compat.always_max_tokens:
        body["max_output_tokens"] = max(SMALLEST_OUTPUT, output_limit(model, context, options))
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.session_id and options.cache_retention != "none" and compat.prompt_cache_key:
        body["prompt_cache_key"] = options.session_id
        if options.cache_retention == "long" and compat.prompt_cache_retention:
            body["prompt_cache_retention"] = "24h"
    return {**body, **_thinking_fields(model, options, compat), **compat.extra_body}


def _thinking_fields(model: Model, options: StreamOptions, compat: Compat) -> Json:
    if not model.reasoning or compat.thinking_format == "none":
        return {}
    include = {"include": ["reasoning.encrypted_content"]}
    thinking = thinking_of(model, options)
    if thinking.body:
        return include | thinking.body
    if not thinking.on:
        return include | ({"reasoning": {"effort": thinking.word}} if thinking.word else {})
    return include | {"reasoning": {"effort": thinking.word or str(thinking.level), "summary": "auto"}}


def _new_history(model: Model) -> "History[ResponseInputItemParam]":
    seen: set[str] = set()

    def write(turn: Turn, items: "list[ResponseInputItemParam]") -> None:
        match turn:
            case UserTurn():
                items.append({"role": "user", "content": [_part(block) for block in turn.content]})
            case AssistantTurn():
                items.extend(_assistant(turn, seen))
            case ResultsTurn():
                items.extend(_result(result) for result in turn.results)

    return History(model, CallIds(longest=64), write)


def _part(block: UserContent) -> "ResponseInputTextParam | ResponseInputImageParam":
    if isinstance(block, TextContent):
        return {"type": "input_text", "text": block.text}
    url = f"data:{block.mime_type};base64,{block.data}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def _assistant(turn: AssistantTurn, seen: set[str]) -> "list[ResponseInputItemParam]":
    """The items of an answer. Those of this model keep their ids, but only after the reasoning they follow: without it
    the server, which stores nothing, does not know them. It takes no reasoning that nothing follows, and no id twice.

    Args:
        seen: the item ids of the request so far.
    """
    reasoning = [_reasoning(block) for block in turn.content if isinstance(block, ThinkingContent)]
    sends_reasoning = turn.native and all(item and item.get("id") not in seen for item in reasoning)
    with_ids = False
    items: list[ResponseInputItemParam] = []
    for block in turn.content:
        match block:
            case TextContent():
                item = _message(block, with_ids)
            case ToolCall():
                item = _call(block, with_ids)
            case ThinkingContent() if sends_reasoning:
                item = cast("ResponseInputItemParam", reasoning.pop(0))
                with_ids = True
            case _:
                continue
        id = cast("Json", item).get("id")
        if id in seen:
            item = cast("ResponseInputItemParam", {key: value for key, value in item.items() if key != "id"})
        elif id:
            seen.add(id)
        items.append(item)
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _call(call: ToolCall, with_id: bool) -> "ResponseFunctionToolCallParam":
    arguments = to_json(call.arguments).decode()
    item: ResponseFunctionToolCallParam = {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
    }
    if with_id and call.signature:
        item["id"] = call.signature
    return item


def _reasoning(block: ThinkingContent) -> Json:
    """The reasoning item as it came; empty if it has nothing that a server without a memory could use."""
    item = kept_json(block.signature)
    return {key: value for key, value in item.items() if value is not None} if item.get("encrypted_content") else {}


def _message(block: TextContent, with_id: bool) -> "ResponseInputItemParam":
    kept = kept_json(block.signature) if with_id else {}
    if "id" not in kept:
        return {"type": "message", "role": "assistant", "content": block.text}
    message: ResponseOutputMessageParam = {
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "id": kept["id"],
        "content": [{"type": "output_text", "text": block.text, "annotations": []}],
    }
    return {**message, "phase": kept["phase"]} if "phase" in kept else message


def _result(result: ToolResult) -> "ResponseInputItemParam":
    output: Any = result.text
    if result.images:
        output = [{"type": "input_text", "text": result.text}, *(_part(image) for image in result.images)]
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _tool(tool: AgentTool) -> "FunctionToolParam":
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    return {
        "type": "function",
        "name": wire_name(tool.name),
        "description": tool.description,
        "parameters": parameters,
        "strict": False,
    }
