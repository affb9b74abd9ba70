"""The list that all screens have, on the picker and the help: keys, mouse, sizes, and text that nobody obeys."""

import asyncio
from typing import Any

import pytest
from textual import events
from textual.keys import Keys

from agentcli.runtime.resources.slash_commands import SlashCommand
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.commands.actions import Command
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.commands.table import ACTIONS
from agentcli.tui.screens.help_screen import HelpScreen
from agentcli.tui.screens.picker import Picker, PickerRow
from tests.tui.conftest import escapes, markup_lines
from tests.tui.drive import screen, until
from tests.tui.screen_app import KEYMAP, NOT_YET, PALETTE, FakeApp, chosen, lines
from tests.tui.test_markup import flat, visible

LEVELS = [PickerRow(level, level, f"about {level}") for level in ("off", "minimal", "low", "medium", "high")]


def picker(rows: list[PickerRow[Any]] = LEVELS, *, keymap: Keymap = KEYMAP, **options: Any) -> Picker[Any]:
    return Picker("Level", rows, keymap=keymap, palette=PALETTE, **options)


async def test_enter_gives_the_value_of_the_marked_row() -> None:
    async with FakeApp(picker()).run_test() as pilot:
        assert "❯   off" not in screen(pilot) and chosen(pilot).startswith("❯ off")
        await pilot.press("down", "down", "ctrl+p", "enter")
        await until(pilot, lambda: pilot.app.result == "minimal")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_leaving_gives_nothing(key: str) -> None:
    async with FakeApp(picker()).run_test() as pilot:
        await pilot.press("down", key)
        await until(pilot, lambda: pilot.app.result is None)


async def test_keys_that_come_at_once_have_their_effect_in_order() -> None:
    async with FakeApp(picker()).run_test() as pilot:
        for key in [*"him", "backspace", *"gh", "enter"]:
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: pilot.app.result == "high")


async def test_keys_that_come_before_the_screen_is_there_are_kept() -> None:
    async with FakeApp(picker()).run_test() as pilot:
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.result is None)
        results: list[Any] = []
        pilot.app.push_screen(picker(), results.append)
        for key in [*"med", "enter"]:
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: results == ["medium"])


async def test_the_ends_meet_and_pages_stop_there() -> None:
    async with FakeApp(picker()).run_test() as pilot:
        await pilot.press("up")
        assert "high" in chosen(pilot)
        await pilot.press("down")
        assert "off" in chosen(pilot)
        await pilot.press("pagedown", "pagedown")
        assert "high" in chosen(pilot)
        await pilot.press("ctrl+home")
        assert "off" in chosen(pilot)
        await pilot.press("ctrl+end", "pageup")
        assert "off" in chosen(pilot)


async def test_searching_puts_the_best_first_and_marks_the_letters() -> None:
    async with FakeApp(picker(current="low")).run_test() as pilot:
        assert chosen(pilot).startswith("❯ ● low")
        await pilot.press(*"mi")
        assert "minimal" in chosen(pilot) and "2 of 5" in screen(pilot) and "medium" in screen(pilot)
        strip = pilot.app.shown.draw_row(0, 60, True)
        marked = "".join(text for text, style, _ in strip if style and style.underline)
        assert marked == "mi"
        await pilot.press("backspace", "backspace")
        assert len(lines(pilot)) == 2 + 5 + 1


async def test_nothing_to_find_is_said_and_enter_does_nothing() -> None:
    async with FakeApp(picker()).run_test() as pilot:
        await pilot.press(*"zzz", "enter", "down", "pagedown", "ctrl+end")
        assert "nothing fits" in screen(pilot) and pilot.app.result is NOT_YET
    async with FakeApp(picker([], empty="no prompts yet")).run_test() as pilot:
        await pilot.press("enter", "up")
        assert "no prompts yet" in screen(pilot) and pilot.app.result is NOT_YET


async def test_what_is_not_shown_is_found_too() -> None:
    rows = [PickerRow(1, "opus", search="anthropic"), PickerRow(2, "sonnet", group="Anthropic"), PickerRow(3, "gpt")]
    async with FakeApp(picker(rows)).run_test() as pilot:
        await pilot.press(*"anthro")
        assert "2 of 3" in screen(pilot)


async def test_groups_have_headings_that_are_never_chosen() -> None:
    rows = [PickerRow(number, f"model {number}", group=f"provider {number // 2}") for number in range(6)]
    async with FakeApp(picker(rows)).run_test() as pilot:
        assert [line for line in lines(pilot) if line.startswith("provider")] == [f"provider {n}" for n in range(3)]
        seen = []
        for _ in range(7):
            seen.append(chosen(pilot)[-1])
            await pilot.press("down")
        assert seen == ["0", "1", "2", "3", "4", "5", "0"]
        await pilot.press(*"model")
        assert "provider 0" in chosen(pilot) and not [line for line in lines(pilot) if line.startswith("provider")]


