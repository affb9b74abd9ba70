"""What people complain of in other terminal agents, and does not happen here: writing, waiting, allowing, going back.

As in `test_complaints`, each test names a complaint, and where it was made.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events

from agentcli.agent.messages import ImageContent, ToolResultMessage, UserMessage, text_of
from agentcli.config.settings import PermissionSettings, RetrySettings
from agentcli.sessions.entries import MessageEntry
from agentcli.tui.app import ChatApp
from agentcli.tui.app_settings import drafts_folder
from agentcli.tui.widgets import permission_prompt
from tests.files.images import PNG
from tests.tui.conftest import MakeApp
from tests.tui.drive import idle, ready, screen, send, until, user_prompts
from tests.tui.pty_app import PtyApp

LINES = "\n".join(f"line {number}\t[/] é" for number in range(40))
WAITING = [{"tool": "bash", "arguments": {"command": "until [ -e go ]; do sleep 0.05; done"}}]
DONE = [{"text": "all done"}]


def bash(command: str) -> list[dict[str, Any]]:
    return [{"tool": "bash", "arguments": {"command": command}}]


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are answers after a short while, as nobody types while it asks."""
    monkeypatch.setattr(permission_prompt, "QUIET_S", 0.1)


def results(app: ChatApp) -> list[str]:
    """What the model got of its calls."""
    assert app.runtime is not None
    messages = app.runtime.agent.state.messages
    return [text_of(message.content) for message in messages if isinstance(message, ToolResultMessage)]


# What waits


def test_what_was_queued_is_lost_with_the_app(start: Callable[..., PtyApp], work: Path) -> None:
    """It is nowhere but in memory. (kimi #2346)"""
    app = start(WAITING)
    app.write("go\r")
    app.until("● bash")
    app.write("use the other file\r")
    app.until("steer: use the other file")
    app.write("then commit\x11a draft")
    app.until(lambda shown: "follow-up: then commit" in shown and "a draft" in shown)
    kept = "use the other file\n\nthen commit\n\na draft"
    app.until(lambda _: any(path.read_text() == kept for path in drafts_folder(work).glob("*.draft")))
    app.process.kill(9)
    (work / "go").touch()
    again = PtyApp(work)
    shown = again.until("a draft")
    again.kill()
    assert shown.index("use the other file") < shown.index("then commit") < shown.index("a draft")


async def test_what_was_queued_is_lost_when_the_conversation_changes(make_app: MakeApp) -> None:
    """The queue is emptied with the screen. (kimi #1569)"""
    async with make_app(WAITING).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "● bash" in screen(pilot))
        await send(pilot, "use the other file")
        await send(pilot, "then commit", "alt+enter")
        await send(pilot, "/new")
        await until(pilot, lambda: app.editor.text == "use the other file\n\nthen commit")


async def test_nobody_knows_what_waits_for_what_and_how_to_change_it(make_app: MakeApp) -> None:
    """Queue and steering look alike. (pi #403)"""
    async with make_app(WAITING, [{"text": "steered"}], [{"text": "followed"}]).run_test(size=(100, 30)) as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "● bash" in screen(pilot))
        await send(pilot, "use the other file")
        await send(pilot, "then commit", "alt+enter")
        await until(pilot, lambda: "follow-up: then commit" in screen(pilot))
        shown = screen(pilot)
        assert "steer: use the other file" in shown and "Alt+Q edits" in shown and "Alt+Up takes the last back" in shown
        assert "steer: after the running tools · follow-up: when done" in shown
        await pilot.press("alt+up")
        assert app.editor.text == "then commit"
        await pilot.press("alt+enter")
        Path("go").touch()
        await until(pilot, lambda: "followed" in screen(pilot))
        await idle(pilot)
        shown = screen(pilot)
        order = [shown.index(text) for text in ("❯ use the other", "steered", "❯ then commit", "followed")]
        assert order == sorted(order) and user_prompts(app) == ["go", "use the other file", "then commit"]


# What is written


