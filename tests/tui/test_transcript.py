"""The transcript: following, scrolling back, sizes, selection."""

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Fold
from agentcli.tui.painting.rows import Row, row
from agentcli.tui.widgets.transcript import Transcript
from tests.tui.views import assistant_text, notice, user_text

PALETTE = Palette({})


class FakeApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()


def view(pilot: Pilot[None]) -> Transcript:
    return pilot.app.query_one(Transcript)


def shown(pilot: Pilot[None]) -> list[str]:
    return [line.text.rstrip(" ▁▂▃▄▅▆▇█") for line in pilot.app.screen._compositor.render_strips()]


def add(pilot: Pilot[None], *items: object) -> None:
    view(pilot).append(items)  # type: ignore[arg-type]
    view(pilot).show()


async def test_it_stays_at_the_end_as_it_grows() -> None:
    async with FakeApp().run_test(size=(40, 10)) as pilot:
        growing = assistant_text()
        add(pilot, *(notice(f"notice {number}") for number in range(50)), growing)
        for number in range(30):
            growing.item.append(f"word{number}\n\n")
            view(pilot).changed(growing)
            view(pilot).show()
            await pilot.pause()
            assert shown(pilot)[-2] == f"word{number}"


async def test_scrolled_back_nothing_moves_and_a_mark_shows_that_there_is_more() -> None:
    async with FakeApp().run_test(size=(40, 10)) as pilot:
        growing = assistant_text("start")
        add(pilot, *(notice(f"notice {number}") for number in range(50)), growing)
        await pilot.pause()
        view(pilot).scroll_relative(y=-20, animate=False)
        await pilot.pause()
        before = shown(pilot)
        for number in range(20):
            growing.item.append(f"\n\nword{number}")
            view(pilot).changed(growing)
            view(pilot).show()
            await pilot.pause()
        add(pilot, notice("another"))
        await pilot.pause()
        assert shown(pilot)[:-1] == before[:-1]
        assert before[-1].endswith("▼ 20 more below") and shown(pilot)[-1].endswith("▼ 62 more below, new")
        view(pilot).follow()
        await pilot.pause()
        assert "another" in shown(pilot)[-2] and not any("more below" in line for line in shown(pilot))


async def test_what_grows_above_the_view_does_not_move_it() -> None:
    async with FakeApp().run_test(size=(40, 10)) as pilot:
        growing = assistant_text("start")
        add(pilot, notice("first"), growing, *(notice(f"notice {number}") for number in range(50)))
        view(pilot).scroll_home(animate=False)
        await pilot.pause()
        view(pilot).scroll_to(y=20, animate=False)
        await pilot.pause()
        before = shown(pilot)
        for number in range(10):
            growing.item.append(f"\n\nword{number}")
            view(pilot).changed(growing)
            view(pilot).show()
            await pilot.pause()
            assert shown(pilot)[:-1] == before[:-1] and "new" not in shown(pilot)[-1]


async def test_scrolling_down_to_the_end_follows_again() -> None:
    async with FakeApp().run_test(size=(40, 10)) as pilot:
        add(pilot, *(notice(f"notice {number}") for number in range(50)))
        await pilot.pause()
        view(pilot).scroll_relative(y=-5, animate=False)
        await pilot.pause()
        assert not view(pilot).following
        view(pilot).scroll_relative(y=5, animate=False)
        await pilot.pause()
        assert view(pilot).following


async def test_every_row_is_passed_once_on_the_way_up() -> None:
    """Heights are guesses until an item comes into view; a step of one row is one row all the same."""
    text = "some words that wrap " * 9 + "\n\n- a\n- b\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    items = [assistant_text(f"item {number} {text}") for number in range(7)]
    rows = [row.text.rstrip() for item in items for row in [*item.rows(29, PALETTE), None] if row is not None]
    async with FakeApp().run_test(size=(30, 8)) as pilot:
        add(pilot, *items)
        await pilot.pause()
        bottom_up = shown(pilot)
        for _ in range(len(rows) * 2):
            if view(pilot).scroll_offset.y == 0:
                break
            view(pilot).scroll_relative(y=-1, animate=False)
            await pilot.pause()
            now = shown(pilot)
            assert now[1:-1] == bottom_up[:-2]
            bottom_up = now
        assert shown(pilot)[0].startswith("item 0")
        assert view(pilot).virtual_size.height == sum(len(item.rows(29, PALETTE)) + 1 for item in items)


