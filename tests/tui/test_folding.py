"""Folding items, one or all of a kind, and going from prompt to prompt: the view keeps its place."""

import pytest
from textual.pilot import Pilot

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.assistant_text import AssistantText
from agentcli.tui.items.item import Fold, Foldable
from agentcli.tui.items.tool_panel import ToolPanel
from agentcli.tui.items.user_text import UserText
from agentcli.tui.painting.rows import Row, row
from agentcli.tui.widgets.transcript import Transcript
from tests.tui.test_transcript import FakeApp, add, shown, view
from tests.tui.views import assistant_text, notice, thinking, tool_panel, user_text


def panel(name: str, lines: int) -> ToolPanel:
    made = tool_panel("grep", {"pattern": name})
    made.item.finish("\n".join(f"{name} {number}" for number in range(lines)), None, is_error=False)
    return made


def line_of(pilot: Pilot[None], text: str) -> int:
    return next(number for number, line in enumerate(shown(pilot)) if text in line)


async def test_all_of_a_kind_unfold_and_fold_together_and_so_do_those_to_come() -> None:
    async with FakeApp().run_test(size=(60, 60)) as pilot:
        add(pilot, thinking("one\ntwo"), panel("a", 13), panel("b", 12))
        await pilot.pause()
        assert "thought: one (+1 lines)" in shown(pilot)[0] and "… 3 more lines" in "".join(shown(pilot))
        view(pilot).unfold(Fold.TOOLS, True)
        await pilot.pause()
        assert "│ a 12" in "".join(shown(pilot)) and "(+1 lines)" in shown(pilot)[0]
        view(pilot).unfold(Fold.THINKING, True)
        add(pilot, thinking("three\nfour"), panel("c", 12))
        await pilot.pause()
        text = "\n".join(shown(pilot))
        assert "│ two" in text and "│ four" in text and "│ c 11" in text
        view(pilot).unfold(Fold.TOOLS, False)
        view(pilot).unfold(Fold.THINKING, False)
        await pilot.pause()
        text = "\n".join(shown(pilot))
        assert text.count("more lines") == 3 and text.count("(+1 lines)") == 2


async def test_at_the_end_unfolding_stays_at_the_end() -> None:
    async with FakeApp().run_test(size=(60, 12)) as pilot:
        add(pilot, *(panel(str(number), 20) for number in range(20)), assistant_text("the end"))
        await pilot.pause()
        for on in (True, False):
            view(pilot).unfold(Fold.TOOLS, on)
            await pilot.pause()
            assert shown(pilot)[-2] == "the end" and view(pilot).following


@pytest.mark.parametrize("top", range(30, 50, 3))
async def test_what_is_read_stays_in_its_place_when_all_is_unfolded(top: int) -> None:
    async with FakeApp().run_test(size=(60, 12)) as pilot:
        items = [
            item for n in range(40) for item in (panel(f"p{n}", 30), thinking(f"t{n}\nx"), assistant_text(f"A{n}"))
        ]
        add(pilot, *items)
        view(pilot).scroll_to(y=top, animate=False)
        await pilot.pause()
        first = next(line for line in shown(pilot) if line.startswith(("✓", "∴", "A")))[:12].rstrip("(")
        place = line_of(pilot, first)
        for fold, on in ((Fold.TOOLS, True), (Fold.THINKING, True), (Fold.TOOLS, False), (Fold.THINKING, False)):
            view(pilot).unfold(fold, on)
            await pilot.pause()
            if not first.startswith("∴"):
                assert line_of(pilot, first) == place
        assert line_of(pilot, first) == place and not view(pilot).following


async def test_folded_within_a_long_output_its_title_is_in_view() -> None:
    async with FakeApp().run_test(size=(60, 12)) as pilot:
        add(pilot, panel("a", 500), *(notice(f"notice {number}") for number in range(50)))
        view(pilot).unfold(Fold.TOOLS, True)
        view(pilot).scroll_to(y=300, animate=False)
        await pilot.pause()
        assert "│ a 299" in shown(pilot)[0]
        view(pilot).unfold(Fold.TOOLS, False)
        await pilot.pause()
        assert shown(pilot)[0].startswith("✓ grep a")


async def test_a_click_on_a_title_folds_that_one_which_stays_where_it_is() -> None:
    async with FakeApp().run_test(size=(60, 20)) as pilot:
        add(pilot, *(panel(f"p{number}", 40) for number in range(5)))
        await pilot.pause()
        for _ in range(2):
            place = line_of(pilot, "✓ grep p4")
            await pilot.click(Transcript, offset=(5, place))
            await pilot.pause()
            assert line_of(pilot, "✓ grep p4") == place
            assert "│ p4 0" in shown(pilot)[place + 1]
        assert view(pilot).following and "… 30 more lines" in shown(pilot)[-2]


