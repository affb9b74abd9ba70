"""Importing: a session file of another writer, or in an older format, becomes the lines of a new session file.

The source is never changed. Known are version 3 with camelCase names (`parentId`, `toolCall`, `stopReason` …), its
version 2 (a message role had another name) and version 1 (a list without ids, whose compactions refer to the first kept
entry by its number).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent.errors import SessionError
from agentcli.files.reading import FileProblem, open_file
from agentcli.sessions.codec import decode_object, first_record, is_foreign, parts_of
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.ids import new_id, now_iso, to_milliseconds
from agentcli.sessions.storage.jsonl_storage import HEADER_BYTES, storage_error

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
"""Data of tools and extensions, which stays as it is."""


class Import(Struct, frozen=True):
    """A session file in the current format."""

    header: SessionHeader
    lines: list[bytes]
    skipped: int
    """Number of lines that could not be read in full."""


def read_import(path: Path) -> Import:
    """The content of a file in the current format.

    Raises:
        SessionError: `not_found`, `not_a_session`, `storage`.
    """
    hint = "give the path of a session file"
    try:
        with open_file(path) as file:
            line, second = file.readline(HEADER_BYTES), file.readline(HEADER_BYTES)
            first = first_record(line)
            header = decode_object(first)
            if header is None or header.get("type") != "session" or not isinstance(header.get("id"), str):
                raise SessionError("not_a_session", f"{path} is not a session file", hint="it was left as it is")
            foreign = is_foreign(first, second)
            file.seek(line.index(first) + len(first.rstrip(b"\r\n")))
            raw = [line.rstrip(b"\r\n") for line in file]
    except (FileNotFoundError, NotADirectoryError):
        raise SessionError("not_found", f"there is no file {path}", hint=hint) from None
    except FileProblem as error:
        raise SessionError("not_found", f"{path} cannot be read: {error.reason}", hint=hint) from None
    except OSError as error:
        raise storage_error(path, error, "read") from None
    lines: list[bytes] = []
    skipped = 0
    for line in raw:
        if decode_object(line) is not None:
            lines.append(line)
        elif line.strip():
            parts = parts_of(line)
            lines += [line[part.start : part.end] for part in parts if part.is_record]
            skipped += any(not part.is_record for part in parts)
    if not foreign:
        return Import(_header(header, path), lines, skipped)
    records = [record for line in lines if (record := decode_object(line)) is not None]
    translated = _connected([_translate(record) for record in records], header.get("version", 1))
    return Import(_header(_translate(header), path), [msgspec.json.encode(record) for record in translated], skipped)


def _header(record: dict[str, Any], path: Path) -> SessionHeader:
    metadata = record.get("metadata")
    return SessionHeader(
        id=record["id"],
        timestamp=str(record.get("timestamp") or now_iso()),
        cwd=str(record.get("cwd") or ""),
        parent_session=parent if isinstance(parent := record.get("parent_session"), str) else None,
        metadata={**(metadata if isinstance(metadata, dict) else {}), "imported_from": str(path)},
    )


def _connected(records: list[dict[str, Any]], version: object) -> Iterator[dict[str, Any]]:
    """Records with ids and parents: version 1 is a list, in which each entry follows the one before."""
    is_list = not isinstance(version, int) or version < 2
    ids = [record["id"] if isinstance(record.get("id"), str) else new_id() for record in records]
    for number, record in enumerate(records):
        if is_list:
            record["parent_id"] = ids[number - 1] if number else None
        index = record.pop("first_kept_entry_index", None)
        if isinstance(index, int) and "first_kept_entry_id" not in record:
            # The index counts the header as 0.
            record["first_kept_entry_id"] = ids[index - 1] if 1 <= index <= len(ids) else None
        place = {"type": record.pop("type", "unknown"), "id": ids[number], "parent_id": record.pop("parent_id", None)}
        record.pop("id", None)
        timestamp = record.pop("timestamp", None)
        yield {**place, "timestamp": timestamp if isinstance(timestamp, str) else now_iso(), **record}


def _translate(record: dict[str, Any]) -> dict[str, Any]:
    """A header or entry with the current names and values. What has no counterpart stays as it is."""
    entry = _rename(record)
    if isinstance(message := entry.get("message"), dict):
        entry["message"] = _translate_message(message)
    if isinstance(entry.get("details"), dict):
        entry["details"] = {_DETAILS.get(name, name): value for name, value in entry["details"].items()}
    if isinstance(tail := entry.get("retained_tail"), list):
        entry["retained_tail"] = [_translate_message(message) for message in tail if isinstance(message, dict)]
    if isinstance(usage := entry.get("usage"), dict):
        entry["usage"] = _usage(usage)
    if entry.get("type") == "custom_message" and isinstance(content := entry.get("content"), list):
        entry["content"] = _blocks(content)
    return entry


def _translate_message(message: dict[str, Any]) -> dict[str, Any]:
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
