"""The wire API `anthropic-messages`: POST `/v1/messages`, as Anthropic and servers compatible with it speak it.

`anthropic_messages_body` writes the request; here the stream is read. An event is what its `type` says, so that proxies
which leave the `event:` line out are understood; types that are not known are passed over.
"""

from collections.abc import AsyncGenerator
from typing import Any, cast

import msgspec
from msgspec import Struct

from agentcli.agent.assistant_events import AssistantMessageEvent, ThinkingStartEvent, ToolCallStartEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import BadResponseError, RefusedError
from agentcli.agent.messages import StopReason, TextContent, ToolCall
from agentcli.agent.models import Model, clean_key
from agentcli.agent.partial import PartialMessage
from agentcli.providers.anthropic.messages_body import request_body
from agentcli.providers.catalog.compat import compat_of
from agentcli.providers.catalog.endpoint import endpoint
from agentcli.providers.cost import token_count, usage_of
from agentcli.providers.finish_reasons import stop_reason_of
from agentcli.providers.http.classify import error_of_event, one_line
from agentcli.providers.http.clients import HttpClients, headers_of
from agentcli.providers.http.post import Call, histories_for, stream_answer
from agentcli.providers.openai.think_tags import AnswerText, think_tags_of
from agentcli.providers.tool_names import new_call_id, real_names
from agentcli.providers.wire_json import decode_event

API_VERSION = "2026-10-21"


class ContentBlock(Struct, gc=False):
    type: str = ""
    id: str | None = None
    name: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    input: Any = None


