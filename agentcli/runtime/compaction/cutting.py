"""Cutting: what is sent in place of messages that do not fit into the window. Each says how much was left out.

What the model has seen makes room for what it has not, up to half of the window; then results share the room that is
left. What a person said is cut last, and not before the server has refused it: the window may be larger than is known.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.convert import convert_message
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    TextContent,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from agentcli.runtime.compaction.window import Window
from agentcli.sessions.compaction.plan import first_unseen
from agentcli.sessions.compaction.text import fair_share, shorten
from agentcli.sessions.compaction.token_estimate import CHARACTERS_PER_TOKEN, IMAGE_CHARACTERS, estimate_tokens

IMAGE_LEFT_OUT = TextContent("(image left out: it did not fit into the model's window)")
_RESULTS = (ToolResultMessage, BashExecutionMessage, CustomMessage)


class _Kind(Struct, frozen=True):
    """Messages that are cut before those of the next kind are."""

    messages: list[AgentMessage]
    least: int
    """Tokens that each keeps."""
    is_seen: bool


def shorter_messages(messages: Sequence[AgentMessage], window: Window) -> Iterator[tuple[AgentMessage, AgentMessage]]:
    """Messages and what is sent in their place."""
    total = window.tokens(messages)
    place = first_unseen(messages)
    beyond_half = max(window.estimate(messages[place:]) - window.room // 2, 0)
    for kind in _kinds(messages[:place], messages[place:], window):
        # What was seen makes room for some turns: it is cut once, and not a little before every request.
        most = window.limit * 3 // 4 + beyond_half if kind.is_seen else window.room
        need = (total - most) / window.ratio
        if need <= 0:
            continue
        sizes = [estimate_tokens(window.shown(message)) for message in kind.messages]
        share = max(fair_share(sizes, sum(sizes) - int(need) - 1), kind.least)
        for message, size in zip(kind.messages, sizes, strict=True):
            if size > share and (gain := size - estimate_tokens(made := shortened(message, share))) > 0:
                total -= round(gain * window.ratio)
                yield message, made


def _kinds(seen: Sequence[AgentMessage], unseen: Sequence[AgentMessage], window: Window) -> Iterator[_Kind]:
    """What may be cut, in this order."""
    yield _Kind([message for message in seen if isinstance(message, _RESULTS)], 100, True)
    yield _Kind(
        [message for message in seen if isinstance(message, UserMessage | BranchSummaryMessage)],
        max(400, int(window.limit / window.ratio) // 8),  # what is much shorter stays whole
        True,
    )
    yield _Kind([message for message in unseen if isinstance(message, _RESULTS)], 60, False)
    if window.was_refused:
        said: list[AgentMessage] = [
            message for message in unseen if isinstance(message, UserMessage | BranchSummaryMessage)
        ]
        yield _Kind(said, 100, False)
    yield _Kind([message for message in (*seen, *unseen) if isinstance(message, CompactionSummaryMessage)], 400, False)


def shortened(message: AgentMessage, tokens: int) -> AgentMessage:
    """The message as the model reads it, with about so many tokens."""
    read = convert_message(message)
    if read is None or isinstance(read, AssistantMessage):
        return message
    what = "result" if isinstance(message, _RESULTS) else "message"
    why = f"the {what} did not fit into the model's window; ask for a part"
    room = tokens * CHARACTERS_PER_TOKEN
    texts = [_size(block.text) for block in read.content if isinstance(block, TextContent)]
    images = min(len(read.content) - len(texts), max(room - min(sum(texts), room // 2), 0) // IMAGE_CHARACTERS)
    share = fair_share(texts, room - images * IMAGE_CHARACTERS)
    content: list[UserContent] = []
    for block in read.content:
        if isinstance(block, TextContent):
            # Of what takes more bytes than characters, fewer characters have their place.
            most = share * len(block.text) // max(_size(block.text), 1)
            content.append(TextContent(shorten(block.text, most, why), block.signature))
        elif images > 0:
            images -= 1
            content.append(block)
        else:
            content.append(IMAGE_LEFT_OUT)
    return replace(read, content=content)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
