"""Terminal: Textual's driver, which ends with its terminal, keeps pastes whole, and asks for the background."""

import codecs
import os
import re
import select
import time
from collections.abc import Iterable, Iterator

from textual import events
from textual.message import Message

from agentcli.tui.terminal.background import QUERY, BackgroundReported, background_of_answer
from agentcli.tui.terminal.keys import KeyParser
from agentcli.tui.terminal.textual_private import PrivateDriver

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"
KEEP_TITLE, OLD_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""The terminal saves its title, and restores it."""
PASTE_S = 2.0
"""Seconds after its last character when a paste without an end marker ends."""
BURST = 16
"""Characters in one read, with a line end among them, that count as a paste: some terminals do not mark pastes."""
BURST_GAP_S = 0.03
"""Seconds after a burst or a paste within which more input belongs to it: no key is pressed so soon."""
ANSWER_S = 1.0
"""Seconds after which an incomplete answer of the terminal is dropped."""
_INNER_LINE_END = re.compile(r"[\r\n]+[^\r\n]")
_LEAVES_PASTE = re.compile(r"\x03|\x1b\[(?:27(?:;1?(?::1)?)?u|99;(?:5|69|133)(?::1)?u|27;5;99~)")
"""Ctrl+C and Esc as terminals send them, but for the Esc that may be the start of something."""
_OSC = "\x1b]"
_ANSWER = re.compile(r"\x1b\]\d+;[^\x07\x1b]*(?:\x07|\x1b\\)")
_ANSWER_SO_FAR = re.compile(r"\x1b\](?:\d{1,2}(?:;[rgba:/#;\da-fA-F]{0,40}\x1b?)?)?")
"""Of a colour, to tell it from what the user types after Alt+]."""


class TerminalGone(Message):
    """The terminal was closed: nothing more can be read or written."""


class Terminal(PrivateDriver):
    """The driver."""

    def start_application_mode(self) -> None:
        """Set up the terminal, save its title and ask for its background."""
        super().start_application_mode()
        # The Linux console does not know this query. Without a writer the process is in the background.
        if self.input_tty and self.has_writer and os.environ.get("TERM") != "linux":
            self.write(QUERY)
            self.flush()
        if self.has_writer:
            self.write(KEEP_TITLE)

    def stop_application_mode(self) -> None:
        """Restore the title and the terminal."""
        self.write(OLD_TITLE)
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Read input until the app ends or the terminal is closed."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        reader = Input(KeyParser())
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
    """Turns input into messages: pastes and the terminal's answers are cut out before keys are parsed.

    A paste may contain the end marker of a paste. So what comes in one read with a paste, or right after it, is pasted
    too: none of it is a key. A paste without an end marker ends after a while, or with Esc or Ctrl+C.
    """

    def __init__(self, parser: KeyParser) -> None:
        self._parser = parser
        self._paste: list[str] | None = None
        """What has come of a paste that is not over."""
        self._paste_at = 0.0
        """When its last characters came."""
        self._is_end_cut = False
        """Whether an Esc has ended a paste that may have been the first character of its end."""
        self._held = ""
        """The start of a marker or of an answer that is not whole."""
        self._held_at = self._began_at = time.monotonic()
        self._burst_at = -BURST_GAP_S
        """When the last character came that was no key, in a burst or a paste."""
        self._is_rest_pasted = False
        """Whether what the parser or we hold back came in a burst."""

    def tick(self) -> Iterator[Message]:
        """Release what was held back, as nothing came for a while."""
        if self._paste is not None:
            if self._held == "\x1b" or time.monotonic() - self._paste_at >= PASTE_S:
                yield from self._leave_paste()
            return
        held = ""
        if not self._is_answer_to_come():
            held, self._held = self._held, ""
        if self._is_rest_pasted:
            # The beginning of a sequence without an end.
            yield from _as_paste(self._parser.tick())
            self._is_rest_pasted = self._parser.is_within_sequence
            return
        if held == "\x1b":
            yield events.Key("escape", "\x1b")
        elif held and not (held.startswith(_OSC) and ";" in held):
            yield from self._parser.feed(held)
        yield from self._parser.tick()

    def feed(self, text: str) -> Iterator[Message]:
        """Parse text that was read."""
        if self._paste is not None:
            is_alone = not self._held and time.monotonic() - self._paste_at >= BURST_GAP_S
            if is_alone and _LEAVES_PASTE.fullmatch(text):
                yield from self._leave_paste()
                return
            self._paste_at = time.monotonic()
        if self._is_end_cut:
            self._is_end_cut = False
            text = text.removeprefix(PASTE_END[1:])
        yield from self._read(text)
        if self._is_in_burst():
            self._burst_at = time.monotonic()

    def _leave_paste(self) -> Iterator[Message]:
        """End a paste without an end marker. What has come of it is kept."""
        pasted, self._paste = "".join(self._paste or ()), None
        self._is_end_cut, self._held = self._held == "\x1b", ""
        yield events.Paste(pasted)

    def _is_in_burst(self) -> bool:
        return time.monotonic() - self._burst_at < BURST_GAP_S

    def _read(self, text: str) -> Iterator[Message]:
        text, self._held = self._held + text, ""
        while text:
            if self._paste is None:
                start = text.find(PASTE_START)
                if start < 0:
                    yield from self._without_answers(text, is_all=False)
                    return
                yield from self._without_answers(text[:start], is_all=True)
                text = text[start + len(PASTE_START) :]
                self._paste, self._paste_at = [], time.monotonic()
            end = text.find(PASTE_END)
            if end < 0:
                keep = _overlap(text, PASTE_END)
                self._held = text[len(text) - keep :]
                self._paste.append(text[: len(text) - keep])
                return
            pasted = "".join([*self._paste, text[:end]])
            self._paste = None
            text = text[end + len(PASTE_END) :]
            self._burst_at = time.monotonic()
            yield events.Paste(pasted)

    def _is_answer_to_come(self) -> bool:
        if not self._held.startswith(_OSC):
            return False
        now = time.monotonic()
        # Alt+] alone is a key; but at the start, when something was asked, an answer is likelier.
        is_alone = self._held == _OSC and now - self._began_at > ANSWER_S
        return not is_alone and now - self._held_at < ANSWER_S

    def _without_answers(self, text: str, is_all: bool) -> Iterator[Message]:
        """Cut the terminal's answers out of a text.

        Args:
            text: outside of pastes.
            is_all: whether nothing that comes later belongs to it.
        """
        start = text.find(_OSC)
        while start >= 0:
            if match := _ANSWER.match(text, start):
                yield from self._keys(text[:start], is_all=True)
                if (is_light := background_of_answer(match[0])) is not None:
                    yield BackgroundReported(is_light)
                text = text[match.end() :]
                start = text.find(_OSC)
            elif not is_all and _ANSWER_SO_FAR.fullmatch(text, start):
                yield from self._keys(text[:start], is_all=True)
                self._hold(text[start:])
                return
            else:
                start = text.find(_OSC, start + 1)
        yield from self._keys(text, is_all)

    def _hold(self, text: str) -> None:
        self._held, self._held_at = text, time.monotonic()

    def _keys(self, text: str, is_all: bool) -> Iterator[Message]:
        pasted = self._is_burst(text)
        if pasted and "\x1b" not in text and not self._parser.is_within_sequence:
            yield events.Paste(text)
            return
        keep = 0 if is_all else _overlap(text, PASTE_START)
        if keep:
            self._hold(text[len(text) - keep :])
            text = text[: len(text) - keep]
        messages = self._parser.feed(text) if text else ()
        yield from _as_paste(messages) if pasted else messages
        self._is_rest_pasted = pasted

    def _is_burst(self, text: str) -> bool:
        """Whether the text starts a burst, or continues one, or a paste."""
        if not text or self._is_in_burst():
            return bool(text)
        if "\x1b" in text or len(text) < BURST or not _INNER_LINE_END.search(text):
            return False
        self._burst_at = time.monotonic()
        return True


def _as_paste(messages: Iterable[Message]) -> Iterator[Message]:
    """Messages with a paste in place of the keys that type something, and without those that do not."""
    pasted = ""
    for message in messages:
        if isinstance(message, events.Key):
            pasted += "\n" if message.key.endswith("enter") else message.character or ""
            continue
        if pasted:
            yield events.Paste(pasted)
        pasted = ""
        yield message
    if pasted:
        yield events.Paste(pasted)


def _overlap(text: str, marker: str) -> int:
    """How many characters at the end of `text` may be the start of `marker`."""
    for size in range(min(len(text), len(marker) - 1), 0, -1):
        if marker.startswith(text[-size:]):
            return size
    return 0
