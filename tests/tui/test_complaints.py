"""What people complain of in other terminal agents, and does not happen here: what is shown, and what that costs.

Each test names a complaint, and where it was made. What is counted is work, not time: items that are laid out, layouts,
bytes for the terminal, connections. `test_complaints_at_work` has what concerns writing, waiting and allowing.

Shown by tests elsewhere: the wrong shell, timeouts (`tools/test_bash_environment`, `tools/test_bash_processes`);
compaction over the limit, nested summaries, small windows (`runtime/test_compaction*`, `sessions/test_compaction_plan`);
resumed sessions that no server takes (`providers/test_histories`, `sessions/test_damaged_files`); no way to extend it
(`runtime/test_extensions`).
"""

import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.screen import Screen

from agentcli.config.settings import ProviderSettings, Settings
from agentcli.runtime.options import RuntimeOptions
from agentcli.tui.app import ChatApp
from agentcli.tui.items.item import Fold
from agentcli.tui.terminal.background import BackgroundReported
from agentcli.tui.widgets.editor import Editor
from agentcli.tui.widgets.transcript import Transcript
from tests.fake_server import FakeServer
from tests.tui.conftest import MakeApp
from tests.tui.drive import idle, ready, screen, send, until
from tests.tui.pty_app import PtyApp
from tests.tui.states import options
from tests.tui.test_themes import contrast
from tests.tui.test_transcript import CountingItem
from tests.tui.views import assistant_text, thinking

WORDS = " ".join(f"word{number}" for number in range(150))
"""Fewer rows than the smallest transcript here."""
STREAM = [{"text": WORDS, "chunk": 12, "delay": 0.005}]
SILENT = [{"text": "late", "delay": 60}]
LETTERS, BEHIND = {*range(30, 39), *range(90, 98)}, {*range(40, 49), *range(100, 108)}
"""What sets the colour of letters, and of what is behind them."""


