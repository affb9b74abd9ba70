"""Tolerant matching: blanks, quotes, dashes, indentation; one place only, and only its lines change."""

from pathlib import Path

import pytest

from tests.tools.conftest import INPUTS, Tools
from tests.tools.test_edit import edited, refused

FUZZY = (INPUTS / "fuzzy_file.txt").read_bytes()


async def test_typographic_quotes_match_plain_ones_and_every_other_line_stays(tools: Tools, cwd: Path) -> None:
    after = await edited(tools, cwd, FUZZY, ("const name = “Alice”;", 'const name = "Bob";'))
    assert after == (INPUTS / "fuzzy_expected_1.txt").read_bytes()


async def test_blanks_at_line_ends_do_not_count_and_every_other_line_stays(tools: Tools, cwd: Path) -> None:
    after = await edited(tools, cwd, FUZZY, ("replace me\nafter", "DONE\nDONE2"))
    assert after == (INPUTS / "fuzzy_expected_2.txt").read_bytes()


async def test_the_result_says_that_the_match_was_not_exact(tools: Tools, cwd: Path) -> None:
    (cwd / "f").write_bytes(FUZZY)
    answer = await tools.edit("f", ("const name = “Alice”;", "x"))
    assert "line 3" in answer.text and "differed" in answer.text


async def test_an_exact_place_wins_over_one_that_is_only_alike(tools: Tools, cwd: Path) -> None:
    content = 'say “hi”\nsay "hi"\n'.encode()
    assert await edited(tools, cwd, content, ('say "hi"', "X")) == "say “hi”\nX\n".encode()


async def test_several_places_that_are_alike_are_refused(tools: Tools, cwd: Path) -> None:
    error = await refused(tools, cwd, "say “hi”\nsay ‟hi”\n".encode(), ('say "hi"', "X"))
    assert "2 times (lines 1, 2)" in error


@pytest.mark.parametrize(
    ("content", "old", "new", "after"),
    [
        ("a\u00a0b\n", "a b", "c", "c\n"),
        ("x – y — z\n", "x - y - z", "w", "w\n"),
        ("cafe\u0301 au lait\n", "café", "thé", "the\u0301 au lait\n"),
        ("café au lait\n", "cafe\u0301", "thé", "thé au lait\n"),
        ("before “mid” after\n", '"mid"', "M", "before M after\n"),
        ("p “a\nb” s\n", '"a\nb"', "X", "p X s\n"),
        ("one  \ntwo\t\nthree\n", "one\ntwo\nthree", "X", "X\n"),
        ("한국어 “말”\n", '"말"', "X", "한국어 X\n"),
    ],
)
async def test_what_differs_in_writing_only_is_the_same(
    tools: Tools, cwd: Path, content: str, old: str, new: str, after: str
) -> None:
    assert await edited(tools, cwd, content.encode(), (old, new)) == after.encode()


@pytest.mark.parametrize(
    ("content", "old", "new", "after"),
    [
        ("\tif x:\n\t\treturn 1\n", "if x:\n\treturn 1", "if y:\n\treturn 2\n\treturn 3", "\tif y:\n\t\treturn 2\n\t\treturn 3\n"),
        ("if x:\n    return 1\n", "    if x:\n        return 1\n", "    if y:\n        return 2\n", "if y:\n    return 2\n"),
        ("\tif x:\n\t\treturn 1\n", "    if x:\n        return 1", "    if y:\n        return 2\n            deep", "\tif y:\n\t\treturn 2\n\t\t\tdeep\n"),
        ("    if x:\n        return 1\n", "\tif x:\n\t\treturn 1", "\tif y:\n\t\treturn 2\n\n\t\tdeep", "    if y:\n        return 2\n\n        deep\n"),
        ("  if x:\n    return 1\n", "    if x:\n        return 1", "    if y:\n        return 2", "  if y:\n    return 2\n"),
        ("    a\n\n    b\n", "a\n\nb", "c\n\nd", "    c\n\n    d\n"),
    ],
)  # fmt: skip
async def test_lines_that_are_all_indented_by_more_or_less_match_and_the_new_ones_are_indented_alike(
    tools: Tools, cwd: Path, content: str, old: str, new: str, after: str | None
) -> None:
    if after is None:
        await refused(tools, cwd, content.encode(), (old, new))
    else:
        assert await edited(tools, cwd, content.encode(), (old, new)) == after.encode()


async def test_a_new_line_whose_indentation_is_not_clear_is_refused(tools: Tools, cwd: Path) -> None:
    error = await refused(tools, cwd, b"if x:\n    a\n    b\n", ("if x:\n    a\nb", "z"))
    assert "the indentation of an added line cannot be told" in error


async def test_blank_text_matches_nothing_by_tolerance(tools: Tools, cwd: Path) -> None:
    await refused(tools, cwd, b"a\nb\n", ("  \n ", "z"))
    await refused(tools, cwd, b"a\nb\n", ("   ", "z"))


async def test_a_line_end_in_the_text_that_the_file_lacks_at_its_end_goes_with_it(tools: Tools, cwd: Path) -> None:
    assert await edited(tools, cwd, "one\n“two”".encode(), ('"two"\n', "2\n")) == b"one\n2"
    assert await edited(tools, cwd, "one\r\n“two”\r\n".encode(), ('"two"\n', "2\n")) == b"one\r\n2\r\n"


async def test_a_tolerant_match_in_a_legacy_or_wide_encoding_touches_its_lines_only(tools: Tools, cwd: Path) -> None:
    content = "“Größe”  \r\nx\r\n".encode("utf-16")
    assert await edited(tools, cwd, content, ('"Größe"\nx', "y\nz")) == "y\r\nz\r\n".encode("utf-16")
    content = "“Größe”: schön, naïve, coût 5 €  \nx\n".encode("cp1252") * 2
    after = await edited(tools, cwd, content + "last “q”\n".encode("cp1252"), ('last "q"', "done"))
    assert after == content + b"done\n"


async def test_exact_and_tolerant_edits_go_together(tools: Tools, cwd: Path) -> None:
    content = "a “b” c\nexact\nd  \ne\n".encode()
    assert await edited(tools, cwd, content, ('"b"', "B"), ("exact", "E"), ("d\ne", "DE")) == b"a B c\nE\nDE\n"


async def test_replace_all_goes_with_tolerance(tools: Tools, cwd: Path) -> None:
    assert await edited(tools, cwd, "“a” b\n".encode(), ('"a"', "X"), replace_all=True) == b"X b\n"
    assert await edited(tools, cwd, "“a” “a”\n".encode(), ('"a"', "X"), replace_all=True) == b"X X\n"
    content = b"  one\n  two\nx\n    one\n    two\n"
    assert await edited(tools, cwd, content, ("one\ntwo", "one\n2"), replace_all=True) == content.replace(b"two", b"2")
