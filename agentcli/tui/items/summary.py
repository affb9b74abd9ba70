"""A summary in place of a part of the conversation: a title, and the text when it is unfolded."""

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Foldable, guess_rows
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.markdown import markdown_rows
from agentcli.tui.painting.rows import Row, indented, row, wrapped

_GUTTER = "  │ "


class Summary(Foldable):
    """A summary.

    Args:
        title: what was summarised.
        text: Markdown.
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self.title = title
        self.text = text

    def rows(self, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells."""
        dim = palette[Tone.DIM]
        rows = wrapped([(self.title, palette[Tone.STRONG])], width, first=[("≡ ", dim)])
        self.title_rows = len(rows)
        if self.expanded:
            room = max(width - len(_GUTTER), 1)
            return rows + [indented((_GUTTER, dim), made, width) for made in markdown_rows(self.text, room, palette)]
        lines = [line for line in self.text.splitlines() if line.strip()]
        if not lines:
            return rows
        more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
        first = one_line(lines[0], max(width - len(_GUTTER) - len(more), 1))
        return [*rows, row([(_GUTTER, dim), (first, palette[Tone.QUOTE]), (more, dim)], width)]

    def guess(self, width: int) -> int:
        """The estimated number of rows."""
        return 1 + (guess_rows(self.text, width) if self.expanded else 1)


_WHY = {
    "manual": "as asked",
    "threshold": "it came near the window",
    "overflow": "it was longer than the window",
}


def compaction_summary(
    text: str, tokens_before: int = 0, tokens_after: int = 0, reason: str = "", message_count: int = 0
) -> Summary:
    """The item of a compaction.

    Args:
        text: the summary, Markdown.
        tokens_before: of the context; 0 if not known.
        tokens_after: of the context, an estimate; 0 if not known.
        reason: as the events of a compaction name it.
        message_count: how many messages were summarised; 0 if not known.
    """
    after = f" → {tokens_after:,}" if tokens_after else ""
    tokens = f" ({tokens_before:,}{after} tokens)" if tokens_before else ""
    known = [f"{message_count} message{'' if message_count == 1 else 's'}"] if message_count else []
    known += [_WHY[reason]] if reason in _WHY else []
    more = f": {', '.join(known)}" if known else ""
    return Summary(f"the conversation before this was summarised{tokens}{more}", text)


def branch_summary(text: str) -> Summary:
    """The item of a summary of another branch."""
    return Summary("another branch of this conversation, summarised", text)
