"""The request body of chat completions: a context, a model and options, as the model's server wants them."""

from typing import Any

import msgspec

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.messages import ImageContent, TextContent, ThinkingContent, ToolCall, UserContent
from agentcli.agent.models import Model
from agentcli.agent.tools import AgentTool
from agentcli.providers.compat import Compat
from agentcli.providers.limits import output_limit
from agentcli.providers.reasoning_deltas import reasoning_fields
from agentcli.providers.thinking import Thinking, thinking_of
from agentcli.providers.tool_names import CallIds, wire_name
from agentcli.providers.transform import AssistantTurn, ResultsTurn, ToolResult, Turn, UserTurn, turns_of
from agentcli.providers.wire_json import to_json

Json = dict[str, Any]

RESULT_IMAGES_TEXT = "Images from the tool results above:"
BETWEEN_TEXT = "I have the tool results."


def request_body(model: Model, context: Context, options: StreamOptions, compat: Compat) -> Json:
    """The JSON of the request."""
    exactly = 9 if compat.tool_call_ids == "mistral" else 0
    turns = turns_of(model, context.messages, CallIds(longest=40, keep_kin=True, exactly=exactly))
    messages = _messages(context.system_prompt, turns, compat)
    tools = [_tool(tool) for tool in context.tools]
    if compat.cache_control and options.cache_retention != "none":
        _mark_cached(messages, tools)
    body: Json = {"model": model.id, "messages": messages, "stream": True}
    if compat.usage_in_stream:
        body["stream_options"] = {"include_usage": True}
    if tools or (compat.tools_with_history and any(isinstance(turn, ResultsTurn) for turn in turns)):
        body["tools"] = tools
    if options.max_tokens is not None or compat.always_max_tokens:
        body[compat.max_tokens_field] = output_limit(model, context, options)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if compat.store:
        body["store"] = False
    if options.session_id and options.cache_retention != "none":
        if compat.prompt_cache_key:
            body["prompt_cache_key"] = options.session_id
        if compat.prompt_cache_retention and options.cache_retention == "long":
            body["prompt_cache_retention"] = "24h"
    body |= _thinking_fields(model, thinking_of(model, options), compat)
    return body | compat.extra_body


def _thinking_fields(model: Model, thinking: Thinking, compat: Compat) -> Json:
    if not model.reasoning:
        return {}
    if thinking.body:
        return thinking.body
    effort = thinking.word or (str(thinking.level) if thinking.on else None)
    match compat.thinking_format:
        case "none":
            return {}
        case "openrouter":
            return {"reasoning": {"effort": effort or "none"}}
        case "switch":
            switch: Json = {"thinking": {"type": "enabled" if thinking.on else "disabled"}}
            return switch | ({"reasoning_effort": thinking.word} if thinking.word and thinking.on else {})
        case "qwen":
            return {"enable_thinking": thinking.on}
        case "template":
            return {"chat_template_kwargs": {"enable_thinking": thinking.on}}
        case _:
            return {"reasoning_effort": effort} if effort else {}


def _messages(system_prompt: str, turns: list[Turn], compat: Compat) -> list[Json]:
    messages: list[Json] = []
    if system_prompt.strip():
        messages.append({"role": compat.system_role, "content": system_prompt})
    for turn in turns:
        match turn:
            case UserTurn():
                if compat.assistant_after_tool and messages and messages[-1]["role"] == "tool":
                    messages.append({"role": "assistant", "content": BETWEEN_TEXT})
                messages.append({"role": "user", "content": _user_content(turn.content)})
            case AssistantTurn():
                messages.append(_assistant(turn, compat))
            case ResultsTurn():
                messages += _results(turn.results, compat)
    return messages


def _user_content(content: list[UserContent]) -> str | list[Json]:
    """Text alone as a string, which every server takes; with images a list of parts."""
    if not any(isinstance(block, ImageContent) for block in content):
        return "\n".join(block.text for block in content if isinstance(block, TextContent))
    return [_part(block) for block in content]


def _part(block: UserContent) -> Json:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}


def _assistant(turn: AssistantTurn, compat: Compat) -> Json:
    texts = [block.text for block in turn.content if isinstance(block, TextContent)]
    calls = [_call(block) for block in turn.content if isinstance(block, ToolCall)]
    message: Json = {"role": "assistant"}
    if texts:
        message["content"] = "\n".join(texts)
    elif compat.empty_content != "omit":
        message["content"] = "" if compat.empty_content == "empty" else None
    if compat.send_reasoning:
        message |= _reasoning(turn)
    if calls:
        message["tool_calls"] = calls
    return message


def _reasoning(turn: AssistantTurn) -> Json:
    blocks = [block for block in turn.content if isinstance(block, ThinkingContent)]
    if not blocks:
        return {}
    signature = next((block.signature for block in blocks if block.signature), "")
    return reasoning_fields("".join(block.thinking for block in blocks), signature or "")


def _call(call: ToolCall) -> Json:
    arguments = to_json(call.arguments).decode()
    written: Json = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
    if call.signature:
        written["extra_content"] = msgspec.json.decode(call.signature)
    return written


def _results(results: list[ToolResult], compat: Compat) -> list[Json]:
    """The tool messages, and their images in a user message after them."""
    messages: list[Json] = []
    images: list[Json] = []
    for result in results:
        message: Json = {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
        if compat.tool_result_name:
            message["name"] = result.name
        parts = [_part(image) for image in result.images]
        if parts and compat.images_in_tool_results:
            message["content"] = [{"type": "text", "text": result.text}, *parts]
        else:
            images += parts
        messages.append(message)
    if images:
        if compat.assistant_after_tool:
            messages.append({"role": "assistant", "content": BETWEEN_TEXT})
        messages.append({"role": "user", "content": [{"type": "text", "text": RESULT_IMAGES_TEXT}, *images]})
    return messages


def _tool(tool: AgentTool) -> Json:
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    function: Json = {"name": wire_name(tool.name), "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _mark_cached(messages: list[Json], tools: list[Json]) -> None:
    """Breakpoints, for Anthropic's models behind such a server: the system prompt, the last tool, the last message."""
    mark: Json = {"cache_control": {"type": "ephemeral"}}
    if tools:
        tools[-1] |= mark
    system = messages[0] if messages and messages[0]["role"] in ("system", "developer") else None
    last = next((message for message in reversed(messages) if message["role"] == "user"), None)
    for message in (system, last):
        if message is not None:
            if isinstance(message["content"], str):
                message["content"] = [{"type": "text", "text": message["content"]}]
            message["content"][-1] |= mark
