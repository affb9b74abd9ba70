"""What the model thinks, folded to one row."""

from agentcli.tui.clean import one_line
from agentcli.tui.palette import Palette, Tone
from agentcli.tui.rows import Row, row


class Thinking:
    """While it grows its last line is shown, afterwards its first."""

    def __init__(self, text: str = "", redacted: bool = False) -> None:
        self._pieces = [text]
        self._growing = False
        self.redacted = redacted

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def append(self, delta: str) -> None:
        self._pieces.append(delta)
        self._growing = True

    def finish(self) -> None:
        self._growing = False

    def rows(self, width: int, palette: Palette) -> list[Row]:
        lines = [line for line in self.text.strip().splitlines() if line.strip()]
        if self.redacted or not lines:
            shown = "withheld by the provider" if self.redacted else ""
        else:
            shown = one_line(lines[-1 if self._growing else 0], max(width, 1))
        if not shown and not self._growing:
            return []
        more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 and not self._growing else ""
        style = palette[Tone.THINKING]
        head = "thinking … " if self._growing else "thought: "
        room = max(width - len(head) - len(more) - 2, 1)
        dim = palette[Tone.DIM]
        return [row([("∴ ", dim), (head, dim), (one_line(shown, room), style), (more, dim)], width)]

    def guess(self, width: int) -> int:
        return 1
