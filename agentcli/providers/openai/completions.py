"""The wire API `openai-completions`: POST `/v1/chat/completions`, as OpenAI and most other servers speak it.

`openai_completions_body` writes the request; here the stream is read. What servers do differently in a stream is
accepted without a switch: no `choices`, usage anywhere, calls that share an index, arguments as an object.
"""

from collections.abc import AsyncGenerator
from typing import Any, cast

import msgspec
from msgspec import Struct

from agentcli.agent.arguments import parse_arguments
from agentcli.agent.assistant_events import AssistantMessageEvent, ToolCallStartEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import BadResponseError, RefusedError
from agentcli.agent.messages import StopReason, TextContent, ToolCall, Usage
from agentcli.agent.models import Model, clean_key
from agentcli.agent.partial import PartialMessage
from agentcli.providers.catalog.compat import Compat, compat_of
from agentcli.providers.catalog.endpoint import endpoint
from agentcli.providers.cost import token_count, usage_of
from agentcli.providers.finish_reasons import stop_reason_of
from agentcli.providers.http.classify import error_of_event, one_line
from agentcli.providers.http.clients import HttpClients, headers_of
from agentcli.providers.http.post import Call, histories_for, stream_answer
from agentcli.providers.openai.completions_body import request_body
from agentcli.providers.openai.reasoning_deltas import ReasoningDeltas
from agentcli.providers.openai.think_tags import AnswerText, think_tags_of
from agentcli.providers.tool_names import new_call_id, real_names
from agentcli.providers.wire_json import decode_event


class FunctionDelta(Struct, gc=False):
    name: str | None = None
    arguments: Any = None


class ToolCallDelta(Struct, gc=False):
    index: Any = None
    id: str | None = None
    function: FunctionDelta | None = None
    extra_content: Any = None
    """Google's thought signature, which has to come back with the call."""


class Delta(Struct, gc=False):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_text: Any = None
    refusal: str | None = None
    tool_calls: list[ToolCallDelta] | None = None
    reasoning_details: list[Any] | None = None


class Choice(Struct, gc=False):
    delta: Delta | None = None
    finish_reason: str | None = None
    usage: Any = None
    error: Any = None


class Chunk(Struct, gc=False):
    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None
    object: Any = None
    """`error` says that the chunk itself is one: an old form of vLLM's."""
    message: Any = None


_decoder = msgspec.json.Decoder(Chunk)
_NO_FUNCTION = FunctionDelta()


