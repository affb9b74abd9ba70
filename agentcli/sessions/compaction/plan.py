"""Compaction plan: where to cut the conversation, and what to summarise.

A cut keeps about the last `keep_recent` tokens. It never separates a tool call from its result, and never removes what
the model has not answered yet. If it falls inside a turn, the beginning of that turn is summarised separately
(`turn_prefix`), and the prompt is kept nevertheless.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    StopReason,
    ToolResultMessage,
    UserMessage,
)
from agentcli.sessions.compaction.files import FileLists, files_of
from agentcli.sessions.compaction.token_estimate import estimate_all
from agentcli.sessions.entries import BranchSummaryEntry, CompactionEntry, Entry


class CompactionPlan(Struct, frozen=True):
    """What a compaction summarises and keeps."""

    history: list[AgentMessage]
    """To be summarised: whole turns."""
    turn_prefix: list[AgentMessage]
    """To be summarised separately: the beginning of a turn whose end is kept, or that continues."""
    first_kept_entry_id: str | None
    """None keeps nothing."""
    previous_summary: str | None
    files: FileLists
    """The files that were read and changed in what is summarised now, or was summarised before."""
    kept_prompt_id: str | None = None
    """The newest prompt, if it is in `turn_prefix` but stays in the context."""
    tokens: int = 0
    """Estimated size of what leaves the context."""

    @property
    def message_count(self) -> int:
        """How many messages leave the context."""
        return len(self.history) + len(self.turn_prefix) - (self.kept_prompt_id is not None)


class _Item(Struct):
    """What one entry adds to the context; or one message of a retained tail, which has no entry."""

    entry_id: str | None
    messages: list[AgentMessage]
    tokens: int
    can_cut: bool = False


def plan_compaction(
    path: Sequence[Entry],
    *,
    keep_recent: int,
    most_kept: int,
    keep_prompt: bool = True,
    shown: Callable[[AgentMessage], AgentMessage] = lambda message: message,
) -> CompactionPlan:
    """Plan a compaction at the end of a path.

    Args:
        path: the entries of the context, as `get_path_to_root_or_compaction` returns them, or the whole path.
        keep_recent: tokens to keep, approximately.
        most_kept: tokens. If a cut that separates no call from its result keeps more, only unanswered ones stay.
        keep_prompt: whether the newest prompt stays in the context; not if another one follows.
        shown: gives the message that the model is sent instead of one; its size counts.

    Raises:
        SessionError: `already_compacted`, `nothing_to_compact`.
    """
    previous = next((entry for entry in reversed(path) if isinstance(entry, CompactionEntry)), None)
    items = _items(path, previous, shown)
    if previous is not None and not any(item.messages for item in items[_older(items, path, previous) :]):
        raise SessionError("already_compacted", "nothing was said since the last compaction")
    _mark_cuts(items)
    cut = _find_cut(items, keep_recent, most_kept)
    prompt = _kept_prompt(items, cut) if keep_prompt else None
    leaving = [item for item in items[:cut] if item is not prompt]
    if prompt is not None and not any(item.messages for item in leaving) and _is_over(items):
        prompt, leaving = None, items[:cut]
    if not any(item.messages for item in leaving):
        raise SessionError("nothing_to_compact", "there is nothing to compact: the conversation is still short")
    begin = _turn_start(items, cut)
    return CompactionPlan(
        history=_messages(items[:begin]),
        turn_prefix=_messages(items[begin:cut]),
        first_kept_entry_id=items[cut].entry_id if cut < len(items) else None,
        previous_summary=previous.summary if previous is not None else None,
        files=files_of(_messages(items[:cut]), [previous.details if previous else None, *_details(path)]),
        kept_prompt_id=prompt.entry_id if prompt is not None else None,
        tokens=sum(item.tokens for item in leaving),
    )


def is_answer(message: AgentMessage) -> bool:
    """Whether a message shows that the model has seen what came before it."""
    if not isinstance(message, AssistantMessage) or message.stop_reason in (StopReason.ERROR, StopReason.ABORTED):
        return False
    return bool(message.content) or message.stop_reason != StopReason.LENGTH


def first_unseen(messages: Sequence[AgentMessage]) -> int:
    """The index of the first message that the model has not answered yet; the number of messages if there is none."""
    return next((place + 1 for place in reversed(range(len(messages))) if is_answer(messages[place])), 0)


def _items(
    path: Sequence[Entry], previous: CompactionEntry | None, shown: Callable[[AgentMessage], AgentMessage]
) -> list[_Item]:
    """The items of the context after the summary of the previous compaction, oldest first."""
    start = place = 0
    items: list[_Item] = []
    if previous is not None:
        place = next(index for index, entry in enumerate(path) if entry.id == previous.id)
        kept = previous.first_kept_entry_id
        start = next((index for index in range(place) if path[index].id == kept), place + 1)
        if previous.retained_tail is not None:
            start = place + 1
            items = [_Item(None, [message], estimate_all([shown(message)])) for message in previous.retained_tail]
    for entry in [*_prompt_kept_by(previous, path[:start]), *path[start:]]:
        if not isinstance(entry, CompactionEntry):
            messages = entry.to_messages()
            items.append(_Item(entry.id, messages, estimate_all(map(shown, messages))))
    return items


def _prompt_kept_by(previous: CompactionEntry | None, path: Sequence[Entry]) -> list[Entry]:
    wanted = previous.kept_prompt_id if previous is not None else None
    return [entry for entry in path if entry.id == wanted] if wanted is not None else []


def _older(items: list[_Item], path: Sequence[Entry], previous: CompactionEntry) -> int:
    """How many items are older than the previous compaction."""
    newer = 0
    for entry in reversed(path):
        if entry.id == previous.id:
            break
        newer += 1
    return len(items) - newer


def _mark_cuts(items: list[_Item]) -> None:
    """Allow a cut before an item that is no tool result, if no result after it answers a call before it."""
    calls = {call.id for item in items for message in item.messages for call in _calls(message)}
    open_results: set[str] = set()
    for item in reversed(items):
        for message in reversed(item.messages):
            if isinstance(message, ToolResultMessage) and message.tool_call_id in calls:
                open_results.add(message.tool_call_id)
            open_results.difference_update(call.id for call in _calls(message))
        is_result = any(isinstance(message, ToolResultMessage) for message in item.messages)
        item.can_cut = bool(item.messages) and item.entry_id is not None and not is_result and not open_results


def _find_cut(items: list[_Item], keep_recent: int, most_kept: int) -> int:
    cut = _wanted_cut(items, keep_recent, most_kept)
    unseen = _first_unseen_item(items)
    if cut > unseen:
        cut = next((place for place in reversed(range(min(unseen + 1, len(items)))) if items[place].can_cut), 0)
    # Entries without messages right before the kept part (a change of model, an extension's data) belong to it.
    while 0 < cut < len(items) and not items[cut - 1].messages and items[cut - 1].entry_id is not None:
        cut -= 1
    return cut


def _wanted_cut(items: list[_Item], keep_recent: int, most_kept: int) -> int:
    kept = 0
    for index in reversed(range(len(items))):
        kept += items[index].tokens
        if kept >= keep_recent:
            break
    else:
        return 0
    # One large message at the very beginning must not keep everything: something has to leave.
    first = next((place for place, item in enumerate(items) if item.messages), 0)
    cut = next((later for later in range(max(index, first + 1), len(items)) if items[later].can_cut), None)
    if cut is None:
        cut = next((earlier for earlier in reversed(range(len(items))) if items[earlier].can_cut), None)
        if cut is None or sum(item.tokens for item in items[cut:]) > most_kept:
            return len(items)
    return cut


def _first_unseen_item(items: list[_Item]) -> int:
    answer = next((place for place in reversed(range(len(items))) if any(map(is_answer, items[place].messages))), -1)
    return next((place for place in range(answer + 1, len(items)) if items[place].messages), len(items))


def _is_over(items: list[_Item]) -> bool:
    """Whether the last turn has its final answer."""
    last = next((item.messages[-1] for item in reversed(items) if item.messages), None)
    return isinstance(last, AssistantMessage) and is_answer(last) and not last.tool_calls


def _kept_prompt(items: list[_Item], cut: int) -> _Item | None:
    """The newest prompt, if it is before the cut and its answers are after it."""
    if not any(isinstance(message, AssistantMessage) for message in _messages(items[cut:])):
        return None
    for index in reversed(range(len(items))):
        if any(isinstance(message, UserMessage) for message in items[index].messages):
            return items[index] if index < cut and items[index].entry_id is not None else None
    return None


def _turn_start(items: list[_Item], cut: int) -> int:
    """The start of the turn that the cut falls into; `cut` itself if it falls between two turns."""
    following = _messages(items[cut:])
    if following and not isinstance(following[0], AssistantMessage | ToolResultMessage):
        return cut
    before = _messages(items[:cut])
    if not following and isinstance(before[-1], AssistantMessage) and not before[-1].tool_calls:
        return cut
    for index in reversed(range(cut)):
        if any(not isinstance(message, AssistantMessage | ToolResultMessage) for message in items[index].messages):
            return index
    return cut


def _messages(items: Sequence[_Item]) -> list[AgentMessage]:
    return [message for item in items for message in item.messages]


def _details(path: Sequence[Entry]) -> list[object]:
    return [entry.details for entry in path if isinstance(entry, CompactionEntry | BranchSummaryEntry)]


def _calls(message: AgentMessage) -> list:
    return message.tool_calls if isinstance(message, AssistantMessage) else []
