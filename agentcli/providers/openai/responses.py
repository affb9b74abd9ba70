"""The wire API `openai-responses`: POST `/v1/responses`, stateless (`store: false`).

`openai_responses_body` writes the request; here the stream is read. What has to go back is kept as signatures: the
whole reasoning item as JSON, id and phase of a text as JSON, and the item id of a call.
"""

from collections.abc import AsyncGenerator
from typing import Any, cast

import msgspec
from msgspec import Struct

from agentcli.agent.assistant_events import (
    AssistantMessageEvent,
    TextStartEvent,
    ThinkingStartEvent,
    ToolCallStartEvent,
)
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import BadResponseError, RefusedError
from agentcli.agent.messages import StopReason
from agentcli.agent.models import Model, clean_key
from agentcli.agent.partial import PartialMessage
from agentcli.providers.catalog.compat import Compat, compat_of
from agentcli.providers.catalog.endpoint import endpoint
from agentcli.providers.cost import token_count, usage_of
from agentcli.providers.finish_reasons import stop_reason_of
from agentcli.providers.http.classify import error_of_event, one_line
from agentcli.providers.http.clients import HttpClients, headers_of
from agentcli.providers.http.post import Call, histories_for, stream_answer
from agentcli.providers.openai.responses_body import request_body
from agentcli.providers.openai.think_tags import AnswerText, think_tags_of
from agentcli.providers.tool_names import new_call_id, real_names
from agentcli.providers.wire_json import decode_event


class Event(Struct, gc=False):
    type: str = ""
    output_index: int = -1
    summary_index: int = 0
    delta: Any = None
    arguments: Any = None
    item: dict[str, Any] | None = None
    response: dict[str, Any] | None = None
    error: Any = None
    code: Any = None
    message: Any = None


_decoder = msgspec.json.Decoder(Event)


