"""Nothing that a terminal obeys gets through, whatever its bytes."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.tui.painting.clean import clean, one_line, shown
from tests.tui.conftest import escapes

SEQUENCES = [
    "\x1b]52;c;WlFY\x07", "\x1b]0;ZQX\x07", "\x1b]2;ZQX\x1b\\", "\x1b]8;;http://zqx.invalid/\x1b\\", "\x1b]133;A\x07",
    "\x1bPZQX\x1b\\", "\x1b_Ga=T;ZQX\x1b\\", "\x1b^ZQX\x1b\\", "\x1bXZQX\x1b\\", "\x1b[6n", "\x1b[c", "\x1b[>c", "\x1b[2J",
    "\x1b[?1049h", "\x1bc", "\x1b[!p", "\x1b(0", "\x1b[31m", "\x1b[38;2;1;2;3m", "\x1b[38:2::1:2:3m", "\x1b[99999999999m",
    "\x9b31m", "\x9d0;ZQX\x9c", "\x90ZQX\x9c", "\x1b#8", "\x1bM", "\x1b[1 q", "\x1b[?25l", "\x1b[200~", "\x1b=",
]  # fmt: skip


def obeyed(text: str) -> list[str]:
    """The characters of a text that a terminal would not just show."""
    return [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u2028\u202e\ufeff"]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_sequence_goes_whole_and_its_neighbours_stay(sequence: str) -> None:
    assert clean(f"before {sequence}after") == "before after"


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_sequence_cut_anywhere_leaves_nothing_to_obey(sequence: str) -> None:
    for cut in range(1, len(sequence)):
        for part in (sequence[:cut], sequence[cut:]):
            text = clean(f"before {part}\nafter")
            assert text.startswith("before") and text.endswith("\nafter") and not obeyed(text)


def test_every_character_below_256_alone_and_after_an_escape() -> None:
    for first, second in itertools.product(["", "\x1b", "\x1b[", "\x1b]", "\x9b", "\x1bP"], map(chr, range(256))):
        assert not obeyed(clean(f"a{first}{second}b"))


@given(st.text(alphabet=st.characters(codec=None)))
def test_no_text_at_all_can_be_obeyed_and_cleaning_again_changes_nothing(text: str) -> None:
    once = clean(text)
    assert not obeyed(once)
    assert clean(once) == once
    once.encode()


@given(
    st.lists(
        st.sampled_from([*SEQUENCES, "\x1b", "\x1b[", "\x1b]0;", "word", "\r", "\n", "\r\n", "[/b]", "\x07", "\\"])
    )
)
def test_lines_may_be_cleaned_one_after_the_other(parts: list[str]) -> None:
    text = "".join(parts).replace("\r", "")
    assert "".join(clean(line) for line in text.splitlines(keepends=True)) == clean(text)


def test_a_file_of_escapes_keeps_its_words() -> None:
    text = clean(escapes())
    assert not obeyed(text)
    for word in ("before", "link", "red", "true", "colon", "middle", "last"):
        assert word in text


def test_line_ends_become_line_feeds() -> None:
    assert clean("a\r\nb\rc\n") == "a\nb\nc\n"


def test_what_is_no_control_stays() -> None:
    text = "[/b] 你好 e\u0301 👩‍👩‍👧 \u00a0 &amp; \\[x]"
    assert clean(text) == text


def test_tabs_are_spaces_where_rows_are_made() -> None:
    assert shown("a\tb") == "a   b"


def test_one_line_of_a_long_text_is_short() -> None:
    assert one_line("  a\n\n b\tc  ") == "a b c"
    assert one_line("x" * 10_000, 10) == "x" * 9 + "…"