def stream(
    model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Ask the model; see `stream_client` for the contract."""
    compat = compat_of(model)
    key = clean_key(options.api_key)
    call = Call(
        model=model,
        url=endpoint(model.base_url, "chat/completions"),
        headers=headers_of(model, options, compat.auth or "bearer", key),
        body=request_body(model, context, options, compat, histories_for(options, clients)),
        api_key=key,
    )
    return stream_answer(call, _Answer(model, context, compat, options), options, clients)


class _Call:
    """A tool call as its pieces arrive. It is shown from its name on; arguments that come before wait for it."""

    __slots__ = ("content_index", "id", "pieces")

    def __init__(self, id: str) -> None:
        self.id = id
        self.content_index = -1
        """Its place in the message; below 0 while it has no name."""
        self.pieces: list[str] = []

    def is_whole(self) -> bool:
        text = "".join(self.pieces)
        self.pieces = [text]
        return bool(text.strip()) and parse_arguments(text) is not None


class _Answer:
    """One answer as its chunks arrive."""

    def __init__(self, model: Model, context: Context, compat: Compat, options: StreamOptions) -> None:
        self.partial = PartialMessage(model)
        self._model = model
        self._compat = compat
        self._real_names = real_names(tool.name for tool in context.tools)
        self._text = AnswerText(self.partial, think_tags_of(model, compat, options))
        self._finish = ""
        """The finish reason that came last."""
        self._went_on = False
        """Whether more came after a finish reason: some servers give one with every chunk, and it ends nothing."""
        self.complete = False
        """Whether `[DONE]` came."""
        self._refusal = ""
        self._reasoning = ReasoningDeltas(self.partial, keep_empty=compat.send_reasoning)
        self._calls: dict[object, _Call] = {}
        self._last_call: _Call | None = None

    def take(self, name: bytes, data: bytes) -> list[AssistantMessageEvent]:
        """The events of one chunk.

        Raises:
            ProviderError: it is an error, or nothing that a server may send.
        """
        if data == b"[DONE]":
            self.complete = True
            return []
        chunk = decode_event(_decoder, data, self._model.provider)
        if chunk.error:
            raise error_of_event(chunk.error, provider=self._model.provider)
        if chunk.usage:
            self._take_usage(chunk.usage)
        if not chunk.choices:
            if chunk.choices is None and chunk.object == "error":
                raise error_of_event(chunk.message, provider=self._model.provider)
            return []
        choice = chunk.choices[0]
        if choice.usage:
            self._take_usage(choice.usage)
        events = self._take_delta(choice.delta) if choice.delta else []
        if self._finish and events:
            self._went_on = True
        if choice.finish_reason:
            self._finish = choice.finish_reason
        if choice.error:
            raise error_of_event(choice.error, provider=self._model.provider)
        return events

    def end(self) -> list[AssistantMessageEvent]:
        """The end of the answer. Raises ProviderError if it was refused, or the stream was over before it was."""
        provider = self._model.provider
        reason = StopReason.DONE
        if self._finish:
            reason = stop_reason_of(self._finish, field="finish_reason", provider=provider)
        if self._refusal:
            raise RefusedError(f"{provider} refused to answer: {one_line(self._refusal)}")
        if not self.complete and (not self._finish or self._went_on):
            lacks = "`[DONE]`" if self._finish else "a `finish_reason`"
            raise BadResponseError(f"the answer of {provider} was cut off: it ended without {lacks}")
        if not self._finish and not self._is_whole():
            raise BadResponseError(f"the answer of {provider} was cut off: it ended without a `finish_reason`")
        unnamed = (event for call in self._calls.values() for event in self._name_late(call))
        return [*self._text.end(), *unnamed, *self._reasoning.end(), *self.partial.done(reason)]

    def _is_whole(self) -> bool:
        """Whether an answer that ends with `[DONE]` but without a reason may be taken for complete: some servers never
        give one, and some proxies end what was cut off that way."""
        says = any(isinstance(block, TextContent | ToolCall) for block in self.partial.content)
        return says and all(call.is_whole() for call in self._calls.values())

    def _take_delta(self, delta: Delta) -> list[AssistantMessageEvent]:
        events: list[AssistantMessageEvent] = []
        if delta.reasoning_content is not None or delta.reasoning is not None or delta.reasoning_text is not None:
            events = self._reasoning.take(delta)
        if delta.reasoning_details:
            self._reasoning.take_details(delta.reasoning_details)
        content = delta.content
        if content.__class__ is str:
            if content:
                events += self._text.take(content)
        elif content:
            events += self._take_parts(content)
        if delta.refusal:
            self._refusal += delta.refusal
            events += self.partial.text(delta.refusal)
        for call in delta.tool_calls or ():
            events += self._take_call(call)
        return events

    def _take_parts(self, content: Any) -> list[AssistantMessageEvent]:
        """Content as a list of parts, as Mistral's thinking models send it."""
        events: list[AssistantMessageEvent] = []
        for part in cast("list[Any]", content) if isinstance(content, list) else [content]:
            match part:
                case {"type": "thinking", "thinking": str(text)} if text:
                    events += self.partial.thinking(text)
                case {"type": "thinking", "thinking": list(pieces)}:
                    texts = (piece.get("text") for piece in pieces if isinstance(piece, dict))
                    for text in texts:
                        events += self.partial.thinking(text) if isinstance(text, str) and text else []
                case {"text": str(text)} if text:
                    events += self._text.take(text)
                case _:
                    pass
        return events

    def _take_call(self, delta: ToolCallDelta) -> list[AssistantMessageEvent]:
        function = delta.function or _NO_FUNCTION
        arguments = function.arguments
        piece = arguments if isinstance(arguments, str) else "" if arguments is None else _json(arguments)
        call = self._call_of(delta, function.name, piece)
        events: list[AssistantMessageEvent] = []
        if call.content_index < 0 and function.name:
            call.id = call.id or new_call_id()
            events = self.partial.toolcall_start(call.id, self._real_names.get(function.name, function.name))
            call.content_index = cast("ToolCallStartEvent", events[-1]).content_index
            if waiting := "".join(call.pieces):
                events += self.partial.toolcall_delta(call.content_index, waiting)
        if piece:
            call.pieces.append(piece)
            if call.content_index >= 0:
                events += self.partial.toolcall_delta(call.content_index, piece)
        if delta.extra_content is not None and call.content_index >= 0:
            self.partial.sign(_json(delta.extra_content), call.content_index)
        return events

    def _call_of(self, delta: ToolCallDelta, name: str | None, piece: str) -> _Call:
        """The call that a piece belongs to: that of its index, unless the piece begins another one.

        Some servers give every call the index 0, some repeat id and name with every piece, some make up a new id for
        each. So a piece begins a call if it has a name, and an id other than the call's, or the call is complete.
        """
        key = delta.index if isinstance(delta.index, int) else delta.id
        call = self._last_call if key is None else self._calls.get(key)
        if call is not None and name and call.content_index >= 0:
            other_id = bool(delta.id) and delta.id != call.id
            if other_id or (not delta.id and piece.lstrip().startswith("{") and call.is_whole()):
                self._calls[("done", len(self._calls))] = call
                call = None
        if call is None:
            call = self._calls[len(self._calls) if key is None else key] = _Call(delta.id or "")
        call.id = call.id or delta.id or ""
        self._last_call = call
        return call

    def _name_late(self, call: _Call) -> list[AssistantMessageEvent]:
        """A call that never got a name is shown at the end, so that the model hears that it was no use."""
        if call.content_index >= 0 or not call.pieces:
            return []
        events = self.partial.toolcall_start(call.id or new_call_id(), "")
        index = cast("ToolCallStartEvent", events[-1]).content_index
        return [*events, *self.partial.toolcall_delta(index, "".join(call.pieces))]

    def _take_usage(self, usage: Any) -> None:
        found = read_usage(self._model, usage)
        if found.total_tokens:
            self.partial.usage = found


def read_usage(model: Model, usage: Any) -> Usage:
    """`usage` of chat completions. Its prompt tokens hold those that came from a cache or went to one."""
    if not isinstance(usage, dict):
        return Usage()
    counts = cast("dict[str, Any]", usage)
    details = counts.get("prompt_tokens_details")
    inner = cast("dict[str, Any]", details) if isinstance(details, dict) else {}
    prompt, output = token_count(counts.get("prompt_tokens")), token_count(counts.get("completion_tokens"))
    read = token_count(
        inner.get("cached_tokens") or counts.get("prompt_cache_hit_tokens") or counts.get("cached_tokens")
    )
    write = token_count(inner.get("cache_write_tokens") or inner.get("cache_creation_tokens"))
    read = min(read, prompt)
    write = min(write, prompt - read)
    output_details = counts.get("completion_tokens_details")
    thought = token_count(output_details.get("reasoning_tokens")) if isinstance(output_details, dict) else 0
    if thought and token_count(counts.get("total_tokens")) == prompt + output + thought:
        output += thought  # xAI counts thinking apart
    return usage_of(model, input=prompt - read - write, output=output, cache_read=read, cache_write=write)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
