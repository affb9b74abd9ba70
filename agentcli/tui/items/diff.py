"""A unified diff as coloured runs."""

from agentcli.tui.clean import shown
from agentcli.tui.palette import Palette, Tone
from agentcli.tui.rows import Run


def diff_runs(diff: str, most: int, palette: Palette) -> list[Run]:
    """A run a line, at most `most`; the lines that only name the files are left out."""
    lines = [line for line in shown(diff).strip("\n").split("\n") if not line.startswith(("--- ", "+++ "))]
    runs = [(line, palette[_tone(line)]) for line in lines[:most]]
    if len(lines) > most:
        runs.append((f"… {len(lines) - most:,} more lines", palette[Tone.QUOTE]))
    return runs


def _tone(line: str) -> Tone:
    match line[:1]:
        case "+":
            return Tone.ADDED
        case "-":
            return Tone.REMOVED
        case "@":
            return Tone.HUNK
        case _:
            return Tone.DIM
