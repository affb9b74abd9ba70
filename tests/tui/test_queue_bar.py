"""The queue bar: what waits, in order, and what the user can ask for with keys and the mouse."""

from textual.app import App, ComposeResult
from textual.events import MouseScrollDown
from textual.message import Message
from textual.pilot import Pilot

from agentcli.transcript.queue import QueuedKind, QueuedText
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.commands.table import ACTIONS
from agentcli.tui.painting.clean import clean
from agentcli.tui.widgets.queue_bar import QueueBar
from tests.tui.conftest import escapes, markup_lines
from tests.tui.drive import screen
from tests.tui.screen_app import KEYMAP

STEER, FOLLOW_UP = QueuedKind.STEER, QueuedKind.FOLLOW_UP


class FakeApp(App[None]):
    """Notes what is asked for."""

    AUTO_FOCUS = None

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[object, ...]] = []

    def compose(self) -> ComposeResult:
        yield QueueBar(KEYMAP)

    def note(self, message: Message, *about: object) -> None:
        self.asked.append((type(message).__name__, *about))

    def on_queue_bar_edit_asked(self, message: QueueBar.EditAsked) -> None:
        self.note(message, message.id)

    def on_queue_bar_remove_asked(self, message: QueueBar.RemoveAsked) -> None:
        self.note(message, message.id)

    def on_queue_bar_switch_asked(self, message: QueueBar.SwitchAsked) -> None:
        self.note(message, message.id)

    def on_queue_bar_move_asked(self, message: QueueBar.MoveAsked) -> None:
        self.note(message, message.id, message.position)

    def on_queue_bar_left(self, message: QueueBar.Left) -> None:
        self.note(message)


def rows(steering: int = 2, follow_ups: int = 2) -> list[QueuedText]:
    kinds = [STEER] * steering + [FOLLOW_UP] * follow_ups
    return [QueuedText(f"q{number}", kind, f"text {number}") for number, kind in enumerate(kinds)]


def bar(pilot: Pilot[None]) -> QueueBar:
    return pilot.app.query_one(QueueBar)


def asked(pilot: Pilot[None]) -> list[tuple[object, ...]]:
    assert isinstance(pilot.app, FakeApp)
    return pilot.app.asked


def highlighted(pilot: Pilot[None]) -> str | None:
    row = bar(pilot).highlighted
    return row.id if row else None


async def show(pilot: Pilot[None], waiting: list[QueuedText], focus: bool = True) -> None:
    bar(pilot).show(waiting)
    await pilot.pause()
    if focus:
        bar(pilot).focus()
        await pilot.pause()


async def test_it_says_what_waits_in_order_and_what_each_kind_means() -> None:
    async with FakeApp().run_test(size=(120, 24)) as pilot:
        await show(pilot, rows(1, 1), focus=False)
        shown = screen(pilot)
        assert shown.index("steer: text 0") < shown.index("follow-up: text 1")
        assert "steer: after the running tools · follow-up: when done" in shown
        assert "Alt+Q edits" in shown and "Alt+Up takes the last back" in shown
        assert "❯" not in shown
        await show(pilot, [], focus=False)
        assert not bar(pilot).display


async def test_keys_ask_for_what_can_be_done_with_the_highlighted_one() -> None:
    async with FakeApp().run_test(size=(100, 24)) as pilot:
        await show(pilot, rows())
        assert "❯ steer: text 0" in screen(pilot) and "1 of 4" in screen(pilot)
        await pilot.press("down", "enter", "tab", "down", "shift+down")
        assert asked(pilot) == [("EditAsked", "q1"), ("SwitchAsked", "q1"), ("MoveAsked", "q2", 1)]
        await pilot.press("shift+up", "delete", "escape")
        assert asked(pilot)[3:] == [("MoveAsked", "q2", 0), ("RemoveAsked", "q2"), ("Left",)]


async def test_keys_that_come_faster_than_answers_each_do_their_work() -> None:
    async with FakeApp().run_test() as pilot:
        await show(pilot, rows(4, 0))
        await pilot.press("shift+down", "shift+down", "d", "d")
        moves = [("MoveAsked", "q0", 1), ("MoveAsked", "q0", 2)]
        assert asked(pilot) == [*moves, ("RemoveAsked", "q0"), ("RemoveAsked", "q3")]


