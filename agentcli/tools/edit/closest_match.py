"""The nearest place: where a text that is not in a file nearly is, and what differs there."""

import time
from collections import Counter
from difflib import SequenceMatcher  # 1 ms; this module is imported only when a match has failed

from agentcli.tools.edit.tolerant_matching import Line, plain

_SECONDS = 0.3
"""How long similar lines are searched for."""
_MOST_LINES = 30
_WIDTH = 160
_MOST_HITS = 50


def describe_nearest(lines: list[Line], text: str) -> str:
    """Lines that show the place, `-` for what the file has, `+` for what the text has; empty if nothing is near."""
    wanted = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    start = _by_equal_lines(lines, wanted)
    if start is None:
        start = _by_similar_line(lines, wanted)
    if start is None:
        return ""
    first = max(0, start)
    last = min(len(lines), start + len(wanted))
    shown = _compare(lines[first:last], wanted, first)
    more = [f"… {len(shown) - _MOST_LINES} more lines"] if len(shown) > _MOST_LINES else []
    where = f"line {first + 1}" if last == first + 1 else f"lines {first + 1}-{last}"
    head = f"The nearest place is {where} (- is in the file, + is old_text):"
    return "\n".join([head, *shown[:_MOST_LINES], *more])


def _by_equal_lines(lines: list[Line], wanted: list[str]) -> int | None:
    """The start at which most lines of the text stand where they should, indentation aside; rare lines count more."""
    places: dict[str, list[int]] = {}
    goals = {plain(line).strip() for line in wanted}
    for index, line in enumerate(lines):
        content = line.plain.strip()
        if content in goals and len(content) > 2:
            places.setdefault(content, []).append(index)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        hits = places.get(plain(line).strip(), [])
        if len(hits) <= _MOST_HITS:
            for hit in hits:
                votes[hit - offset] += 1000 // len(hits)
    return votes.most_common(1)[0][0] if votes else None


def _by_similar_line(lines: list[Line], wanted: list[str]) -> int | None:
    """The start that puts the longest line of the text on the line most like it."""
    offset = max(range(len(wanted)), key=lambda index: len(wanted[index].strip()))
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(plain(wanted[offset]).strip()[:_WIDTH])
    best, best_ratio = None, 0.6
    deadline = time.monotonic() + _SECONDS
    for index, line in enumerate(lines):
        if index % 64 == 0 and time.monotonic() > deadline:
            break
        content = line.plain.strip()[:_WIDTH]
        if not content:
            continue
        matcher.set_seq1(content)
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = index - offset, ratio
    return best


def _compare(window: list[Line], wanted: list[str], first: int) -> list[str]:
    ours = [line.text for line in window]
    shown: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, ours, wanted, autojunk=False).get_opcodes():
        if tag == "equal":
            shown += [f"  {first + index + 1:>5} {_shown(ours[index])}" for index in range(i1, i2)]
            continue
        blanks_only = [line.split() for line in ours[i1:i2]] == [line.split() for line in wanted[j1:j2]]
        shown += [f"- {first + index + 1:>5} {_shown(ours[index], blanks_only)}" for index in range(i1, i2)]
        shown += [f"+       {_shown(line, blanks_only)}" for line in wanted[j1:j2]]
    return shown


def _shown(line: str, with_blanks: bool = False) -> str:
    """The line in one screen's width; with blanks made visible where only they differ."""
    line = line.encode("utf-8", "replace").decode("utf-8")
    if with_blanks:
        line = line.replace("\t", "→").replace(" ", "·").replace("\u00a0", "⍽")
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…"
