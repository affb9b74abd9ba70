"""File names as people and models write them."""

import os
import unicodedata
from pathlib import Path

import pytest

from agentcli.tools.files.paths import display_path, find_file, find_target
from tests.tools.conftest import Tools

NFD_NAME = unicodedata.normalize("NFD", "Snímek v\u00a013.05.txt")


@pytest.mark.parametrize(
    ("on_disk", "typed"),
    [
        ("Screenshot 2026-01-02 at 3.04.05\u202fPM.txt", "Screenshot 2026-01-02 at 3.04.05 PM.txt"),
        (NFD_NAME, "Snímek v 13.05.txt"),
        ("cafe\u0301.md", "café.md"),
        ("café.md", "cafe\u0301.md"),
        ("it’s.txt", "it's.txt"),
        ("a–b.txt", "a-b.txt"),
        ("ｗｉｄｅ.txt", "wide.txt"),
    ],
)
async def test_a_name_that_differs_in_how_its_characters_are_written_is_found(
    tools: Tools, cwd: Path, on_disk: str, typed: str
) -> None:
    (cwd / on_disk).write_text("content of it")
    answer = await tools.read(typed)
    assert answer.text.startswith("content of it")
    assert answer.details.path == str(cwd / on_disk)
    note = f"The file's name is written with other characters than yours: {str(cwd / on_disk)!r}."
    assert note in answer.text
    answer = await tools.edit(typed, ("content", "text"))
    assert not answer.is_error
    assert note in answer.text
    assert (cwd / on_disk).read_text() == "text of it"
    assert [path.name for path in cwd.iterdir()] == [on_disk]


async def test_folders_on_the_way_are_found_the_same_way(tools: Tools, cwd: Path) -> None:
    (cwd / "My\u00a0Fo\u0301lder").mkdir()
    (cwd / "My\u00a0Fo\u0301lder" / "a.txt").write_text("x")
    answer = await tools.read("My Fólder/a.txt")
    assert answer.text.startswith("x") and "other characters than yours" in answer.text


@pytest.mark.parametrize(
    ("on_disk", "typed"),
    [("a\u202fb.txt", "a b.txt"), ("cafe\u0301.txt", "café.txt"), ("café.txt", "cafe\u0301.txt"), ("x².txt", "x2.txt")],
)
async def test_a_write_makes_a_file_of_just_the_name_it_was_given(
    tools: Tools, cwd: Path, on_disk: str, typed: str
) -> None:
    (cwd / on_disk).write_text("old")
    (cwd / f"in {on_disk}").mkdir()
    await tools.read(typed)
    for name in (typed, f"in {typed}/new.txt"):
        assert (await tools.write(name, "new")).text.startswith("Created")
        assert (cwd / name).read_text() == "new"
    assert (cwd / on_disk).read_text() == "old"
    assert sorted(path.name for path in cwd.iterdir()) == sorted([on_disk, typed, f"in {on_disk}", f"in {typed}"])


async def test_the_exact_name_wins(tools: Tools, cwd: Path) -> None:
    (cwd / "a b.txt").write_text("plain")
    (cwd / "a\u00a0b.txt").write_text("no-break")
    assert (await tools.read("a b.txt")).text == "plain"
    assert (await tools.read("a\u00a0b.txt")).text == "no-break"


async def test_several_names_that_are_alike_are_not_guessed_among(tools: Tools, cwd: Path) -> None:
    (cwd / "a\u00a0b.txt").write_text("1")
    (cwd / "a\u202fb.txt").write_text("2")
    answer = await tools.read("a b.txt")
    assert answer.is_error
    assert "several files" in answer.text


@pytest.mark.parametrize(
    "typed", ["@a.txt", '"a.txt"', "'a.txt'", "`a.txt`", "“a.txt”", '@"a.txt"', "./a.txt", " a.txt "]
)
async def test_decorations_around_a_name_are_taken_off(tools: Tools, cwd: Path, typed: str) -> None:
    (cwd / "a.txt").write_text("plain")
    assert (await tools.read(typed)).text.startswith("plain")


@pytest.mark.parametrize("name", ["@a.txt", '"a.txt"', " a.txt ", "file:a.txt"])
async def test_a_name_that_really_has_the_decoration_wins(tools: Tools, cwd: Path, name: str) -> None:
    (cwd / "a.txt").write_text("plain")
    (cwd / name).write_text("decorated")
    assert (await tools.read(name)).text == "decorated"


async def test_file_addresses_and_backslashes(tools: Tools, cwd: Path) -> None:
    (cwd / "a b.txt").write_text("blank")
    assert (await tools.read(f"file://{cwd}/a%20b.txt")).text.startswith("blank")
    assert (await tools.read(f"file://localhost{cwd}/a%20b.txt")).text.startswith("blank")
    assert (await tools.read("a\\ b.txt")).text.startswith("blank")


