"""Text output of a run: the answer on stdout as it streams; what happens meanwhile on stderr, if that is a terminal."""

import time
from collections.abc import Callable
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
from agentcli.agent.text import printable
from agentcli.config.masking import hold_back, mask
from agentcli.runtime.events import CompactionEndEvent, CompactionStartEvent, NoticeEvent, RetryStartEvent

if TYPE_CHECKING:
    from agentcli.headless.tool_lines import ToolLines


class TextOutput:
    """A listener. stdout gets the model's text and nothing else, byte for byte unless it is a terminal.

    Args:
        out: stdout.
        err: stderr.
        on_broken: called once when stdout takes no more (a closed pipe, a full disk).
    """

    def __init__(self, out: TextIO, err: TextIO, on_broken: Callable[[], None]) -> None:
        self.out = out
        self.err = err
        self.broken: OSError | ValueError | None = None
        """Why stdout takes no more."""
        self._on_broken = on_broken
        self._clean = out.isatty()
        self._shows_tools = err.isatty()
        self._lines: ToolLines | None = None
        self._held = ""
        """The end of what has streamed, while it may be the beginning of a key."""
        self._in_line = False
        """Whether the answer's last line has no end yet."""
        self._has_shown = False
        """Whether anything of the last answer was printed."""

    def __call__(self, event: object, signal: object) -> None:
        match event:
            case MessageUpdateEvent(assistant_message_event=TextDeltaEvent(delta=delta)):
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
            case CompactionStartEvent():
                self.say("the conversation comes near the model's window; its older part is being summarised")
            case CompactionEndEvent(error_message=str(problem)):
                self.say(f"the conversation was not summarised: {problem}")
            case NoticeEvent():
                self.say(event.text)
            case _:
                pass

    def say(self, text: str) -> None:
        """One line on stderr."""
        self.end_line()
        print(f"agentcli: {mask(printable(text))}", file=self.err, flush=True)

    def end_line(self) -> None:
        if self._held:
            held, self._held = self._held, ""
            self._put(printable(held) if self._clean else held)
            self._in_line = True
        if self._in_line:
            self._put("\n")
            self._in_line = False

    def _write(self, delta: str) -> None:
        text = mask(self._held + delta)
        shown = len(text) - hold_back(text)
        text, self._held = text[:shown], text[shown:]
        if self._clean:
            text = printable(text)
        if text:
            self._put(text)
            self._has_shown = True
            self._in_line = not text.endswith("\n")

    def _put(self, text: str) -> None:
        if self.broken:
            return
        try:
            self.out.write(text)
            self.out.flush()
        except (OSError, ValueError) as error:  # ValueError: somebody has closed it
            self.broken = error
            self._on_broken()

    def _tool_lines(self) -> "ToolLines":
        if self._lines is None:
            # rich costs 70 ms, and most of it is only paid by those who look on.
            from agentcli.headless.tool_lines import ToolLines

            self._lines = ToolLines(self.err)
        return self._lines