async def test_each_new_highlight_is_told_but_not_the_first() -> None:
    told: list[str] = []
    async with FakeApp(picker(current="minimal", on_highlight=told.append)).run_test() as pilot:
        assert told == []
        await pilot.press("down", *"hi", "backspace", "backspace")
        await pilot.click("#list", offset=(5, 1))
        await until(pilot, lambda: told == ["low", "high", "off", "minimal"])


async def test_a_click_marks_and_another_chooses() -> None:
    async with FakeApp(picker()).run_test() as pilot:
        await pilot.click("#list", offset=(6, 3))
        await until(pilot, lambda: "medium" in chosen(pilot))
        assert pilot.app.result is NOT_YET
        await pilot.click("#list", offset=(6, 9))
        await pilot.click("#list", offset=(6, 3))
        await until(pilot, lambda: pilot.app.result == "medium")


async def test_the_wheel_scrolls_and_the_mark_stays() -> None:
    rows = [PickerRow(number, f"row {number}") for number in range(200)]
    async with FakeApp(picker(rows)).run_test(size=(60, 20)) as pilot:
        for _ in range(5):
            pilot.app.shown.list._on_mouse_scroll_down(
                events.MouseScrollDown(pilot.app.shown.list, 1, 1, 0, 1, 0, False, False, False)
            )
            await pilot.pause()
        await until(pilot, lambda: "row 0" not in screen(pilot))
        assert pilot.app.shown.list.chosen == 0
        await pilot.press("down")
        assert "row 1" in chosen(pilot)


async def test_the_keys_are_those_that_are_bound_now() -> None:
    keymap = Keymap({"list_down": "ctrl+j", "list_choose": ["f2", "enter"], "delete_left": "f9"})
    async with FakeApp(picker(keymap=keymap)).run_test() as pilot:
        assert "F2 choose" in screen(pilot)
        await pilot.press("down")
        assert "off" in chosen(pilot)
        await pilot.press("ctrl+j", *"lo", "f9", "f9", "ctrl+j", "f2")
        await until(pilot, lambda: pilot.app.result != NOT_YET)


async def test_a_paste_searches_and_keys_without_text_do_not() -> None:
    async with FakeApp(picker()).run_test() as pilot:
        pilot.app.post_message(events.Paste("hi\x1b[31mgh\n"))
        await until(pilot, lambda: "high" in chosen(pilot))
        for key in (events.Key("alt+x", "x"), events.Key(Keys.Ignore, "\x1b[?2026;1$y"), events.Key("f5", None)):
            pilot.app.post_message(key)
        await pilot.pause()
        assert pilot.app.shown.line.text == "high "


async def test_ten_thousand_rows_are_drawn_only_in_view() -> None:
    rows = [PickerRow(number, f"row {number}") for number in range(10_000)]
    shown = picker(rows)
    drawn: set[int] = set()
    draw = shown.list._draw

    def counting(number: int, width: int, is_chosen: bool) -> Any:
        drawn.add(number)
        return draw(number, width, is_chosen)

    shown.list._draw = counting
    async with FakeApp(shown).run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+end")
        assert "row 9999" in chosen(pilot)
        await pilot.press(*"row 777")
        assert "row 777" in chosen(pilot)
        assert len(drawn) < 150
        assert len(pilot.app.screen.query("*")) < 12


async def test_a_preview_stands_under_the_list_if_there_is_room() -> None:
    shown = picker(preview=lambda level: f"{level} means\nmany\nlines" * 9)
    async with FakeApp(shown).run_test(size=(80, 24)) as pilot:
        await pilot.press("down")
        assert "minimal means" in screen(pilot)
        await pilot.resize_terminal(80, 12)
        await until(pilot, lambda: "means" not in screen(pilot))
        assert "minimal" in chosen(pilot)


@pytest.mark.parametrize("size", [(20, 5), (10, 3), (4, 2), (1, 1), (200, 4), (3, 50)])
async def test_it_works_in_a_terminal_of_any_size(size: tuple[int, int]) -> None:
    rows = [PickerRow(number, f"行{number} 中文字", "详细", group=f"g{number // 9}") for number in range(50)]
    for shown in (picker(rows, current=7, preview=str), HelpScreen(keymap=KEYMAP, palette=PALETTE)):
        async with FakeApp(shown).run_test(size=size) as pilot:
            await pilot.press("down", "pagedown", "x", "backspace", "ctrl+end", "up")
            await pilot.resize_terminal(80, 24)
            await until(pilot, lambda: "close" in screen(pilot))
            assert chosen(pilot).startswith("❯ ")
            await pilot.resize_terminal(*size)
            await pilot.press("ctrl+home")
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.result is not NOT_YET)


async def test_the_mark_stays_in_view_when_the_terminal_shrinks() -> None:
    rows = [PickerRow(number, f"row {number}") for number in range(50)]
    async with FakeApp(picker(rows)).run_test(size=(80, 40)) as pilot:
        for _ in range(25):
            await pilot.press("down")
        await pilot.resize_terminal(30, 6)
        await until(pilot, lambda: "row 25" in chosen(pilot))


