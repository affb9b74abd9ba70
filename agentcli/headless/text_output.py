"""Text output of a run: the answer on stdout as it streams, what happens meanwhile on stderr."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from agentcli.agent.assistant_events import TextDeltaEvent
from agentcli.agent.events import (
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnEndEvent,
)
from agentcli.agent.messages import AssistantMessage
from agentcli.agent.text import PrintableStream, printable
from agentcli.config.masking import mask
from agentcli.runtime.events import CompactionEndEvent, CompactionStartEvent, NoticeEvent, RetryStartEvent

if TYPE_CHECKING:
    from agentcli.headless.stdout_writer import StdoutWriter
    from agentcli.headless.tool_lines import ToolLines


_WHY = {
    "manual": "the conversation is compacted, as asked",
    "threshold": "the conversation comes near the model's window",
    "overflow": "the request was longer than the model's window",
}


class TextOutput:
    """A listener. stdout gets the model's text and nothing else, byte for byte unless it is a terminal.

    Args:
        out: stdout; None if the answer is not to be printed as it streams.
        err: stderr.
    """

    def __init__(self, out: "StdoutWriter | None", err: TextIO) -> None:
        self.out = out
        self.err = err
        self._clean = out is not None and out.isatty()
        self._shows_tools = err.isatty()
        self._lines: ToolLines | None = None
        self._printable = PrintableStream()
        self._in_line = False
        """Whether the answer's last line has no end yet."""
        self._has_shown = False
        """Whether anything of the last answer was printed."""
        self.last_said: str = ""
        """The last line on stderr."""

    def __call__(self, event: object, signal: object) -> None:
        match event:
            case MessageUpdateEvent(assistant_message_event=TextDeltaEvent(delta=delta)) if self.out:
                self._write(delta)
            case MessageStartEvent(message=AssistantMessage()):
                self._has_shown = False
            case MessageEndEvent(message=AssistantMessage()):
                self.end_line()
            case ToolExecutionStartEvent() | ToolExecutionUpdateEvent() | ToolExecutionEndEvent() if self._shows_tools:
                self._tool_lines().show(event, time.monotonic())
            case TurnEndEvent() if self._lines:
                self._lines.stop()
            case RetryStartEvent():
                waits = f"trying again in {event.delay:g} s ({event.attempt} of {event.max_attempts})"
                void = "; what was printed of the answer is void" if self._has_shown else ""
                self.say(f"{event.error_message}; {waits}{void}")
            case CompactionStartEvent() if self._shows_tools:
                self.say(f"{_WHY.get(event.reason, event.reason)}; its older part is being summarised")
            case CompactionEndEvent(error_message=str(problem)):
                self.say(f"the conversation was not summarised: {problem}")
            case CompactionEndEvent(summary=str()) if event.reason != "manual":
                self.say(_summarised(event))
            case NoticeEvent():
                self.say(event.text)
            case _:
                pass

    def say(self, text: str) -> None:
        """One line on stderr."""
        self.end_line()
        self.last_said = text
        with suppress(OSError):  # There is no other place to say it.
            print(f"agentcli: {mask(printable(text))}", file=self.err, flush=True)

    def end_line(self) -> None:
        if self._clean and (held := self._printable.end()):
            self._put(held)
            self._in_line = True
        if self._in_line:
            self._put("\n")
            self._in_line = False

    def _write(self, delta: str) -> None:
        text = self._printable.add(delta) if self._clean else delta
        if text:
            self._put(text)
            self._has_shown = True
            self._in_line = not text.endswith("\n")

    def _put(self, text: str) -> None:
        if self.out is not None:
            self.out.write(text)

    def _tool_lines(self) -> "ToolLines":
        if self._lines is None:
            # rich costs 70 ms, and most of it is only paid by those who look on.
            from agentcli.headless.tool_lines import ToolLines

            self._lines = ToolLines(self.err)
        return self._lines


def _summarised(event: CompactionEndEvent) -> str:
    messages = f"{event.message_count} message{'' if event.message_count == 1 else 's'}"
    tokens = f"about {event.tokens_before:,} tokens are now about {event.tokens_after:,}"
    return f"{_WHY.get(event.reason, event.reason)}: {messages} summarised, {tokens}"
