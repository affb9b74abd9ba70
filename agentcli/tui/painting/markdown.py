"""Markdown: a model's text as rows, complete or still growing.

markdown-it-py parses; nothing in the text is markup for Textual. Blocks are laid out one by one with an empty row
between; the items of a list follow each other without one, so that a block (or an item) can be laid out before the
next has come. References across blocks, such as link definitions, are not resolved.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.style import Style

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.painting.clean import shown
from agentcli.tui.painting.highlight import highlighted
from agentcli.tui.painting.rows import Row, Run, row, shown_runs, wrapped

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_DEPTH = 12
"""Lists and quotes inside each other; deeper ones are laid out as if they were this deep."""

_BULLETS = "•◦▪"


@lru_cache(maxsize=1)
def parser() -> "MarkdownIt":
    """The configured parser."""
    from markdown_it import MarkdownIt

    # A reference definition would vanish from the screen, so it is text like any other.
    return MarkdownIt("commonmark", {"maxNesting": 40}).enable(["table", "strikethrough"]).disable("reference")


class Block:
    """A piece of Markdown that is laid out by itself: a top-level block, or one item of a top-level list.

    Args:
        tokens: of the parser.
        first_line: where it begins, in lines of the text that was parsed.
        number: of an item of a numbered list.
    """

    __slots__ = ("first_line", "number", "tokens")

    def __init__(self, tokens: "Sequence[Token]", first_line: int, number: int = 0) -> None:
        self.tokens = tokens
        self.first_line = first_line
        self.number = number

    def continues(self, before: "Block | None") -> bool:
        """Whether it is the next item of the list that `before` is an item of. Sets its number then."""
        if before is None or not self.tokens[0].type.endswith("list_open"):
            return False
        first, last = self.tokens[0], before.tokens[0]
        if (first.type, first.markup) != (last.type, last.markup):
            return False
        self.number = before.number + 1
        return True


def split(text: str) -> list[Block]:
    """The blocks of a text."""
    blocks: list[Block] = []
    tokens = parser().parse(text)
    start = depth = 0
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            part = tokens[start : index + 1]
            if part[0].type.endswith("list_open"):
                blocks += _items(part)
            elif part[0].map is not None:
                blocks.append(Block(part, part[0].map[0]))
            start = index + 1
    return blocks


def _items(tokens: "Sequence[Token]") -> list[Block]:
    """Each item of a list as a list of its own."""
    items: list[Block] = []
    opening, closing = tokens[0], tokens[-1]
    number = _start_of(opening)
    start = 1
    for index in range(1, len(tokens) - 1):
        token = tokens[index]
        if token.type == "list_item_close" and token.level == opening.level + 1:
            first = tokens[start]
            line = first.map[0] if first.map else 0
            items.append(Block([opening, *tokens[start : index + 1], closing], line, number + len(items)))
            start = index + 1
    return items


def block_rows(block: Block, width: int, palette: Palette, *, grows: bool = False) -> list[Row]:
    """The rows of one block, without the empty row before it.

    Args:
        block: what is laid out.
        width: in cells.
        palette: the styles.
        grows: whether more may come: open code is not coloured yet, which is too slow for each delta.
    """
    layout = _Layout(palette, grows)
    if block.tokens[0].type.endswith("list_open"):
        return layout.bullets(block.tokens, width, (), 0, block.number)
    return layout.block(block.tokens, width, (), 0)


def markdown_rows(text: str, width: int, palette: Palette) -> list[Row]:
    """The rows of a whole text."""
    rows: list[Row] = []
    before: Block | None = None
    for block in split(shown(text)):
        if before and not block.continues(before):
            rows.append(row((), width))
        rows += block_rows(block, width, palette)
        before = block
    return rows


class _Layout:
    def __init__(self, palette: Palette, grows: bool) -> None:
        self.palette = palette
        self.grows = grows

    def blocks(self, tokens: "Sequence[Token]", width: int, before: Sequence[Run], depth: int = 0) -> list[Row]:
        """Rows of a run of blocks. `before` stands at the left of each row."""
        rows: list[Row] = []
        index = 0
        while index < len(tokens):
            end = _end_of(tokens, index)
            part = tokens[index : end + 1]
            made = self.block(part, width, before, depth)
            if rows and made and depth == 0:
                rows.append(row(before, width))
            rows += made
            index = end + 1
        return rows

    def block(self, tokens: "Sequence[Token]", width: int, before: Sequence[Run], depth: int) -> list[Row]:
        token = tokens[0]
        palette = self.palette
        match token.type:
            case "heading_open":
                mark = (f"{token.markup if token.markup[0] == '#' else '#'} ", palette[Tone.DIM])
                runs = self.inline(tokens[1], palette[Tone.HEADING])
                return self.text(runs, width, before, (mark,))
            case "paragraph_open":
                return self.text(self.inline(tokens[1], palette[Tone.TEXT]), width, before)
            case "fence" | "code_block":
                language = token.info.split()[0] if token.info.strip() and not self.is_open(token) else ""
                return self.code(token.content, language, width, before)
            case "bullet_list_open" | "ordered_list_open":
                return self.bullets(tokens, width, before, depth, _start_of(token))
            case "blockquote_open":
                bar = [*before, ("▌ ", palette[Tone.QUOTE])] if depth < MAX_DEPTH else list(before)
                return self.blocks(tokens[1:-1], width, bar, depth + 1)
            case "table_open":
                return self.table(tokens, width, before)
            case "hr":
                rule = "─" * max(min(width, 200) - _cells(before), 1)
                return [row([*before, (rule, palette[Tone.DIM])], width)]
            case _:
                return self.text([(token.content.rstrip("\n"), palette[Tone.TEXT])], width, before)

    def text(self, runs: list[Run], width: int, before: Sequence[Run], mark: Sequence[Run] = ()) -> list[Row]:
        indent = [(" " * _cells(mark), self.palette[Tone.TEXT])] if mark else []
        return wrapped(runs, width, first=[*before, *mark], rest=[*before, *indent])

    def is_open(self, fence: "Token") -> bool:
        """Whether the fence has no end yet: the lines it takes are its first one and its content."""
        if not self.grows or fence.map is None:
            return False
        return fence.map[1] - fence.map[0] <= len(fence.content.splitlines()) + 1

    def code(self, content: str, language: str, width: int, before: Sequence[Run]) -> list[Row]:
        block = self.palette[Tone.BLOCK]
        first = [*before, (" ", block)]
        return wrapped(
            highlighted(content.rstrip("\n"), language, self.palette),
            width,
            first=first,
            rest=first,
            fill=block,
            keep_spaces=True,
        )

    def bullets(
        self, tokens: "Sequence[Token]", width: int, before: Sequence[Run], depth: int, number: int
    ) -> list[Row]:
        rows: list[Row] = []
        ordered = tokens[0].type == "ordered_list_open"
        index = 1
        while index < len(tokens) - 1:
            end = _end_of(tokens, index)
            bullet = f"{number}. " if ordered else f"{_BULLETS[min(depth, 2)]} "
            rows += self.item(tokens[index + 1 : end], bullet, width, before, depth)
            number += 1
            index = end + 1
        return rows

    def item(self, tokens: "Sequence[Token]", bullet: str, width: int, before: Sequence[Run], depth: int) -> list[Row]:
        space = " " * len(bullet) if depth < MAX_DEPTH else ""
        rows = self.blocks(tokens, width, [*before, (space, self.palette[Tone.TEXT])], depth + 1)
        mark = row([*before, (bullet, self.palette[Tone.DIM])], width)
        if not rows or not space:
            return [mark, *rows]
        head = rows[0].crop(mark.cell_length)
        return [type(head).join([mark, head]), *rows[1:]]

    def table(self, tokens: "Sequence[Token]", width: int, before: Sequence[Run]) -> list[Row]:
        """Columns as wide as their cells; when they do not fit, the widest give way and their cells are cut."""
        palette = self.palette
        lines: list[list[list[Run]]] = []
        for index, token in enumerate(tokens):
            if token.type == "tr_open":
                lines.append([])
            elif token.type in ("th_open", "td_open"):
                style = palette[Tone.STRONG if token.type == "th_open" else Tone.TEXT]
                lines[-1].append(self.inline(tokens[index + 1], style))
        columns = max(len(line) for line in lines)
        wanted = [max((_cells(line[c]) for line in lines if c < len(line)), default=0) for c in range(columns)]
        widths = _fit(wanted, width - _cells(before) - 3 * (columns - 1))
        rows: list[Row] = []
        for number, line in enumerate(lines):
            runs = list(before)
            for column, size in enumerate(widths):
                runs += [(" │ ", palette[Tone.DIM])] if column else []
                cell = row(line[column] if column < len(line) else (), size, palette[Tone.TEXT])
                runs += [(segment.text, segment.style or palette[Tone.TEXT]) for segment in cell]
            rows.append(row(runs, width))
            if number == 0:
                rule = "─┼─".join("─" * size for size in widths)
                rows.append(row([*before, (rule, palette[Tone.DIM])], width))
        return rows

    def inline(self, token: "Token", base: Style) -> list[Run]:
        """The runs of a paragraph's text."""
        runs: list[Run] = []
        styles = [base]
        links: list[tuple[str, int]] = []
        for child in token.children or []:
            match child.type:
                case "text" | "html_inline":
                    runs.append((child.content, styles[-1]))
                case "code_inline":
                    runs.append((child.content, styles[-1] + self.palette[Tone.CODE]))
                case "softbreak":
                    runs.append((" ", styles[-1]))
                case "hardbreak":
                    runs.append(("\n", styles[-1]))
                case "image":
                    runs.append((f"[image: {child.content}]", styles[-1] + self.palette[Tone.LINK]))
                case "link_open":
                    links.append((str(child.attrGet("href") or ""), len(runs)))
                    styles.append(styles[-1] + self.palette[Tone.LINK])
                case "link_close":
                    styles.pop()
                    href, start = links.pop()
                    if href and href != "".join(text for text, _ in runs[start:]):
                        runs.append((f" ({href})", self.palette[Tone.DIM]))
                case "strong_open":
                    styles.append(styles[-1] + Style(bold=True))
                case "em_open":
                    styles.append(styles[-1] + Style(italic=True))
                case "s_open":
                    styles.append(styles[-1] + Style(strike=True))
                case "strong_close" | "em_close" | "s_close":
                    styles.pop()
                case _:
                    runs.append((child.content, styles[-1]))
        return runs


def _start_of(opening: "Token") -> int:
    """The number of a list's first item."""
    start = opening.attrGet("start")
    return int(start) if start is not None else 1


def _cells(runs: Sequence[Run]) -> int:
    return sum(cell_len(text) for text, _ in shown_runs(runs))


def _end_of(tokens: "Sequence[Any]", start: int) -> int:
    """The index of the token that closes what the token at `start` opens."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += tokens[index].nesting
        if depth == 0:
            return index
    return len(tokens) - 1


def _fit(wanted: list[int], room: int) -> list[int]:
    """Column widths that fit into `room`, the widest cut first; each keeps three cells."""
    if sum(wanted) <= room:
        return wanted
    limit = max(wanted)
    while limit > 3 and sum(min(size, limit) for size in wanted) > room:
        limit -= 1
    return [min(size, limit) for size in wanted]
