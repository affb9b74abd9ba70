"""What the words fit that somebody types to find something."""

import pytest

from agentcli.tui.editing.query import Query


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


def test_the_likeliest_paths_come_first() -> None:
    paths = ["docs/editor.md", "src/edit_or.py", "src/editor.py", "editors/x", "e/d/i/t/o/r", "EDITOR"]
    assert Query("editor").rank_paths(paths, 9) == [
        "EDITOR",
        "editors/x",
        "src/editor.py",
        "docs/editor.md",
        "src/edit_or.py",
        "e/d/i/t/o/r",
    ]
    assert Query("zzz").rank_paths(paths, 9) == [] and Query("").rank_paths(paths, 2) == paths[:2]
    assert Query("src or").rank_paths(paths, 9) == ["src/edit_or.py", "src/editor.py"]


@pytest.mark.parametrize(
    ("typed", "order"),
    [
        ("app", ["long/folder/app/", "long/folder/app.py", "x/mapped", "x/app/y", "x/a_p_p", "a/p/p"]),
        ("x/m", ["x/m.py", "x/mapped", "a/x/m", "x/a/m"]),
    ],
)
def test_a_name_counts_more_than_its_folders(typed: str, order: list[str]) -> None:
    assert Query(typed).rank_paths([*reversed(order), "nothing"], 9) == order


def test_letters_of_a_path_may_be_anywhere_in_it_and_those_in_its_name_are_told() -> None:
    path = "agent/" + "folder/" * 20 + "at.py"
    match = Query("at").match_path(path)
    assert match is not None and match.places == (len(path) - 5, len(path) - 4)
    match = Query("gy").match_path(path)
    assert match is not None and [path[place] for place in match.places] == ["g", "y"]
    assert Query("gy").match(path) is None


def test_letters_all_over_a_long_text_are_no_match() -> None:
    assert Query("abc").match("a" + "-" * 80 + "b" + "-" * 80 + "c") is None


def test_a_line_of_one_letter_is_no_work() -> None:
    assert Query("a" * 30 + "b").match("a" * 5_000) is None
    assert Query("a" * 30 + "b").match_path("a" * 5_000) is None
    assert Query("a" * 30 + "b").rank_paths(["a" * 5_000] * 100, 9) == []
