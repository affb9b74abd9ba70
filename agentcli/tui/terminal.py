"""Terminal: Textual's driver, which also ends when its terminal is gone, and takes pastes whole."""

import codecs
import os
import re
import select
import time
from collections.abc import Iterator

from textual import events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from agentcli.tui.keys import KeyParser

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"
BURST = 64
"""So many characters at once with a line end among them were not typed: a terminal without bracketed paste."""
BURST_GAP_S = 0.05
"""What follows a burst so soon belongs to it."""
_INNER_LINE_END = re.compile(r"[\r\n]+[^\r\n]")


class TerminalGone(Message):
    """Nothing more can be read or written."""


class Terminal(LinuxDriver):
    def run_input_thread(self) -> None:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        reader = Input(KeyParser(self._debug))
        poll = select.poll()
        poll.register(self.fileno, select.POLLIN)
        while not self.exit_event.is_set():
            ready = poll.poll(100)
            if not ready:
                for message in reader.tick():
                    self.process_message(message)
                continue
            try:
                data = os.read(self.fileno, 1 << 16)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                self.send_message(TerminalGone())
                return
            for message in reader.feed(decode(data)):
                self.process_message(message)


class Input:
    """From characters to messages: pastes are cut out before keys are read."""

    def __init__(self, parser: KeyParser) -> None:
        self._parser = parser
        self._paste: list[str] | None = None
        """What has come of a paste that is not over."""
        self._held = ""
        """The start of a marker that is not whole."""
        self._burst_at = -BURST_GAP_S

    def tick(self) -> Iterator[Message]:
        """Nothing came for a while: what was held back is no marker."""
        held = ""
        if self._paste is None:
            held, self._held = self._held, ""
        if held == "\x1b":
            yield events.Key("escape", "\x1b")
        elif held:
            yield from self._parser.feed(held)
        yield from self._parser.tick()

    def feed(self, text: str) -> Iterator[Message]:
        text, self._held = self._held + text, ""
        while text:
            if self._paste is None:
                start = text.find(PASTE_START)
                if start < 0:
                    yield from self._keys(text)
                    return
                yield from self._keys(text[:start])
                text = text[start + len(PASTE_START) :]
                self._paste = []
            end = text.find(PASTE_END)
            if end < 0:
                keep = _overlap(text, PASTE_END)
                self._held = text[len(text) - keep :]
                self._paste.append(text[: len(text) - keep])
                return
            pasted = "".join([*self._paste, text[:end]])
            self._paste = None
            text = text[end + len(PASTE_END) :]
            yield events.Paste(pasted)

    def _keys(self, text: str) -> Iterator[Message]:
        if self._is_burst(text):
            yield events.Paste(text)
            return
        keep = _overlap(text, PASTE_START)
        if keep:
            self._held = text[len(text) - keep :]
            text = text[: len(text) - keep]
        if text:
            yield from self._parser.feed(text)

    def _is_burst(self, text: str) -> bool:
        if "\x1b" in text or len(text) < 2:
            return False
        now = time.monotonic()
        goes_on = now - self._burst_at < BURST_GAP_S
        if not goes_on and (len(text) < BURST or not _INNER_LINE_END.search(text)):
            return False
        self._burst_at = now
        return True


def _overlap(text: str, marker: str) -> int:
    """How many characters at the end of `text` may be the start of `marker`."""
    for size in range(min(len(text), len(marker) - 1), 0, -1):
        if marker.startswith(text[-size:]):
            return size
    return 0