class Delta(Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None
    stop_details: Any = None


class StartedMessage(Struct, gc=False):
    usage: Any = None


class Event(Struct, gc=False):
    type: str = ""
    index: int = -1
    delta: Delta | None = None
    content_block: ContentBlock | None = None
    message: StartedMessage | None = None
    usage: Any = None
    error: Any = None


_decoder = msgspec.json.Decoder(Event)


def stream(
    model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Ask the model; see `stream_client` for the contract."""
    compat = compat_of(model)
    key = clean_key(options.api_key)
    call = Call(
        model=model,
        url=endpoint(model.base_url, "messages"),
        headers={"anthropic-version": API_VERSION} | headers_of(model, options, compat.auth or "x-api-key", key),
        body=request_body(model, context, options, compat, histories_for(options, clients)),
        api_key=key,
    )
    return stream_answer(call, _Answer(model, context, options), options, clients)


class _Answer:
    """One answer as its events arrive."""

    def __init__(self, model: Model, context: Context, options: StreamOptions) -> None:
        self.partial = PartialMessage(model)
        self._text = AnswerText(self.partial, think_tags_of(model, compat_of(model), options))
        self.complete = False
        self._model = model
        self._real_names = real_names(tool.name for tool in context.tools)
        self._places: dict[int, int] = {}
        """The server's index of each open block to its place in the message."""
        self._whole_inputs: dict[int, dict[str, Any]] = {}
        """Arguments that came with the start of a call; used if no piece follows."""
        self._counts: dict[str, int] = {}
        self._stop_reason = ""
        self._stop_details: Any = None

    def take(self, name: bytes, data: bytes) -> list[AssistantMessageEvent]:
        event = decode_event(_decoder, data, self._model.provider)
        match event.type or name.decode("ascii", "replace"):
            case "content_block_delta":
                return self._take_delta(event.index, event.delta) if event.delta else []
            case "content_block_start":
                return self._start_block(event.index, event.content_block) if event.content_block else []
            case "content_block_stop":
                return self._stop_block(event.index)
            case "message_start":
                self._take_usage(event.message.usage if event.message else None)
            case "message_delta":
                self._take_usage(event.usage)
                if event.delta and event.delta.stop_reason:
                    self._stop_reason = event.delta.stop_reason
                    self._stop_details = event.delta.stop_details
            case "message_stop":
                self.complete = True
            case "error":
                raise error_of_event(event.error or "", provider=self._model.provider)
            case _ if event.error:
                raise error_of_event(event.error, provider=self._model.provider)
            case _:
                pass
        return []

    def end(self) -> list[AssistantMessageEvent]:
        provider, reason = self._model.provider, StopReason.DONE
        if self._stop_reason == "refusal":
            raise RefusedError(f"{provider} refused to answer: {_explanation(self._stop_details)}")
        if self._stop_reason:
            reason = stop_reason_of(self._stop_reason, field="stop_reason", provider=provider)
        if not self.complete or not (self._stop_reason or self._is_whole()):
            lacks = "a `stop_reason`" if self.complete else "`message_stop`"
            raise BadResponseError(f"the answer of {provider} was cut off: it ended without {lacks}")
        return [*self._text.end(), *self.partial.done(reason)]

    def _is_whole(self) -> bool:
        """Whether an answer without a reason may be taken for complete: some servers never give one."""
        return not self._places and any(isinstance(block, TextContent | ToolCall) for block in self.partial.content)

    def _start_block(self, index: int, block: ContentBlock) -> list[AssistantMessageEvent]:
        partial = self.partial
        match block.type:
            case "text":
                return self._text.take(block.text) if block.text else []
            case "thinking":
                events = partial.thinking_start()
                self._places[index] = cast("ThinkingStartEvent", events[-1]).content_index
                if block.thinking:
                    events += partial.thinking(block.thinking)
                if block.signature:
                    partial.sign(block.signature)
                return events
            case "redacted_thinking":
                return partial.redacted_thinking(block.data or "")
            case "tool_use":
                name = block.name or ""
                events = partial.toolcall_start(block.id or new_call_id(), self._real_names.get(name, name))
                self._places[index] = cast("ToolCallStartEvent", events[-1]).content_index
                if isinstance(block.input, dict) and block.input:
                    self._whole_inputs[index] = cast("dict[str, Any]", block.input)
                return events
            case _:
                return []

    def _take_delta(self, index: int, delta: Delta) -> list[AssistantMessageEvent]:
        if delta.text is not None:
            return self._text.take(delta.text) if delta.text else []
        if delta.thinking is not None:
            return self.partial.thinking(delta.thinking) if delta.thinking else []
        if delta.partial_json is not None:
            self._whole_inputs.pop(index, None)
            return self.partial.toolcall_delta(self._place(index), delta.partial_json) if delta.partial_json else []
        if delta.signature:
            self.partial.sign(delta.signature, self._place(index))
        return []

    def _stop_block(self, index: int) -> list[AssistantMessageEvent]:
        place = self._places.pop(index, None)
        if place is None:
            return [*self._text.end_block(), *self.partial.end_text()]
        whole = self._whole_inputs.pop(index, None)
        events = self.partial.toolcall_delta(place, msgspec.json.encode(whole).decode()) if whole else []
        return [*events, *self.partial.end_block(place)]

    def _place(self, index: int) -> int:
        place = self._places.get(index)
        if place is None:
            raise BadResponseError(f"{self._model.provider} sent a piece of block {index}, which is not open")
        return place

    def _take_usage(self, usage: Any) -> None:
        """Counts are of the whole answer so far. Zeros that some proxies send for what they said before are ignored."""
        if not isinstance(usage, dict):
            return
        found = cast("dict[str, Any]", usage)
        written = found.get("cache_creation")
        if isinstance(written, dict):
            found = {**found, "one_hour": written.get("ephemeral_1h_input_tokens")}
        for name in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "one_hour",
        ):
            if count := token_count(found.get(name)):
                self._counts[name] = count
        self.partial.usage = usage_of(
            self._model,
            input=self._counts.get("input_tokens", 0),
            output=self._counts.get("output_tokens", 0),
            cache_read=self._counts.get("cache_read_input_tokens", 0),
            cache_write=self._counts.get("cache_creation_input_tokens", 0),
            long_cache_write=self._counts.get("one_hour", 0),
        )


def _explanation(details: Any) -> str:
    match details:
        case {"explanation": str(text)} if text.strip():
            return one_line(text)
        case {"category": str(category)} if category:
            return one_line(category)
        case _:
            return "it gave no reason"
