"""Editing: exact places, all or none, and not one byte outside them."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.tools.conftest import Tools


async def edited(tools: Tools, cwd: Path, content: bytes, *edits: tuple[str, str], **more: Any) -> bytes:
    """The content after edits that must succeed."""
    (cwd / "f").write_bytes(content)
    answer = await tools.edit("f", *edits, **more)
    assert not answer.is_error, answer.text
    return (cwd / "f").read_bytes()


async def refused(tools: Tools, cwd: Path, content: bytes, *edits: tuple[str, str], **more: Any) -> str:
    """The error of edits that must fail, and leave the file as it was."""
    (cwd / "f").write_bytes(content)
    before = (cwd / "f").stat()
    answer = await tools.edit("f", *edits, **more)
    assert answer.is_error, answer.text
    assert (cwd / "f").read_bytes() == content
    assert (cwd / "f").stat().st_ino == before.st_ino
    return answer.text


async def test_the_place_is_replaced_and_told_with_its_line(tools: Tools, cwd: Path) -> None:
    (cwd / "f").write_text("one\ntwo\nthree\n")
    answer = await tools.edit("f", ("two", "2"))
    assert (cwd / "f").read_text() == "one\n2\nthree\n"
    assert answer.text == "Edited f: 1 place (line 2)."
    assert answer.details.first_changed_line == 2


async def test_only_the_matched_line_of_a_file_with_mixed_line_ends_changes(tools: Tools, cwd: Path) -> None:
    assert await edited(tools, cwd, b"a\r\nb\nc", ("c", "C")) == b"a\r\nb\nC"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
async def test_lines_that_go_in_get_the_line_ends_of_the_file(tools: Tools, cwd: Path, end: str) -> None:
    content = end.join(["x = 1", "y = 2", "z = 3", ""]).encode()
    after = await edited(tools, cwd, content, ("x = 1\ny = 2", "x = 1\ny = 22\nw = 9"))
    assert after == end.join(["x = 1", "y = 22", "w = 9", "z = 3", ""]).encode()


async def test_lines_that_stay_keep_their_line_ends_in_a_mixed_place(tools: Tools, cwd: Path) -> None:
    content = b"a\r\nb\nc\r\nd\ne\n"
    after = await edited(tools, cwd, content, ("a\nb\nc\nd\n", "a\nB1\nB2\nc\nd\n"))
    assert after == b"a\r\nB1\nB2\nc\r\nd\ne\n"


async def test_the_line_end_beside_the_place_decides_where_the_place_has_none(tools: Tools, cwd: Path) -> None:
    assert await edited(tools, cwd, b"a\nb\r\nc\r\n", ("b", "b\nb2")) == b"a\nb\r\nb2\r\nc\r\n"
    assert await edited(tools, cwd, b"a\r\nb\r\nlast", ("last", "last\nmore")) == b"a\r\nb\r\nlast\r\nmore"
    assert await edited(tools, cwd, b"alone", ("alone", "alone\nmore")) == b"alone\nmore"


async def test_a_line_end_is_never_torn(tools: Tools, cwd: Path) -> None:
    assert await edited(tools, cwd, b"a\r\nfoo\r\n", ("\nfoo", "X\nbar")) == b"a\r\nX\r\nbar\r\n"
    assert await edited(tools, cwd, b"a\r\nfoo\r\n", ("\nfoo\n", "")) == b"a"
    assert await edited(tools, cwd, b"a\n\r\nb\n", ("\n\n", "\n")) == b"a\nb\n"


async def test_a_crlf_in_the_new_text_is_meant(tools: Tools, cwd: Path) -> None:
    assert await edited(tools, cwd, b"a\nb\n", ("a", "a\r\nx")) == b"a\r\nx\nb\n"
    assert await edited(tools, cwd, b"a\r\nb\r\n", ("a\r\nb", "a\r\nx")) == b"a\r\nx\r\n"
    assert await edited(tools, cwd, b"a\nb\n", ("a\r\nb", "c")) == b"c\n"


async def test_an_exact_place_in_mixed_line_ends_is_not_confused_by_one_that_is_nearly_the_same(
    tools: Tools, cwd: Path
) -> None:
    assert await edited(tools, cwd, b"a\r\nb\r\na\nb\n", ("a\nb", "X")) == b"a\r\nb\r\nX\n"


async def test_a_bom_is_no_hindrance_and_stays(tools: Tools, cwd: Path) -> None:
    content = b"\xef\xbb\xbfhello\r\nworld\r\n"
    after = await edited(tools, cwd, content, ("hello", "hello2"))
    assert after == b"\xef\xbb\xbfhello2\r\nworld\r\n"
    after = await edited(tools, cwd, after, ("\ufeffhello2", "hello3"))
    after = await edited(tools, cwd, after, ("hello3\nworld", "all"))
    assert after == b"\xef\xbb\xbfall\r\n"


@pytest.mark.parametrize(
    ("content", "edit", "after"),
    [
        (b"const x = 1;\n// caf\xe9 note\n", ("const x = 1;", "const x = 2;"), b"const x = 2;\n// caf\xe9 note\n"),
        (b"const x = 1\n\xd6\xd0\xce\xc4\n", ("const x = 1", "const x = 2"), b"const x = 2\n\xd6\xd0\xce\xc4\n"),
        (b"a = 1\n\xff\xfe\x00\x80\n", ("a = 1", "a = 2"), b"a = 2\n\xff\xfe\x00\x80\n"),
        (b"// caf\xe9 note\n", ("café", "thé"), b"// th\xe9 note\n"),
        ("a \ufffd b\n".encode(), ("a \ufffd", "c \ufffd"), "c \ufffd b\n".encode()),
        ("é ü\n".encode() * 9 + b"\xff x\n", ("x", "ñ"), "é ü\n".encode() * 9 + b"\xff \xc3\xb1\n"),
    ],
)
async def test_bytes_of_other_encodings_stay(
    tools: Tools, cwd: Path, content: bytes, edit: tuple[str, str], after: bytes
) -> None:
    assert await edited(tools, cwd, content, edit) == after


async def test_new_text_in_a_legacy_file_is_written_in_its_encoding_or_refused(tools: Tools, cwd: Path) -> None:
    content = "Straße, naïve, coût: 5 €\n".encode("cp1252") * 3 + b"end\n"
    assert (await edited(tools, cwd, content, ("end", "Ende: Größe"))).endswith("Ende: Größe\n".encode("cp1252"))
    assert "has no '你'" in await refused(tools, cwd, content, ("end", "你"))


async def test_a_legacy_character_far_down_is_seen_before_text_goes_in(tools: Tools, cwd: Path) -> None:
    content = b"plain\n" * 30_000 + b"caf\xe9\nend\n"
    assert (await edited(tools, cwd, content, ("end", "thé"))).endswith(b"caf\xe9\nth\xe9\n")


async def test_part_of_a_wide_character_is_not_taken_for_a_letter(tools: Tools, cwd: Path) -> None:
    text = "表示する文字コードの推測には十分な長さの日本語の文章が必要です。\n" * 4
    content = text.encode("shift_jis") + b"\\ here\n"
    assert content.count(b"\\") > 1
    assert await edited(tools, cwd, content, ("\\", "/")) == text.encode("shift_jis") + b"/ here\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
async def test_wide_encodings_are_edited_in_place(tools: Tools, cwd: Path, encoding: str) -> None:
    content = "alpha\r\nbéta ĊĀ\r\nlast\r\n".encode(encoding)
    after = await edited(tools, cwd, content, ("béta", "ß€"), ("alpha\n", "one\ntwo\n"))
    assert after == "one\r\ntwo\r\nß€ ĊĀ\r\nlast\r\n".encode(encoding)


async def test_an_empty_old_text_is_refused(tools: Tools, cwd: Path) -> None:
    for content in (b"abc", b""):
        for more in ({}, {"replace_all": True}):
            assert "must not be empty" in await refused(tools, cwd, content, ("", "X"), **more)
    assert (await tools.edit("missing", ("", "X"))).is_error
    assert not (cwd / "missing").exists()


async def test_an_edit_that_changes_nothing_is_refused(tools: Tools, cwd: Path) -> None:
    assert "same" in await refused(tools, cwd, b"abc", ("b", "b"))


LITERAL = r'log("$& $1 $$ $' + "'" + r' \1 \g<0> \n end");'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'log("done");\nx.*y\n', f"{LITERAL}\np|q\n".encode()),
        (b'log("done");\r\nx.*y\r\n', f"{LITERAL}\r\np|q\r\n".encode()),
        (
            "log(“done”);  \nx.*y\n".encode(),
            f"{LITERAL.replace(chr(34), '“', 1).replace(chr(34), '”')}  \np|q\n".encode(),
        ),
    ],
    ids=["lf", "crlf", "tolerant"],
)
async def test_texts_are_taken_literally_on_every_way(tools: Tools, cwd: Path, before: bytes, after: bytes) -> None:
    assert await edited(tools, cwd, before, ('log("done");', LITERAL), ("x.*y", "p|q")) == after


async def test_replace_all_is_literal_too(tools: Tools, cwd: Path) -> None:
    assert await edited(tools, cwd, b"a.b a.b axb", ("a.b", r"\g<0>$&"), replace_all=True) == rb"\g<0>$& \g<0>$& axb"
    assert (
        await edited(tools, cwd, b"a\r\nb\r\na\r\nb\r\n", ("a\nb", "x\ny"), replace_all=True) == b"x\r\ny\r\nx\r\ny\r\n"
    )
    assert await edited(tools, cwd, b"aaaaa", ("aa", "b"), replace_all=True) == b"bba"


async def test_the_end_of_the_file_is_as_it_was_asked_for(tools: Tools, cwd: Path) -> None:
    assert await edited(tools, cwd, b"one\ntwo", ("two", "two\nthree")) == b"one\ntwo\nthree"
    assert await edited(tools, cwd, b"one\r\ntwo\r\n", ("two\n", "2\n")) == b"one\r\n2\r\n"
    assert await edited(tools, cwd, b"one\ntwo\n", ("\ntwo\n", "")) == b"one"
    assert await edited(tools, cwd, b"one\ntwo", ("two\n", "2\n")) == b"one\n2"


async def test_a_text_that_is_there_more_than_once_is_refused_with_the_count_and_the_lines(
    tools: Tools, cwd: Path
) -> None:
    error = await refused(tools, cwd, b"a\nfoo\nb\nfoo\n", ("foo", "bar"))
    assert "2 times (lines 2, 4)" in error and "replace_all" in error
    assert "2 times" in await refused(tools, cwd, b"aaaa", ("aaa", "b"))
    assert "2 times" in await refused(tools, cwd, b"x\r\nx\r\nx\r\n", ("x\nx", "b"))


async def test_a_text_that_is_everywhere_is_refused(tools: Tools, cwd: Path) -> None:
    assert "10,000 or more times" in await refused(tools, cwd, b"a" * 5_000_000, ("a", "b"))


async def test_a_text_that_is_not_there_is_shown_the_nearest_place(tools: Tools, cwd: Path) -> None:
    content = b"class A:\n    def run(self):\n        return self.value + 1\n\nclass B: pass\n"
    error = await refused(tools, cwd, content, ("def run(self):\n        return self.values + 1", "x"))
    assert "not found" in error
    assert "The nearest place is lines 2-3" in error
    assert "\n    def run(self):\n        return self.value + 1\n" in error
    assert "line 3: `value` in the file, `values` in old_text" in error
    error = await refused(tools, cwd, b"a\nfoo\nb\nfoo\n", ("fooo", "x"))
    assert "line 2" in error


async def test_differences_in_whitespace_are_told_in_words(tools: Tools, cwd: Path) -> None:
    error = await refused(tools, cwd, b"\tif  x:\n\t\ty = 1\n\tend\n", ("if x:\n    y = 2", "z"))
    assert "line 1 is indented by 1 tab in the file, by nothing in old_text" in error
    assert "line 2: `1` in the file, `2` in old_text" in error


async def test_the_lines_shown_reach_to_the_last_that_matches(tools: Tools, cwd: Path) -> None:
    content = b"def run():\n    one()\n    two()\n    three()\n    return 1\n\nother\n"
    error = await refused(tools, cwd, content, ("def run():\n    one()\n    return 1", "x"))
    assert "lines 1-5:\ndef run():\n    one()\n    two()\n    three()\n    return 1\n" in error
    assert "line 3 of the file is not in old_text: `    two()`" in error


async def test_a_retry_is_told_that_the_new_text_is_there(tools: Tools, cwd: Path) -> None:
    error = await refused(tools, cwd, b"a = 1\nvalue = compute(2)\n", ("value = compute(1)", "value = compute(2)"))
    assert "new_text is in it already, at line 2" in error


async def test_each_of_several_places_is_shown_with_the_lines_around_it(tools: Tools, cwd: Path) -> None:
    error = await refused(tools, cwd, b"def a():\n    pass\n\ndef b():\n    pass\n", ("    pass", "x"))
    assert "Line 2 is within:\ndef a():\n    pass\n" in error and "def b():\n    pass" in error


async def test_an_edit_that_adds_is_not_made_twice(tools: Tools, cwd: Path) -> None:
    for old, new in (("one", "one\nadded = 1"), ("one\n", "one\nadded = 1\n"), ("two", "added = 1\ntwo")):
        after = await edited(tools, cwd, b"zero\none\ntwo\n", (old, new))
        assert after == b"zero\none\nadded = 1\ntwo\n"
        answer = await tools.edit("f", (old, new))
        assert (cwd / "f").read_bytes() == after
        assert "already" in answer.text and not answer.is_error
    # Brackets and blank lines are repeated by chance.
    assert await edited(tools, cwd, b"  x\n}\n", ("  x", "  x\n}")) == b"  x\n}\n}\n"


@pytest.mark.parametrize(("old", "new", "after"), [
    ("one\n", "1", "zero\n1\n  two\n"),
    ("\none", "1", "zero\n1\n  two\n"),
    ("\none\n", "1", "zero\n1\n  two\n"),
    ("one", "1\n", "zero\n1\n  two\n"),
    ("one", "one\n", "zero\none\n\n  two\n"),
    ("one\n", "", "zero\n  two\n"),
    ("ne\n", "", "zero\no\n  two\n"),
    ("two\n", "", "zero\none\n"),
    ("zero\n", "zero; ", "zero; \none\n  two\n"),
    ("e\n  t", "e t", "zero\none two\n"),
])  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_lines_are_not_joined_by_a_line_end_that_only_one_of_the_texts_has(
    tools: Tools, cwd: Path, end: str, old: str, new: str, after: str
) -> None:
    content = "zero\none\n  two\n".replace("\n", end).encode()
    assert await edited(tools, cwd, content, (old, new)) == after.replace("\n", end).encode()


async def test_nothing_alike_is_said_as_well(tools: Tools, cwd: Path) -> None:
    assert "nothing in the file is like it" in await refused(tools, cwd, b"abc\ndef\n", ("zzzzzzzzzz", "y"))
    assert "empty" in await refused(tools, cwd, b"", ("zzzzzzzzzz", "y"))


async def test_a_change_made_meanwhile_by_somebody_else_survives(tools: Tools, cwd: Path) -> None:
    (cwd / "f").write_text("one\ntwo\n")
    await tools.read("f")
    with (cwd / "f").open("a") as file:
        file.write("appended\n")
    await tools.edit("f", ("one", "1"))
    assert (cwd / "f").read_text() == "1\ntwo\nappended\n"


async def test_edits_are_matched_against_the_original_and_in_any_order(tools: Tools, cwd: Path) -> None:
    assert await edited(tools, cwd, b"a b c", ("c", "a"), ("a", "b"), ("b", "c")) == b"b c a"
    assert await edited(tools, cwd, b"abcd", ("cd", "2"), ("ab", "1")) == b"12"


async def test_one_edit_that_fails_lets_none_be_made(tools: Tools, cwd: Path) -> None:
    error = await refused(tools, cwd, b"a b c", ("a", "1"), ("zz", "2"), ("c", "3"))
    assert "edits[1].old_text was not found" in error


async def test_edits_that_overlap_are_refused_with_both_numbers(tools: Tools, cwd: Path) -> None:
    error = await refused(tools, cwd, b"one\nabcd\n", ("cd", "1"), ("bc", "2"))
    assert "edits[1] and edits[0] overlap" in error and "line 2" in error
    assert "overlap" in await refused(tools, cwd, b"abcd", ("abcd", "1"), ("bc", "2"))
    assert "overlap" in await refused(tools, cwd, b"abcd", ("bc", "1"), ("bc", "2"))


async def test_an_empty_list_of_edits_is_refused(tools: Tools, cwd: Path) -> None:
    (cwd / "f").write_text("x")
    answer = await tools("edit", {"path": "f", "edits": []})
    assert answer.is_error
    assert "edits" in answer.text


PAIR = {"old_text": "a", "new_text": "b"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "f", "edits": [PAIR]},
        {"path": "f", "edits": PAIR},
        {"path": "f", "edits": '[{"old_text": "a", "new_text": "b"}]'},
        {"path": "f", "edits": '{"old_text": "a", "new_text": "b"}'},
        {"path": "f", "edits": ['{"old_text": "a", "new_text": "b"}']},
        {"path": "f", **PAIR},
        {"file_path": "f", "old_string": "a", "new_string": "b"},
        {"filePath": "f", "oldString": "a", "newString": "b"},
        {"file": "f", "oldText": "a", "newText": "b"},
        {"path": "f", "find": "a", "replacement": "b"},
        {"path": "f", "find": "a", "replace": "b"},
        {"path": "f", "old_str": "a", "new_str": "b"},
        {"path": "f", "edits": [{"oldText": "a", "newText": "b"}]},
        {"path": "f", "edits": [{"find": "a", "replacement": "b", "why": "an extra key"}], "note": "another"},
        {"path": "f", "edits": [], **PAIR},
        {"path": "f", "edits": [PAIR], "replace_all": False},
    ],
)
async def test_the_forms_that_models_are_used_to_are_taken(tools: Tools, cwd: Path, arguments: dict[str, Any]) -> None:
    (cwd / "f").write_text("a c")
    answer = await tools("edit", arguments)
    assert not answer.is_error, answer.text
    assert (cwd / "f").read_text() == "b c"


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "f"},
        {"path": "f", "edits": "not json"},
        {"path": "f", "edits": [{"old_text": "a"}]},
        {"path": "f", "edits": [1]},
        {"edits": [PAIR]},
    ],
)
async def test_what_cannot_be_understood_is_a_validation_error(
    tools: Tools, cwd: Path, arguments: dict[str, Any]
) -> None:
    (cwd / "f").write_text("a c")
    assert "Invalid arguments" in (await tools("edit", arguments)).text
    assert (cwd / "f").read_text() == "a c"


async def test_replace_all_beside_the_pair_holds_for_it(tools: Tools, cwd: Path) -> None:
    (cwd / "f").write_text("a a")
    await tools("edit", {"path": "f", "old_string": "a", "new_string": "b", "replaceAll": True})
    assert (cwd / "f").read_text() == "b b"


async def test_preparing_does_not_change_what_the_model_wrote(tools: Tools) -> None:
    arguments = {"file_path": "f", "edits": [{"oldText": "a", "newText": "b"}]}
    tools.by_name["edit"].prepare_arguments(arguments)
    assert arguments == {"file_path": "f", "edits": [{"oldText": "a", "newText": "b"}]}


async def test_the_patch_is_one_that_programs_can_apply(tools: Tools, cwd: Path) -> None:
    lines = [f"line {number}" for number in range(1, 201)]
    before = "\n".join(lines)
    (cwd / "f").write_text(before)
    answer = await tools.edit(
        "f", ("line 1\n", "first\n"), ("line 50\nline 51", "fifty"), ("line 120\n", ""), ("line 200", "last\nand more")
    )
    after = (cwd / "f").read_text()
    (cwd / "f").write_text(before)
    (cwd / "p").write_text(answer.details.patch)
    subprocess.run(["git", "apply", "p"], cwd=cwd, check=True)
    assert (cwd / "f").read_text() == after


async def test_the_diff_for_people_has_numbers_and_leaves_out_what_is_far_from_the_edits(
    tools: Tools, cwd: Path
) -> None:
    (cwd / "f").write_text("".join(f"line {number}\n" for number in range(1, 101)))
    answer = await tools.edit("f", ("line 10\n", "ten\n10b\n"), ("line 90\n", "ninety\n"))
    assert answer.details.diff.split("\n") == [
        *(f"{number:>3} line {number}".replace("  ", "  ", 1) for number in range(6, 10)),
        "-10 line 10",
        "+10 ten",
        "+11 10b",
        *(f" {number} line {number - 1}" for number in range(12, 16)),
        "...",
        *(f" {number} line {number - 1}" for number in range(87, 91)),
        "-90 line 90",
        "+91 ninety",
        *(f" {number} line {number - 1}" for number in range(92, 96)),
    ]
    assert answer.details.first_changed_line == 10


async def test_a_huge_line_neither_swells_the_diff_nor_the_result(tools: Tools, cwd: Path) -> None:
    (cwd / "f").write_text("x" * 3_000_000 + "needle" + "y" * 3_000_000)
    answer = await tools.edit("f", ("needle", "pin"))
    assert (cwd / "f").stat().st_size == 6_000_003
    assert len(answer.details.diff) < 3_000
    assert answer.details.patch == ""
    assert len(answer.text) < 200


async def test_a_very_large_file_is_edited_and_an_even_larger_one_refused(tools: Tools, cwd: Path) -> None:
    with (cwd / "f").open("wb") as file:
        for _ in range(40):
            file.write(b"0123456789abcde\n" * 65_536)
        file.write(b"needle\n")
    answer = await tools.edit("f", ("needle\n", "pin\n"))
    assert answer.details.first_changed_line == 40 * 65_536 + 1
    assert (await tools.edit("f", ("nowhere in it", "x"))).is_error
    with (cwd / "g").open("wb") as file:
        file.truncate(300 << 20)
    assert "too large to edit" in (await tools.edit("g", ("a", "b"))).text


async def test_what_is_no_regular_file_is_not_edited(tools: Tools, cwd: Path) -> None:
    assert "folder" in (await tools.edit(".", ("a", "b"))).text
    assert "device" in (await tools.edit("/dev/null", ("a", "b"))).text
    assert "does not exist" in (await tools.edit("missing", ("a", "b"))).text


async def test_damaged_utf8_is_never_taken_for_utf16(tools: Tools, cwd: Path) -> None:
    content = b"\xff1\n\xff[\xe2\x80\x93\n\xff[\xe4\xbd\xa0\n"
    (cwd / "f").write_bytes(content)
    assert "not unique" in (await tools.edit("f", ("\n", "x"))).text
    await tools.edit("f", ("1\n", "one\n"))
    assert (cwd / "f").read_bytes() == content.replace(b"1\n", b"one\n")
