"""Keys: what a terminal sends for a key, where Textual's own reading of it is wrong or missing.

- Alt+Enter without the kitty protocol is `ESC CR`.
- xterm's modifyOtherKeys (`ESC [ 27 ; modifiers ; code ~`) is rewritten as kitty's (`ESC [ code ; modifiers u`).
- In the kitty protocol releases are ignored, alternates are dropped, and a printable key with no modifier other than
  Shift or a lock types its character.
- A CSI sequence that is complete and unknown is dropped, not typed.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from textual import events
from textual.keys import Keys

from agentcli.tui.painting.clean import typed
from agentcli.tui.terminal.textual_private import SequenceParser

_OTHER_KEYS = re.compile(r"\x1b\[27;(\d+);(\d+)~")
_KITTY = re.compile(r"\x1b\[(\d+)(?::[\d:]*)?(?:;(\d*)(?::(\d+))?(?:;([\d:]*))?)?u")
_EVENT_TYPE = re.compile(r"(\x1b\[\d*;\d+):(\d+)([~A-HPQRS])")
_COMPLETE = re.compile(r"\x1b\[(?![<M])[0-?]*[ -/]*[@-~]|\x1bO[ -~]")
_MODE_REPORT = re.compile(r"\x1b\[\?\d+;\d+\$y")
_BROKEN_MOUSE = re.compile(r"\x1b\[<[^Mm]*[Mm]")
_MOUSE = re.compile(r"\x1b\[<\d+;-?\d+;-?\d+[Mm]")

_RELEASE = "3"
_LOCKS_AND_SHIFT = 1 | 64 | 128


def types_text(event: events.Key) -> bool:
    """Whether a key types its character: also a joiner or a soft hyphen, which Python calls unprintable."""
    return event.is_printable or (event.character is not None and bool(typed(event.character).strip("\n\t")))


class _Key(StrEnum):
    ALT_ENTER = "alt+enter"


class KeyParser(SequenceParser):
    """Textual's parser, with the corrections that the module lists."""

    def sequence_to_keys(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        """Convert a sequence to key events, with the corrections that the module lists."""
        if sequence == "\x1b\r" or (alt and sequence == "\r"):
            yield events.Key(_Key.ALT_ENTER, None)
            return
        if len(sequence) == 1:
            for event in super().sequence_to_keys(sequence, alt):
                yield _without_text(event) if alt else event
            return
        known = _as_kitty(sequence)
        if known is None:
            yield events.Key(Keys.Ignore, sequence)
            return
        found = False
        for event in super().sequence_to_keys(known):
            found = True
            yield _without_text(event) if event.key.startswith(("alt+", "ctrl+", "super+")) else event
        if not found and _means_nothing(sequence):
            yield events.Key(Keys.Ignore, sequence)


def _without_text(event: events.Key) -> events.Key:
    return events.Key(event.key, None)


def _means_nothing(sequence: str) -> bool:
    if _BROKEN_MOUSE.fullmatch(sequence):
        return not _MOUSE.fullmatch(sequence)
    return bool(_COMPLETE.fullmatch(sequence)) and not _MODE_REPORT.fullmatch(sequence)


def _as_kitty(sequence: str) -> str | None:
    """The sequence in the form that Textual reads correctly; None for the release of a key."""
    if match := _OTHER_KEYS.fullmatch(sequence):
        modifiers, code = match.groups()
        sequence = f"\x1b[{code};{modifiers}u"
    if match := _EVENT_TYPE.fullmatch(sequence):
        start, kind, end = match.groups()
        return None if kind == _RELEASE else f"{start}{end}"
    if (match := _KITTY.fullmatch(sequence)) is None:
        return sequence
    code, modifiers, kind, text = match.groups()
    if kind == _RELEASE:
        return None
    bits = int(modifiers or "1") - 1
    if not text and bits | _LOCKS_AND_SHIFT == _LOCKS_AND_SHIFT and chr(min(int(code), 0x10FFFF)).isprintable():
        text = code if not _is_private(int(code)) else text
    return f"\x1b[{code};{modifiers or '1'}{f';{text}' if text else ''}u"


def _is_private(code: int) -> bool:
    """Whether kitty uses the code for a key that has no character."""
    return 0xE000 <= code <= 0xF8FF