async def test_a_click_elsewhere_and_a_drag_over_a_title_fold_nothing() -> None:
    async with FakeApp().run_test(size=(60, 20)) as pilot:
        item = panel("a", 40)
        add(pilot, item)
        await pilot.pause()
        await pilot.click(Transcript, offset=(5, 3))
        await pilot.mouse_down(offset=(2, 0))
        await pilot.hover(offset=(8, 0))
        await pilot.mouse_up(offset=(8, 0))
        await pilot.pause()
        assert not item.expanded and pilot.app.screen.get_selected_text() == "grep a"


async def test_hidden_thinking_is_shown_while_it_comes_and_when_it_is_unfolded() -> None:
    async with FakeApp().run_test(size=(60, 20)) as pilot:
        view(pilot).hide_thinking = True
        item = thinking()
        item.item.append("deep\nthoughts")
        add(pilot, item, assistant_text("answer"))
        await pilot.pause()
        assert "thinking … thoughts" in shown(pilot)[0]
        item.item.finish()
        view(pilot).changed(item)
        view(pilot).show()
        await pilot.pause()
        assert shown(pilot)[0] == "answer"
        view(pilot).unfold(Fold.THINKING, True)
        await pilot.pause()
        assert "│ thoughts" in shown(pilot)[2]


async def test_unfolded_thinking_grows_as_it_would_be_laid_out_at_once() -> None:
    text = "\n\nfirst line of some words\nsecond\x1b[31m red\x1b[0m [b]x[/]\n\n  indented and rather long so that it wraps\nlast"
    growing, whole = thinking(), thinking(text)
    growing.expanded = whole.expanded = True
    palette = Palette({})
    for start in range(0, len(text), 7):
        growing.item.append(text[start : start + 7])
        growing.rows(30, palette)
    assert growing.rows(30, palette)[1:] == whole.rows(30, palette)[1:]
    growing.item.finish()
    assert growing.rows(30, palette) == whole.rows(30, palette)


class CountingFold(Foldable):
    """A foldable item that notes how often it was laid out."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def rows(self, width: int, palette: Palette) -> list[Row]:
        self.count += 1
        return [row([("text", palette[Tone.TEXT])], width)] * (20 if self.expanded else 2)

    def guess(self, width: int) -> int:
        return 15 if self.expanded else 3


async def test_a_thousand_that_changed_before_they_were_shown_are_laid_out_where_in_view() -> None:
    async with FakeApp().run_test(size=(40, 12)) as pilot:
        items = [CountingFold() for _ in range(1_000)]
        view(pilot).append(items)
        for item in items:
            item.expanded = True
            view(pilot).changed(item)
        view(pilot).show()
        await pilot.pause()
        assert sum(item.count for item in items) < 12
        assert view(pilot)._stack.height == sum(view(pilot)._stack.heights) > 15_000
        assert "text" in shown(pilot)[-2]


async def test_unfolding_a_thousand_lays_out_what_is_in_view() -> None:
    async with FakeApp().run_test(size=(40, 12)) as pilot:
        items = [CountingFold() for _ in range(1_000)]
        add(pilot, *items)
        await pilot.pause()
        for top in (None, 900):
            if top is not None:
                view(pilot).scroll_to(y=top, animate=False)
                await pilot.pause()
            for on in (True, False):
                before = sum(item.count for item in items)
                view(pilot).unfold(Fold.TOOLS, on)
                await pilot.pause()
                assert sum(item.count for item in items) - before < 12


def prompts(count: int) -> list[UserText | AssistantText]:
    return [
        item
        for number in range(count)
        for item in (
            user_text(f"prompt {number}"),
            assistant_text(f"answer {number}\n\n" + "- more\n" * (number % 7 * 3)),
        )
    ]


async def test_from_prompt_to_prompt_each_comes_to_the_top() -> None:
    async with FakeApp().run_test(size=(40, 10)) as pilot:
        add(pilot, *prompts(20))
        await pilot.pause()
        seen: list[str] = []
        for _ in range(25):
            view(pilot).to_prompt(-1)
            await pilot.pause()
            seen.append(shown(pilot)[0])
        numbers = [int(line.split()[-1]) for line in seen]
        last = numbers[0]
        assert last >= 17 and numbers == [*range(last, -1, -1), *[0] * (24 - last)]
        view(pilot).to_prompt(1)
        await pilot.pause()
        assert shown(pilot)[0] == "❯ prompt 1"
        for _ in range(20):
            view(pilot).to_prompt(1)
            await pilot.pause()
        assert view(pilot).following


async def test_without_prompts_there_are_the_ends_to_go_to() -> None:
    async with FakeApp().run_test(size=(40, 10)) as pilot:
        view(pilot).to_prompt(-1)
        view(pilot).to_prompt(1)
        view(pilot).unfold(Fold.TOOLS, True)
        add(pilot, *(notice(f"notice {number}") for number in range(50)))
        await pilot.pause()
        view(pilot).to_prompt(-1)
        await pilot.pause()
        assert shown(pilot)[0] == "ℹ notice 0"
        view(pilot).to_prompt(1)
        await pilot.pause()
        assert view(pilot).following
