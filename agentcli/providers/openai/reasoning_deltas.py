"""ReasoningDeltas: the thinking in a stream of chat completions, and what has to go back of it.

Servers send it as `reasoning_content` (DeepSeek, Kimi, vLLM, llama.cpp), `reasoning` (OpenRouter, Groq) or
`reasoning_text`, some under two keys at once. The thinking block's signature keeps the key, or, if the server sent
`reasoning_details` (OpenRouter), their JSON: `{"reasoning_details": [...]}`.
"""

from typing import Any, cast

import msgspec

from agentcli.agent.assistant_events import AssistantMessageEvent, ThinkingStartEvent
from agentcli.agent.partial import PartialMessage
from agentcli.providers.wire_json import kept_json

KEYS = ("reasoning_content", "reasoning", "reasoning_text")
_GROWING = ("text", "summary", "data", "signature")


class _Pieces(list[str]):
    """A text that grows, joined at the end."""


class ReasoningDeltas:
    """Args:
    keep_empty: whether even an empty one opens a thinking block, as the server wants it back.
    """

    def __init__(self, partial: PartialMessage, *, keep_empty: bool) -> None:
        self._partial = partial
        self._keep_empty = keep_empty
        self._key = ""
        self._first_block = -1
        self._details: list[dict[str, Any]] = []

    def take(self, delta: Any) -> list[AssistantMessageEvent]:
        """The events of a delta's thinking, under the key it first came in."""
        for key in (self._key,) if self._key else KEYS:
            text = getattr(delta, key)
            if not isinstance(text, str) or not (text or (self._keep_empty and not self._key)):
                continue
            self._key = key
            return self._note(self._partial.thinking(text) if text else self._partial.thinking_start())
        return []

    def take_details(self, details: list[Any]) -> None:
        """Keep `reasoning_details`; pieces of one detail are joined."""
        for detail in details:
            if not isinstance(detail, dict):
                continue
            piece = cast("dict[str, Any]", detail)
            last = self._details[-1] if self._details else {}
            if not last or [last.get(k) for k in ("type", "index")] != [piece.get(k) for k in ("type", "index")]:
                self._details.append(dict(piece))
                continue
            for name, value in piece.items():
                before = last.get(name)
                if name in _GROWING and isinstance(value, str) and isinstance(before, str | _Pieces):
                    last[name] = before = before if isinstance(before, _Pieces) else _Pieces([before])
                    before.append(value)
                elif value is not None or name not in last:
                    last[name] = value

    def end(self) -> list[AssistantMessageEvent]:
        """Sign the first thinking block with what has to go back; one is made if only details came."""
        events: list[AssistantMessageEvent] = []
        if self._details and self._first_block < 0:
            events = self._note(self._partial.thinking_start())
        if self._first_block >= 0:
            whole = [{name: _joined(value) for name, value in detail.items()} for detail in self._details]
            details = msgspec.json.encode({"reasoning_details": whole}).decode() if whole else ""
            self._partial.sign(details or self._key, self._first_block)
        return events

    def _note(self, events: list[AssistantMessageEvent]) -> list[AssistantMessageEvent]:
        if self._first_block < 0 and isinstance(events[-1], ThinkingStartEvent):
            self._first_block = events[-1].content_index
        elif self._first_block < 0 and len(events) > 1 and isinstance(events[-2], ThinkingStartEvent):
            self._first_block = events[-2].content_index
        return events


def _joined(value: Any) -> Any:
    return "".join(value) if isinstance(value, _Pieces) else value


def reasoning_fields(thinking: str, signature: str) -> dict[str, Any]:
    """What an assistant message needs so that its thinking goes back as it came."""
    if details := kept_json(signature).get("reasoning_details"):
        return {"reasoning_details": details}
    return {signature if signature in KEYS else KEYS[0]: thinking}
