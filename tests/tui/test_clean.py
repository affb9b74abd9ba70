"""Nothing that a terminal obeys gets through, whatever its bytes."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.text import PrintableStream, printable
from agentcli.tui.painting.clean import clean, one_line, shown, shown_pieces, typed
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


HIDDEN = "\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u202a\u202e\u2060\u2064\u2066\u2069\u206f\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\ufffb\U0001d173\U000e0001\U000e0041\U000e0100"
"""Some of each kind of what nobody would see."""


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda character: f"{ord(character):04x}")
def test_what_nobody_would_see_is_written_out_wherever_text_is_shown(hidden: str) -> None:
    mark = f"⟨U+{ord(hidden):04X}⟩"
    for show in (clean, shown, one_line, printable):
        assert show(f"rm x{hidden}y") == f"rm x{mark}y"
        assert show(f"{hidden}{hidden}") == mark * 2


NEEDED = [
    *(
        "👩‍👩‍👧",
        "❤️‍🔥",
        "🏳️‍🌈",
        "🧑🏽‍💻",
        "👁️‍🗨️",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "1️⃣",
        "☝️",
        "🐻‍❄️",
    ),
    *("می\u200cخواهم", "क्\u200dष", "ශ්\u200dරී", "邊\U000e0100", "co\u00adoperate", "עברית", "ไทย\u200bไทย", "≨\ufe00"),
]


@pytest.mark.parametrize("text", NEEDED)
def test_what_a_script_or_an_emoji_needs_stays_however_it_is_cut(text: str) -> None:
    assert clean(text) == printable(text) == typed(text) == text
    assert "".join(shown_pieces(list(f"a{text}b"))) == f"a{text}b" or "\U0001f3f4" in text
    for pieces in (list(text), [text[:2], text[2:]], [text]):
        stream = PrintableStream()
        assert "".join(map(stream.add, pieces)) + stream.end() == text


def test_what_nobody_would_see_cannot_hide_behind_what_is_needed() -> None:
    assert clean("😀\ufe0f\ufe01\ufe02") == "😀\ufe0f⟨U+FE01⟩⟨U+FE02⟩"
    assert clean("👩\u200d\u200d👧") == "👩⟨U+200D⟩⟨U+200D⟩👧"
    assert clean("🏴\U000e0041") == "🏴⟨U+E0041⟩"


@given(st.lists(st.sampled_from([*HIDDEN, *"a1👩क🏴م", "\U000e0067", "\x1b"]), max_size=12))
def test_a_text_in_pieces_is_shown_as_the_whole(pieces: list[str]) -> None:
    stream = PrintableStream()
    whole = "".join(pieces)
    assert "".join(map(stream.add, pieces)) + stream.end() == printable(whole)
    assert printable(printable(whole)) == printable(whole)


def test_what_is_typed_stays_and_what_reorders_a_paste_is_written_out() -> None:
    for text in ("a\u200db", "a\u200cb", "co\u00adop", "a\u200fb", "a\u200bb", "a\ufe0f", *NEEDED):
        assert typed(text) == text
    assert typed("\u202ea\u2066\x07\ufeff") == "⟨U+202E⟩a⟨U+2066⟩⟨U+FEFF⟩"