async def test_another_width_keeps_the_place() -> None:
    async with FakeApp().run_test(size=(60, 12)) as pilot:
        add(pilot, *(assistant_text(f"item {number} " + "words and more words " * 12) for number in range(60)))
        await pilot.pause()
        view(pilot).scroll_to(y=100, animate=False)
        await pilot.pause()
        top = next(line for line in shown(pilot) if line.startswith("item "))
        for width in (40, 90, 25, 60):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
        assert any(top.split()[1] in line for line in shown(pilot) if line.startswith("item "))


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (3, 2), (10, 3), (80, 1), (1, 40)])
async def test_the_smallest_sizes(size: tuple[int, int]) -> None:
    async with FakeApp().run_test(size=(80, 24)) as pilot:
        item = assistant_text("# 你好 title\n\n- list **of** `things`\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |")
        add(pilot, user_text("a question"), item, notice("notice"))
        await pilot.resize_terminal(*size)
        await pilot.pause()
        item.item.append(" and more")
        view(pilot).changed(item)
        view(pilot).show()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "• list of things" in shown(pilot)


async def test_what_is_selected_by_mouse_is_copied_as_shown() -> None:
    async with FakeApp().run_test(size=(40, 12)) as pilot:
        add(pilot, notice("first"), assistant_text("some **bold** words 你好 here\n\nsecond"), notice("last"))
        await pilot.pause()
        await pilot.mouse_down(offset=(5, 2))
        await pilot.hover(offset=(3, 4))
        await pilot.mouse_up(offset=(3, 4))
        await pilot.pause()
        assert pilot.app.screen.get_selected_text() == "bold words 你好 here\n\nseco"


async def test_a_selection_stays_on_its_text_while_more_comes_and_heights_change() -> None:
    async with FakeApp().run_test(size=(40, 12)) as pilot:
        growing = assistant_text("x")
        add(pilot, *(assistant_text("a\n\nb " * 30) for _ in range(20)), user_text("take this"), growing)
        await pilot.pause()
        line = next(number for number, text in enumerate(shown(pilot)) if "take this" in text)
        await pilot.mouse_down(offset=(2, line))
        await pilot.hover(offset=(10, line))
        await pilot.mouse_up(offset=(10, line))
        growing.item.append("\n\nmore" * 20)
        view(pilot).changed(growing)
        view(pilot).show()
        view(pilot).scroll_home(animate=False)
        await pilot.pause()
        assert pilot.app.screen.get_selected_text() == "take this"


async def test_two_clicks_select_a_row() -> None:
    async with FakeApp().run_test(size=(40, 12)) as pilot:
        add(pilot, assistant_text("one\n\ntwo words"))
        await pilot.pause()
        await pilot.double_click(Transcript, offset=Offset(1, 2))
        assert pilot.app.screen.get_selected_text() == "two words"


async def test_three_clicks_select_an_item() -> None:
    async with FakeApp().run_test(size=(40, 12)) as pilot:
        add(pilot, assistant_text("one\n\ntwo words\n\n- three"), notice("another"))
        await pilot.pause()
        await pilot.triple_click(Transcript, offset=Offset(1, 2))
        assert pilot.app.screen.get_selected_text() == "one\n\ntwo words\n\n• three"


