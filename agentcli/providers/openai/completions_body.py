"""The request body of chat completions: a context, a model and options, as the model's server wants them."""

from typing import TYPE_CHECKING, Any, cast

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.messages import ImageContent, TextContent, ThinkingContent, ToolCall, UserContent
from agentcli.agent.models import Model
from agentcli.agent.tools import AgentTool
from agentcli.providers.catalog.compat import Compat
from agentcli.providers.history import History, RequestCache
from agentcli.providers.limits import output_limit
from agentcli.providers.openai.reasoning_deltas import reasoning_fields
from agentcli.providers.thinking import Thinking, thinking_of
from agentcli.providers.tool_names import CallIds, wire_name
from agentcli.providers.transform import AssistantTurn, ResultsTurn, ToolResult, Turn, UserTurn
from agentcli.providers.wire_json import kept_json, to_json

if TYPE_CHECKING:
    from openai.types.chat import (
        ChatCompletionAssistantMessageParam,
        ChatCompletionContentPartImageParam,
        ChatCompletionContentPartTextParam,
        ChatCompletionFunctionToolParam,
        ChatCompletionMessageFunctionToolCallParam,
        ChatCompletionMessageParam,
        ChatCompletionToolMessageParam,
    )
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    Part = ChatCompletionContentPartTextParam | ChatCompletionContentPartImageParam

Json = dict[str, Any]

RESULT_IMAGES_TEXT = "Images from the tool results above:"
BETWEEN_TEXT = "I have the tool results."


def request_body(
    model: Model, context: Context, options: StreamOptions, compat: Compat, histories: RequestCache
) -> Json:
    """The JSON of the request. Not to be changed: it shares its messages with the next one."""
    history = histories.written(options.session_id or "", model, context.messages, lambda: _new_history(model, compat))
    turns = history.turns
    messages = [*_system(context.system_prompt, compat), *history.items]
    tools = [_tool(tool) for tool in context.tools]
    if compat.cache_control and options.cache_retention != "none":
        _mark_cached(messages, tools)
    body: CompletionCreateParamsStreaming = {"model": model.id, "messages": messages, "stream": True}
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
    return {**body, **_thinking_fields(model, thinking_of(model, options), compat), **compat.extra_body}


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


def _new_history(model: Model, compat: Compat) -> "History[ChatCompletionMessageParam]":
    def write(turn: Turn, messages: "list[ChatCompletionMessageParam]") -> None:
        match turn:
            case UserTurn():
                if compat.assistant_after_tool and messages and messages[-1]["role"] == "tool":
                    messages.append({"role": "assistant", "content": BETWEEN_TEXT})
                messages.append({"role": "user", "content": _user_content(turn.content)})
            case AssistantTurn():
                messages.append(_assistant(turn, compat))
            case ResultsTurn():
                messages.extend(_results(turn.results, compat))

    exactly = 9 if compat.tool_call_ids == "mistral" else 0
    return History(model, CallIds(longest=40, keep_kin=True, exactly=exactly), write)


def _system(system_prompt: str, compat: Compat) -> "list[ChatCompletionMessageParam]":
    if not system_prompt.strip():
        return []
    if compat.system_role == "developer":
        return [{"role": "developer", "content": system_prompt}]
    return [{"role": "system", "content": system_prompt}]


def _user_content(content: list[UserContent]) -> "str | list[Part]":
    """Text alone as a string, which every server takes; with images a list of parts."""
    if not any(isinstance(block, ImageContent) for block in content):
        return "\n".join(block.text for block in content if isinstance(block, TextContent))
    return [_part(block) for block in content]


def _part(block: UserContent) -> "Part":
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}


def _assistant(turn: AssistantTurn, compat: Compat) -> "ChatCompletionAssistantMessageParam":
    texts = [block.text for block in turn.content if isinstance(block, TextContent)]
    calls = [_call(block) for block in turn.content if isinstance(block, ToolCall)]
    message: ChatCompletionAssistantMessageParam = {"role": "assistant"}
    if texts:
        message["content"] = "\n".join(texts)
    elif compat.empty_content != "omit":
        message["content"] = "" if compat.empty_content == "empty" else None
    if calls:
        message["tool_calls"] = calls
    # Thinking goes back in fields that the API's own types do not have.
    return (
        cast("ChatCompletionAssistantMessageParam", {**message, **_reasoning(turn, compat)})
        if compat.send_reasoning
        else message
    )


def _reasoning(turn: AssistantTurn, compat: Compat) -> Json:
    blocks = [block for block in turn.content if isinstance(block, ThinkingContent)]
    if not blocks:
        return reasoning_fields("", "") if compat.require_reasoning else {}
    signature = next((block.signature for block in blocks if block.signature), "")
    return reasoning_fields("".join(block.thinking for block in blocks), signature or "")


def _call(call: ToolCall) -> "ChatCompletionMessageFunctionToolCallParam":
    arguments = to_json(call.arguments).decode()
    written: ChatCompletionMessageFunctionToolCallParam = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
    if extra := kept_json(call.signature):
        return cast("ChatCompletionMessageFunctionToolCallParam", {**written, "extra_content": extra})
    return written


def _results(results: list[ToolResult], compat: Compat) -> "list[ChatCompletionMessageParam]":
    """The tool messages, and their images in a user message after them."""
    messages: list[ChatCompletionMessageParam] = []
    images: list[Part] = []
    for result in results:
        content: Any = result.text
        parts = [_part(image) for image in result.images]
        if parts and compat.images_in_tool_results:
            content = [_part(TextContent(result.text)), *parts]
        else:
            images += parts
        message: ChatCompletionToolMessageParam = {"role": "tool", "tool_call_id": result.call_id, "content": content}
        name = {"name": result.name} if compat.tool_result_name else {}
        messages.append(cast("ChatCompletionToolMessageParam", {**message, **name}))
    if images:
        if compat.assistant_after_tool:
            messages.append({"role": "assistant", "content": BETWEEN_TEXT})
        messages.append({"role": "user", "content": [_part(TextContent(RESULT_IMAGES_TEXT)), *images]})
    return messages


def _tool(tool: AgentTool) -> "ChatCompletionFunctionToolParam":
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    return {
        "type": "function",
        "function": {"name": wire_name(tool.name), "description": tool.description, "parameters": parameters},
    }


def _mark_cached(messages: "list[ChatCompletionMessageParam]", tools: "list[ChatCompletionFunctionToolParam]") -> None:
    """Breakpoints, for Anthropic's models behind such a server: the last tool, system prompt, last user message.

    They stand in fields that OpenAI's own API does not have.
    """
    mark: Json = {"cache_control": {"type": "ephemeral"}}
    if tools:
        cast("Json", tools[-1]).update(mark)
    places = [place for place, message in enumerate(messages) if message["role"] == "user"][-1:]
    if messages and messages[0]["role"] in ("system", "developer"):
        places.append(0)
    for place in places:
        message = cast("Json", messages[place])
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        marked = {**message, "content": [*parts[:-1], {**parts[-1], **mark}]}
        messages[place] = cast("ChatCompletionMessageParam", marked)