async def test_a_pasted_text_arrives_as_its_placeholder(make_app: MakeApp) -> None:
    """The model is told `[paste #1 +40 lines]`. (kimi #1946)"""
    async with make_app(DONE).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"see ")
        app.post_message(events.Paste(LINES.replace("\n", "\r\n")))
        await until(pilot, lambda: "see [paste #1 +40 lines]" in screen(pilot))
        await pilot.press("enter")
        await idle(pilot)
        assert user_prompts(app) == [f"see {LINES}"]
        assert app.runtime is not None
        kept = [
            text_of(entry.message.content)
            for entry in app.runtime.session.get_entries()
            if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
        ]
        assert kept == [f"see {LINES}"]


async def test_there_is_no_key_for_a_new_line_here(make_app: MakeApp) -> None:
    """Shift+Enter is Enter in many terminals, and no other key will do. (kimi #794, #1574)"""
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        await pilot.press("a", "ctrl+j", "b", "shift+enter", "c", "backslash", "enter", "d")
        assert app.editor.text == "a\nb\nc\nd"


async def test_keys_cannot_be_changed(make_app: MakeApp) -> None:
    """They are in the program. (kimi #1585; toad #95)"""
    async with make_app(DONE, keys={"submit": "f2", "new_line": "enter", "quit": "f9"}).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press("a", "enter", "b", "f2")
        await idle(pilot)
        assert user_prompts(app) == ["a\nb"]
        await pilot.press("f9")
        await until(pilot, lambda: not app.is_running)


async def test_images_cannot_be_pasted_here(make_app: MakeApp, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Wayland, over SSH, and nobody says why. A file's name will do, and what is missing is said. (kimi #1617, #2315)"""
    (work / "a shot.png").write_bytes(PNG)
    monkeypatch.setenv("PATH", str(work))
    async with make_app(DONE).run_test(size=(120, 24)) as pilot:
        app = await ready(pilot)
        await until(pilot, lambda: app.editor.cwd is not None)
        app.post_message(events.Paste(str(work / "a shot.png")))
        await until(pilot, lambda: app.editor.text == '@"a shot.png" ')
        await pilot.press("ctrl+v")
        await until(pilot, lambda: "no program here can read the clipboard" in screen(pilot))
        assert app.editor.text == '@"a shot.png" '
        await pilot.press("enter")
        await idle(pilot)
        assert app.runtime is not None
        (asked,) = [message for message in app.runtime.agent.state.messages if isinstance(message, UserMessage)]
        assert any(isinstance(part, ImageContent) for part in asked.content)


async def test_ctrl_d_deletes_the_prompt_or_ends_the_app(make_app: MakeApp) -> None:
    """With a draft in it. (vibe #511)"""
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"draft", "ctrl+d", "home", "ctrl+d")
        assert app.editor.text == "raft" and app.is_running
        await pilot.press("ctrl+u", "end", "ctrl+u", "ctrl+d")
        await until(pilot, lambda: not app.is_running)


# What is allowed


def test_what_was_allowed_always_is_asked_again(start: Callable[..., PtyApp], work: Path) -> None:
    """The rule is not kept, not read back, or does not fit. It says too why it asks. (vibe #1091, #988, #391)"""
    app = start(bash("touch made"), DONE, mode="ask", size=(100, 30))
    app.write("go\r")
    shown = app.until(lambda shown: "Allow bash?" in shown and "stop typing" not in shown)
    assert "no rule" in shown and "bash(=touch made)" in shown
    app.write("a")
    app.until("all done")
    app.write("\x04")
    assert app.wait() == 0
    (work / "made").unlink()
    again = start(bash("touch made"), [{"text": "not asked"}], mode="ask")
    again.write("go\r")
    assert "Allow bash?" not in again.until("not asked")
    assert (work / "made").exists()


@pytest.mark.usefixtures("brisk")
async def test_only_whole_tools_can_be_allowed(make_app: MakeApp, work: Path) -> None:
    """Not one command, nor the beginning of one. (vibe #74; kimi #248)"""
    calls = bash("touch one"), bash("cat /etc/hosts"), bash("cat /etc/hosts"), bash("touch three; rm one"), DONE
    rules = PermissionSettings(allow=["bash(touch)"])
    async with make_app(*calls, mode=None, permissions=rules).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: app.permission.is_ready)
        assert (work / "one").exists() and "cat /etc/hosts" in screen(pilot)
        await pilot.press("s")
        await until(pilot, lambda: "rm one" in screen(pilot) and app.permission.is_ready)
        assert not (work / "three").exists()
        await pilot.press("n")
        await idle(pilot)
        assert (work / "one").exists()