async def test_one_is_moved_among_its_kind_only() -> None:
    async with FakeApp().run_test() as pilot:
        await show(pilot, rows(1, 1))
        await pilot.press("shift+up", "shift+down", "down", "shift+up", "shift+down")
        assert asked(pilot) == []


async def test_what_was_sent_before_the_start_has_one_kind() -> None:
    async with FakeApp().run_test() as pilot:
        await show(pilot, [QueuedText("e", QueuedKind.EARLY, "soon")])
        await pilot.press("tab")
        assert asked(pilot) == [] and "at the start: soon" in screen(pilot)


async def test_the_highlight_stays_with_its_message_wherever_that_goes() -> None:
    async with FakeApp().run_test() as pilot:
        first, second, third, fourth = rows()
        await show(pilot, [first, second, third, fourth])
        await pilot.press("down")
        await show(pilot, [second, first, third, fourth])
        assert highlighted(pilot) == "q1"
        await pilot.press("tab")
        again = QueuedText("q9", FOLLOW_UP, second.text)
        await show(pilot, [first, third, fourth, again])
        assert highlighted(pilot) == "q9"


async def test_when_the_highlighted_one_is_delivered_a_neighbour_is_highlighted() -> None:
    async with FakeApp().run_test() as pilot:
        first, second, third, _ = rows()
        await show(pilot, [first, second, third])
        await show(pilot, [second, third])
        assert highlighted(pilot) == "q1"
        await pilot.press("down")
        await show(pilot, [second])
        assert highlighted(pilot) == "q1"
        assert asked(pilot) == []
        await show(pilot, [])
        assert asked(pilot) == [("Left",)] and highlighted(pilot) is None


async def test_two_hundred_are_seen_through_a_window() -> None:
    async with FakeApp().run_test(size=(80, 30)) as pilot:
        await show(pilot, rows(10, 190))
        assert bar(pilot).size.height <= 6
        await pilot.press(*["down"] * 12)
        assert "❯ follow-up: text 12" in screen(pilot) and "13 of 200" in screen(pilot)
        assert bar(pilot).size.height <= 6
        await pilot.press(*["up"] * 12)
        assert "❯ steer: text 0" in screen(pilot)


async def test_a_click_and_the_wheel_choose_one() -> None:
    async with FakeApp().run_test(size=(80, 30)) as pilot:
        await show(pilot, rows(), focus=False)
        await pilot.click(QueueBar, offset=(5, 2))
        assert highlighted(pilot) == "q2"
        await pilot._post_mouse_events([MouseScrollDown], QueueBar, offset=(5, 2), button=0)
        assert highlighted(pilot) == "q3"


async def test_other_keys_are_not_taken() -> None:
    async with FakeApp().run_test() as pilot:
        await show(pilot, rows())
        bar(pilot).keymap = Keymap({"queue_remove": "x"}, ACTIONS)
        await pilot.press("d", "z")
        assert asked(pilot) == []
        await pilot.press("x")
        assert asked(pilot) == [("RemoveAsked", "q0")]


async def test_every_size_has_room_for_the_highlighted_one() -> None:
    for size in [(80, 8), (30, 8), (20, 5), (10, 3), (3, 2), (1, 1)]:
        async with FakeApp().run_test(size=size) as pilot:
            await show(pilot, rows(50, 50))
            await pilot.press("down", "down", "down")
            assert highlighted(pilot) == "q3"
            if size[0] >= 10:
                assert "❯ steer" in screen(pilot)


async def test_nothing_in_it_is_markup_or_reaches_the_terminal() -> None:
    async with FakeApp().run_test(size=(120, 40)) as pilot:
        for line in markup_lines():
            await show(pilot, [QueuedText("q", STEER, line)])
            assert "".join(clean(line).split())[:30] in "".join(screen(pilot).split())
        await show(pilot, [QueuedText("q", STEER, escapes())])
        shown = screen(pilot).replace("\n", "")
        assert not [character for character in shown if ord(character) < 32 or 127 <= ord(character) < 160]
