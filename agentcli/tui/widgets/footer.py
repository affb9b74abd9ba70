"""Footer: one line with the folder, the model, what the agent is doing, and the tokens."""

from pathlib import Path

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from agentcli.tui.clean import one_line


class Footer(Widget):
    DEFAULT_CSS = """
    Footer {
        height: 1;
        padding: 0 1;
        background: $background;
        color: $text-muted;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = ""
        self.model = ""
        self.activity = ""
        self.tokens = ""
        self._hint = ""

    def set_folder(self, folder: Path) -> None:
        home = Path.home()
        self.folder = f"~/{folder.relative_to(home)}" if folder != home and folder.is_relative_to(home) else str(folder)

    def show(self, model: str, activity: str, input_tokens: int, output_tokens: int) -> None:
        self.model = model
        self.activity = activity
        self.tokens = f"{_short(input_tokens)} in, {_short(output_tokens)} out" if input_tokens or output_tokens else ""
        self.refresh()

    def hint(self, text: str = "") -> None:
        """Say what a key would do now, in place of the activity."""
        self._hint = text
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        right = " · ".join(part for part in (one_line(self._hint or self.activity), self.tokens) if part)
        left = self._left(width - cell_len(right) - 2)
        gap = " " * max(width - cell_len(left) - cell_len(right), 0)
        return Content.assemble(left, gap, (right, "$text")).truncate(max(width, 1), ellipsis=True)

    def _left(self, room: int) -> str:
        """The folder and the model, as much of them as there is room for; the model matters more."""
        folder, model = one_line(self.folder), one_line(self.model)
        for shown in (folder, f"…/{folder.rpartition('/')[2]}", ""):
            left = " · ".join(part for part in (shown, model) if part)
            if cell_len(left) <= room:
                return left
        return one_line(model, room) if room > 3 else ""


def _short(tokens: int) -> str:
    if tokens < 1_000:
        return str(tokens)
    return f"{tokens / 1_000:.1f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"
