"""AnswerSchema: the answer of a run must be JSON that fits a schema; what does not fit goes back to the model."""

import re
from pathlib import Path
from typing import Any

import msgspec

from agentcli.agent.errors import UsageError
from agentcli.agent.events import MessageEndEvent
from agentcli.agent.messages import AssistantMessage, StopReason, text_of
from agentcli.files.reading import read_bytes
from agentcli.headless.json_schema import JsonSchema
from agentcli.runtime.runtime import Runtime

MOST_CORRECTIONS = 3
"""So often what does not fit goes back to the model."""

MAX_BYTES = 4 << 20
"""Of the file with the schema."""

_MOST_MISFITS = 20
"""So many of an answer's misfits the model is told at once."""

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.S | re.I)

_TASK = """
# The form of the answer

A program reads your last message, the one without tool calls. It must be one JSON value that fits the JSON Schema
below: nothing before it, nothing after it, no code fence.

"""

_CORRECTION = """\
Your answer does not fit the JSON Schema that it has to fit:

{problems}

Answer again, with the whole JSON value and nothing else."""


class OutputSchema:
    """Args:
    path: a file with a JSON Schema.

    Raises:
        UsageError: it cannot be read, or is no schema that could be checked.
    """

    def __init__(self, path: Path) -> None:
        self.json: str | None = None
        """The last answer, as the model wrote it, if it fits."""
        self.data: Any = None
        """Its value."""
        self.problem: str = "the model gave no answer that could be checked against the schema"
        """Why there is no answer; of no meaning if there is one."""
        self._schema = _read(path)
        self._corrections = 0
        self._runtime: Runtime | None = None

    def attach(self, runtime: Runtime) -> None:
        """Tell the model what is wanted, and look at its answers. The session gets only what is said of misfits."""
        self._runtime = runtime
        schema = msgspec.json.format(msgspec.json.encode(self._schema.schema)).decode()
        runtime.agent.state.system_prompt += _TASK + schema + "\n"
        runtime.subscribe(self._listen)

    def _listen(self, event: object, signal: object) -> None:
        match event:
            case MessageEndEvent(message=AssistantMessage(stop_reason=StopReason.DONE) as message):
                self._check(text_of(message.content))
            case MessageEndEvent(message=AssistantMessage()):
                self.json = None
            case _:
                pass

    def _check(self, answer: str) -> None:
        self.json = None
        text = answer.strip()
        if fenced := _FENCED.fullmatch(text):
            text = fenced[1].strip()
        problems = self._problems(text)
        if not problems:
            self.json = text
            return
        self.problem = f"the answer does not fit the schema: {problems[0]}"
        if self._corrections < MOST_CORRECTIONS and self._runtime is not None:
            self._corrections += 1
            listed = "\n".join(f"- {problem}" for problem in problems[:_MOST_MISFITS])
            self._runtime.steer(_CORRECTION.format(problems=listed))

    def _problems(self, text: str) -> list[str]:
        try:
            self.data = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            return [f"it is no JSON: {error}"]
        except RecursionError:
            return ["it is nested too deep"]
        return self._schema.validation_errors(self.data)


def _read(path: Path) -> JsonSchema:
    hint = "give another file with --schema"
    try:
        data = read_bytes(path.expanduser(), MAX_BYTES)
    except OSError as error:
        raise UsageError(f"the schema {path} cannot be read: {error.strerror}", hint=hint) from None
    try:
        return JsonSchema(msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf")))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the schema {path} is no JSON: {error}", hint=hint) from None
    except UsageError as error:
        raise UsageError(f"the schema {path}: {error.message}", hint=error.hint or hint) from None