async def test_while_something_is_selected_the_view_stays_and_then_goes_on_to_the_end() -> None:
    async with FakeApp().run_test(size=(40, 10)) as pilot:
        growing = assistant_text("start")
        add(pilot, *(notice(f"notice {number}") for number in range(50)), growing)
        await pilot.pause()
        await pilot.mouse_down(offset=(2, 4))
        await pilot.hover(offset=(7, 4))
        before = shown(pilot)
        for number in range(10):
            growing.item.append(f"\n\nword{number}")
            view(pilot).changed(growing)
            view(pilot).show()
            await pilot.pause()
        assert shown(pilot)[:-1] == before[:-1] and "more below, new" in shown(pilot)[-1]
        await pilot.mouse_up(offset=(7, 4))
        assert pilot.app.screen.get_selected_text() == "notice"
        await pilot.click(Transcript, offset=(30, 1))
        await pilot.pause()
        assert shown(pilot)[-2] == "word9"


async def test_what_is_highlighted_over_a_streaming_message_is_what_is_copied() -> None:
    async with FakeApp().run_test(size=(30, 12)) as pilot:
        growing = assistant_text("so many **words** that come ")
        add(pilot, growing)
        await pilot.mouse_down(offset=(3, 0))
        for number in range(12):
            growing.item.append(f"and wrap {number} ")
            view(pilot).changed(growing)
            view(pilot).show()
            await pilot.hover(offset=(4 + number, number // 3))
        await pilot.mouse_up(offset=(15, 3))
        growing.item.append("the end")
        growing.item.finish()
        view(pilot).changed(growing)
        view(pilot).show()
        await pilot.pause()
        copied = pilot.app.screen.get_selected_text()
        assert copied is not None and copied.startswith("many words that come") and copied.count("\n") == 3
        assert copied == lit(pilot)


def lit(pilot: Pilot[None]) -> str:
    """What is drawn in the colours of a selection."""
    color = pilot.app.screen.get_component_rich_style("screen--selection").bgcolor
    lines = ["" for _ in range(pilot.app.size.height)]
    for number, strip in enumerate(pilot.app.screen._compositor.render_strips()):
        lit = "".join(part.text for part in strip if part.style and part.style.bgcolor == color)
        lines[number] = lit.rstrip()
    return "\n".join(lines).strip("\n")


class CountingItem:
    """An item that notes how often it was laid out."""

    def __init__(self) -> None:
        self.count = 0

    def rows(self, width: int, palette: Palette) -> list[Row]:
        self.count += 1
        return [row([("text", palette[Tone.TEXT])], width)] * 5

    def guess(self, width: int) -> int:
        return 4


async def test_what_a_delta_costs_does_not_depend_on_what_was_said_before() -> None:
    async with FakeApp().run_test(size=(40, 12)) as pilot:
        items = [CountingItem() for _ in range(1_000)]
        growing = assistant_text("x")
        add(pilot, *items, growing)
        await pilot.pause()
        laid_out = sum(item.count for item in items)
        assert laid_out < 10
        for _ in range(100):
            growing.item.append("word ")
            view(pilot).changed(growing)
            view(pilot).show()
        await pilot.pause()
        await pilot.resize_terminal(50, 12)
        await pilot.pause()
        assert sum(item.count for item in items) < laid_out + 10


async def test_rows_out_of_view_are_let_go() -> None:
    async with FakeApp().run_test(size=(40, 12)) as pilot:
        for number in range(300):
            add(pilot, assistant_text(f"{number}\n\n" * 20))
        await pilot.pause()
        assert sum(map(len, view(pilot)._stack._rows.values())) < 4_000
        view(pilot).scroll_home(animate=False)
        await pilot.pause()
        assert shown(pilot)[0] == "0"


async def test_what_comes_after_the_screen_has_gone_does_no_harm() -> None:
    async with FakeApp().run_test(size=(40, 12)) as pilot:
        transcript, growing = view(pilot), assistant_text("one")
        add(pilot, growing, *(notice(f"notice {number}") for number in range(50)))
        await pilot.pause()
        await transcript.remove()
        growing.item.append("\n\ntwo")
        transcript.changed(growing)
        transcript.append([notice("late")])
        transcript.show()
        transcript.unfold(Fold.TOOLS, True)
        transcript.follow()
        transcript.clear()
        assert transcript.items == []
