"""A text that streams in looks at every moment as the same text would at once."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.painting.growing import GrowingMarkdown
from agentcli.tui.painting.markdown import markdown_rows
from agentcli.tui.painting.rows import plain

PALETTE = Palette({})

LINES = st.sampled_from(
    ["", "", "word and **bold**", "# Title", "- one", "- two `x`", "* star", "1. first", "1. again", "2) other", "  - in",
     "    deep", "      1. deeper", "> quote", ">> more", "```python", "```", "~~~", "def f(): pass", "| a | b |",
     "| - | - |", "|---|---|", "| 1 | 2 |", "---", "===", "-", "--", "<div>", "<!--", "-->", "\ttab", "[a]: b",
     "[x][a] \x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]0;open", "你好世界 wide", "* * *", "+", "1.", "text  ", "\\",
     "a\r", "   - three", "    - four", "     - five"]
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[str]]:
    text = "\n".join(draw(st.lists(LINES, max_size=14)))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    edges = [0, *cuts, len(text)]
    return text, [text[start:end] for start, end in itertools.pairwise(edges)]


@given(documents(), st.sampled_from([1, 7, 40]))
def test_every_prefix_looks_as_it_would_at_once(document: tuple[str, list[str]], width: int) -> None:
    _, pieces = document
    growing = GrowingMarkdown()
    so_far = ""
    for piece in pieces:
        so_far += piece
        assert plain(growing.rows(so_far, width, PALETTE)) == plain(markdown_rows(so_far, width, PALETTE))


def test_another_width_lays_out_everything_again() -> None:
    growing = GrowingMarkdown()
    text = "- one two three\n- four\n\nlast words here"
    growing.rows(text, 40, PALETTE)
    assert plain(growing.rows(text, 9, PALETTE)) == plain(markdown_rows(text, 9, PALETTE))


def test_code_is_coloured_once_it_is_closed() -> None:
    growing = GrowingMarkdown()
    assert tones(growing, "```python\nreturn 1") == {PALETTE[Tone.BLOCK]}
    assert tones(growing, "```python\nreturn 1\n``") == {PALETTE[Tone.BLOCK]}
    assert PALETTE[Tone.KEYWORD] in tones(growing, "```python\nreturn 1\n```")


def tones(growing: GrowingMarkdown, text: str) -> set[object]:
    return {segment.style for row in growing.rows(text, 40, PALETTE) for segment in row}
