"""Answers that end in every way: random finish reasons, said once or with every piece, and cuts anywhere."""

import asyncio
import json
import random
from typing import Any

from agentcli.agent.assistant_events import DoneEvent
from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import ProviderError
from agentcli.agent.messages import StopReason
from tests.providers.support import APIS, MESSAGE, STOP, block, chat, context_of, events, model_of, replayed

GOOD = {
    "openai-completions": ["stop", "STOP", "tool_calls", "eos"],
    "anthropic-messages": ["end_turn", "stop_sequence", "tool_use"],
    "openai-responses": ["completed"],
}
BAD = [
    "insufficient_system_resource",
    "network_error",
    "abort",
    "repetition_truncation",
    "content_filter",
    "length",
    "max_tokens",
    "model_context_window_exceeded",
    "pause_turn",
    "error",
    "",
    None,
]


def endings(rounds: int) -> None:
    """None of the answers counts as done unless the server said so, and each does that was whole."""
    done = sum(_round(api) for _ in range(rounds) for api in APIS)
    print(
        f"endings: {rounds} rounds of {len(APIS)} wire APIs; {done} answers were done, as their servers said",
        flush=True,
    )


def _round(api: str) -> bool:
    reason = random.choice([random.choice(GOOD[api]), random.choice(BAD), _word()])
    data, always = _answer(api, reason)
    length = random.choice([len(data), random.randrange(len(data) + 1)])
    broken = random.random() < 0.3
    is_done = asyncio.run(_is_done(api, data[:length], broken))
    said = _is_over(api, reason, data[:length], always)
    assert not is_done or said, f"{api} {reason!r} {length} of {len(data)}: done, which nobody said:\n{data[:length]!r}"
    whole = length == len(data) and not broken and reason in GOOD[api]
    assert is_done or not whole or (always and api == "openai-completions"), f"{api} {reason!r}: whole, and not done"
    return is_done


def _word() -> str:
    return "".join(random.choice("abcdefghijklmnopqrstuvwxyz_") for _ in range(random.randrange(1, 20)))


def _answer(api: str, reason: str | None) -> tuple[bytes, bool]:
    """The bytes of an answer, and whether it gives its reason with every piece."""
    pieces = [_word() for _ in range(random.randrange(1, 6))]
    always = random.random() < 0.4
    match api:
        case "openai-completions":
            chunks: list[Any] = [
                {"choices": [{"delta": {"content": piece}, "finish_reason": reason if always else None}]}
                for piece in pieces
            ]
            if not always:
                chunks.append({"choices": [{"delta": {}, "finish_reason": reason}]})
            return chat(*chunks, done=random.random() < 0.5), always
        case "anthropic-messages":
            deltas = ({"type": "text_delta", "text": piece} for piece in pieces)
            end = {"type": "message_delta", "delta": {"stop_reason": reason}}
            return events(MESSAGE, *block(0, {"type": "text", "text": ""}, *deltas), end, STOP), False
        case _:
            said = ({"type": "response.output_text.delta", "output_index": 0, "delta": piece} for piece in pieces)
            status = {"status": reason} if reason is not None else {"status": "incomplete"}
            return events(*said, {"type": "response.completed", "response": status}), False


def _is_over(api: str, reason: str | None, data: bytes, always: bool) -> bool:
    """Whether these bytes say that the answer is complete: a good reason, and the end; or only the end, and no reason."""
    if reason and reason not in GOOD[api]:
        return False
    got = [line.removeprefix(b"data: ") for line in data.split(b"\n") if line.startswith(b"data: ")]
    last = got[-1] if got else b""
    if api == "anthropic-messages":
        return _json(last) == STOP
    if api == "openai-responses":
        return reason is not None and b'"response.completed"' in last and _json(last) is not None
    if last == b"[DONE]":
        return True
    chunk = _json(last) or {}
    # A reason with every piece is none, but for a single piece that could be all there is.
    return bool((chunk.get("choices") or [{}])[0].get("finish_reason")) and (not always or len(got) == 1)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


async def _is_done(api: str, data: bytes, broken: bool) -> bool:
    client = replayed(data, random.choice([0, 1, 7]), broken=broken)
    last: Any = None
    try:
        async for event in client(model_of(api), context_of(), StreamOptions()):
            last = event
    except ProviderError:
        return False
    assert isinstance(last, DoneEvent)
    return last.reason in (StopReason.DONE, StopReason.TOOL_CALLS)
