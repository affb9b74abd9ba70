"""GrowingMarkdown: Markdown that streams in, of which only the last block is laid out again."""

from agentcli.tui.colors.palette import Palette
from agentcli.tui.painting.clean import shown
from agentcli.tui.painting.markdown import Block, block_rows, split
from agentcli.tui.painting.rows import Row, row


class GrowingMarkdown:
    """Rows of a text that grows: those of `markdown_rows` for the same text, whatever its deltas were.

    A block is settled once a whole line of the next one is there: no text that follows can change it any more.
    """

    def __init__(self) -> None:
        self._seen = 0
        """Characters of the text that are in `_lines` and `_partial`, or settled."""
        self._lines: list[str] = []
        """Whole lines, clean, from the first block that is not settled."""
        self._partial = ""
        """The last line as it came: a sequence in it may be cut in two."""
        self._settled: list[Row] = []
        self._last: Block | None = None
        """The last settled block."""
        self._layout: tuple[int, Palette] | None = None

    def rows(self, text: str, width: int, palette: Palette) -> list[Row]:
        """The rows for a width in cells.

        Args:
            text: the whole text as received, which begins with that of the last call.
            width: in cells.
            palette: the styles.
        """
        if self._layout != (width, palette):
            self._layout = (width, palette)
            self._settled, self._last = [], None
            self._lines, self._partial, self._seen = [], "", 0
        self._add(text[self._seen :])
        self._seen = len(text)
        blocks = split("".join(self._lines) + shown(self._partial))
        count = self._settled_count(blocks)
        for block in blocks[:count]:
            self._settled += self._block_rows(block, self._last, width, palette)
            self._last = block
        if count:
            del self._lines[: blocks[count].first_line]
        rows, last = list(self._settled), self._last
        for block in blocks[count:]:
            rows += self._block_rows(block, last, width, palette, grows=True)
            last = block
        return rows

    def _add(self, text: str) -> None:
        head, feed, tail = text.rpartition("\n")
        if not feed:
            self._partial += text
            return
        self._lines += shown(self._partial + head + feed).splitlines(keepends=True)
        self._partial = tail

    def _settled_count(self, blocks: list[Block]) -> int:
        """How many blocks cannot change any more."""
        count = max(len(blocks) - 1, 0)
        while count and not self._can_begin(blocks[count].first_line):
            count -= 1
        return count

    def _can_begin(self, line: int) -> bool:
        """Whether the text may be parsed from this line on: it is whole, and not indented as code would be."""
        return line < len(self._lines) and not self._lines[line].startswith("    ")

    def _block_rows(
        self, block: Block, before: Block | None, width: int, palette: Palette, *, grows: bool = False
    ) -> list[Row]:
        """The block's rows, with an empty row before them where one belongs."""
        gap = [row((), width)] if before is not None and not block.continues(before) else []
        return [*gap, *block_rows(block, width, palette, grows=grows)]
