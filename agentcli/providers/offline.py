"""The offline pilot: with no key and no server, a few plain instructions still work. It is no language model.

It reads one instruction, or several joined by "then", and drives the real tools through the real loop, one call a step:
"what is in FILE", "copy A to B", "run COMMAND", "replace X with Y in FILE", "write TEXT to FILE", "list FOLDER".
"""

import re
import shlex
from collections.abc import AsyncGenerator, Callable
from typing import Any

from msgspec import Struct

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.messages import StopReason, ToolResultMessage, UserMessage, text_of
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.providers.http.clients import HttpClients

HELP = """\
I am agentcli's offline pilot, not a language model. I understand:
- what is in FILE
- list FOLDER
- copy FILE to FILE
- write TEXT to FILE
- replace TEXT with TEXT in FILE
- run COMMAND
- several of these, joined by "then"

Put names and texts with blanks into quotes. For everything else choose a model: `agentcli models` lists them."""

CHUNK = 400
"""Characters a delta."""


class Call(Struct, frozen=True):
    """One step: a tool and its arguments."""

    tool: str
    arguments: dict[str, Any]


async def stream(
    model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """The next step of the last instruction, or the report on its steps."""
    partial = PartialMessage(model)
    yield partial.start()
    step = next_step(context)
    if isinstance(step, Call):
        number = sum(isinstance(message, ToolResultMessage) for message in context.messages) + 1
        started = partial.toolcall_start(f"pilot_{number}", step.tool)
        for event in [*started, *partial.toolcall_arguments(started[-1], step.arguments)]:
            yield event
    else:
        for start in range(0, len(step), CHUNK):
            for event in partial.text(step[start : start + CHUNK]):
                yield event
    for event in partial.done(StopReason.DONE):
        yield event


def next_step(context: Context) -> Call | str:
    """What the pilot does now: call a tool, or say something."""
    instruction, results = _latest(context)
    steps = plan(instruction)
    if steps is None:
        return HELP
    reports: list[str] = []
    look: Call | None = None
    for result in results:
        step, *steps = steps
        if result.is_error and step.tool == "write" and look is None and "read it first" in text_of(result.content):
            look = _read(step.arguments["path"])
            steps = [look, step, *steps]
        elif result.is_error:
            return f"That did not work. {text_of(result.content)}"
        elif step is not look:
            look = None
            reports.append(_report(result))
    if steps:
        if all(tool.name != steps[0].tool for tool in context.tools):
            return f"This needs the tool `{steps[0].tool}`, which is switched off."
        return steps[0]
    return "\n".join(reports)


def _latest(context: Context) -> tuple[str, list[ToolResultMessage]]:
    """The last instruction, and what has come of it so far."""
    results: list[ToolResultMessage] = []
    for message in reversed(context.messages):
        if isinstance(message, UserMessage):
            return text_of(message.content), results[::-1]
        if isinstance(message, ToolResultMessage):
            results.append(message)
    return "", []


def _report(result: ToolResultMessage) -> str:
    return text_of(result.content) or f"{result.tool_name} is done."


def plan(instruction: str) -> list[Call] | None:
    """The steps of an instruction, or None if a part of it is not understood.

    An instruction under other text (piped input, files) is its last paragraph. A "then" that does not part two
    instructions belongs to the text or command around it.
    """
    for text in dict.fromkeys((instruction.strip(), instruction.strip().rpartition("\n\n")[2].strip())):
        parts = [_understand(part) for part in re.split(r"(?:[,;.]?\s+and)?[,;.]?\s+then\s+", text, flags=re.I)]
        steps = [part for part in parts if part is not None]
        if len(steps) == len(parts):
            return steps
        if (whole := _understand(text)) is not None:
            return [whole]
    return None


def _understand(text: str) -> Call | None:
    text = re.sub(r"^(?:please|now|then|and|could you|can you)[, ]+", "", text.strip(), flags=re.I)
    for pattern, make in _RULES:
        if match := pattern.fullmatch(text):
            return make(*(_unquoted(group) for group in match.groups()))
    return None


def _unquoted(text: str) -> str:
    """A name or text without the quotes around it."""
    text = text.strip()
    if len(text) > 1 and text[0] in "\"'`" and text[-1] == text[0]:
        return text[1:-1]
    return text


def _read(path: str) -> Call:
    return Call("read", {"path": path})


def _copy(source: str, target: str) -> Call:
    done = shlex.quote(f"Copied {source} to {target}.")
    return _run(f"cp -- {shlex.quote(source)} {shlex.quote(target)} && echo {done}")


def _replace(old: str, new: str, path: str) -> Call:
    return Call("edit", {"path": path, "edits": [{"old_text": old, "new_text": new}], "replace_all": True})


def _write(content: str, path: str) -> Call:
    ends = not content or content.endswith("\n")
    return Call("write", {"path": path, "content": content if ends else content + "\n"})


def _write_named(path: str, content: str) -> Call:
    return _write(content, path)


def _run(command: str) -> Call:
    return Call("bash", {"command": command})


def _list(folder: str = ".") -> Call:
    return Call("bash", {"command": f"ls -A -- {shlex.quote(folder)}"})


_QUOTED = r"\"[^\"]*\"|'[^']*'|`[^`]*`"
_NAME = rf"({_QUOTED}|[^\s\"'`]*[^\s\"'`.?!,;]|\.\.?)"
_TEXT = rf"({_QUOTED}|.+?)"
_FILE = rf"(?:the\s+)?(?:file\s+)?{_NAME}(?:\s+file)?\s*[.?!]*"
_FOLDER = rf"(?:the\s+)?(?:(?:folder|directory)\s+)?{_NAME}(?:\s+(?:folder|directory))?\s*[.?!]*"


def _rule(pattern: str, make: Callable[..., Call]) -> tuple[re.Pattern[str], Callable[..., Call]]:
    return re.compile(pattern, re.I | re.S), make


_CONTENT = r"(?:the\s+)?(?:contents?|text)\s+(?:of|in)\s+"
_RULES = [
    _rule(rf"(?:replace|substitute)\s+{_TEXT}\s+(?:with|by)\s+{_TEXT}\s+in\s+{_FILE}", _replace),
    _rule(rf"change\s+{_TEXT}\s+(?:in)?to\s+{_TEXT}\s+in\s+{_FILE}", _replace),
    _rule(rf"(?:copy|duplicate)\s+{_FILE}\s+(?:to|into|as)\s+{_FILE}", _copy),
    _rule(rf"(?:run|execute)\s+(?:the\s+command\s+)?({_QUOTED}|.+)", _run),
    _rule(rf"(?:create|make|write)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?{_NAME}\s+with\s+(?:the\s+)?"
          rf"(?:contents?\s+|text\s+)?{_TEXT}", _write_named),
    _rule(rf"(?:write|save|put)\s+(?:the\s+text\s+)?{_TEXT}\s+(?:in)?to\s+{_FILE}", _write),
    _rule(r"(?:list|ls|what\s+is\s+here|what\s+files\s+are\s+(?:there|here))(?:\s+(?:the\s+)?(?:files|folder))?"
          r"(?:\s+here)?\s*[.?!]*", _list),
    _rule(rf"(?:list|ls|what\s+files\s+are\s+in)\s+(?:(?:the\s+)?(?:files|contents?)\s+(?:in|of)\s+)?{_FOLDER}", _list),
    _rule(rf"(?:what(?:\s+is|'s|’s)|show(?:\s+me)?|print|display|read|cat|open)\s+{_CONTENT}{_FILE}", _read),
    _rule(rf"what(?:\s+is|'s|’s)\s+in(?:side)?\s+{_FILE}", _read),
    _rule(rf"(?:show(?:\s+me)?|print|display|read|cat|open)\s+{_FILE}", _read),
]  # fmt: skip
