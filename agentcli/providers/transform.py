"""transform: the history as one model may read it, whoever made it.

What a wire API then writes down is always well formed: no failed answers; every call with its one result, right after
the message that made it; no blank text and no empty message; no thinking of another model; no image for a model that
cannot see. One pass, and what is made of a message depends on nothing after it but its results: a longer history
begins with the same bytes, so that the server's cache holds.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from agentcli.agent.errors import BadRequestError
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


def turns_of(model: Model, messages: Sequence[Message], ids: CallIds) -> list[Turn]:
    """The history for a model.

    Args:
        ids: what call ids the wire API takes; a fresh one for each request.

    Returns:
        At least one turn.

    Raises:
        BadRequestError: nothing is left to send.
    """
    results = _match_results(messages)
    sees = "image" in model.input
    turns: list[Turn] = []
    for place, message in enumerate(messages):
        match message:
            case UserMessage():
                if content := _user_content(message.content, sees):
                    turns.append(UserTurn(content))
            case AssistantMessage() if not _failed(message):
                turns += _assistant_turns(model, message, results.get(place, {}), ids, sees)
            case _:
                pass
    if not turns:
        raise BadRequestError("there is nothing to send: the conversation has no text", hint="write a prompt")
    return turns


def _failed(message: AssistantMessage) -> bool:
    return message.stop_reason in (StopReason.ERROR, StopReason.ABORTED)


def _match_results(messages: Sequence[Message]) -> dict[int, dict[int, ToolResultMessage]]:
    """By the place of the message and of the block in it: the result of each call. A call takes the first one after it.

    Ids may come again, in one message or a later one (some servers count from zero each time): a result belongs to the
    newest message with its id, and there to the first call that has none yet.
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
    return results


def _assistant_turns(
    model: Model, message: AssistantMessage, results: dict[int, ToolResultMessage], ids: CallIds, sees: bool
) -> list[Turn]:
    native = (message.api, message.provider, message.model) == (model.api, model.provider, model.id)
    kin = (message.api, message.provider) == (model.api, model.provider)
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
                id, name = ids.assign(block.id, kin=kin), wire_name(block.name)
                signature = block.signature if native else None
                content.append(ToolCall(id, name, block.arguments, signature=signature))
                answers.append(_result(id, name, results.get(index), sees))
                speaks = True
    if not speaks:
        return []
    turn = AssistantTurn(content, native)
    return [turn, ResultsTurn(answers)] if answers else [turn]


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
