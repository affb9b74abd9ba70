"""What was sent: in this session, in earlier ones, and in another process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentcli.config.masking import remember_key
from agentcli.tui.app_settings import history_file
from agentcli.tui.editing import prompt_history
from agentcli.tui.editing.drafts import Drafts
from agentcli.tui.editing.prompt_history import HistoryWalk, PromptHistory
from tests.tui.drive import until
from tests.tui.writing import WritingApp


def entries(path: Path) -> list[str]:
    history = PromptHistory(path)
    history.load()
    assert history.problem == ""
    return history.entries


def added(path: Path, *texts: str) -> PromptHistory:
    history = PromptHistory(path)
    for text in texts:
        history.add(text)
        history.save()
    return history


def test_entries_outlive_the_process_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.jsonl"
    added(path, "one", "two\nlines [/] 文件", "two\nlines [/] 文件", "  ", "three")
    assert entries(path) == ["one", "two\nlines [/] 文件", "three"]
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_each_folder_has_a_history_of_its_own(tmp_path: Path) -> None:
    assert history_file(tmp_path / "a").parent == tmp_path / "home" / "history"
    assert history_file(tmp_path / "a") != history_file(tmp_path / "b")


def test_a_key_is_not_kept(tmp_path: Path) -> None:
    remember_key("sk-1234567890")
    added(tmp_path / "h", "use sk-1234567890 now")
    assert b"sk-1234567890" not in (tmp_path / "h").read_bytes()
    assert entries(tmp_path / "h") == ["use [key hidden] now"]


def test_damaged_lines_are_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "h"
    path.write_bytes(b'"one"\n{"not": "text"}\n\xff\xfe\n\n"two"\n"torn')
    history = added(path, "three")
    history.load()
    assert history.entries == ["one", "two", "three"]
    assert "3 lines" in history.problem and str(path) in history.problem


def test_no_sequence_comes_out_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "h").write_text('"a\\u001b]52;c;ZQX\\u0007b\\ufdd0"\n')
    assert entries(tmp_path / "h") == ["ab"]


@pytest.mark.parametrize("obstacle", ["folder", "file in the way", "read-only"])
def test_a_file_that_cannot_be_written_hurts_nobody(tmp_path: Path, obstacle: str) -> None:
    path = tmp_path / "place" / "h"
    match obstacle:
        case "folder":
            path.mkdir(parents=True)
        case "file in the way":
            path.parent.write_text("")
        case _:
            path.parent.mkdir()
            path.write_text('"old"\n')
            path.chmod(0o400)
            path.parent.chmod(0o500)
            if os.access(path, os.W_OK):
                pytest.skip("this user may write everything")
    history = added(path, "one", "two")
    history.load()
    assert history.entries[-2:] == ["one", "two"] and str(path.parent) in history.problem


def test_the_file_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_history, "MAX_BYTES", 2_000)
    monkeypatch.setattr(prompt_history, "MAX_ENTRIES", 30)
    monkeypatch.setattr(prompt_history, "MAX_ENTRY", 100)
    history = added(tmp_path / "h", *(f"entry {number} {'x' * 30}" for number in range(100)), "y" * 200)
    assert (tmp_path / "h").stat().st_size <= 2_000
    assert entries(tmp_path / "h")[-1].startswith("entry 99 ")
    history.load()
    assert history.entries[-1] == "y" * 200 and len(history.entries) <= 30


def test_two_processes_add_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "h"
    program = (
        "import sys; from pathlib import Path; from agentcli.tui.editing.prompt_history import PromptHistory\n"
        "history = PromptHistory(Path(sys.argv[1]))\n"
        "for number in range(100): history.add(f'{sys.argv[2]} {number}'); history.save()"
    )
    both = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in ("a", "b")]
    assert [process.wait() for process in both] == [0, 0]
    found = entries(path)
    assert sorted(found) == sorted(f"{name} {number}" for name in ("a", "b") for number in range(100))
    assert [text for text in found if text.startswith("a")] == [f"a {number}" for number in range(100)]


def test_a_walk_keeps_what_was_changed_on_the_way() -> None:
    walk = HistoryWalk(["one", "two"], "draft")
    assert walk.draft is None
    assert walk.step(-1, "draft") == "two"
    assert walk.step(-1, "two changed") == "one"
    assert walk.step(-1, "one") is None and walk.draft == "draft"
    assert walk.step(1, "one") == "two changed"
    assert walk.step(1, "two changed") == "draft"
    assert walk.step(1, "draft") is None and walk.draft is None


async def test_up_and_down_go_through_what_was_sent_and_back_to_the_draft(work: Path) -> None:
    added(history_file(work), "from yesterday", "two\nlines")
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"now", "enter", *"draft")
        await until(pilot, lambda: app.sent == ["now"])
        seen = []
        for key in ("up", "up", "up", "up", "up", "down", "down", "down", "down", "down"):
            await pilot.press(key)
            seen.append(app.editor.text)
        assert seen[:5] == ["now", "two\nlines", "two\nlines", "from yesterday", "from yesterday"]
        assert seen[5:] == ["two\nlines", "now", "draft", "draft", "draft"]


async def test_long_lines_are_walked_through_by_rows(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test(size=(20, 20)) as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"old", "enter")
        app.editor.put("word " * 12)
        await pilot.press("up", "up")
        assert app.editor.text == "word " * 12
        await pilot.press("up", "up", "up")
        assert app.editor.text == "old"


async def test_the_draft_is_not_lost_when_an_old_prompt_is_sent_in_its_place(work: Path) -> None:
    added(history_file(work), "old")
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"draft", "up", *"er", "enter", "enter")
        await until(pilot, lambda: app.sent == ["older"])
        await pilot.press("up", "up")
        assert app.editor.text == "draft"
    assert entries(history_file(work)) == ["old", "draft", "older"]


async def test_a_search_has_everything_and_the_draft_comes_after_what_is_recalled(work: Path) -> None:
    added(history_file(work), "one", "two", "three")
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"draft", "ctrl+r")
        await until(pilot, lambda: app.asked == ["history"])
        assert app.editor.prompts.entries == ["one", "two", "three"]
        app.editor.recall("two")
        await pilot.press("down")
        assert app.editor.text == "three"
        await pilot.press("down")
        assert app.editor.text == "draft"


async def test_a_problem_of_the_file_is_told_once(work: Path) -> None:
    history_file(work).parent.mkdir(parents=True)
    history_file(work).mkdir()
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"a", "enter", *"b", "enter", "up", "up")
        await until(pilot, lambda: app.told)
        assert app.editor.text == "a" and len([text for text in app.told if "cannot be written" in text]) == 1


async def test_what_was_sent_before_there_was_a_file_is_in_it(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        app.editor.prompts = PromptHistory(None)
        app.editor.prompts.add("early")
        await app.on_mount()
    assert entries(history_file(work)) == ["early"]


def test_a_history_or_a_draft_that_would_block_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "history")
    history = added(tmp_path / "history", "asked")
    assert "cannot be written: it is a FIFO" in history.problem
    history = PromptHistory(tmp_path / "history")
    history.load()
    assert "cannot be read: it is a FIFO" in history.problem
    os.mkfifo(tmp_path / "x.draft")
    drafts = Drafts(tmp_path)
    assert drafts.claim() == ""
    assert "cannot be read: it is a FIFO" in drafts.problem
