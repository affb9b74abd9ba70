"""Call ids: each tool call of a conversation has an id of its own, whatever the server called it.

Some servers count from zero in every answer, or give several calls of one message the same id, or none. Whoever shows,
stores or answers a call knows it by its id alone.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from agentcli.agent.messages import AgentMessage, AssistantContent, AssistantMessage, ToolCall, ToolResultMessage

LONGEST = 64
"""Characters of an id that is made here: no wire API takes longer ones."""


class CallIds:
    """The ids that are taken in a conversation."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}
        """What was last added to an id to make another one of it."""
        self._read = 0

    def read(self, messages: Sequence[AgentMessage]) -> None:
        """Know the calls of a conversation; of one that has only grown since the last time, what is new."""
        if len(messages) < self._read:
            self._read = 0
        for message in messages[self._read :]:
            if isinstance(message, AssistantMessage):
                self._taken.update(block.id for block in message.content if isinstance(block, ToolCall))
        self._read = len(messages)

    def assign(self, id: str) -> str:
        """The id of a new call: its own, if that is one and nobody has it."""
        own = id if id.strip() else ""
        given = own
        while not given or given in self._taken:
            number = self._numbers[own] = self._numbers.get(own, 1 if own else 0) + 1
            given = f"{own or 'call'}"[: LONGEST - 1 - len(str(number))] + f"_{number}"
        self._taken.add(given)
        return given


def with_ids(message: AssistantMessage, ids: dict[int, str], taken: CallIds) -> AssistantMessage:
    """The message with these ids of its calls, by their place in it; those that are not among them get theirs now."""
    content: list[AssistantContent] = []
    for index, block in enumerate(message.content):
        if isinstance(block, ToolCall):
            if index not in ids:
                ids[index] = taken.assign(block.id)
            block = block if block.id == ids[index] else replace(block, id=ids[index])
        content.append(block)
    changed = any(new is not old for new, old in zip(content, message.content, strict=True))
    return replace(message, content=content) if changed else message


def with_own_ids(messages: list[AgentMessage]) -> list[AgentMessage]:
    """A stored conversation in which each call has an id of its own, and its result the same.

    A result belongs to the newest message with its id, and there to the first call that has none yet.
    """
    answers = [message for message in messages if type(message) is AssistantMessage]
    stored = [block.id for message in answers for block in message.content if type(block) is ToolCall]
    distinct = set(stored)
    if len(distinct) == len(stored) and all(map(str.strip, distinct)):
        return messages  # nearly always, and at every start of a long session
    taken = CallIds()
    waiting: dict[str, list[str]] = {}
    result: list[AgentMessage] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            ids: dict[int, str] = {}
            changed = with_ids(message, ids, taken)
            new: dict[str, list[str]] = {}
            for index, id in ids.items():
                block = message.content[index]
                if isinstance(block, ToolCall):
                    new.setdefault(block.id, []).append(id)
            waiting |= new
            message = changed
        elif isinstance(message, ToolResultMessage) and (ids_left := waiting.get(message.tool_call_id)):
            id = ids_left.pop(0)
            message = message if message.tool_call_id == id else replace(message, tool_call_id=id)
        result.append(message)
    return result
