"""Refusals of edits: errors that a model can act on at once. They show the file's lines as they can be copied."""

import re
import time
from bisect import bisect_right
from collections import Counter
from difflib import SequenceMatcher  # 1 ms; this module is imported only when a match has failed
from itertools import accumulate

from agentcli.agent.errors import ToolError
from agentcli.tools.edit.file_lines import FileLines, call_lines
from agentcli.tools.edit.folding import blind, fold, indentation_of, tokens_of
from agentcli.tools.edit.tolerant_matching import Match
from agentcli.tools.truncate import size

MOST_NUMBERS = 10
_MOST_PLACES_SHOWN = 4
_MOST_LINES = 40
_MOST_DIFFERENCES = 8
_MOST_WORDS = 40
_MOST_HITS = 50
_WIDTH = 400
_QUOTED = 100
_SECONDS = 0.1
"""How long similar lines are searched for."""


def too_large(label: str, name: str, length: int) -> ToolError:
    return ToolError(
        f"{label} was not found in {name}; nothing was changed",
        hint=f"it must be exact: the file has {size(length)}; read the place again",
    )


def ambiguous(label: str, name: str, count: str, numbers: list[int], total: int, lines: FileLines | None) -> ToolError:
    """The error of a text that stands at several places.

    Args:
        numbers: the 1-based lines of the first places.
        lines: the file's; None if they are not to be shown.
    """
    listed = ", ".join(map(str, numbers)) + (" …" if total > len(numbers) else "")
    message = f"{label} is not unique: it is in {name} {count} times (lines {listed}); nothing was changed"
    shown = ""
    if lines is not None:
        shown = "\n".join(
            f"Line {number} is within:\n{_shown(lines, number - 3, number + 2)}"
            for number in numbers[:_MOST_PLACES_SHOWN]
        )
    error = ToolError(message, hint="take in lines around it, or set replace_all")
    return ToolError(f"{error}\n{shown}") if shown else error


def uncertain(label: str, name: str, lines: FileLines, match: Match, why: str) -> ToolError:
    """The error of a place that was found, but at which it is not clear what is meant."""
    return ToolError(
        f"{label} is in {name} only with other whitespace ({_lines_named(match.first, match.stop)}), and {why}; "
        f"nothing was changed. These lines read:\n{_shown(lines, match.first, match.stop)}",
        hint="copy them into old_text",
    )


def not_found(label: str, name: str, lines: FileLines, text: str, made_at: int | None) -> ToolError:
    """The error of a text that is nowhere: the nearest place, and what differs there.

    Args:
        made_at: the line at which the new text is already.
    """
    message = f"{label} was not found in {name}; nothing was changed"
    if made_at is not None:
        message += f". new_text is in it already, at line {made_at}: this edit seems to have been made before"
    wanted, _ = call_lines(text)
    start = _by_equal_lines(lines, wanted)
    if start is None:
        start = _by_rare_words(lines, wanted)
    if start is None:
        start = _by_similar_line(lines, wanted)
    if start is None:
        return ToolError(message, hint="nothing in the file is like it; read the file again")
    first, stop = _window(lines, wanted, start)
    differences = _differences(lines, wanted, first, stop)
    more = len(differences) - _MOST_DIFFERENCES
    told = [*differences[:_MOST_DIFFERENCES], *([f"{more} more"] if more > 0 else [])]
    return ToolError(
        f"{message}. The nearest place is {_lines_named(first, stop)}:\n{_shown(lines, first, stop)}\n"
        "What differs:\n" + "\n".join(f"- {difference}" for difference in told)
    )


def _lines_named(first: int, stop: int) -> str:
    return f"line {first + 1}" if stop <= first + 1 else f"lines {first + 1}-{stop}"


def _shown(lines: FileLines, first: int, stop: int) -> str:
    """Lines of the file as they are, without numbers: they are there to be copied."""
    first, stop = max(0, first), min(len(lines), stop)
    shown = [_clean(line) for line in lines.texts[first : min(stop, first + _MOST_LINES)]]
    more = [f"… {stop - first - _MOST_LINES} more lines"] if stop - first > _MOST_LINES else []
    return "\n".join([*shown, *more])


def _clean(line: str) -> str:
    line = line.encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}… ({len(line):,} characters)"


def _by_equal_lines(lines: FileLines, wanted: list[str]) -> int | None:
    """The start at which most lines of the text stand where they should, indentation aside; rare lines count more."""
    goals = [fold(line).strip() for line in wanted]
    keys = lines.unindented
    places: dict[str, list[int]] = {goal: [] for goal in goals if len(goal) > 2 and goal in keys.counts}
    if not places:
        return None
    for number, key in enumerate(keys.keys):
        if key in places:
            places[key].append(number)
    votes: Counter[int] = Counter()
    for offset, goal in enumerate(goals):
        hits = places.get(goal, [])
        if len(hits) <= _MOST_HITS:
            for hit in hits:
                votes[hit - offset] += 1000 // len(hits)
    return votes.most_common(1)[0][0] if votes else None


