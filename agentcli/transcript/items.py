"""The items of a transcript. They hold what is shown, and nothing about how: each frontend maps them to its own output.

Only `TranscriptModel` changes items; it notifies its listeners of each change.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, cast

from msgspec import Struct

from agentcli.agent.messages import BashExecutionMessage
from agentcli.agent.tool_calls import ABORTED_TEXT


class _Item:
    position = -1
    """The index among the items of the transcript, set when it is added. It never changes."""


class UserItem(_Item):
    """A prompt of the user.

    Args:
        text: of the prompt.
        images: how many came with it.
    """

    def __init__(self, text: str, images: int = 0) -> None:
        self.text = text
        self.images = images


class _GrowingText(_Item):
    """Args:
    text: what is known so far; the whole text unless `append` follows.
    """

    def __init__(self, text: str = "") -> None:
        self._pieces = [text]
        self.is_growing = False
        """Whether it streams: more may follow."""

    @property
    def text(self) -> str:
        """The text so far. It is joined only here, so that `append` costs the same at any length."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def append(self, delta: str) -> None:
        """Add a delta."""
        self._pieces.append(delta)
        self.is_growing = True

    def finish(self) -> None:
        """Note that the text is complete."""
        self.is_growing = False


class TextItem(_GrowingText):
    """A text block of the model: Markdown."""


class ThinkingItem(_GrowingText):
    """A block of the model's thinking.

    Args:
        text: see `TextItem`.
        redacted: whether the provider withholds the text.
    """

    def __init__(self, text: str = "", redacted: bool = False) -> None:
        super().__init__(text)
        self.redacted = redacted


class CallState(StrEnum):
    """How far a call is."""

    WRITING = "writing"
    """The model writes its arguments."""
    WAITING = "waiting"
    """Its arguments are complete."""
    ASKING = "asking"
    """The user is asked for permission."""
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Aborted by the user."""


class ToolItem(_Item):
    """A tool call and its result.

    Args:
        name: of the tool.
        arguments: of the call, as far as they are known.
        id: of the call, unique among those that have no result yet.
    """

    def __init__(self, name: str, arguments: Mapping[str, Any] | None = None, id: str = "") -> None:
        self.id = id
        self.name = name
        self.arguments: Mapping[str, Any] = arguments or {}
        self.state = CallState.WRITING
        self.text = ""
        """The output, live while the call runs, then as the model reads it."""
        self.details: Any = None
        """The result's details: a Struct while the tool runs, plain data once they were stored. See `detail`."""
        self.written = 0
        """Characters of the arguments received so far."""
        self.started: float | None = None
        """On the monotonic clock, in seconds; None if the call was not seen running."""
        self.seconds: float | None = None
        """The duration, in whole seconds while it runs; None if it is not known."""

    @property
    def is_over(self) -> bool:
        """Whether the call has ended."""
        return self.state in (CallState.DONE, CallState.FAILED, CallState.CANCELLED)

    @property
    def diff(self) -> str:
        """The numbered diff of a changed file; empty if there is none."""
        diff = detail(self.details, "diff")
        return diff if isinstance(diff, str) else ""

    def write(self, delta: str) -> None:
        """Count a delta of the arguments."""
        self.written += len(delta)

    def set_arguments(self, arguments: Mapping[str, Any]) -> None:
        """Set the arguments, which are complete."""
        self.arguments = arguments
        if self.state is CallState.WRITING:
            self.state = CallState.WAITING

    def ask(self, is_open: bool) -> None:
        """Note that the user is asked for permission, or has answered."""
        if not self.is_over:
            self.state = CallState.ASKING if is_open else CallState.RUNNING

    def start(self, now: float) -> None:
        """Note that the call runs. `now` is of the monotonic clock, in seconds."""
        self.state = CallState.RUNNING
        self.started = now

    def tick(self, now: float) -> None:
        """Update the running time, in whole seconds."""
        if self.started is not None and not self.is_over:
            self.seconds = float(int(now - self.started))

    def update(self, text: str, details: Any) -> None:
        """Set the live output."""
        if not self.is_over:
            self.text, self.details = text, details

    def finish(self, text: str, details: Any, is_error: bool, now: float | None = None) -> None:
        """Set the result.

        Args:
            text: the result as the model reads it.
            details: the result's details.
            is_error: whether the call failed.
            now: of the clock that `start` had; None if the call was not seen running.
        """
        is_aborted = is_error and (bool(detail(details, "aborted")) or text == ABORTED_TEXT)
        self.state = CallState.CANCELLED if is_aborted else CallState.FAILED if is_error else CallState.DONE
        self.text, self.details = text, details
        if self.started is not None and now is not None:
            self.seconds = now - self.started
        elif isinstance(milliseconds := detail(details, "duration_ms"), int):
            self.seconds = milliseconds / 1000


