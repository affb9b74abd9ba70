"""Nothing that is shown is markup: every surface shows text as it is."""

import re
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from agentcli.agent.messages import BashExecutionMessage
from agentcli.config.settings import Notify
from agentcli.transcript.items import NoticeKind
from agentcli.transcript.queue import QueuedKind, QueuedText
from agentcli.tui.items.item import Fold, ItemView
from agentcli.tui.painting.clean import clean
from agentcli.tui.status import Status
from agentcli.tui.terminal.notifier import TerminalNotifier
from agentcli.tui.widgets.editor import Editor
from agentcli.tui.widgets.footer import Footer
from agentcli.tui.widgets.queue_bar import QueueBar
from agentcli.tui.widgets.transcript import Transcript
from tests.tui.conftest import MakeApp, escapes, markup_lines
from tests.tui.drive import idle, ready, screen, send, until
from tests.tui.screen_app import KEYMAP
from tests.tui.views import assistant_text, finished, notice, summary, thinking, user_text, views_of

LINES = markup_lines()


class FakeApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()
        yield QueueBar(KEYMAP)
        yield Editor()
        yield Footer()


ITEMS = {
    "prompt": user_text,
    "code": lambda line: assistant_text(f"```\n{line}\n```"),
    "heading": lambda line: assistant_text(f"# `` {line} ``"),
    "thinking": thinking,
    "notice": notice,
    "error": lambda line: notice("failed", NoticeKind.ERROR, line),
    "tool name": lambda line: finished(line, {}, ""),
    "argument": lambda line: finished("teleport", {"where": line}, ""),
    "command": lambda line: finished("bash", {"command": line}, ""),
    "path": lambda line: finished("write", {"path": line}, ""),
    "output": lambda line: finished("bash", {"command": "x"}, line),
    "failure": lambda line: finished("bash", {"command": "x"}, line, is_error=True),
    "unfolded thinking": lambda line: thinking(line),
    "unfolded argument": lambda line: finished("teleport", {"where": line}, ""),
    "new file": lambda line: finished("write", {"path": "x", "content": line}, ""),
    "edit": lambda line: finished("edit", {"path": "x", "edits": [{"old_text": line}]}, ""),
    "diff": lambda line: finished("edit", {"path": "x"}, "", {"diff": f"-1 {line}"}),
    "summary of a call": lambda line: finished("find", {"pattern": "x"}, line),
    "user's command": lambda line: views_of([BashExecutionMessage(line, "")])[0],
    "user's output": lambda line: views_of([BashExecutionMessage("x", line)])[0],
    "summary": lambda line: summary("summarised", line),
    "unfolded summary": lambda line: summary("summarised", f"```\n{line}\n```"),
    "title of a summary": lambda line: summary(line, ""),
}


def flat(text: str) -> str:
    """Without spaces, row ends and what stands at the left of rows: only the words count."""
    return "".join(character for character in text if not character.isspace() and character not in "│▌❯")


def visible(line: str) -> str:
    """What of a line has to be seen: surfaces of one row cut what is long."""
    return flat(clean(line))[:40]


@pytest.mark.parametrize("surface", ITEMS)
async def test_every_line_is_shown_as_it_is(surface: str) -> None:
    async with FakeApp().run_test(size=(120, 40)) as pilot:
        transcript = pilot.app.query_one(Transcript)
        for fold in Fold:
            transcript.unfold(fold, surface.startswith("unfolded"))
        for line in LINES:
            item: ItemView = ITEMS[surface](line)
            transcript.append([item])
            transcript.show()
            await pilot.pause()
            assert visible(line) in flat(screen(pilot)), line


async def test_prose_is_shown_but_for_what_markdown_takes() -> None:
    taken = {"\\[escaped]": "[escaped]", "<b>x</b> &amp;": "<b>x</b> &"}
    async with FakeApp().run_test(size=(120, 40)) as pilot:
        transcript = pilot.app.query_one(Transcript)
        for line in LINES:
            transcript.append([assistant_text(line)])
            transcript.show()
            await pilot.pause()
            assert visible(taken.get(line, line)) in flat(screen(pilot)), line


