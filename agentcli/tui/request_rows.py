"""Rows of a permission request: what would run, why it is asked, and the keys that answer it.

What would run is shown as it is, but for characters that nobody would see: those are written out (`\\x1b`), not left
out as elsewhere, for the shell would get them. What does not fit is left out in the middle: both ends matter.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from agentcli.tui.items.call_text import Call, argument_lines
from agentcli.tui.palette import Palette, Tone
from agentcli.tui.rows import Row, Run, row, wrapped

if TYPE_CHECKING:
    from agentcli.runtime.events import PermissionRequestEvent

END_CHARS = 4_000
"""So much of each end of a text is laid out."""
WAITING = "stop typing for a second, then:"
_SHORT_KEYS = "ysanr"
"""The keys alone, for terminals that have no room for words."""


def request_rows(
    request: "PermissionRequestEvent", more: int, *, ready: bool, draft: bool, width: int, height: int, palette: Palette
) -> list[Row]:
    """At least one row and at most `height`.

    Args:
        more: how many requests come after this one.
        ready: whether a key would be taken for an answer.
        draft: whether Enter belongs to a draft.
    """
    after = f"  ({more} more after this)" if more else ""
    keys = _key_rows(request, ready, draft, width, palette)
    if height < len(keys) + 2:
        keys = [row([(_short_keys(request, ready), palette[Tone.WARNING])], width)]
    if height < 2:
        return [row([(f"{_short_keys(request, ready)} ", palette[Tone.WARNING]), _about(request, palette)], width)]
    head = [row([("? ", palette[Tone.WARNING]), _question(request, palette), (after, palette[Tone.DIM])], width)]
    gutter = [("  │ ", palette[Tone.DIM])]
    body = [
        line for runs in _body(request, palette) for line in wrapped(runs, width, first=gutter, rest=gutter, keep_spaces=True)
    ]
    return head + _both_ends(body, height - len(head) - len(keys), width, palette) + keys


def visible(text: str) -> str:
    """`text` with every character that a terminal would obey or not show written out."""
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
    """What would run, a list of runs a line or more, and why it is asked."""
    arguments, lines = request.arguments, list[list[Run]]()
    command = str(arguments.get("command", "")) if request.tool_name == "bash" else ""
    if command:
        lines.append([(_bounded(visible(command)), palette[Tone.TEXT])])
    match request.tool_name:
        case "write":
            lines += [[_about(request, palette)], *_changes("+", arguments.get("content"), palette)]
        case "edit":
            lines.append([_about(request, palette)])
            for old, new in _edits(arguments.get("edits")):
                lines += [*_changes("-", old, palette), *_changes("+", new, palette)]
        case _ if not command:
            lines.append([_about(request, palette)])
            texts = argument_lines(Call(request.tool_name, {name: _plain(value) for name, value in arguments.items()}))
            lines += [[(text, palette[Tone.DIM])] for text in texts]
        case _:
            pass
    part = f"{visible(request.about)}: " if command and request.about.strip() != command.strip() else ""
    return [*lines, [(f"asked because {part}{visible(request.because)}", palette[Tone.QUOTE])]]


def _edits(edits: Any) -> list[tuple[Any, Any]]:
    """The old and the new text of each edit; of what is none, nothing."""
    if not isinstance(edits, Sequence):
        return []
    found = [cast("Mapping[str, Any]", edit) for edit in cast("Sequence[Any]", edits) if isinstance(edit, Mapping)]
    return [(edit.get("old_text"), edit.get("new_text")) for edit in found]


def _changes(mark: str, text: Any, palette: Palette) -> list[list[Run]]:
    """A text as lines that come or go."""
    if not isinstance(text, str) or not text:
        return []
    tone = Tone.ADDED if mark == "+" else Tone.REMOVED
    lines = _bounded(visible(text.replace("\r\n", "\n").removesuffix("\n"))).split("\n")
    return [[(f"{mark} {line}", palette[tone])] for line in lines]


def _plain(value: Any) -> Any:
    return _bounded(visible(value)) if isinstance(value, str) else value


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


def _key_rows(request: "PermissionRequestEvent", ready: bool, draft: bool, width: int, palette: Palette) -> list[Row]:
    """The keys and what they do, and the rules that two of them would add."""
    key, word = (palette[Tone.STRONG], palette[Tone.TEXT]) if ready else (palette[Tone.DIM], palette[Tone.DIM])
    names = [("y" if draft else "y/Enter", "allow once")]
    if request.suggested_rules:
        names += [("s", "this session"), ("a", "always")]
    names += [("n/Esc", "deny"), ("r", "deny, say why")]
    # A choice is not broken: its words hang together.
    runs = [run for name, does in names for run in ((name, key), (f"\xa0{does.replace(' ', '\xa0')}   ", word))]
    rows = wrapped([(f"{WAITING} ", palette[Tone.WARNING])], width) if not ready else []
    rows += wrapped(runs, width)
    if request.suggested_rules:
        rules = ", ".join(visible(rule) for rule in request.suggested_rules)
        rows += wrapped([(f"s and a add: allow {_bounded(rules)}", palette[Tone.DIM])], width)
    return rows


def _short_keys(request: "PermissionRequestEvent", ready: bool) -> str:
    keys = "".join(key for key in _SHORT_KEYS if request.suggested_rules or key not in "sa")
    return f"{keys}?" if ready else "…"