def _by_rare_words(lines: FileLines, wanted: list[str]) -> int | None:
    """The start that puts most of the text's rarest words on lines that have them."""
    whole = "\n".join(lines.texts)
    starts = list(accumulate((len(line) + 1 for line in lines.texts), initial=0))
    words = [(word, offset) for offset, line in enumerate(wanted) for word in set(re.findall(r"\w{4,}", line))]
    words.sort(key=lambda word: len(word[0]), reverse=True)
    votes: Counter[int] = Counter()
    for word, offset in words[:_MOST_WORDS]:
        hits: list[int] = []
        at = whole.find(word)
        while at >= 0 and len(hits) <= _MOST_HITS:
            hits.append(bisect_right(starts, at) - 1)
            at = whole.find(word, at + len(word))
        if len(hits) <= _MOST_HITS:
            for line in set(hits):
                votes[line - offset] += 1000 // len(hits)
    if not votes:
        return None
    start, weight = votes.most_common(1)[0]
    return start if weight >= 500 else None


def _by_similar_line(lines: FileLines, wanted: list[str]) -> int | None:
    """The start that puts the longest line of the text on the line most like it."""
    offset = max(range(len(wanted)), key=lambda index: len(wanted[index].strip()))
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(fold(wanted[offset]).strip()[:_QUOTED])
    best, best_ratio = None, 0.6
    deadline = time.monotonic() + _SECONDS
    for index, line in enumerate(lines.unindented.keys):
        if index % 64 == 0 and time.monotonic() > deadline:
            break
        content = line[:_QUOTED]
        if not content:
            continue
        matcher.set_seq1(content)
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = index - offset, ratio
    return best


def _window(lines: FileLines, wanted: list[str], start: int) -> tuple[int, int]:
    """The lines that the text stands for if it begins at `start`; to the last that matches, if the file has more."""
    first = max(0, start)
    stop = max(first + 1, min(len(lines), start + len(wanted)))
    ahead = min(len(lines), stop + len(wanted))
    goals = {goal for line in wanted[-3:] if len(goal := blind(line)) > 2}
    last = next((at for at in range(ahead - 1, stop - 1, -1) if blind(lines.texts[at]) in goals), None)
    return first, stop if last is None else last + 1


def _differences(lines: FileLines, wanted: list[str], first: int, stop: int) -> list[str]:
    """What differs, line by line, in words."""
    ours = lines.texts[first:stop]
    told: list[str] = []
    matcher = SequenceMatcher(None, [blind(line) for line in ours], [blind(line) for line in wanted], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            told += [
                difference
                for i, j in zip(range(i1, i2), range(j1, j2), strict=True)
                if (difference := _in_whitespace(ours[i], wanted[j], first + i))
            ]
            continue
        together = min(i2 - i1, j2 - j1)
        told += [_in_words(ours[i1 + at], wanted[j1 + at], first + i1 + at) for at in range(together)]
        told += [
            f"line {first + i + 1} of the file is not in old_text: {_quoted(ours[i])}" for i in range(i1 + together, i2)
        ]
        told += [f"not in the file: {_quoted(wanted[j])}" for j in range(j1 + together, j2)]
    return told


def _in_whitespace(ours: str, theirs: str, at: int) -> str:
    if ours == theirs:
        return ""
    mine, other = indentation_of(ours), indentation_of(theirs)
    if mine != other:
        return f"line {at + 1} is indented by {_counted(mine)} in the file, by {_counted(other)} in old_text"
    if ours.rstrip() == theirs.rstrip():
        return f"line {at + 1} has other whitespace at its end"
    return f"line {at + 1} differs in whitespace or typography only"


def _counted(indentation: str) -> str:
    tabs, spaces = indentation.count("\t"), len(indentation) - indentation.count("\t")
    parts = [f"{count} {name}{'s' * (count != 1)}" for count, name in ((tabs, "tab"), (spaces, "space")) if count]
    return " and ".join(parts) or "nothing"


def _in_words(ours: str, theirs: str, at: int) -> str:
    mine, other = tokens_of(ours.strip()), tokens_of(theirs.strip())
    matcher = SequenceMatcher(None, mine, other, autojunk=False)
    changed = [opcode for opcode in matcher.get_opcodes() if opcode[0] != "equal"]
    if 0 < len(changed) <= 2 and matcher.ratio() > 0.5:
        told = [
            f"{_quoted(''.join(mine[i1:i2]))} in the file, {_quoted(''.join(other[j1:j2]))} in old_text"
            for _, i1, i2, j1, j2 in changed
        ]
        return f"line {at + 1}: {'; '.join(told)}"
    return f"line {at + 1} is {_quoted(ours.strip())} in the file, {_quoted(theirs.strip())} in old_text"


def _quoted(text: str) -> str:
    text = _clean(text)
    if not text:
        return "nothing"
    return f"`{text}`" if len(text) <= _QUOTED else f"`{text[:_QUOTED]}…`"
