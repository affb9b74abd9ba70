"""From the blocks of a scripted answer to the server-sent events of each wire API, one `bytes` an event."""

from collections.abc import Iterator
from typing import Any

import msgspec

from tests.fake_server.replies import Call, Redacted, Reply, Text, Thinking

Json = dict[str, Any]


def events_of(path: str, reply: Reply, model: str, number: int) -> list[bytes]:
    """The events of an answer.

    Args:
        path: the request's; its end names the wire API.
        number: of the request, for ids.
    """
    if path.endswith("/messages"):
        return list(_messages(reply, model, number))
    if path.endswith("/responses"):
        return list(_responses(reply, model, number))
    return list(_chat(reply, model, number))


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()


def _has_calls(reply: Reply) -> bool:
    return any(isinstance(block, Call) for block in reply.blocks)


def _data(value: Any) -> bytes:
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


def _chat(reply: Reply, model: str, number: int) -> Iterator[bytes]:
    base: Json = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunk(delta: Json, finish: str | None = None) -> bytes:
        return _data(base | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": None})
    calls = 0
    for block in reply.blocks:
        match block:
            case Text():
                for piece in _pieces(block.text, reply.piece):
                    yield chunk({"content": piece})
            case Thinking():
                for piece in _pieces(block.text, reply.piece):
                    yield chunk({"reasoning_content": piece})
            case Call():
                head = {"index": calls, "id": block.id or f"call_{number}_{calls}", "type": "function"}
                yield chunk({"tool_calls": [head | {"function": {"name": block.name, "arguments": ""}}]})
                for piece in _pieces(_arguments(block), reply.piece):
                    yield chunk({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]})
                calls += 1
            case Redacted():
                pass
    yield chunk({}, reply.stop or ("tool_calls" if calls else "stop"))
    if reply.usage:
        read, written = reply.usage
        yield _data(
            base
            | {
                "choices": [],
                "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
            }
        )
    yield b"data: [DONE]\n\n"


def _messages(reply: Reply, model: str, number: int) -> Iterator[bytes]:
    def event(name: str, /, **fields: Any) -> bytes:
        return b"event: " + name.encode() + b"\n" + _data({"type": name} | fields)

    read, written = reply.usage or (0, 0)
    started = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": []}
    usage = {"input_tokens": read, "output_tokens": 1}
    yield event("message_start", message=started | {"stop_reason": None, "stop_sequence": None, "usage": usage})
    for index, block in enumerate(reply.blocks):
        start, deltas = _messages_block(block, reply.piece, model, f"{number}_{index}")
        yield event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    stop = reply.stop or ("tool_use" if _has_calls(reply) else "end_turn")
    yield event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": written})
    yield event("message_stop")


def _messages_block(block: Any, size: int, model: str, mark: str) -> tuple[Json, list[Json]]:
    match block:
        case Text():
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block.text, size)]
            return {"type": "text", "text": ""}, deltas
        case Thinking():
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block.text, size)]
            signature = {"type": "signature_delta", "signature": f"SIG-{model}-{mark}"}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]
        case Redacted():
            return {"type": "redacted_thinking", "data": f"SIG-{model}-{mark}"}, []
        case _:
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(_arguments(block), size)]
            id = block.id or f"toolu_{mark}"
            return {"type": "tool_use", "id": id, "name": block.name, "input": {}}, deltas


def _responses(reply: Reply, model: str, number: int) -> Iterator[bytes]:
    sequence = 0

    def event(name: str, /, **fields: Any) -> bytes:
        nonlocal sequence
        sequence += 1
        return b"event: " + name.encode() + b"\n" + _data({"type": name, "sequence_number": sequence} | fields)

    base: Json = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    yield event("response.created", response=base | {"status": "in_progress"})
    output: list[Json] = []
    for index, block in enumerate(reply.blocks):
        item, deltas = _responses_item(block, reply.piece, model, f"{number}_{index}")
        yield event("response.output_item.added", output_index=index, item=_empty(item))
        for name, fields in deltas:
            yield event(name, output_index=index, item_id=item["id"], **fields)
        yield event("response.output_item.done", output_index=index, item=item)
        output.append(item)
    end: Json = base | {"status": "completed", "output": output}
    if reply.usage:
        read, written = reply.usage
        end["usage"] = {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        }
    if reply.stop:
        end |= {"status": "incomplete", "incomplete_details": {"reason": reply.stop}}
    yield event("response.incomplete" if reply.stop else "response.completed", response=end)


def _responses_item(block: Any, size: int, model: str, mark: str) -> tuple[Json, list[tuple[str, Json]]]:
    """An output item, and the events between its `added` and its `done`."""
    match block:
        case Text():
            part: Json = {"type": "output_text", "text": block.text, "annotations": [], "logprobs": []}
            item: Json = {"type": "message", "id": f"msg_{mark}", "role": "assistant", "status": "completed"}
            at: Json = {"content_index": 0}
            middle = [
                ("response.content_part.added", at | {"part": part | {"text": ""}}),
                *(
                    ("response.output_text.delta", at | {"delta": piece, "logprobs": []})
                    for piece in _pieces(block.text, size)
                ),
                ("response.output_text.done", at | {"text": block.text, "logprobs": []}),
                ("response.content_part.done", at | {"part": part}),
            ]
            return item | {"content": [part]}, middle
        case Thinking() | Redacted():
            text = block.text if isinstance(block, Thinking) else ""
            part = {"type": "summary_text", "text": text}
            item = {"type": "reasoning", "id": f"rs_{mark}", "summary": [part] if text else []}
            at = {"summary_index": 0}
            middle = [
                ("response.reasoning_summary_part.added", at | {"part": part | {"text": ""}}),
                *(("response.reasoning_summary_text.delta", at | {"delta": piece}) for piece in _pieces(text, size)),
                ("response.reasoning_summary_text.done", at | {"text": text}),
                ("response.reasoning_summary_part.done", at | {"part": part}),
            ]
            return item | {"encrypted_content": f"ENC-{model}-{mark}"}, middle if text else []
        case _:
            arguments = _arguments(block)
            item = {"type": "function_call", "id": f"fc_{mark}", "status": "completed", "name": block.name}
            middle = [
                *(("response.function_call_arguments.delta", {"delta": piece}) for piece in _pieces(arguments, size)),
                ("response.function_call_arguments.done", {"arguments": arguments, "name": block.name}),
            ]
            return item | {"call_id": block.id or f"call_{mark}", "arguments": arguments}, middle


def _empty(item: Json) -> Json:
    """The item as it is when it begins."""
    blank = {"content": [], "summary": [], "arguments": "", "encrypted_content": None, "status": "in_progress"}
    return {key: blank.get(key, value) for key, value in item.items()}