async def test_the_draft_the_queue_and_the_footer_show_it_as_it_is() -> None:
    async with FakeApp().run_test(size=(160, 40)) as pilot:
        for line in LINES:
            pilot.app.query_one(Editor).put(line)
            pilot.app.query_one(QueueBar).show([QueuedText("q", QueuedKind.STEER, line)])
            pilot.app.query_one(Footer).show(Status(folder=line, branch=line, session=line, model=line, activity=line))
            await pilot.pause()
            shown = flat(screen(pilot))
            assert visible(line) in shown, line


async def test_what_the_footer_says_for_a_while_is_shown_as_it_is() -> None:
    async with FakeApp().run_test(size=(160, 40)) as pilot:
        for line in LINES:
            pilot.app.query_one(Footer).flash(line)
            await pilot.pause()
            assert visible(line) in flat(screen(pilot)), line
        pilot.app.query_one(Footer).flash(escapes())
        await pilot.pause()
        await shows_no_control(pilot)


@pytest.mark.parametrize("text", [*LINES, escapes()], ids=lambda text: repr(text[:20]))
def test_the_title_of_the_window_and_the_note_at_the_end_are_one_sequence_each(text: str) -> None:
    written: list[str] = []
    attention = TerminalNotifier(written.append)
    attention.notify = Notify.OSC9
    attention.show(Status(session=text, activity="writing"))
    attention.run_ended(60.0, Status(session=text))
    title, note = (re.fullmatch("\x1b\\](?:2|9);([^\x00-\x1f\x7f-\x9f]*)\x07", each) for each in written)
    for told in (title, note):
        assert told is not None and (visible(text) if text in LINES else "before") in flat(told[1])


async def test_what_is_copied_is_what_was_said_without_what_a_terminal_obeys(make_app: MakeApp) -> None:
    """An answer by a command, and a part of it by the mouse. It may be pasted into a shell."""
    text = "\n".join(line for line in LINES if line == line.strip())
    payload = escapes().encode("utf-8", "replace").decode()
    async with make_app([{"text": text}], [{"text": payload}]).run_test(size=(100, 40)) as pilot:
        app = await ready(pilot)
        for wanted in (clean(text), clean(payload).strip()):
            await send(pilot, "go")
            await idle(pilot)
            await send(pilot, "/copy")
            await until(pilot, lambda wanted=wanted: app.clipboard == wanted)
        await pilot.triple_click(Transcript, offset=(2, app.transcript.size.height - 3))
        await pilot.press("ctrl+c")
        assert "before" in app.clipboard and clean(app.clipboard) == app.clipboard


async def test_a_session_may_be_called_anything(make_app: MakeApp) -> None:
    """Its name is in the footer and in a line of the conversation."""
    async with make_app([{"text": "yes"}]).run_test(size=(160, 50)) as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await idle(pilot)
        for line in LINES:
            # A backslash before Enter would be a new line.
            await send(pilot, f"/name {line} ")
            await until(pilot, lambda line=line: visible(f"called {line}") in flat(screen(pilot)))
            await pilot.pause()
            assert visible(line) in flat(screen(pilot).splitlines()[-2]), line
        assert app._exception is None


async def test_a_click_on_what_looks_like_an_action_does_nothing(make_app: MakeApp) -> None:
    async with make_app([{"text": "[@click=app.quit]x[/]"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "[@click=app.quit]y[/]")
        await idle(pilot)
        for row in (0, 2):
            for column in (2, 18):
                await pilot.click(offset=(column, row))
        assert app.is_running
        assert "[@click=app.quit]x[/]" in screen(pilot)


async def test_sequences_in_every_surface_are_gone(make_app: MakeApp) -> None:
    payload = escapes().encode("utf-8", "replace").decode()
    async with FakeApp().run_test(size=(100, 60)) as pilot:
        transcript = pilot.app.query_one(Transcript)
        for make in ITEMS.values():
            transcript.append([make(payload)])
            transcript.show()
            transcript.unfold(Fold.TOOLS, True)
            transcript.unfold(Fold.THINKING, True)
            await pilot.pause()
            await shows_no_control(pilot)
        pilot.app.query_one(Editor).put(payload)
        pilot.app.query_one(QueueBar).show([QueuedText("q", QueuedKind.STEER, payload)])
        pilot.app.query_one(Footer).show(Status(folder=payload, branch=payload, model=payload, activity=payload))
        await pilot.pause()
        await shows_no_control(pilot)


async def shows_no_control(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: "before" in screen(pilot))
    for line in pilot.app.screen._compositor.render_strips():
        assert not [c for c in line.text if ord(c) < 32 or 127 <= ord(c) < 160]
