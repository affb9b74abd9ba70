"""Formats: how sessions of other and older writers look, and what they become here.

Known are version 3 with camelCase names (`parentId`, `toolCall`, `stopReason` …), its version 2 (a message role had
another name) and version 1 (a list without ids, whose compactions name the first kept entry by its number).
"""

from typing import Any

import msgspec

from agentcli.sessions.ids import to_milliseconds

_ROLES = {"hookMessage": "custom", "custom_message": "custom"}
_STOP_REASONS = {
    "stop": "done",
    "toolUse": "tool_calls",
    "length": "length",
    "error": "error",
    "aborted": "aborted",
    "refusal": "error",
    "deferred": "done",
}
_BLOCKS = {"toolCall": "tool", "tool_call": "tool", "tool_use": "tool"}
_NAMES = {
    "parentId": "parent_id",
    "parentSession": "parent_session",
    "thinkingLevel": "thinking_level",
    "modelId": "model_id",
    "activeToolNames": "active_tool_names",
    "firstKeptEntryId": "first_kept_entry_id",
    "firstKeptEntryIndex": "first_kept_entry_index",
    "tokensBefore": "tokens_before",
    "retainedTail": "retained_tail",
    "fromHook": "from_hook",
    "fromId": "from_id",
    "targetId": "target_id",
    "customType": "custom_type",
    "toolCallId": "tool_call_id",
    "toolName": "tool_name",
    "isError": "is_error",
    "stopReason": "stop_reason",
    "errorMessage": "error_message",
    "mimeType": "mime_type",
    "textSignature": "signature",
    "thinkingSignature": "signature",
    "thoughtSignature": "signature",
    "exitCode": "exit_code",
    "fullOutputPath": "full_output_path",
    "excludeFromContext": "exclude_from_context",
    "cacheRead": "cache_read",
    "cacheWrite": "cache_write",
    "totalTokens": "total_tokens",
    "addedToolNames": "added_tool_names",
}
_DETAILS = {"readFiles": "read_files", "modifiedFiles": "modified_files"}
_OPAQUE = frozenset({"arguments", "data", "metadata"})
"""What is somebody's own data and stays as it is."""


def is_foreign(first: bytes, second: bytes) -> bool:
    """Whether a file that begins with these two lines is a session in another format than today's."""
    header, entry = _record(first), _record(second)
    if header is None or header.get("type") != "session" or not isinstance(header.get("id"), str):
        return False
    if not isinstance(header.get("version", 1), int) or header.get("version", 1) < 3:
        return True
    if "parentSession" in header:
        return True
    return entry is not None and "parentId" in entry and "parent_id" not in entry


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def translate(record: dict[str, Any]) -> dict[str, Any]:
    """A header or entry with today's names and words. What has no counterpart stays as it is."""
    entry = _rename(record)
    if isinstance(message := entry.get("message"), dict):
        entry["message"] = translate_message(message)
    if isinstance(entry.get("details"), dict):
        entry["details"] = {_DETAILS.get(name, name): value for name, value in entry["details"].items()}
    if isinstance(tail := entry.get("retained_tail"), list):
        entry["retained_tail"] = [translate_message(message) for message in tail if isinstance(message, dict)]
    if isinstance(usage := entry.get("usage"), dict):
        entry["usage"] = _usage(usage)
    if entry.get("type") == "custom_message" and isinstance(content := entry.get("content"), list):
        entry["content"] = _blocks(content)
    return entry


def translate_message(message: dict[str, Any]) -> dict[str, Any]:
    message = _rename(message)
    role = message["role"] = _ROLES.get(str(message.get("role")), message.get("role"))
    content = message.get("content")
    if isinstance(content, str) and role in ("user", "assistant", "toolResult"):
        content = [{"type": "text", "text": content}]
    if isinstance(content, list):
        message["content"] = _blocks(content)
    if isinstance(usage := message.get("usage"), dict):
        message["usage"] = _usage(usage)
    if isinstance(moment := message.get("timestamp"), float | str):
        message["timestamp"] = int(moment) if isinstance(moment, float) else to_milliseconds(moment)
    if (reason := message.get("stop_reason")) is not None:
        message["stop_reason"] = _STOP_REASONS.get(str(reason), "done" if role == "assistant" else reason)
    return message


def _rename(record: dict[str, Any]) -> dict[str, Any]:
    return {_NAMES.get(name, name): value for name, value in record.items()}


def _blocks(content: list[Any]) -> list[Any]:
    blocks: list[Any] = []
    for block in content:
        if isinstance(block, str):
            block = {"type": "text", "text": block}
        if isinstance(block, dict):
            kept = {name: value for name, value in block.items() if name in _OPAQUE}
            block = {**_rename(block), **kept}
            block["type"] = _BLOCKS.get(str(block.get("type")), block.get("type"))
        blocks.append(block)
    return blocks


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    usage = {name: value for name, value in _rename(usage).items() if value is not None}
    if isinstance(cost := usage.get("cost"), dict):
        usage["cost"] = {name: value for name, value in _rename(cost).items() if value is not None}
    elif "cost" in usage:
        del usage["cost"]
    return usage