@pytest.fixture
def layouts(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Grows by one for each layout of the screen."""
    done: list[None] = []
    lay_out = Screen._refresh_layout

    def counted(self: Screen[Any], *arguments: Any, **named: Any) -> None:
        done.append(None)
        lay_out(self, *arguments, **named)

    monkeypatch.setattr(Screen, "_refresh_layout", counted)
    return done


async def long_conversation(pilot: Pilot[Any], items: int = 1_000) -> list[CountingItem]:
    """Fill the transcript with items that count how often they are laid out."""
    app = await ready(pilot)
    counting = [CountingItem() for _ in range(items)]
    app.transcript.append(counting)  # type: ignore[arg-type]
    app.transcript.show()
    await pilot.pause()
    return counting


def laid_out(items: list[CountingItem]) -> int:
    return sum(item.count for item in items)


def painted_with(raw: bytes) -> set[int]:
    """Which attributes the terminal was told to paint with."""
    found: set[int] = set()
    for sequence in re.findall(rb"\x1b\[([\d;]+)m", raw):
        numbers = [int(number or 0) for number in sequence.split(b";")]
        while numbers:
            found.add(first := numbers.pop(0))
            if first in (38, 48):
                del numbers[: 4 if numbers[0] == 2 else 2]
    return found


def rows_in_view(app: ChatApp) -> list[str]:
    """Of the transcript, without its last one, which says what is below."""
    return [app.transcript.render_line(y).text.rstrip() for y in range(app.transcript.size.height - 1)]


async def test_the_app_freezes_when_the_terminal_gains_or_loses_the_focus(make_app: MakeApp) -> None:
    """With a long transcript, because each message is a widget that is styled again. (vibe #1105, textual #6524)"""
    async with make_app().run_test(size=(80, 24)) as pilot:
        app = await ready(pilot)
        widgets = len(app.screen.query("*"))
        items = await long_conversation(pilot)
        assert len(app.screen.query("*")) == widgets
        before = laid_out(items)
        for event in (events.AppBlur(), events.AppFocus()) * 3:
            app.post_message(event)
            await pilot.pause()
        assert laid_out(items) == before < 20


async def test_it_gets_slow_after_some_minutes(make_app: MakeApp) -> None:
    """One core at 100 %, as every delta lays out what was said before. (vibe #222, #179)"""
    costs = []
    for length in (10, 2_000):
        async with make_app(STREAM).run_test(size=(80, 24)) as pilot:
            items = await long_conversation(pilot, length)
            before = laid_out(items)
            await send(pilot, "go")
            await idle(pilot)
            costs.append(laid_out(items) - before)
    assert costs[1] <= costs[0] + 2


async def test_a_clock_lays_out_the_screen(make_app: MakeApp, layouts: list[None]) -> None:
    """A spinner or a timer that costs a layout each time it moves. (vibe #882)"""
    call = [{"tool": "bash", "arguments": {"command": "until [ -e go ]; do sleep 0.05; done"}}]
    async with make_app(call, STREAM).run_test(size=(80, 24)) as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "● bash" in screen(pilot) and app.footer.activity == "running bash")
        await pilot.pause()
        layouts.clear()
        for _ in range(20):
            app._tick()
            await pilot.pause()
        assert layouts == []
        Path("go").touch()
        await until(pilot, lambda: "word20 " in screen(pilot))
        layouts.clear()
        await until(pilot, lambda: "word120" in screen(pilot))
        assert layouts == []


def test_it_does_something_while_nothing_happens(start: Callable[..., PtyApp]) -> None:
    """CPU in an idle app: something is painted again and again. (vibe #611)"""
    app = start([{"text": "done"}])
    app.write("go\r")
    app.until(lambda shown: "done" in shown and "ready" in shown)
    app.read(1.0)
    before = len(app.raw)
    app.read(2.0)
    assert len(app.raw) == before


async def test_the_view_jumps_while_one_reads_back_and_output_arrives(make_app: MakeApp) -> None:
    """To the start, or to the end, at each delta. (vibe #358, #485, #300; aider #2972)"""
    wait = [{"tool": "bash", "arguments": {"command": "until [ -e go ]; do sleep 0.05; done"}}]
    async with make_app(wait, [{"text": "\n\n".join(WORDS.split()), "chunk": 30, "delay": 0.005}]).run_test() as pilot:
        app = await ready(pilot)
        app.transcript.append([assistant_text(f"said before, {number}") for number in range(50)])
        app.transcript.show()
        await send(pilot, "go")
        await until(pilot, lambda: "● bash" in screen(pilot))
        await pilot.press("pageup", "pageup")
        await pilot.pause()
        before = rows_in_view(app)
        assert any("said before" in row for row in before)
        Path("go").touch()
        await idle(pilot)
        assert rows_in_view(app) == before
        assert "more below, new" in screen(pilot) and "word149" not in screen(pilot)
        await pilot.press("end")
        await pilot.pause()
        assert "word149" in screen(pilot) and "more below" not in screen(pilot)


async def test_what_is_on_the_screen_cannot_be_copied(make_app: MakeApp) -> None:
    """By the mouse, while it streams too, or by a command. (vibe #19, #41)"""
    async with make_app(STREAM).run_test(size=(80, 24)) as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "word20 " in screen(pilot))
        await pilot.mouse_down(Transcript, offset=(0, 2))
        await pilot.hover(Transcript, offset=(10, 2))
        await pilot.mouse_up(Transcript, offset=(10, 2))
        await idle(pilot)
        await pilot.press("ctrl+c")
        assert app.clipboard == "word0 word1" and app.is_running
        await send(pilot, "/copy")
        await until(pilot, lambda: app.clipboard == WORDS)


@pytest.mark.parametrize(("option", "takes"), [((), True), (("--no-mouse",), False)])
def test_the_mouse_is_taken_from_the_terminal(work: Path, option: tuple[str, ...], takes: bool) -> None:
    """So that tmux's copy mode and the terminal's own selection do not work, and nobody can say no. (tau #83, #150)"""
    app = PtyApp(work, options=option).ready()
    assert any(f"\x1b[?{mode}h".encode() in app.raw for mode in (1000, 1002, 1003)) == takes
    app.kill()