def stream(
    model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Ask the model; see `stream_client` for the contract."""
    compat = compat_of(model)
    key = clean_key(options.api_key)
    call = Call(
        model=model,
        url=endpoint(model.base_url, "responses"),
        headers=headers_of(model, options, compat.auth or "bearer", key),
        body=request_body(model, context, options, compat, histories_for(options, clients)),
        api_key=key,
    )
    return stream_answer(call, _Answer(model, context, compat, options), options, clients)


class _Answer:
    """One answer as its events arrive."""

    def __init__(self, model: Model, context: Context, compat: Compat, options: StreamOptions) -> None:
        self.partial = PartialMessage(model)
        self._said = AnswerText(self.partial, think_tags_of(model, compat, options))
        self.complete = False
        self._model = model
        self._real_names = real_names(tool.name for tool in context.tools)
        self._places: dict[int, int] = {}
        """The server's index of each output item to its place in the message."""
        self._spoke: set[int] = set()
        """Output items of which a piece has arrived."""
        self._refusal = ""
        self._reason = StopReason.DONE

    def take(self, name: bytes, data: bytes) -> list[AssistantMessageEvent]:
        if data == b"[DONE]":
            return []
        event = decode_event(_decoder, data, self._model.provider)
        match kind := event.type or name.decode("ascii", "replace"):
            case "response.output_text.delta":
                return self._text(event.output_index, event.delta)
            case "response.function_call_arguments.delta":
                return self._arguments(event.output_index, event.delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._thinking(event.output_index, event.delta)
            case "response.reasoning_summary_part.added" if event.summary_index > 0:
                return self._thinking(event.output_index, "\n\n")
            case "response.refusal.delta":
                self._refusal += event.delta if isinstance(event.delta, str) else ""
                return self._text(event.output_index, event.delta)
            case "response.output_item.added":
                return self._start_item(event.output_index, event.item or {})
            case "response.output_item.done":
                return self._end_item(event.output_index, event.item or {})
            case "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled":
                self._finish(kind, event.response or {})
            case "error":
                raise error_of_event(_error_of(event), provider=self._model.provider)
            case _ if event.error:
                raise error_of_event(event.error, provider=self._model.provider)
            case _:
                pass
        return []

    def end(self) -> list[AssistantMessageEvent]:
        provider = self._model.provider
        if self._refusal:
            raise RefusedError(f"{provider} refused to answer: {one_line(self._refusal)}")
        if not self.complete:
            raise BadResponseError(f"the answer of {provider} was cut off: it ended without `response.completed`")
        return [*self._said.end(), *self.partial.done(self._reason)]

    def _finish(self, type: str, response: dict[str, Any]) -> None:
        """The end of the response: its status, or the event's if it has none, and why it is incomplete."""
        provider = self._model.provider
        self._take_usage(response.get("usage"))
        status = str(response.get("status") or type.removeprefix("response."))
        error = response.get("error")
        if error or "failed" in (type.removeprefix("response."), status):
            raise error_of_event(error or "the response failed", provider=provider)
        if type == "response.incomplete":
            status = "incomplete"
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        word = str(reason or "max_output_tokens") if status == "incomplete" else status
        self._reason = stop_reason_of(word, field="incomplete reason" if reason else "status", provider=provider)
        if status == "incomplete" and self._reason is not StopReason.LENGTH:
            raise BadResponseError(f"{provider} did not complete its answer: {one_line(word, 100)}")
        self.complete = True

    def _start_item(self, index: int, item: dict[str, Any]) -> list[AssistantMessageEvent]:
        match item.get("type"):
            case "reasoning":
                return self._note(index, self.partial.thinking_start())
            case "function_call":
                name = str(item.get("name") or "")
                id = str(item.get("call_id") or item.get("id") or new_call_id())
                return self._note(index, self.partial.toolcall_start(id, self._real_names.get(name, name)))
            case _:
                return []

    def _end_item(self, index: int, item: dict[str, Any]) -> list[AssistantMessageEvent]:
        """Take what no piece has said, keep what has to go back, and end the block."""
        events = [] if index in self._places else self._start_item(index, item)
        match item.get("type"):
            case "reasoning":
                if index not in self._spoke:
                    events += self._thinking(index, _texts(item.get("summary")) or _texts(item.get("content")))
                signature = msgspec.json.encode(item).decode()
            case "function_call":
                if index not in self._spoke:
                    events += self._arguments(index, item.get("arguments"))
                signature = str(item.get("id") or "")
            case "message":
                if index not in self._spoke:
                    events += self._text(index, _texts(item.get("content")))
                kept = {key: item[key] for key in ("id", "phase") if item.get(key)}
                signature = msgspec.json.encode(kept).decode() if kept else ""
            case _:
                return events
        place = self._places.pop(index, None)
        if place is None:
            return events
        if signature:
            self.partial.sign(signature, place)
        return [*events, *self.partial.end_block(place)]

    def _text(self, index: int, delta: Any) -> list[AssistantMessageEvent]:
        if not isinstance(delta, str) or not delta:
            return []
        self._spoke.add(index)
        events = self._said.take(delta)
        # What goes back with a message hangs on its text, not on the thinking that stood in it.
        if len(events) > 1:
            self._note(index, [event for event in events if isinstance(event, TextStartEvent)])
        return events

    def _thinking(self, index: int, delta: Any) -> list[AssistantMessageEvent]:
        return self._spoken(index, self.partial.thinking(delta)) if isinstance(delta, str) and delta else []

    def _arguments(self, index: int, delta: Any) -> list[AssistantMessageEvent]:
        if not isinstance(delta, str) or not delta:
            return []
        place = self._places.get(index)
        if place is None:
            raise BadResponseError(f"{self._model.provider} sent a piece of item {index}, which is not open")
        self._spoke.add(index)
        return self.partial.toolcall_delta(place, delta)

    def _spoken(self, index: int, events: list[AssistantMessageEvent]) -> list[AssistantMessageEvent]:
        if index not in self._spoke:
            self._spoke.add(index)
            self._note(index, events)
        return events

    def _note(self, index: int, events: list[AssistantMessageEvent]) -> list[AssistantMessageEvent]:
        """Remember the place of the block that an item has just begun."""
        for event in events:
            if isinstance(event, TextStartEvent | ThinkingStartEvent | ToolCallStartEvent):
                self._places[index] = event.content_index
        return events

    def _take_usage(self, usage: Any) -> None:
        """Input tokens hold those that came from a cache or went to one."""
        if not isinstance(usage, dict):
            return
        counts = cast("dict[str, Any]", usage)
        details = counts.get("input_tokens_details")
        inner = cast("dict[str, Any]", details) if isinstance(details, dict) else {}
        total = token_count(counts.get("input_tokens"))
        read = min(token_count(inner.get("cached_tokens")), total)
        write = min(token_count(inner.get("cache_write_tokens")), total - read)
        output = token_count(counts.get("output_tokens"))
        self.partial.usage = usage_of(
            self._model, input=total - read - write, output=output, cache_read=read, cache_write=write
        )


def _texts(parts: Any) -> str:
    """The text of a list of parts: a reasoning's summary, a message's content."""
    if not isinstance(parts, list):
        return ""
    found = (part.get("text") for part in cast("list[Any]", parts) if isinstance(part, dict))
    return "\n\n".join(text for text in found if isinstance(text, str))


def _error_of(event: Event) -> Any:
    return event.error or {"message": event.message, "code": event.code}
