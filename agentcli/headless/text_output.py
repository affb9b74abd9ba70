"""Text output of a run: the answer on stdout as it streams; what happens meanwhile on stderr, if that is a terminal."""

import sys
import time
from typing import TYPE_CHECKING, TextIO

from agentcli.agent.assistant_events import TextDeltaEvent
from agentcli.agent.events import (
    MessageEndEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnEndEvent,
)
from agentcli.agent.messages import AssistantMessage
from agentcli.agent.text import printable
from agentcli.runtime.events import NoticeEvent, RetryStartEvent

if TYPE_CHECKING:
    from agentcli.headless.tool_lines import ToolLines


class TextOutput:
    """A listener. stdout gets the model's text and nothing else, byte for byte unless it is a terminal."""

    def __init__(self, out: TextIO = sys.stdout, err: TextIO = sys.stderr) -> None:
        self.out = out
        self.err = err
        self._clean = out.isatty()
        self._shows_tools = err.isatty()
        self._lines: ToolLines | None = None
        self._in_line = False
        """Whether the answer's last line has no end yet."""

    def __call__(self, event: object, signal: object) -> None:
        match event:
            case MessageUpdateEvent(assistant_message_event=TextDeltaEvent(delta=delta)):
                self._write(delta)
            case MessageEndEvent(message=AssistantMessage()):
                self.end_line()
            case ToolExecutionStartEvent() | ToolExecutionUpdateEvent() | ToolExecutionEndEvent() if self._shows_tools:
                self._tool_lines().show(event, time.monotonic())
            case TurnEndEvent() if self._lines:
                self._lines.stop()
            case RetryStartEvent():
                waits = f"trying again in {event.delay:g} s ({event.attempt} of {event.max_attempts})"
                self.say(f"{event.error_message}; {waits}")
            case NoticeEvent():
                self.say(event.text)
            case _:
                pass

    def say(self, text: str) -> None:
        """One line on stderr."""
        self.end_line()
        print(f"agentcli: {printable(text)}", file=self.err, flush=True)

    def end_line(self) -> None:
        if self._in_line:
            self.out.write("\n")
            self.out.flush()
            self._in_line = False

    def _write(self, delta: str) -> None:
        text = printable(delta) if self._clean else delta
        if text:
            self.out.write(text)
            self.out.flush()
            self._in_line = not text.endswith("\n")

    def _tool_lines(self) -> "ToolLines":
        if self._lines is None:
            # rich costs 70 ms, and most of it is only paid by those who look on.
            from agentcli.headless.tool_lines import ToolLines

            self._lines = ToolLines(self.err)
        return self._lines
