"""A line that is being written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from agentcli.tui.commands.actions import EDITOR_ACTIONS
from agentcli.tui.editing.line_edit import LineEdit
from tests.tui.conftest import escapes


def act(line: LineEdit, *names: str) -> tuple[str, int]:
    for name in names:
        assert line.act(name), name
    return line.text, line.cursor


@pytest.mark.parametrize(
    "names, text, cursor",
    [
        (["delete_left"], "one two, thre", 13),
        (["left", "left", "delete_right"], "one two, thre", 12),
        (["delete_word_left"], "one two, ", 9),
        (["delete_word_left", "delete_word_left"], "one ", 4),
        (["word_left", "delete_to_line_start"], "three", 0),
        (["line_start", "word_right", "delete_to_line_end"], "one", 3),
        (["line_start", "delete_word_right"], " two, three", 0),
        (["line_start", "left", "delete_left"], "one two, three", 0),
        (["line_end", "right", "end"], "one two, three", 14),
    ],
)
def test_it_is_edited_as_the_editor_is(names: list[str], text: str, cursor: int) -> None:
    assert act(LineEdit("one two, three"), *names) == (text, cursor)


def test_what_comes_in_is_one_clean_line() -> None:
    line = LineEdit("ac")
    line.act("left")
    line.insert("1\n2\t3\x1b]0;title\x07\x1b[31m")
    assert (line.text, line.cursor) == ("a1 2 3c", 6)
    line.put(escapes())
    assert line.text.isprintable() and "before" in line.text


def test_what_means_nothing_in_a_line_is_no_action() -> None:
    line = LineEdit("text")
    assert not line.act("submit") and not line.act("up")


@given(
    st.text(),
    st.lists(st.sampled_from([action.name for action in EDITOR_ACTIONS])),
    st.integers(1, 40),
)
def test_the_cursor_is_always_in_the_line_and_in_view(text: str, names: list[str], width: int) -> None:
    line = LineEdit(text)
    for name in names:
        line.act(name)
    assert 0 <= line.cursor <= len(line.text)
    before, under, after = (run[0] for run in line.runs(width, Style()))
    assert under and line.text.endswith(after)
    assert cell_len(before + under) <= max(width, cell_len(under))


def test_a_key_takes_what_is_one_character_to_a_user() -> None:
    for cluster in ("👩‍👩‍👧", "🇩🇪", "e\u0301", "क्षि", "ی\u200c"):
        assert act(LineEdit(f"a{cluster}"), "delete_left") == ("a", 1)
        assert act(LineEdit(f"a{cluster}b"), "left", "left", "delete_right") == ("ab", 1)
        line = LineEdit(f"a{cluster}b")
        assert act(line, "left", "left", "right") == (f"a{cluster}b", 1 + len(cluster))
        line.act("left")
        assert [text for text, _ in line.runs(20, Style())] == ["a", cluster, "b"]