async def test_a_new_width_takes_seconds_or_leaves_garbage(make_app: MakeApp) -> None:
    """As the whole conversation is laid out again. (aider #4465)"""
    async with make_app().run_test(size=(80, 24)) as pilot:
        items = await long_conversation(pilot)
        app = await ready(pilot)
        app.transcript.append([assistant_text(WORDS)])
        app.transcript.show()
        await pilot.pause()
        shown, before = screen(pilot), laid_out(items)
        for width in (40, 120, 31, 80):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
        assert screen(pilot) == shown
        assert laid_out(items) - before < 100


def test_the_start_waits_for_the_network_or_for_an_sdk(work: Path) -> None:
    """Slow to start, with the network at import. (aider #3111; OpenHands-CLI PR #679)"""
    heavy = {"httpx", "openai", "anthropic", "agentcli.runtime.runtime"}
    program = "import sys, agentcli.tui.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "agentcli.tui.app" in done.stdout.split() and not heavy & set(done.stdout.split())


async def test_it_talks_to_servers_before_it_was_asked_anything(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    """The first frame waits for a server. (aider #3111)"""
    looked_up: list[object] = []

    def no_network(*arguments: object, **named: object) -> Any:
        looked_up.append(arguments)
        raise OSError("no network here")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    monkeypatch.setattr(socket.socket, "connect", no_network)
    async with ChatApp(options()).run_test() as pilot:
        app = await ready(pilot)
        await until(pilot, lambda: "acme/large-2" in screen(pilot) and app.editor.completing is not None)
        assert looked_up == []


def test_quitting_waits_for_the_model(start: Callable[..., PtyApp]) -> None:
    """Slow to close. (OpenHands #11103)"""
    app = start(SILENT)
    app.write("go\r")
    app.until("waiting for the model")
    app.write("\x04")
    assert app.wait(20) == 0


@pytest.mark.parametrize("is_light", [False, True])
async def test_colours_cannot_be_read_on_a_light_terminal(make_app: MakeApp, is_light: bool) -> None:
    """The terminal is asked what is behind the letters, and all text has enough contrast. (vibe #412, #423, #379)"""
    answer = [{"thinking": "hm"}, {"text": "# Title\n\n**bold** `code` [link](https://x.invalid)\n\n> quote"}]
    async with make_app(answer).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await idle(pilot)
        app.post_message(BackgroundReported(is_light))
        await until(pilot, lambda: app.current_theme.dark is not is_light)
        await pilot.pause()
        seen = 0
        for strip in app.screen._compositor.render_strips():
            for text, style, _ in strip:
                # The scrollbar is drawn with letters too.
                if style is None or not any(map(str.isalnum, text)):
                    continue
                assert style.color and style.color.triplet and style.bgcolor and style.bgcolor.triplet
                assert contrast(style.color.triplet, style.bgcolor.triplet) >= 3, text
                seen += 1
        assert seen > 8


def test_without_colour_it_cannot_be_used(start: Callable[..., PtyApp], monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR paints nothing at all, or colours all the same. (vibe #1030)"""
    monkeypatch.setenv("NO_COLOR", "1")
    app = start([{"text": "# Title\n\n```python\nreturn 1\n```"}])
    app.write("go\r")
    shown = app.until(lambda shown: "return 1" in shown and "ready" in shown)
    assert "❯ go" in shown and "# Title" in shown
    assert painted_with(app.raw) & (LETTERS | BEHIND) == set()


def test_there_is_no_transparent_background(start: Callable[..., PtyApp], work: Path) -> None:
    """Something is painted behind the text, whatever the terminal has there. (vibe #224)"""
    home = work.parent / "home"
    home.mkdir()
    (home / "config.toml").write_text('theme = "transparent"\n')
    app = start([{"text": "# Title"}])
    app.write("go\r")
    app.until(lambda shown: "# Title" in shown and "ready" in shown)
    painted = painted_with(app.raw)
    assert painted & LETTERS and not painted & BEHIND


async def test_neither_model_nor_context_nor_cost_can_be_seen(fake_server: FakeServer, work: Path) -> None:
    """In the status line, as it goes on. (vibe PR #1016, #1040, #901)"""
    priced = {"context_window": 10_000, "cost": {"input": 1000, "output": 1000}}
    settings = Settings(
        providers={"fake": ProviderSettings(base_url=f"{fake_server.url}/v1")}, models={"fake/dear": priced}
    )
    async with ChatApp(RuntimeOptions(settings=settings, model="fake/dear")).run_test(size=(100, 24)) as pilot:
        app = await ready(pilot)
        costs: list[float] = []
        for question in ("one", "two"):
            fake_server.answer("an answer")
            await send(pilot, question)
            await idle(pilot)
            footer = screen(pilot).splitlines()[-2:]
            assert "fake/dear" in footer[1] and re.search(r"\d+% of 10k · ↑\S+ ↓\S+ \$\d", footer[1]), footer
            costs.append(app.footer.status.cost)
        assert 0 < costs[0] < costs[1]


async def test_what_was_sent_appears_late(make_app: MakeApp) -> None:
    """Only once the server answers. (tau #271)"""
    async with make_app(SILENT).run_test() as pilot:
        await ready(pilot)
        await send(pilot, "are you there?")
        await until(pilot, lambda: "❯ are you there?" in screen(pilot))
        assert "late" not in screen(pilot) and pilot.app.query_one(Editor).text == ""


async def test_showing_what_the_model_thought_is_slow(make_app: MakeApp) -> None:
    """As all that was said is laid out again. (tau #248)"""
    async with make_app().run_test(size=(80, 24)) as pilot:
        app = await ready(pilot)
        items = await long_conversation(pilot)
        app.transcript.append([thinking("one\ntwo\nthree") for _ in range(3)])
        app.transcript.show()
        await pilot.pause()
        before = laid_out(items)
        assert "two" not in screen(pilot)
        await pilot.press("ctrl+t")
        await pilot.pause()
        assert app.transcript.is_unfolded(Fold.THINKING) and screen(pilot).count("two") == 3
        await pilot.press("ctrl+t")
        await pilot.pause()
        assert laid_out(items) - before < 20


async def test_a_typed_slash_ends_the_app(make_app: MakeApp) -> None:
    """So do other characters that mean something. (toad #51)"""
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        await until(pilot, lambda: app.editor.completing is not None)
        for text in ("/", "//", "/[", "/ /", "@", "@/", "!", "!!", "[/]", "\\", "/\\", "/é", "/name"):
            app.editor.put("")
            for letter in text:
                app.post_message(events.Key(letter, letter))
            await until(pilot, lambda text=text: app.editor.text == text)
            await pilot.press("tab", "escape")
        await send(pilot, "/nosuchcommand")
        await until(pilot, lambda: app.editor.text == "/nosuchcommand")
        assert app.is_running and app._exception is None


async def test_a_click_on_what_is_gone_ends_the_app(make_app: MakeApp) -> None:
    """The mouse is pressed on a widget, which goes away before the button does. (textual #6643)"""
    async with make_app().run_test(size=(80, 24)) as pilot:
        app = await ready(pilot)
        await send(pilot, "/theme")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.mouse_down(offset=(20, 8))
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.mouse_up(offset=(20, 8))
        await pilot.mouse_down(Transcript)
        await app.transcript.remove()
        await pilot.mouse_up(offset=(1, 1))
        await pilot.click(offset=(1, 1))
        assert app.is_running and app._exception is None


async def test_a_screen_that_breaks_ends_the_run(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """And with it what was said. (toad #51)"""
    monkeypatch.setattr("agentcli.tui.screens.help_screen.HelpScreen.__init__", lambda self, **named: 1 / 0)
    async with make_app(STREAM).run_test() as pilot:
        await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "word3 " in screen(pilot))
        await send(pilot, "/help")
        await until(pilot, lambda: "help broke: ZeroDivisionError" in screen(pilot))
        await idle(pilot)
        assert "word149" in screen(pilot)
