"""What the words fit that somebody types to find something."""

import pytest

from agentcli.tui.query import Query


def best(text: str, *names: str) -> list[str]:
    found = [(match.score, name) for name in names if (match := Query(text).match(name))]
    return [name for _, name in sorted(found, key=lambda each: -each[0])]


@pytest.mark.parametrize(
    "typed, order",
    [
        ("opus", ["opus", "claude opus", "magnopus", "o-p-u-s"]),
        ("gs", ["gs", "x gs", "logs", "go stop"]),
        ("GPT", ["gpt-5", "a gpt"]),
    ],
)
def test_the_nearest_comes_first(typed: str, order: list[str]) -> None:
    assert best(typed, *reversed(order), "nothing") == order


def test_every_word_has_to_fit_in_any_order() -> None:
    assert Query("five gpt").match("gpt five") is not None
    assert Query("gpt six").match("gpt five") is None
    assert not Query("  ") and Query("x")


def test_the_letters_that_were_found_are_told() -> None:
    match = Query("bd").match("a b c d")
    assert match is not None and match.places == (2, 6)
    match = Query("main").match("domain main")
    assert match is not None and match.places == (7, 8, 9, 10)
    assert Query("b zz").places("abc") == (1,)


def test_letters_that_grow_in_lower_case_keep_their_places() -> None:
    match = Query("x").match("İİx")
    assert match is not None and match.places == (2,)


def test_letters_all_over_a_long_text_are_no_match() -> None:
    assert Query("abc").match("a" + "-" * 80 + "b" + "-" * 80 + "c") is None


def test_a_line_of_one_letter_is_no_work() -> None:
    assert Query("a" * 30 + "b").match("a" * 5_000) is None
