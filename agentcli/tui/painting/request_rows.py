"""Rows of a permission request: what would run, why it is asked, and the keys that answer it.

Commands are shown as they are, with invisible characters written out (`\\x1b`), not removed as elsewhere, as the shell
would get them. A text that does not fit is cut in the middle: both ends matter.
"""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.commands.keymap import Keymap, shown_key
from agentcli.tui.items.changes import edits_of, marked
from agentcli.tui.painting.rows import Row, Run, row, wrapped

if TYPE_CHECKING:
    from agentcli.runtime.events import PermissionRequestEvent

END_CHARS = 4_000
"""Characters of each end of a text that are laid out."""
WAITING = "stop typing for a second, then:"
_WORDS = {
    "allow_once": ("allow once", "once"),
    "allow_session": ("this session", "session"),
    "allow_always": ("always", "always"),
    "deny": ("deny", "no"),
    "deny_reason": ("deny, say why", "reason"),
}
"""The effect of each action, and a shorter form for small terminals."""
_ADD_RULES = ("allow_session", "allow_always")


class Stage(StrEnum):
    """The state of the prompt."""

    QUIET = "quiet"
    """Keys are not answers yet: the user is typing."""
    READY = "ready"
    REASON = "reason"
    """It writes the reason for a denial."""


def request_rows(
    request: "PermissionRequestEvent",
    more: int,
    stage: Stage,
    *,
    draft: bool,
    width: int,
    height: int,
    palette: Palette,
    keymap: Keymap = Keymap(),
) -> list[Row]:
    """The rows of a permission request."""
    keys = _key_rows(request, stage, draft, width, palette, keymap)
    short = (_short_keys(request, stage, width, keymap), palette[Tone.WARNING])
    if height < 2:
        letters = (f"{_short_keys(request, stage, 0, keymap)} ", palette[Tone.WARNING])
        return [row([letters, _about(request, palette)], width)]
    if height < len(keys) + 2:
        keys = [row([short], width)]
    after = f"  ({more} more after this)" if more else ""
    head = row([("? ", palette[Tone.WARNING]), _question(request, palette), (after, palette[Tone.DIM])], width)
    body = _framed(_body(request, palette), width, palette)
    why = _framed([[_why(request, palette)]], width, palette)
    left = height - 1 - len(keys)
    # The command matters more than the reason for asking.
    body = [*body, *why] if len(body) + len(why) <= left else _both_ends(body, left, width, palette)
    return [head, *body, *keys]


def visible(text: str) -> str:
    """`text` with control and invisible characters written out."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in "\n\t" else character.encode("unicode_escape").decode()
        for character in text
    )


def _question(request: "PermissionRequestEvent", palette: Palette) -> Run:
    return f"Allow {visible(request.tool_name)}? ", palette[Tone.STRONG]


def _about(request: "PermissionRequestEvent", palette: Palette) -> Run:
    return visible(request.about), palette[Tone.TEXT]


def _body(request: "PermissionRequestEvent", palette: Palette) -> list[list[Run]]:
    """What would run, a list of runs a line or more."""
    arguments = request.arguments
    about = [_about(request, palette)]
    match request.tool_name:
        case "bash":
            return [[(_bounded(visible(str(arguments.get("command", "")))), palette[Tone.TEXT])]]
        case "write":
            return [about, *_changes("+", str(arguments.get("content", "")), palette)]
        case "edit":
            changes = [(_changes("-", old, palette), _changes("+", new, palette)) for old, new in edits_of(arguments)]
            return [about, *(line for old, new in changes for line in (*old, *new))]
        case "read" | "grep" | "find" | "ls":
            return [about]
        case _:
            dim = palette[Tone.DIM]
            return [about, *([(f"{visible(name)}: {_value(value)}", dim)] for name, value in arguments.items())]


def _why(request: "PermissionRequestEvent", palette: Palette) -> Run:
    command = str(request.arguments.get("command", request.about)) if request.tool_name == "bash" else request.about
    part = f"{visible(request.about)}: " if request.about.strip() != command.strip() else ""
    return f"asked because {part}{visible(request.because)}", palette[Tone.QUOTE]


def _framed(lines: Sequence[list[Run]], width: int, palette: Palette) -> list[Row]:
    gutter = [("  │ ", palette[Tone.DIM])]
    framed: list[Row] = []
    for runs in lines:
        framed += wrapped(runs, width, first=gutter, rest=gutter, keep_spaces=True)
    return framed


def _changes(mark: str, text: str, palette: Palette) -> list[list[Run]]:
    """A text as lines that come or go."""
    whole = visible(text.replace("\r\n", "\n"))
    return [[(line, palette[tone])] for line, tone in marked(mark, _bounded(whole))]


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _bounded(visible(text))


def _bounded(text: str) -> str:
    if len(text) <= 2 * END_CHARS:
        return text
    hidden = len(text) - 2 * END_CHARS
    return f"{text[:END_CHARS]}\n… {hidden:,} characters not shown …\n{text[-END_CHARS:]}"


def _both_ends(body: list[Row], height: int, width: int, palette: Palette) -> list[Row]:
    """At most `height` rows of the body: its start and its end, and between them how many are not shown."""
    if len(body) <= height:
        return body
    if height <= 0:
        return []
    if height < 3:
        return body[:height]
    first = height // 2
    last = height - first - 1
    note = (f"  … {len(body) - first - last:,} rows not shown …", palette[Tone.QUOTE])
    return [*body[:first], row([note], width), *body[-last:]]


def _key_rows(
    request: "PermissionRequestEvent", stage: Stage, draft: bool, width: int, palette: Palette, keymap: Keymap
) -> list[Row]:
    """The keys and what they do, and the rules that two of them would add."""
    if stage is Stage.REASON:
        return [row([("Write why; the model is told.", palette[Tone.WARNING])], width)]
    ready = stage is Stage.READY
    key, word = (palette[Tone.STRONG], palette[Tone.TEXT]) if ready else (palette[Tone.DIM], palette[Tone.DIM])
    names = [
        ("/".join(shown_key(key) for key in keymap.keys(action) if not (draft and key == "enter")), words[0])
        for action, words in _WORDS.items()
        if request.suggested_rules or action not in _ADD_RULES
    ]
    rows = wrapped([(WAITING, palette[Tone.WARNING])], width) if not ready else []
    line: list[Run] = []
    used = 0
    for name, does in names:
        cells = len(name) + len(does) + 4
        if line and used + cells - 3 > width:
            rows.append(row(line, width))
            line, used = [], 0
        line += [(name, key), (f" {does}   ", word)]
        used += cells
    rows.append(row(line, width))
    if request.suggested_rules:
        rules = ", ".join(visible(rule) for rule in request.suggested_rules)
        adding = " and ".join(keymap.shown(action) for action in _ADD_RULES)
        rows += wrapped([(f"{adding} add: allow {_bounded(rules)}", palette[Tone.DIM])], width)
    return rows


def _short_keys(request: "PermissionRequestEvent", stage: Stage, width: int, keymap: Keymap) -> str:
    """The keys in few words, or without words if there is no room for them."""
    match stage:
        case Stage.QUIET:
            return WAITING if width >= len(WAITING) else "…"
        case Stage.REASON:
            return "why?"
        case Stage.READY:
            keys = {
                keymap.shown(action): words[1]
                for action, words in _WORDS.items()
                if request.suggested_rules or action not in _ADD_RULES
            }
            words = "  ".join(f"{key} {does}" for key, does in keys.items())
            return words if len(words) <= width else f"{''.join(keys)}?"