@pytest.mark.usefixtures("brisk")
async def test_one_has_to_allow_an_edit_without_seeing_it(make_app: MakeApp, work: Path) -> None:
    """The diff comes afterwards. (kimi-code #132)"""
    (work / "a.txt").write_text("one\ntwo\n")
    edits = [{"old_text": "two", "new_text": "[b]2[/b]"}]
    call = [
        {"tool": "read", "arguments": {"path": "a.txt"}},
        {"tool": "edit", "arguments": {"path": "a.txt", "edits": edits}},
    ]
    async with make_app(call, DONE, mode=None).run_test(size=(80, 40)) as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: app.permission.is_ready)
        asked = screen(pilot).partition("Allow edit?")[2]
        assert "a.txt" in asked and "-two" in asked.replace(" ", "") and "+[b]2[/b]" in asked.replace(" ", "")
        assert (work / "a.txt").read_text() == "one\ntwo\n"
        await pilot.press("y")
        await idle(pilot)
        assert (work / "a.txt").read_text() == "one\n[b]2[/b]\n"


# What runs, and what fails


async def test_a_command_that_wants_an_answer_hangs(make_app: MakeApp) -> None:
    """It waits for input that nobody can give. (kimi #1117)"""
    asks = "read answer && echo got it; cat; python3 -c 'input()' 2>&1 | tail -1; test -t 0 || echo no terminal"
    async with make_app(bash(asks), DONE).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await idle(pilot)
        (text,) = results(app)
        assert "EOFError" in text and "no terminal" in text and "got it" not in text


def test_a_command_takes_the_keys(start: Callable[..., PtyApp]) -> None:
    """It reads the terminal itself, and what is typed goes to it. (kimi #1117)"""
    app = start(bash("head -c 3 </dev/tty; echo; until [ -e go ]; do sleep 0.05; done"), DONE)
    app.write("go\r")
    app.until("/dev/tty:")
    app.write("typed 文件")
    app.until("│ typed 文")
    app.write("\x15!touch go\r")
    app.until("all done")


async def test_a_rate_limit_ends_the_work(make_app: MakeApp) -> None:
    """Or a network that was away for a moment. (vibe #264, #235, #261)"""
    answers = [{"error": "rate_limit", "text": "slow down"}], [{"error": "network", "text": "gone"}], DONE
    async with make_app(*answers, retry=RetrySettings(base_delay=0.7)).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "trying again in 1 s (1 of 3; Esc stops)" in screen(pilot))
        await idle(pilot)
        assert "all done" in screen(pilot) and user_prompts(app) == ["go"]


async def test_waiting_for_a_rate_limit_cannot_be_stopped(make_app: MakeApp) -> None:
    """Esc does nothing until it is over. (vibe #264)"""
    slow = RetrySettings(base_delay=600.0, max_delay=600.0)
    async with make_app([{"error": "rate_limit", "text": "slow down"}], DONE, retry=slow).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "Esc stops" in screen(pilot))
        await pilot.press("escape")
        await idle(pilot)
        assert "all done" not in screen(pilot) and app.runtime is not None and not app.runtime.is_busy


# Going back


async def test_a_conversation_is_a_line_and_going_back_throws_away(make_app: MakeApp) -> None:
    """There is no tree to go around in. (kimi-code #1871; gptme #17, #33)"""
    answers = [[{"text": f"answer {number}"}] for number in range(3)]
    async with make_app(*answers).run_test(size=(100, 30)) as pilot:
        app = await ready(pilot)
        for question in ("why?", "one way"):
            await send(pilot, question)
            await idle(pilot)
        await send(pilot, "/tree")
        await until(pilot, lambda: "user: one way" in screen(pilot))
        await pilot.press("up", "enter")
        await until(pilot, lambda: app.editor.text == "one way")
        await send(pilot, "the other way")
        await idle(pilot)
        assert user_prompts(app) == ["why?", "the other way"] and "answer 2" in screen(pilot)
        await send(pilot, "/tree")
        await until(pilot, lambda: "user: the other way" in screen(pilot))
        assert "├" in screen(pilot) and "user: one way" in screen(pilot)
