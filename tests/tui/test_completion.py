"""Commands after /, files after @, paths on Tab."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from agentcli.agent.errors import ConfigError
from agentcli.runtime.attachments import Attachments
from agentcli.tools.options import ToolOptions
from agentcli.tui.editing import file_finder
from agentcli.tui.editing.completion import Choice, Kind, written_at, written_path
from agentcli.tui.editing.file_finder import FileFinder, list_folder
from agentcli.tui.painting.clean import one_line
from tests.files.images import PNG
from tests.tui.conftest import escapes, markup_lines
from tests.tui.drive import screen, type_keys, until
from tests.tui.writing import MODELS, WritingApp, marked_letters, shown_list


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


async def ready(pilot: Pilot[Any]) -> WritingApp:
    app = pilot.app
    assert isinstance(app, WritingApp)
    await until(pilot, lambda: app.is_ready)
    return app


async def listed(pilot: Pilot[Any], *expected: str) -> None:
    """Wait until the list shows these names, in this order."""
    await until(pilot, lambda: [_name(line) for line in shown_list(pilot)] == list(expected))


def _name(line: str) -> str:
    return line.removeprefix("❯ ").partition("  ")[0]


# What is being written


@pytest.mark.parametrize(
    ("line", "kind", "text", "start"),
    [
        ("/", Kind.COMMAND, "", 0),
        ("/mo", Kind.COMMAND, "mo", 0),
        ("/skill:a.b-c", Kind.COMMAND, "skill:a.b-c", 0),
        ("/model  gp", Kind.ARGUMENT, "gp", 8),
        ("see @", Kind.MENTION, "", 4),
        ("@src/a[(.*", Kind.MENTION, "src/a[(.*", 0),
        ('see @"a b', Kind.MENTION, "a b", 4),
        ("(@a", Kind.MENTION, "a", 1),
        ("看看@文", Kind.MENTION, "文", 2),
        ("看，@文（", Kind.MENTION, "文（", 2),
    ],
)
def test_what_is_being_written(line: str, kind: Kind, text: str, start: int) -> None:
    found = written_at(line, len(line), first=True, with_arguments={"model"})
    assert found is not None and (found.kind, found.text, found.start) == (kind, text, start)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "word",
        "me@example.org",
        "what?@a",
        "a/@b",
        "a /model",
        " /model",
        "/usr/bin",
        "/compact all",
        "@a b",
        'say "@a" ',
    ],
)
def test_nothing_to_complete(line: str) -> None:
    assert written_at(line, len(line), first=True, with_arguments={"model"}) is None


@pytest.mark.parametrize(
    ("line", "text", "start"),
    [
        ("see src/a", "src/a", 4),
        (r"see a\ b", "a b", 4),
        ('see "a b', "a b", 4),
        ("(src", "src", 1),
        ("don't", "t", 4),
        ("", "", 0),
        ("a ", "", 2),
        ("!cat a", "a", 5),
        ("!!a", "a", 2),
    ],
)
def test_any_word_is_a_path_on_tab(line: str, text: str, start: int) -> None:
    found = written_at(line, len(line), first=True, tab=True)
    assert found is not None and (found.kind, found.text, found.start) == (Kind.PATH, text, start)


def test_a_command_is_at_the_start_of_the_draft_only() -> None:
    assert written_at("/mo", 3, first=False) is None


def test_a_line_of_a_megabyte_is_looked_at_in_no_time() -> None:
    for line in ("x" * (1 << 20), "@" * (1 << 20), "x" * (1 << 20) + "' ", "/" + "x" * (1 << 20)):
        written_at(line, len(line), first=True, tab=True)


@pytest.mark.parametrize(
    "name", ["plain.png", "a b.png", "it's.png", 'a "b".png', "(x).png", "a\\b.png", "文件 1.png", "a.png,"]
)
def test_what_completion_writes_is_what_attaches(tmp_path: Path, name: str) -> None:
    name = name if name.endswith(".png") else f"{name}.png"
    (tmp_path / name).write_bytes(PNG)
    attachments = Attachments(ToolOptions(cwd=tmp_path))
    assert len(attachments.images_in(f"see {written_path(name, Kind.MENTION)} now")) == 1


# Commands


async def test_a_slash_lists_the_commands_and_enter_runs_one(work: Path) -> None:
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press("/")
        assert [_name(line) for line in shown_list(pilot)][:2] == ["/model [provider/id[:level]]", "/new"]
        assert shown_list(pilot)[0].startswith("❯ ") and "Choose the model" in shown_list(pilot)[0]
        assert "[@click=app.bell]Deploy[/]" in screen(pilot)
        await pilot.press(*"nw")
        assert [_name(line) for line in shown_list(pilot)] == ["/new"]
        await pilot.press("enter")
        await until(pilot, lambda: app.sent == ["/new"])
        assert app.editor.text == "" and shown_list(pilot) == []


async def test_tab_takes_a_command_and_goes_on_with_its_argument(work: Path) -> None:
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"/mo", "tab")
        assert app.editor.text == "/model "
        assert [_name(line) for line in shown_list(pilot)] == ["openai/gpt-6", "openai/gpt-6-mini", "anthropic/opus"]
        await pilot.press(*"opus", "enter")
        await until(pilot, lambda: app.sent == ["/model anthropic/opus"])


async def test_any_slash_can_be_typed_and_taken_back(work: Path) -> None:
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        for typed in ("/", "/x", "//", "/[", "/(", "/\\", "/*", "/ ", "/model", "/model ", "/nope ", "/文"):
            type_keys(pilot, *typed)
            await until(pilot, lambda typed=typed: app.editor.text == typed)
            type_keys(pilot, *["backspace"] * len(typed))
            await until(pilot, lambda: app.editor.text == "")
            await pilot.pause()
            assert shown_list(pilot) == []


async def test_up_down_choose_and_esc_closes_until_something_else_is_written(work: Path) -> None:
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"/n", "down", "down", "up", "up", "up")
        assert [line for line in shown_list(pilot) if line.startswith("❯")] == [shown_list(pilot)[-1]]
        await pilot.press("escape")
        assert shown_list(pilot) == [] and app.asked == []
        await pilot.press("a")
        assert shown_list(pilot) == [] and app.editor.text == "/na"
        await pilot.press("ctrl+u", "/")
        assert shown_list(pilot) != []
        await pilot.press("ctrl+u", *"/na", "escape", "tab")
        assert app.editor.text == "/name "


async def test_what_is_put_or_pasted_opens_no_list(work: Path) -> None:
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"/new", "enter", "up")
        assert app.editor.text == "/new" and shown_list(pilot) == []
        app.editor.put("")
        app.post_message(events.Paste("/mo"))
        await until(pilot, lambda: app.editor.text == "/mo")
        assert shown_list(pilot) == []


async def test_arguments_may_be_awaited_and_are_asked_for_once(work: Path) -> None:
    asked = 0

    async def models() -> Sequence[Choice]:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0.01)
        return MODELS

    async with WritingApp(work, {"model": models}).run_test() as pilot:
        await ready(pilot)
        await pilot.press(*"/model ")
        await listed(pilot, "openai/gpt-6", "openai/gpt-6-mini", "anthropic/opus")
        await pilot.press(*"mini")
        await listed(pilot, "openai/gpt-6-mini")
        assert asked == 1


async def test_an_argument_is_found_by_its_label_and_by_its_text(work: Path) -> None:
    sessions = (Choice("0199-aaaa", "2h", label="fix the race"), Choice("0199-bbbb", "3d", label="write the docs"))
    async with WritingApp(work, {"resume": lambda: sessions}).run_test() as pilot:
        app = await ready(pilot)
        for typed, label in (("race", "fix the race"), ("-bbb", "write the docs")):
            await pilot.press("ctrl+u", *f"/resume {typed}")
            assert [_name(line) for line in shown_list(pilot)] == [label]
        await pilot.press("enter")
        await until(pilot, lambda: app.sent == ["/resume 0199-bbbb"])


async def test_the_letters_that_were_written_are_marked(work: Path) -> None:
    make(work, "tests/deep/app.py", "a\tpp")
    async with WritingApp(work).run_test() as pilot:
        await ready(pilot)
        await pilot.press(*"/nm")
        assert marked_letters(pilot) == ["nm"]
        await pilot.press("ctrl+u", *"/")
        assert set(marked_letters(pilot)) == {""}
        await pilot.press("ctrl+u", *"/model o6")
        assert marked_letters(pilot) == ["o6", "o6"]
        await pilot.press("ctrl+u", *"@dap")
        await until(pilot, lambda: marked_letters(pilot) == ["dap"])
        await pilot.press("ctrl+u", *"@app")
        await until(pilot, lambda: marked_letters(pilot) == ["app", "app"])


async def test_arguments_that_cannot_be_had_are_told(work: Path) -> None:
    def models() -> Sequence[Choice]:
        raise ConfigError("there is no catalog")

    async with WritingApp(work, {"model": models}).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"/model x")
        await until(pilot, lambda: app.told == ["there is no catalog"])
        assert app.editor.text == "/model x"


# Files


async def test_an_at_sign_finds_files_that_git_does_not_ignore(work: Path) -> None:
    (work / ".git").mkdir()
    (work / ".gitignore").write_text("*.log\nbuild/\n")
    make(work, "src/app.py", "src/apply.log", "build/app.py", ".github/app.yml", ".git/app")
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"fix @app")
        await listed(pilot, "src/app.py", ".github/app.yml")
        await pilot.press("tab", *"now")
        assert app.editor.text == "fix @src/app.py now"


async def test_folders_go_on_completing_also_with_blanks_in_their_names(work: Path) -> None:
    make(work, "my dir/one.py", "my dir/two words.py")
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"@my")
        await listed(pilot, "my dir/", "my dir/one.py", "my dir/two words.py")
        await pilot.press("tab")
        assert app.editor.text == '@"my dir/"'
        await pilot.press(*"two")
        await listed(pilot, "my dir/two words.py")
        await pilot.press("enter")
        assert app.editor.text == '@"my dir/two words.py" ' and app.sent == []


async def test_enter_sends_when_the_file_is_written_whole(work: Path) -> None:
    make(work, "src/app.py")
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"@src/app.py")
        await listed(pilot, "src/app.py")
        await pilot.press("enter")
        await until(pilot, lambda: app.sent == ["@src/app.py"])


async def test_any_letters_are_looked_for_as_they_are(work: Path) -> None:
    name = "x[(b +*.\\文（a|b^${1}"
    make(work, name, "other")
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        for letters in ("[", "(", "b +", "*", ".", "\\", "文", "（", "a|b", "^", "$", "{1}"):
            type_keys(pilot, *f'@"{letters}')
            await listed(pilot, name)
            await pilot.press("tab")
            assert app.editor.text == f'@"{name}" '
            app.editor.put("")


async def test_names_are_shown_as_they_are_and_clean(work: Path) -> None:
    names = [line.replace("/", "∕") for line in markup_lines() if len(line) < 60]
    # A name that a screen of its own would not hold; NUL and / are in no name.
    evil = escapes().replace("/", "").replace("\0", "").encode("utf-8", "surrogateescape")[:200]
    (work / os.fsdecode(evil)).write_text("")
    make(work, *names, "new\nline")
    async with WritingApp(work).run_test(size=(100, 80)) as pilot:
        app = await ready(pilot)
        for name in names:
            type_keys(pilot, "ctrl+u", "@", *name.split(" ")[0][:8])
            await until(pilot, lambda name=name: one_line(name) in screen(pilot))
        await pilot.press("ctrl+u", *"@new")
        await until(pilot, lambda: "new line" in screen(pilot))
        await pilot.press("ctrl+u", *"@ZQX")
        await until(pilot, lambda: shown_list(pilot))
        assert not any(ord(letter) < 32 for line in shown_list(pilot) for letter in line)
        assert app._exception is None


async def test_files_elsewhere_and_ignored_ones_are_found_by_their_folder(work: Path) -> None:
    (work / ".git").mkdir()
    (work / ".gitignore").write_text("build/\n")
    make(work, "build/out.txt", "../other/far.txt")
    async with WritingApp(work).run_test() as pilot:
        await ready(pilot)
        await pilot.press(*"@../oth")
        await listed(pilot, "../other/")
        await pilot.press("tab")
        await listed(pilot, "../other/far.txt")
        await pilot.press("ctrl+u", *"@build/")
        await listed(pilot, "build/out.txt")
        await pilot.press("ctrl+u", *"@~/oth")
        await listed(pilot, "~/other/")


async def test_an_answer_for_what_is_not_written_any_more_is_dropped(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(work, "aaa", "bbb")
    go_on = asyncio.Event()
    find = FileFinder.find

    async def slow(self: FileFinder, letters: str, limit: int) -> list[str]:
        if letters == "a":
            await go_on.wait()
        return await find(self, letters, limit)

    monkeypatch.setattr(FileFinder, "find", slow)
    async with WritingApp(work).run_test() as pilot:
        await ready(pilot)
        await pilot.press(*"@a")
        await pilot.press("backspace", "b")
        go_on.set()
        await listed(pilot, "bbb")


async def test_what_is_made_later_is_found_later(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_finder, "FRESH_S", 0.0)
    make(work, "old")
    async with WritingApp(work).run_test() as pilot:
        await ready(pilot)
        await pilot.press("@")
        await listed(pilot, "old")
        make(work, "young")
        await pilot.press("y")
        await listed(pilot, "young")


async def test_the_list_of_files_is_bounded(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_finder, "MAX_FILES", 10)
    make(work, *(f"file {number}" for number in range(20)))
    finder = FileFinder(work)
    finder.refresh()
    await finder.wait(20)
    assert len(await finder.find("", 100)) == 10 and finder.problem == ""
    finder = FileFinder(work / "gone")
    finder.refresh()
    await finder.wait(20)
    assert "cannot be listed" in finder.problem


# Paths


async def test_tab_completes_what_is_common_then_lists(work: Path) -> None:
    make(work, "src/alpha_one.py", "src/alpha_two.py", "docs/x")
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"see s", "tab")
        assert app.editor.text == "see src/" and shown_list(pilot) == []
        await pilot.press("tab")
        assert app.editor.text == "see src/alpha_" and shown_list(pilot) == []
        await pilot.press("tab")
        assert [_name(line) for line in shown_list(pilot)] == ["src/alpha_one.py", "src/alpha_two.py"]
        await pilot.press("t")
        await listed(pilot, "src/alpha_two.py")
        await pilot.press("tab", *"and")
        assert app.editor.text == "see src/alpha_two.py and"


async def test_tab_puts_blanks_where_they_are_read_right(work: Path) -> None:
    make(work, "a b$.txt", "home file")
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"a", "tab")
        assert app.editor.text == '"a b$.txt" '
        await pilot.press("ctrl+u", *"!cat a", "tab")
        assert app.editor.text == "!cat 'a b$.txt' "
        assert app.editor.has_class("-shell")
        await pilot.press("ctrl+u", *"~", "tab")
        assert app.editor.text == "~/" and not app.editor.has_class("-shell")


async def test_what_is_common_of_names_with_control_characters_is_written_clean(work: Path) -> None:
    for name in ("a\x1b[31mred 1", "a\x1b[31mred 2"):
        (work / name).write_text("")
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press("a", "tab")
        assert app.editor.text == '"ared "'


async def test_tab_on_nothing_and_where_nothing_is_changes_nothing(work: Path) -> None:
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press("tab", *"nothing", "tab", *" /nowhere/x", "tab", "shift+tab")
        assert app.editor.text == "nothing /nowhere/x" and app.editor.has_focus
        assert app.asked == ["cycle_thinking"]


def test_a_folder_that_is_none_holds_nothing(tmp_path: Path) -> None:
    make(tmp_path, "file")
    (tmp_path / ".hidden").mkdir()
    assert list_folder("file/", tmp_path) == [] and list_folder("\0", tmp_path) == []
    assert list_folder("", tmp_path) == ["file", "work/"] and list_folder(".h", tmp_path) == [".hidden/"]
    assert list_folder("~nobody-here/", tmp_path) == []


@pytest.mark.parametrize("size", [(10, 3), (1, 1), (20, 5), (80, 9)])
async def test_a_tiny_terminal_shows_no_list_and_keys_are_as_without(work: Path, size: tuple[int, int]) -> None:
    make(work, "file")
    async with WritingApp(work).run_test(size=size) as pilot:
        app = await ready(pilot)
        await pilot.press(*"/ne", "down", "enter")
        await until(pilot, lambda: app.sent == ["/ne"])
        await pilot.press(*"fi", "tab")
        assert app.editor.text == "file "


async def test_a_click_takes_a_line(work: Path) -> None:
    async with WritingApp(work).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press("/")
        await pilot.pause()
        assert app.editor.completing is not None
        await pilot.click(app.editor.completing._list, offset=(4, 1))
        assert app.editor.text == "/new " and app.editor.has_focus


async def test_more_lines_than_there_is_room_for_are_scrolled(work: Path) -> None:
    make(work, *(f"f{number:02}" for number in range(30)))
    async with WritingApp(work).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.press("@")
        await until(pilot, lambda: len(shown_list(pilot)) == 8)
        await pilot.press(*["down"] * 10)
        assert shown_list(pilot)[-1] == "❯ f10"
        await pilot.press(*["up"] * 11)
        assert shown_list(pilot)[-1] == "❯ f29"
