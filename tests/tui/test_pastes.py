"""Long pastes: a marker in the draft, the text everywhere else."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from agentcli.tui.editing.pastes import Pastes, marker_spans, shown_markers, without_marks
from agentcli.tui.widgets.editor import Editor
from tests.tui.drive import screen, until
from tests.tui.writing import WritingApp

LINES = "\n".join(f"line {number}" for number in range(20))
CHARACTERS = "x" * 1_001


async def paste(pilot: Pilot[Any], text: str) -> Editor:
    editor = pilot.app.query_one(Editor)
    before = editor.document.text
    pilot.app.post_message(events.Paste(text))
    await until(pilot, lambda: editor.document.text != before)
    return editor


@pytest.mark.parametrize(("text", "marker"), [(LINES, "[paste #1 +20 lines]"), (CHARACTERS, "[paste #1 1001 chars]")])
async def test_a_long_paste_is_shown_as_a_marker_and_sent_as_it_is(work: Path, text: str, marker: str) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await pilot.press(*"see ")
        editor = await paste(pilot, text)
        await pilot.press(*" thanks")
        assert f"see {marker} thanks" in screen(pilot)
        assert editor.text == f"see {text} thanks"
        await pilot.press("enter")
        await until(pilot, lambda: app.sent)
        assert app.sent == [f"see {text} thanks"]


async def test_a_short_paste_is_text(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        editor = await paste(pilot, "ab\n" * 10)
        assert editor.document.line_count == 11


async def test_a_marker_is_one_step_for_the_cursor(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await pilot.press("a")
        editor = await paste(pilot, LINES)
        await pilot.press("b")
        seen = []
        for key in ("left", "left", "left", "right", "right", "ctrl+left", "ctrl+left", "ctrl+right"):
            await pilot.press(key)
            seen.append(editor.cursor_location[1])
        assert seen == [21, 1, 0, 1, 21, 1, 0, 1]


@pytest.mark.parametrize("key", ["backspace", "ctrl+w", "alt+backspace"])
async def test_a_marker_goes_as_a_whole_and_comes_back_as_a_whole(work: Path, key: str) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await paste(pilot, CHARACTERS)
        editor = await paste(pilot, LINES)
        await pilot.press(key)
        assert editor.text == CHARACTERS
        await pilot.press("ctrl+underscore")
        assert editor.text == CHARACTERS + LINES
        await pilot.press("home", "delete")
        assert editor.text == LINES
        await pilot.press("ctrl+underscore", "ctrl+underscore", "ctrl+underscore")
        assert editor.text == ""


async def test_what_is_selected_in_part_goes_as_a_whole(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await pilot.press(*"ab")
        editor = await paste(pilot, LINES)
        await pilot.press("shift+left", "shift+left", "x")
        assert editor.text == "ax"


async def test_a_marker_that_is_typed_or_pasted_is_text(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        editor = await paste(pilot, LINES)
        editor.put("")
        await pilot.press(*"[paste #1 +20 lines]", "backspace", "]", "enter")
        app.post_message(events.Paste("\ufdd0paste\ufdd2#1\ufdd2+20\ufdd2lines\ufdd1"))
        await until(pilot, lambda: editor.text)
        await pilot.press("enter")
        await until(pilot, lambda: len(app.sent) == 2)
        assert app.sent == ["[paste #1 +20 lines]", "paste#1+20lines"]


async def test_what_is_copied_and_cut_is_the_text(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        editor = await paste(pilot, LINES)
        await pilot.press("f7", "ctrl+c")
        assert app.clipboard == LINES
        await pilot.press("f7", "ctrl+x")
        assert app.clipboard == LINES and editor.text == ""


async def test_what_is_given_back_comes_before_the_draft_and_its_marker(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await paste(pilot, LINES)
        await pilot.press("x")
        app.editor.put_before("queued")
        assert app.editor.text == f"queued\n\n{LINES}x"
        await pilot.press("y")
        assert app.editor.text == f"queued\n\n{LINES}xy"
        assert "[paste #1 +20 lines]xy" in screen(pilot)


async def test_ten_thousand_lines_cost_what_one_line_costs(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test(size=(10, 3)) as pilot:
        editor = await paste(pilot, "\n".join("y" * 80 for _ in range(10_000)))
        assert editor.document.line_count == 1
        await pilot.press("left", "right", "enter")
        await until(pilot, lambda: app.sent)
        assert len(app.sent[0]) == 81 * 10_000 - 1


@pytest.mark.parametrize("size", [(10, 3), (1, 1), (20, 5)])
async def test_markers_and_wide_letters_in_a_tiny_terminal(work: Path, size: tuple[int, int]) -> None:
    app = WritingApp(work)
    async with app.run_test(size=size) as pilot:
        editor = await paste(pilot, LINES)
        await pilot.press(*"文件é", "left", "left", "left", "left", "up", "down", "end", "backspace")
        assert editor.text == f"{LINES}文件"


@given(st.lists(st.text(min_size=1), max_size=4), st.text())
def test_any_texts_come_out_of_their_markers(texts: list[str], between: str) -> None:
    pastes = Pastes()
    between = without_marks(between).replace("\n", "")
    texts = [without_marks(text) for text in texts]
    draft = between.join(pastes.marker(text) for text in texts)
    assert pastes.expand(draft) == between.join(texts)
    assert len(marker_spans(draft)) == len(texts)
    assert len(shown_markers(draft)) == len(draft)