async def test_the_home_folder_is_meant_at_the_start_only(
    tools: Tools, cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "x.txt").write_text("at home")
    (cwd / "~").mkdir()
    (cwd / "~" / "y.txt").write_text("in a folder named so")
    monkeypatch.setenv("HOME", str(home))
    assert (await tools.read("~/x.txt")).text == "at home"
    assert (await tools.read("./~/y.txt")).text == "in a folder named so"
    assert (await tools.read("~/y.txt")).is_error
    assert (await tools.read("~no_such_user/x")).is_error


async def test_a_folder_is_told_with_what_it_holds(tools: Tools, cwd: Path) -> None:
    (cwd / "b.txt").touch()
    (cwd / "sub").mkdir()
    answer = await tools.read(".")
    assert answer.is_error
    assert "is a folder" in answer.text
    assert "b.txt, sub/" in answer.text
    assert "empty" in (await tools.read("sub")).text


async def test_a_dangling_link_is_not_found_and_does_not_break_listings(tools: Tools, cwd: Path) -> None:
    (cwd / "gone").symlink_to("nowhere")
    answer = await tools.read("gone")
    assert answer.is_error
    assert "not found" in answer.text and "dangling link to nowhere" in answer.text
    assert "gone" in (await tools.read(".")).text
    assert "gone (dangling link)" in (await tools("ls", {})).text


async def test_a_missing_file_is_told_with_names_like_it(tools: Tools, cwd: Path) -> None:
    (cwd / "readme.md").touch()
    answer = await tools.read("raedme.md")
    assert answer.is_error
    assert "does not exist" in answer.text and "readme.md" in answer.text
    answer = await tools.read("no/such/file.txt")
    assert f"there is no folder {cwd / 'no'}" in answer.text


@pytest.mark.parametrize("name", ["", "   ", "a\0b", "a\ud800b"])
async def test_what_cannot_be_a_name_is_an_error_of_the_call(tools: Tools, name: str) -> None:
    for tool in ("read", "write", "edit"):
        more = {"write": {"content": ""}, "edit": {"edits": [{"old_text": "a", "new_text": "b"}]}}.get(tool, {})
        answer = await tools(tool, {"path": name, **more})
        assert answer.is_error
        assert answer.text.isprintable()


async def test_a_name_too_long_for_the_disk_is_an_error_of_the_call(tools: Tools, cwd: Path) -> None:
    for name in ("x" * 300, "x/" * 3000 + "y"):
        assert (await tools.read(name)).is_error
        assert (await tools.write(name, "x")).is_error
    assert list(cwd.iterdir()) == []


async def test_a_loop_of_links_is_an_error_of_the_call(tools: Tools, cwd: Path) -> None:
    (cwd / "one").symlink_to("two")
    (cwd / "two").symlink_to("one")
    for answer in (await tools.read("one"), await tools.write("one", "x"), await tools.edit("one", ("a", "b"))):
        assert answer.is_error
    assert (cwd / "one").is_symlink()


async def test_a_name_that_is_not_utf8_is_usable(tools: Tools, cwd: Path) -> None:
    Path(os.fsdecode(os.fsencode(cwd) + b"/caf\xe9.txt")).write_text("legacy name")
    assert (await tools("ls", {})).text == "caf\ufffd.txt"
    assert (await tools("find", {"pattern": "*.txt"})).text == "caf\ufffd.txt"
    assert (await tools("grep", {"pattern": "legacy"})).text == "caf\ufffd.txt:1: legacy name"
    answer = await tools.read("caf\ufffd.txt")
    assert answer.text.startswith("legacy name")
    assert not (await tools.edit("caf\ufffd.txt", ("legacy", "old"))).is_error
    for text in (answer.text, answer.details.path, (await tools.read("cafx.txt")).text, (await tools.read(".")).text):
        text.encode()


def test_paths_above_the_working_folder_are_reached(cwd: Path) -> None:
    (cwd.parent / "up.txt").touch()
    assert find_file("../up.txt", cwd) == cwd / "../up.txt"
    assert find_target("sub/../new.txt", cwd).name == "new.txt"


def test_dots_after_a_link_mean_the_folder_that_the_link_leads_to(cwd: Path) -> None:
    (cwd.parent / "other" / "deep").mkdir(parents=True)
    (cwd.parent / "other" / "x.txt").write_text("there")
    (cwd / "link").symlink_to(cwd.parent / "other" / "deep")
    assert find_file("link/../x.txt", cwd).read_text() == "there"


def test_a_path_below_the_working_folder_is_shown_relative_to_it(cwd: Path) -> None:
    assert display_path(cwd / "a" / "b", cwd) == "a/b"
    assert display_path(cwd.parent / "work-evil", cwd) == str(cwd.parent / "work-evil")


@pytest.mark.parametrize("name", ["@src/new.txt", '"src/new.txt"', "src/new.txt"])
def test_a_decorated_new_name_is_made_without_the_decoration(cwd: Path, name: str) -> None:
    (cwd / "src").mkdir()
    assert find_target(name, cwd) == cwd / "src" / "new.txt"


def test_a_new_file_in_a_folder_that_really_begins_with_an_at_sign_is_made_there(cwd: Path) -> None:
    (cwd / "@scope").mkdir()
    assert find_target("@scope/new.txt", cwd) == cwd / "@scope" / "new.txt"
