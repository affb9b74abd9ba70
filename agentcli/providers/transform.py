"""transform: the history as one model may read it, whoever made it.

What a wire API then writes down is always well formed: no failed answers; every call with its one result, right after
the message that made it; no blank text and no empty message; no thinking of another model; no image for a model that
cannot see. What is made of a message depends on nothing after it but its results: a longer history begins with the same
bytes, so that the server's cache holds.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from agentcli.agent.messages import (
    AssistantContent,
    AssistantMessage,
    ImageContent,
    Message,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from agentcli.agent.models import Model
from agentcli.providers.tool_names import CallIds, wire_name

NO_RESULT_TEXT = "No result provided: the call was interrupted; effects may remain."
NO_OUTPUT_TEXT = "(no output)"
IMAGE_OMITTED_TEXT = "(image omitted: this model cannot read images)"


class UserTurn(Struct, frozen=True):
    content: list[UserContent]
    """Never empty, no blank text."""


class AssistantTurn(Struct, frozen=True):
    content: list[AssistantContent]
    """Never empty, and never thinking alone. Calls have their wire ids and names."""
    native: bool
    """Whether this model itself made the message, so that its signatures hold."""


class ToolResult(Struct, frozen=True):
    call_id: str
    name: str
    text: str
    """Never blank."""
    images: list[ImageContent]
    is_error: bool


class ResultsTurn(Struct, frozen=True):
    """The results of the calls of the `AssistantTurn` before, in the order of the calls."""

    results: list[ToolResult]


Turn = UserTurn | AssistantTurn | ResultsTurn


class Transform:
    """Turns messages into turns, in one go or in several, as a conversation grows.

    Args:
        ids: what call ids the wire API takes; it remembers those it has given.
    """

    def __init__(self, model: Model, ids: CallIds) -> None:
        self.model = model
        self.unanswered: set[str] = set()
        """Ids of calls that had no result yet: one that comes later changes what was made of them."""
        self._ids = ids
        self._sees = "image" in model.input

    def turns_of(self, messages: Sequence[Message]) -> list[Turn]:
        """The next messages as turns. A call and its result have to come in one go."""
        results = self._match_results(messages)
        turns: list[Turn] = []
        for place, message in enumerate(messages):
            match message:
                case UserMessage():
                    if content := _user_content(message.content, self._sees):
                        turns.append(UserTurn(content))
                case AssistantMessage() if not _failed(message):
                    turns += self._assistant_turns(message, results.get(place, {}))
                case _:
                    pass
        return turns

    def _match_results(self, messages: Sequence[Message]) -> dict[int, dict[int, ToolResultMessage]]:
        """By the place of the message and of the block in it: the result of each call, the first that comes after it.

        Ids may come again, in one message or a later one (some servers count from zero each time): a result belongs to
        the newest message with its id, and there to the first call that has none yet.
        """
        results: dict[int, dict[int, ToolResultMessage]] = {}
        waiting: dict[str, list[tuple[int, int]]] = {}
        for place, message in enumerate(messages):
            match message:
                case AssistantMessage():
                    new: dict[str, list[tuple[int, int]]] = {}
                    for index, block in enumerate(message.content):
                        if isinstance(block, ToolCall):
                            new.setdefault(block.id, []).append((place, index))
                    waiting.update(new)
                case ToolResultMessage() if calls := waiting.get(message.tool_call_id):
                    owner, index = calls.pop(0)
                    results.setdefault(owner, {})[index] = message
                case _:
                    pass
        self.unanswered.update(id for id, calls in waiting.items() if calls)
        return results

    def _assistant_turns(self, message: AssistantMessage, results: dict[int, ToolResultMessage]) -> list[Turn]:
        model = self.model
        kin = (message.api, message.provider) == (model.api, model.provider)
        native = kin and message.model == model.id
        content: list[AssistantContent] = []
        answers: list[ToolResult] = []
        speaks = False
        for index, block in enumerate(message.content):
            match block:
                case TextContent():
                    if block.text.strip():
                        content.append(block if native else TextContent(block.text))
                        speaks = True
                case ThinkingContent():
                    if native:
                        content.append(block)
                case ToolCall():
                    id, name = self._ids.assign(block.id, kin=kin), wire_name(block.name)
                    signature = block.signature if native else None
                    content.append(ToolCall(id, name, block.arguments, signature=signature))
                    answers.append(_result(id, name, results.get(index), self._sees))
                    speaks = True
        if not speaks:
            return []
        turn = AssistantTurn(content, native)
        return [turn, ResultsTurn(answers)] if answers else [turn]


def _failed(message: AssistantMessage) -> bool:
    return message.stop_reason in (StopReason.ERROR, StopReason.ABORTED)


def _result(id: str, name: str, message: ToolResultMessage | None, sees: bool) -> ToolResult:
    if message is None:
        return ToolResult(id, name, NO_RESULT_TEXT, [], True)
    content = _user_content(message.content, sees)
    text = "\n".join(block.text for block in content if isinstance(block, TextContent))
    images = [block for block in content if isinstance(block, ImageContent)]
    return ToolResult(id, name, text or ("(see the image)" if images else NO_OUTPUT_TEXT), images, message.is_error)


def _user_content(content: Iterable[UserContent], sees: bool) -> list[UserContent]:
    """Without blank text; images as they are, or as one placeholder for each run of them."""
    kept: list[UserContent] = []
    omitted = TextContent(IMAGE_OMITTED_TEXT)
    for block in content:
        if isinstance(block, TextContent):
            if block.text.strip():
                kept.append(block)
        elif sees:
            kept.append(block)
        elif not kept or kept[-1] is not omitted:
            kept.append(omitted)
    return kept