async def test_a_new_theme_is_taken_while_it_is_open() -> None:
    async with FakeApp(
        picker(on_highlight=lambda level: setattr(pilot.app, "theme", "textual-light"))
    ).run_test() as pilot:
        before = pilot.app.shown.palette[Tone.TEXT]
        await pilot.press("down")
        await until(pilot, lambda: pilot.app.shown.palette[Tone.TEXT] != before)
        strip = pilot.app.shown.list.render_line(0)
        assert next(iter(strip)).style.color == Palette(pilot.app.get_css_variables())[Tone.TEXT].color


def help_screen(commands: list[SlashCommand]) -> HelpScreen:
    return HelpScreen(keymap=KEYMAP, palette=PALETTE, commands=commands)


ROWS = {
    "label": lambda texts: picker([PickerRow(1, text) for text in texts]),
    "detail": lambda texts: picker([PickerRow(1, "x", text) for text in texts]),
    "group": lambda texts: picker([PickerRow(1, "x", group=text) for text in texts]),
    "command": lambda texts: help_screen([SlashCommand("name", text, "", "") for text in texts]),
    "hint": lambda texts: help_screen([SlashCommand("name", "x", text, "") for text in texts]),
}
TEXTS = [*markup_lines(), escapes()]


def part(text: str) -> str:
    """What of a text has to be seen."""
    return "before" if text == escapes() else visible(text)[:20]


@pytest.mark.parametrize("surface", ROWS)
async def test_no_row_is_markup_or_obeyed(surface: str) -> None:
    async with FakeApp(ROWS[surface](TEXTS)).run_test(size=(120, 40)) as pilot:
        seen = flat(screen(pilot))
        for _ in range(len(TEXTS)):
            await pilot.press("up")
        seen += flat(screen(pilot))
        await pilot.press("ctrl+end")
        seen += flat(screen(pilot))
        assert [text for text in TEXTS if part(text) not in seen] == []
        shows_nothing_to_obey(pilot)


async def test_nothing_round_the_list_is_markup_or_obeyed() -> None:
    shown = picker([], preview=str)
    async with FakeApp(shown).run_test(size=(120, 40)) as pilot:
        for text in TEXTS:
            shown.heading = shown.placeholder = shown._empty = text
            shown.preview = lambda text=text: text
            shown.notice = text
            shown.changed()
            shown.list.refresh()
            await pilot.pause()
            assert flat(screen(pilot)).count(part(text)) >= 5, text
            shows_nothing_to_obey(pilot)
            shown.ask(text[:20], text, lambda answer: None)
            shown.changed()
            await pilot.pause()
            assert part(text)[:8] in flat(lines(pilot)[1])
            shows_nothing_to_obey(pilot)
            shown.question = None


def shows_nothing_to_obey(pilot: Any) -> None:
    for line in pilot.app.screen._compositor.render_strips():
        assert not [c for c in line.text if ord(c) < 32 or 127 <= ord(c) < 160]
        assert not [style for _, style, _ in line if style and (style.link or style.meta.get("@click"))]


async def test_the_help_has_every_action_and_command_with_its_present_keys() -> None:
    keymap = Keymap({"submit": ["f3", "ctrl+y"], "redo": []}, ACTIONS)
    others = [
        SlashCommand("review", "Review a file", "[file]", "template"),
        SlashCommand("skill:x", "Do x", "", "skill"),
    ]
    shown = HelpScreen(keymap=keymap, palette=PALETTE, commands=others)
    async with FakeApp(shown).run_test(size=(120, 40)) as pilot:
        text = "\n".join(shown.draw_row(number, 200, False).text for number in range(shown.list.count))
        for action in ACTIONS:
            assert action.title in text and f"[{action.name}]" in text
            assert not (isinstance(action, Command) and action.slash) or f"/{action.name}" in text
        assert "F3 Ctrl+Y" in text and "/review [file]" in text and "Do x (skill)" in text
        redo = next(line for line in text.splitlines() if "[redo]" in line)
        assert "no key" in redo
        await pilot.press(*"template")
        assert "/review" in chosen(pilot) and "Commands" in screen(pilot) and "Writing" not in screen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.result is None)


async def test_a_click_does_nothing_while_something_is_asked() -> None:
    shown = picker()
    answers: list[str] = []
    async with FakeApp(shown).run_test() as pilot:
        shown.ask("Name", "old", answers.append)
        shown.changed()
        await pilot.pause()
        assert "Name: old" in screen(pilot)
        await pilot.click("#list", offset=(6, 3))
        await pilot.press("down", "backspace", "x")
        assert "off" in chosen(pilot)
        await pilot.press("enter")
        assert answers == ["olx"] and pilot.app.result is NOT_YET
        shown.ask("Name", "old", answers.append)
        await pilot.press("x", "escape")
        await asyncio.sleep(0)
        assert answers == ["olx"] and pilot.app.result is NOT_YET and "Name" not in screen(pilot)
