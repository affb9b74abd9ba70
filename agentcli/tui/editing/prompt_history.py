"""PromptHistory: prompts sent in a directory, across sessions, one JSON string a line in a private file.

The file is read when the user looks back for the first time, and written in a thread. Several processes may add to it.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agentcli.agent.errors import AgentcliError
from agentcli.config.masking import mask
from agentcli.config.private_file import locked, write_private
from agentcli.files.reading import OPEN_FLAGS, open_file, require_regular
from agentcli.tui.editing.pastes import without_marks
from agentcli.tui.painting.clean import typed

MAX_ENTRIES = 1_000
MAX_BYTES = 4 << 20
"""Of the file. Half of it is kept when it has become larger."""
MAX_ENTRY = 256 << 10
"""Characters. A longer one is kept in memory only."""


class PromptHistory:
    """The history of a directory.

    Args:
        path: the file, which need not exist; None keeps everything in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.entries: list[str] = []
        """Oldest first, without two alike in a row. Complete after `load`."""
        self.problem = ""
        """A problem with the file, as one line; empty without one."""
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        """Size and time of the file as it was read."""
        self._unwritten: list[str] = []
        self._memory_only: list[str] = []
        """Prompts that are too long for the file, or could not be written."""

    def add(self, text: str) -> None:
        """Add a prompt: at once to `entries`, to the file by `save`. Known keys are masked."""
        text = mask(text)
        if not text.strip() or (self.entries and self.entries[-1] == text):
            return
        self.entries.append(text)
        (self._unwritten if len(text) <= MAX_ENTRY else self._memory_only).append(text)

    def save(self) -> None:
        """Write what was added. Blocks; a failure becomes the `problem`, and the text stays in memory."""
        if self.path is None:
            return
        with self._lock:
            unwritten, self._unwritten = self._unwritten, []
            if not unwritten:
                return
            try:
                with locked(self.path):
                    _append(self.path, unwritten)
                    if self.path.stat().st_size > MAX_BYTES:
                        _shorten(self.path)
            except (OSError, AgentcliError) as error:
                self.problem = _said(self.path, "written", error)
                self._memory_only += unwritten

    def load(self) -> None:
        """Read entries of the file that are not known yet. Blocks, but costs one `stat` if it is unchanged."""
        if self.path is None:
            return
        self.save()
        with self._lock:
            try:
                status = self.path.stat()
                if (seen := (status.st_size, status.st_mtime_ns)) == self._seen:
                    return
                texts, damaged = _read(self.path)
            except FileNotFoundError:
                return
            except OSError as error:
                self.problem = _said(self.path, "read", error)
                return
            self._seen = seen
        if damaged:
            self.problem = f"{damaged} lines of {self.path} cannot be read and are left out"
        self.entries = _kept([*texts, *self._memory_only])

    def follow(self, earlier: "PromptHistory") -> None:
        """Add what another history has kept in memory."""
        for text in earlier.entries:
            self.add(text)


class HistoryWalk:
    """Going back and forth between entries and the draft. Changes on the way are kept.

    Args:
        entries: oldest first.
        draft: what comes after them.
    """

    def __init__(self, entries: Sequence[str], draft: str) -> None:
        self._entries = list(entries)
        self._changed = {len(self._entries): draft}
        self._place = len(self._entries)

    @property
    def draft(self) -> str | None:
        """The draft from before the walk; None while that is what is shown."""
        return None if self._place == len(self._entries) else self._changed[len(self._entries)]

    def step(self, by: int, present: str) -> str | None:
        """The text `by` entries further; None if there is none.

        Args:
            by: number of entries, negative for earlier ones.
            present: the shown text as it is now.
        """
        place = self._place + by
        if not 0 <= place <= len(self._entries):
            return None
        self._changed[self._place] = present
        self._place = place
        return self._changed[place] if place in self._changed else self._entries[place]

    def to(self, text: str, present: str) -> None:
        """Go to the latest entry that is this text.

        Args:
            text: the entry.
            present: the shown text as it is now.
        """
        for place in range(len(self._entries) - 1, -1, -1):
            if self._entries[place] == text:
                self._changed[self._place] = present
                self._place = place
                return


def _append(path: Path, texts: list[str]) -> None:
    data = b"".join(msgspec.json.encode(text) + b"\n" for text in texts)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | OPEN_FLAGS, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        require_regular(path, os.fstat(descriptor))
        end = file.seek(0, os.SEEK_END)
        if end and os.pread(descriptor, 1, end - 1) != b"\n":
            # Another process's line is incomplete; ours begins on a new one.
            data = b"\n" + data
        file.write(data)


def _shorten(path: Path) -> None:
    texts, _ = _read(path)
    lines: list[bytes] = []
    size = 0
    for text in reversed(texts):
        line = msgspec.json.encode(text) + b"\n"
        size += len(line)
        if size > MAX_BYTES // 2:
            break
        lines.append(line)
    write_private(path, b"".join(reversed(lines)))


def _read(path: Path) -> tuple[list[str], int]:
    """The latest entries of a file, and how many of its lines are damaged."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(size - 2 * MAX_BYTES, 0))
        lines = file.read(2 * MAX_BYTES).split(b"\n")
    if size > 2 * MAX_BYTES:
        del lines[0]
    texts: list[str] = []
    damaged = 0
    for line in lines[-2 * MAX_ENTRIES :]:
        try:
            texts += [without_marks(typed(msgspec.json.decode(line, type=str)))] if line else []
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            damaged += 1
    return _kept(texts), damaged


def _kept(texts: list[str]) -> list[str]:
    distinct = [text for number, text in enumerate(texts) if number == 0 or text != texts[number - 1]]
    return distinct[-MAX_ENTRIES:]


def _said(path: Path, done: str, error: OSError | AgentcliError) -> str:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"the history {path} cannot be {done}: {reason}"
