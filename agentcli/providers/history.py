"""History: a conversation as it stands in a request, kept for the next one, which then writes only what is new.

After a thousand turns that takes 0.03 ms in place of 6 (and 0.7 for the JSON).
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from agentcli.agent.errors import BadRequestError
from agentcli.agent.messages import Message, ToolResultMessage
from agentcli.agent.models import Model
from agentcli.providers.tool_names import CallIds
from agentcli.providers.transform import Transform, Turn

Item = TypeVar("Item")

MAX_HISTORIES = 4
"""Conversations that are remembered at a time: of a session, and of what is asked beside it (summaries)."""


class History(Generic[Item]):
    """The part of a request that the messages make.

    Args:
        ids: what call ids the wire API takes.
        write: adds to the items what stands for one turn, by the turn and the items before it only.
    """

    def __init__(self, model: Model, ids: CallIds, write: Callable[[Turn, list[Item]], None]) -> None:
        self.turns: list[Turn] = []
        self.items: list[Item] = []
        """The messages of the request: not to be changed by who reads them."""
        self._transform = Transform(model, ids)
        self._write = write
        self._messages: list[Message] = []

    def goes_on(self, model: Model, messages: Sequence[Message]) -> bool:
        """Whether these messages begin with those that are written, and change nothing about them."""
        known = len(self._messages)
        if self._transform.model != model or list(messages[:known]) != self._messages:
            return False
        late = self._transform.unanswered
        return not late or not any(
            isinstance(m, ToolResultMessage) and m.tool_call_id in late for m in messages[known:]
        )

    def extend(self, messages: Sequence[Message]) -> None:
        """Write what is new in these messages.

        Raises:
            BadRequestError: nothing is there to send.
        """
        new = messages[len(self._messages) :]
        turns = self._transform.turns_of(new)
        for turn in turns:
            self._write(turn, self.items)
        self.turns += turns
        self._messages += new
        if not self.turns:
            raise BadRequestError("there is nothing to send: the conversation has no text", hint="write a prompt")


class RequestCache:
    """The histories last written, by the session they are of."""

    def __init__(self) -> None:
        self._histories: dict[str, History] = {}

    def written(
        self, session: str, model: Model, messages: Sequence[Message], new: Callable[[], History[Item]]
    ) -> History[Item]:
        """The history of these messages, with what was kept of it. Raises BadRequestError if it is empty."""
        history = self._histories.pop(session, None)
        if history is None or not history.goes_on(model, messages):
            history = new()
        history.extend(messages)
        self._histories[session] = history
        while len(self._histories) > MAX_HISTORIES:
            del self._histories[next(iter(self._histories))]
        return history