class CommandItem(ToolItem):
    """A shell command that the user runs.

    Args:
        command: of the shell.
        exclude_from_context: whether the model does not read it.
    """

    def __init__(self, command: str, exclude_from_context: bool) -> None:
        super().__init__("bash")
        self.exclude_from_context = exclude_from_context
        self.set_arguments({"command": command})

    def finish_with(self, message: BashExecutionMessage, now: float | None = None) -> None:
        """Set the result.

        Args:
            message: the result.
            now: see `finish`.
        """
        text = message.output.rstrip("\n")
        if message.truncated and message.full_output_path:
            text += f"\n[all of it is in {message.full_output_path}]"
        details = {"exit_code": message.exit_code, "aborted": message.cancelled}
        self.finish(text, details, message.cancelled or bool(message.exit_code), now)


class NoticeKind(StrEnum):
    """What a notice is about."""

    INFO = "info"
    ERROR = "error"


class NoticeLine(Struct, frozen=True):
    """One notice, or several that are the same."""

    text: str
    hint: str
    """What to do about it; may be empty."""
    subject: str = ""
    """What it is about, if a later one takes its place: the model, the session's name."""
    times: int = 1


class NoticeItem(_Item):
    """A notice from agentcli itself, or several that follow each other.

    Args:
        text: of the notice.
        kind: what it is about.
        hint: what to do about it.
        subject: see `NoticeLine`.
    """

    def __init__(self, text: str, kind: NoticeKind = NoticeKind.INFO, hint: str = "", *, subject: str = "") -> None:
        self.kind = kind
        self.lines = [NoticeLine(text, hint, subject)]

    @property
    def text(self) -> str:
        """The last notice."""
        return self.lines[-1].text

    def merge(self, other: "NoticeItem") -> bool:
        """Take the lines of another notice in, if that is possible."""
        if other.kind is not self.kind:
            return False
        for new in other.lines:
            last = self.lines[-1]
            if (new.text, new.hint) == (last.text, last.hint):
                self.lines[-1] = NoticeLine(new.text, new.hint, new.subject, last.times + new.times)
                continue
            if self.kind is NoticeKind.ERROR:
                return False
            self.lines = [line for line in self.lines if not new.subject or line.subject != new.subject]
            self.lines.append(new)
        return True


class RetryItem(_Item):
    """A request that failed and is made again.

    Args:
        error_message: how it failed.
        attempt: 1 is the first retry.
        max_attempts: after so many the run fails.
        left: seconds until the retry.
    """

    def __init__(self, error_message: str, attempt: int, max_attempts: int, left: float) -> None:
        self.error_message = error_message
        self.attempt = attempt
        self.max_attempts = max_attempts
        self.left: float | None = left
        """Seconds until the retry, as of the last tick; None once it was made."""


class SummaryItem(_Item):
    """A summary in place of a part of the conversation.

    Args:
        title: what was summarised.
        text: the summary, Markdown.
    """

    def __init__(self, title: str, text: str) -> None:
        self.title = title
        self.text = text


class CompactionItem(SummaryItem):
    """The summary of the conversation so far.

    Args:
        text: the summary, Markdown.
        tokens_before: of the context; 0 if not known.
        tokens_after: of the context, an estimate; 0 if not known.
        reason: as the events of a compaction name it.
        message_count: how many messages were summarised; 0 if not known.
    """

    def __init__(
        self, text: str, tokens_before: int = 0, tokens_after: int = 0, reason: str = "", message_count: int = 0
    ) -> None:
        after = f" → {tokens_after:,}" if tokens_after else ""
        tokens = f" ({tokens_before:,}{after} tokens)" if tokens_before else ""
        known = [f"{message_count} message{'' if message_count == 1 else 's'}"] if message_count else []
        known += [_WHY[reason]] if reason in _WHY else []
        more = f": {', '.join(known)}" if known else ""
        super().__init__(f"the conversation before this was summarised{tokens}{more}", text)
        self.tokens_before = tokens_before


_WHY = {
    "manual": "as asked",
    "threshold": "it came near the window",
    "overflow": "it was longer than the window",
}


class BranchSummaryItem(SummaryItem):
    """The summary of another branch.

    Args:
        text: the summary, Markdown.
    """

    def __init__(self, text: str) -> None:
        super().__init__("another branch of this conversation, summarised", text)


Item = UserItem | TextItem | ThinkingItem | ToolItem | NoticeItem | RetryItem | SummaryItem
"""What a transcript consists of. `CommandItem` is a `ToolItem`, the two kinds of summaries are `SummaryItem`s."""


def detail(details: Any, name: str) -> Any:
    """A field of a result's details, which are a Struct while the tool runs and a dict once they were stored."""
    if isinstance(details, Mapping):
        return cast("Mapping[str, Any]", details).get(name)
    return getattr(details, name, None)
