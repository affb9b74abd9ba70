"""The scripted model: it plays a list of answers, with delays and errors. For tests, snapshots and demonstrations.

`--model scripted:PATH` plays a file of JSON lines. Each line is a step; a line with `stop` or `error` ends an answer:

```
{"thinking": "hm"}
{"text": "I look into it.", "chunk": 4, "delay": 0.02}
{"tool": "bash", "arguments": {"command": "ls"}, "id": "call_1"}
{"delay": 0.5}
{"usage": {"input": 1200, "output": 80}}
{"stop": "tool_calls"}
{"error": "overloaded", "text": "try later", "retry_after": 2}
```

`chunk` cuts text into deltas of so many characters, `delay` (seconds) waits before each delta. Each request gets the
next answer; a conversation that goes on in another process goes on in the script too.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent import errors
from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import BadRequestError, ConfigError, ProviderError
from agentcli.agent.messages import AssistantMessage, StopReason, Usage
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.files.reading import read_bytes
from agentcli.providers.http.clients import HttpClients


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of an answer, or its end; delays are in seconds. The module says what each field is for."""

    text: str | None = None
    thinking: str | None = None
    tool: str | None = None
    arguments: dict[str, Any] | str = {}
    """Of the tool; a string is sent as it stands, whether or not it is JSON."""
    id: str | None = None
    usage: Usage | None = None
    chunk: int = 0
    delay: float = 0.0
    stop: StopReason | None = None
    error: str | None = None
    """The `kind` of a `ProviderError`."""
    retry_after: float | None = None


class ScriptedStream:
    """A `StreamFn` that gives each request the next of its answers.

    Args:
        answers: each a list of steps; the stop may be left out.
    """

    def __init__(self, answers: Sequence[Sequence[Step]]) -> None:
        self.answers = answers
        self.requests: list[Context] = []
        """The context of every request so far."""
        self._next = 0

    async def __call__(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        if not self.requests:
            said = sum(isinstance(message, AssistantMessage) for message in context.messages)
            self._next = said if said < len(self.answers) else 0
        self.requests.append(context)
        number, self._next = self._next, self._next + 1
        if number >= len(self.answers):
            raise BadRequestError(f"the script has {len(self.answers)} answers, and this is request {number + 1}")
        partial = PartialMessage(model)
        yield partial.start()
        for step in self.answers[number]:
            async for event in _play(step, partial, number):
                yield event
        if not partial.closed:
            for event in partial.done(StopReason.DONE):
                yield event


async def _play(step: Step, partial: PartialMessage, answer: int) -> AsyncGenerator[AssistantMessageEvent, None]:
    for piece in _pieces(step):
        if step.delay:
            await asyncio.sleep(step.delay)
        if step.thinking is not None:
            events = partial.thinking(piece)
        elif step.tool is not None:
            events = _call(step, partial, answer)
        else:
            events = partial.text(piece) if piece else []
        for event in events:
            yield event
    if step.usage is not None:
        partial.usage = step.usage
    if step.error is not None:
        raise _error(step)
    if step.stop is not None:
        for event in partial.done(step.stop):
            yield event


def _pieces(step: Step) -> Iterable[str]:
    text = "" if step.error is not None else step.text or step.thinking or ""
    if not text or not step.chunk:
        return [text]
    return [text[start : start + step.chunk] for start in range(0, len(text), step.chunk)]


def _call(step: Step, partial: PartialMessage, answer: int) -> list[AssistantMessageEvent]:
    started = partial.toolcall_start(step.id or f"call_{answer}_{len(partial.content)}", step.tool or "")
    return [*started, *partial.toolcall_arguments(started[-1], step.arguments)]


def _error(step: Step) -> ProviderError:
    kinds = {
        kind.kind: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ProviderError)
    }
    return kinds.get(step.error or "", ProviderError)(step.text or "scripted error", retry_after=step.retry_after)


MAX_BYTES = 1 << 30
"""Of a script."""


def read_script(path: Path) -> list[list[Step]]:
    """The answers in a file of JSON lines.

    Raises:
        ConfigError: it cannot be read, or a line is no step.
    """
    try:
        lines = read_bytes(path.expanduser(), MAX_BYTES).splitlines()
    except OSError as error:
        raise ConfigError(f"the script {path} cannot be read: {error.strerror}", hint="give the path of one") from None
    answers: list[list[Step]] = [[]]
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            step = msgspec.json.decode(line, type=Step)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ConfigError(f"{path}:{number}: {error}", hint="each line is one step of an answer") from None
        answers[-1].append(step)
        if step.stop is not None or step.error is not None:
            answers.append([])
    return [answer for answer in answers if answer]


_playing: dict[str, ScriptedStream] = {}


async def stream(
    model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Play the file that is the model's id."""
    if model.id not in _playing:
        _playing[model.id] = ScriptedStream(read_script(Path(model.id)))
    async for event in _playing[model.id](model, context, options):
        yield event
