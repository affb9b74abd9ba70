"""QueueList: what waits to be sent, a line each, above the editor."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from agentcli.tui.clean import one_line

MAX_LINES = 5


class QueueList(Static):
    DEFAULT_CSS = """
    QueueList {
        height: auto;
        display: none;
        padding: 0 1;
        background: $background;
        color: $text-muted;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        &.-no-room { max-height: 0; }
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.lines: list[str] = []

    def show(self, waiting: Sequence[tuple[str, str]]) -> None:
        """Args:
        waiting: the kind and the text of each, next first.
        """
        self.lines = [f"{kind}: {one_line(text)}" for kind, text in waiting[:MAX_LINES]]
        if len(waiting) > MAX_LINES:
            self.lines.append(f"… and {len(waiting) - MAX_LINES} more")
        if self.lines:
            self.lines[-1] += "  (Esc takes back)"
        self.update(Content("\n".join(self.lines)))
        self.display = bool(self.lines)
