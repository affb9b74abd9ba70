"""Call repair: tool calls of a session that share an id with an earlier one on their branch, and lines without such."""

from collections.abc import Iterable, Iterator

import msgspec

from agentcli.agent.call_ids import CallIds
from agentcli.agent.messages import AssistantMessage, ToolResultMessage
from agentcli.sessions.entries import Entry, MessageEntry
from agentcli.sessions.storage.storage import SessionStorage


def shared_calls(storage: SessionStorage, entries: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    """The entry and the name of each call that has no id, or one of an earlier call on the same branch."""
    owners: dict[str, list[str]] = {}
    for entry in entries:
        if not (isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage)):
            continue
        above: set[str] | None = None
        for call in entry.message.tool_calls:
            earlier = owners.setdefault(call.id, [])
            if earlier and above is None:
                above = {head.id for head in storage.get_path(entry.id)}
            if not call.id.strip() or (above is not None and not above.isdisjoint(earlier)):
                yield entry.id, call.name
            earlier.append(entry.id)


def with_distinct_calls(storage: SessionStorage, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a session's entries, with another id for each call whose id is taken, and for its result."""
    taken = CallIds()
    given: dict[str, dict[str, list[str]]] = {}
    """By entry: what the ids of its calls have become, in order."""
    originals: dict[str, str] = {}
    """By entry of a result: the id that it had."""
    for line in lines:
        record = msgspec.json.decode(line)
        message = record.get("message")
        before = msgspec.json.encode(record)
        match message:
            case {"role": "assistant", "content": list(content)}:
                changed = given[record["id"]] = {}
                for block in content:
                    if isinstance(block, dict) and block.get("type") == "tool" and isinstance(block.get("id"), str):
                        id = taken.assign(block["id"])
                        changed.setdefault(block["id"], []).append(id)
                        block["id"] = id
            case {"role": "toolResult", "tool_call_id": str(original)}:
                originals[record["id"]] = original
                message["tool_call_id"] = _answered(storage, record["id"], original, given, originals)
            case _:
                pass
        after = msgspec.json.encode(record)
        yield line if after == before else after


def _answered(
    storage: SessionStorage,
    id: str,
    original: str,
    given: dict[str, dict[str, list[str]]],
    originals: dict[str, str],
) -> str:
    """The id of the call that a result answers: of the nearest message above it with its id, and there in order."""
    before = 0
    head = storage.get_head(id)
    while head is not None and head.parent_id is not None:
        head = storage.get_head(head.parent_id)
        if head is None:
            break
        if calls := given.get(head.id, {}).get(original):
            return calls[min(before, len(calls) - 1)]
        before += originals.get(head.id) == original
    return original


def unanswered_calls(entries: Iterable[Entry]) -> list[str]:
    """The names of calls that have no result, in order."""
    waiting: dict[str, list[str]] = {}
    for entry in entries:
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                waiting.setdefault(call.id, []).append(call.name)
        elif isinstance(message, ToolResultMessage) and waiting.get(message.tool_call_id):
            waiting[message.tool_call_id].pop(0)
    return [name for names in waiting.values() for name in names]
