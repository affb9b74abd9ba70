"""Replay: `--model replay:PATH` answers from a recorded session as the model did, its tool calls included.

What is played are the assistant messages on the path to the session's leaf, those left out that failed or were
aborted. Which one comes next is told by how many answers the conversation holds, so that a replay goes on where it
stopped, in another process too; it knows nothing of what else was said, and a conversation that was compacted in
between hears earlier answers again.
"""

import asyncio
from collections.abc import AsyncGenerator
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import ProviderError, UsageError
from agentcli.agent.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    UsageCost,
)
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.agent.threads import to_thread
from agentcli.files.reading import read_bytes
from agentcli.providers.http.clients import HttpClients

MAX_BYTES = 1 << 30
"""Of a recording."""

PIECE = 24
"""Characters of one delta: about what a server sends at a time."""


class _Line(Struct, frozen=True):
    """As much of a session's line as a replay needs."""

    type: str = ""
    id: str = ""
    parent_id: str | None = None
    target_id: str | None = None
    """Of a `leaf`: where the conversation moved to."""
    message: msgspec.Raw = msgspec.Raw()


class _Role(Struct, frozen=True):
    role: str = ""


_line_decoder = msgspec.json.Decoder(_Line)
_role_decoder = msgspec.json.Decoder(_Role)
_answer_decoder = msgspec.json.Decoder(AssistantMessage)

_OFF_TREE = ("label", "session_info", "leaf")
"""Types of entries from which nothing goes on."""


async def stream(
    model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Play the next answer of the file that is the model's id.

    Raises:
        UsageError: the file cannot be read, or is no session.
        ProviderError: the recording is over, or an answer in it cannot be read.
    """
    path = Path(model.id).expanduser()
    answers = await to_thread(read_answers, path)
    number = sum(_counts(message) for message in context.messages)
    if number >= len(answers):
        raise ProviderError(
            f"the recording {path} is over: it has {len(answers)} answers, and this is request {number + 1}",
            hint="choose another model to go on",
        )
    answer = answers[number]
    partial = PartialMessage(model)
    yield partial.start()
    for block in answer.content:
        for event in _played(block, partial):
            yield event
            await asyncio.sleep(0)
    # The tokens say how full the context is. They cost nothing this time.
    partial.usage = msgspec.structs.replace(answer.usage, cost=UsageCost())
    for event in partial.done(answer.stop_reason or StopReason.DONE):
        yield event


def read_answers(path: Path) -> list[AssistantMessage]:
    """The answers of a recorded session, in the order in which they were given. Raises as `stream` does."""
    try:
        status = path.stat()
        return _read_answers(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise UsageError(
            f"the recording {path} cannot be read: {error.strerror}", hint="give the path of a session file"
        ) from None


@lru_cache(maxsize=2)
def _read_answers(path: Path, mtime_ns: int, size: int) -> list[AssistantMessage]:
    # Read once for all requests of a run; the file's time and size tell when it has to be read again.
    first, *rest = read_bytes(path, MAX_BYTES).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    header = _decoded(first)
    if header is None or header.type != "session":
        raise UsageError(f"{path} is no recorded session", hint="its first line must be a header of type `session`")
    numbered = [(number, line) for number, raw in enumerate(rest, 2) if (line := _decoded(raw))]
    answers = [_answer(path, number, line) for number, line in _active_path(numbered)]
    return [answer for answer in answers if answer is not None and _counts(answer)]


def _decoded(line: bytes) -> _Line | None:
    """None for what is no entry: an empty line, a torn last one."""
    try:
        return _line_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None


def _active_path(numbered: list[tuple[int, _Line]]) -> list[tuple[int, _Line]]:
    """The entries from the root to the leaf."""
    entries: dict[str, tuple[int, _Line]] = {}
    leaf: str | None = None
    for number, line in numbered:
        if line.type == "leaf":
            leaf = line.target_id
        elif line.type not in _OFF_TREE:
            entries.setdefault(line.id, (number, line))
            leaf = line.id
    path: list[tuple[int, _Line]] = []
    while leaf in entries:
        # Taken out, so that a file whose entries go round in a circle has an end.
        entry = entries.pop(leaf)
        path.append(entry)
        leaf = entry[1].parent_id
    return path[::-1]


def _answer(path: Path, number: int, line: _Line) -> AssistantMessage | None:
    if line.type != "message":
        return None
    try:
        if _role_decoder.decode(line.message).role != "assistant":
            return None
        return _answer_decoder.decode(line.message)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProviderError(f"{path}:{number}: {error}", hint="the recording is damaged there") from None


def _counts(message: Message) -> bool:
    """Whether a message is an answer that was given, so that the next one is the next in the recording."""
    failed = (StopReason.ERROR, StopReason.ABORTED)
    return isinstance(message, AssistantMessage) and message.stop_reason not in failed


def _played(block: AssistantContent, partial: PartialMessage) -> list[AssistantMessageEvent]:
    match block:
        case ThinkingContent(redacted=True):
            return partial.redacted_thinking(block.signature or "")
        case ThinkingContent():
            events = partial.thinking_start()
            for piece in _pieces(block.thinking):
                events += partial.thinking(piece)
        case TextContent():
            events = [event for piece in _pieces(block.text) or [""] for event in partial.text(piece)]
        case ToolCall():
            events = partial.toolcall_start(block.id, block.name)
            start = events[-1]
            raw = block.partial_json if block.partial_json is not None else block.arguments
            if block.signature is not None:
                partial.sign(block.signature)
            return [*events, *partial.toolcall_arguments(start, raw)]
    if block.signature is not None:
        partial.sign(block.signature)
    return [*events, *partial.end_blocks()]


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
