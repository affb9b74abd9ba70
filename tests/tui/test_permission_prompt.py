"""What the user is asked before a call runs, and what a key answers."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from agentcli.agent.messages import ToolResultMessage, text_of
from agentcli.runtime.events import PermissionRequestEvent
from agentcli.tui.app import ChatApp
from agentcli.tui.colors.palette import Palette
from agentcli.tui.painting.request_rows import Stage, request_rows, visible
from agentcli.tui.painting.rows import plain
from agentcli.tui.widgets import permission_prompt
from agentcli.tui.widgets.permission_prompt import room
from tests.tui.conftest import MakeApp, escapes, markup_lines
from tests.tui.drive import idle, ready, screen, send, until, user_prompts


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "arguments": {"command": command}}


TOUCH = [bash("touch made")]
DONE = [{"text": "all done"}]


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short wait, where nobody types while it asks."""
    monkeypatch.setattr(permission_prompt, "QUIET_S", 0.1)


async def asked(pilot: Pilot[Any], *, takes_keys: bool = True) -> ChatApp:
    """The app, once it asks, and takes answers."""
    app = pilot.app
    assert isinstance(app, ChatApp)
    await until(pilot, lambda: app.permission.request is not None and app.permission.is_ready == takes_keys)
    return app


async def start(pilot: Pilot[Any], *, takes_keys: bool = True) -> ChatApp:
    await ready(pilot)
    await send(pilot, "go")
    return await asked(pilot, takes_keys=takes_keys)


def results(app: ChatApp) -> list[str]:
    """What the model got of its calls."""
    assert app.runtime is not None
    messages = app.runtime.agent.state.messages
    return [text_of(message.content) for message in messages if isinstance(message, ToolResultMessage)]


@pytest.mark.usefixtures("brisk")
@pytest.mark.parametrize("key", ["y", "enter"])
async def test_an_allowed_call_runs_once(make_app: MakeApp, work: Path, key: str) -> None:
    async with make_app(TOUCH, TOUCH, DONE, mode=None).run_test(size=(80, 24)) as pilot:
        app = await start(pilot)
        shown = screen(pilot)
        for part in ("Allow bash?", "touch made", "y/Enter allow once", "s and a add: allow bash(=touch made)"):
            assert part in shown
        assert app.footer.activity == "waiting for your answer" and not (work / "made").exists()
        first = app.permission.request
        await pilot.press(key)
        await until(pilot, lambda: app.permission.request not in (None, first))
        assert (work / "made").exists()
        assert app.editor.text == ""


@pytest.mark.usefixtures("brisk")
async def test_for_this_session_the_same_is_not_asked_again(make_app: MakeApp, work: Path, tmp_path: Path) -> None:
    async with make_app(TOUCH, TOUCH, TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        await pilot.press("s")
        await idle(pilot)
        assert (work / "made").exists() and app.permission.request is None
        assert "Allow bash?" not in screen(pilot)
        assert not (tmp_path / "home" / "config.toml").exists()


@pytest.mark.usefixtures("brisk")
async def test_always_writes_the_rule(make_app: MakeApp, work: Path, tmp_path: Path) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        await start(pilot)
        await pilot.press("a")
        await idle(pilot)
        assert (work / "made").exists()
    config = tomllib.loads((tmp_path / "home" / "config.toml").read_text())
    assert config["permissions"]["allow"] == ["bash(=touch made)"]


@pytest.mark.usefixtures("brisk")
@pytest.mark.parametrize("key", ["n", "escape"])
async def test_a_denied_call_does_not_run_and_the_run_goes_on(make_app: MakeApp, work: Path, key: str) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        await pilot.press(key)
        await idle(pilot)
        assert not (work / "made").exists() and "all done" in screen(pilot)
        assert results(app) == ["The person did not allow this call."]


@pytest.mark.usefixtures("brisk")
async def test_a_reason_reaches_the_model_and_the_draft_stays(make_app: MakeApp, work: Path) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        app.editor.put("a draft\nof two")
        app.editor.move_cursor((0, 3))
        await pilot.pause()
        await pilot.press("r", *"use", "space", *"mkdir")
        assert "use mkdir" in screen(pilot) and "allow once" not in screen(pilot) and not app.editor.display
        await pilot.press("enter")
        await idle(pilot)
        assert results(app) == ["The person did not allow this call: use mkdir"]
        assert not (work / "made").exists()
        assert app.editor.text == "a draft\nof two" and app.editor.cursor_location == (0, 3)
        assert app.focused is app.editor and app.editor.display and not app.reason.display
        assert user_prompts(app) == ["go"]


@pytest.mark.usefixtures("brisk")
async def test_esc_leaves_the_reason_for_the_choices(make_app: MakeApp, work: Path) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        await pilot.press("r", *"no", "escape")
        await asked(pilot)
        assert app.editor.display and app.editor.text == ""
        await pilot.press("y")
        await idle(pilot)
        assert (work / "made").exists() and app.editor.text == ""


async def test_what_was_typed_before_it_could_be_read_is_no_answer(make_app: MakeApp, work: Path) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot, takes_keys=False)
        assert "stop typing for a second" in screen(pilot)
        await pilot.press(*"yes", "y", "a")
        assert app.permission.request is not None and not app.permission.is_ready
        assert app.editor.text == "yesya" and not (work / "made").exists()
        await asked(pilot)
        assert "stop typing" not in screen(pilot)
        await pilot.press("n")
        await idle(pilot)
        assert app.editor.text == "yesya" and results(app) == ["The person did not allow this call."]


async def test_a_key_that_came_late_is_no_answer(make_app: MakeApp) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot, takes_keys=False)
        late = events.Key("y", "y")
        await asked(pilot)
        app.post_message(late)
        await until(pilot, lambda: app.editor.text == "y")
        assert app.permission.request is not None and not app.permission.is_ready


async def test_other_keys_and_pastes_are_typing(make_app: MakeApp) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        await pilot.press(*"hey")
        assert app.editor.text == "hey" and not app.permission.is_ready
        await asked(pilot)
        app.post_message(events.Paste("y\n"))
        await until(pilot, lambda: app.editor.text == "heyy\n")
        assert app.permission.request is not None and not app.permission.is_ready


async def test_reading_the_conversation_is_no_typing(make_app: MakeApp) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        app.editor.put("a draft")
        await pilot.pause()
        await pilot.press("pageup", "ctrl+end", "y")
        await idle(pilot)
        assert results(app) == ["(no output)"] and app.editor.text == "a draft"


async def test_enter_sends_a_draft_and_is_no_answer(make_app: MakeApp, work: Path) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        await pilot.press(*"wait")
        await asked(pilot)
        assert "y/Enter" not in screen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "steer: wait" in screen(pilot))
        assert app.permission.request is not None and not (work / "made").exists()


@pytest.mark.usefixtures("brisk")
async def test_an_abort_closes_it(make_app: MakeApp, work: Path) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        app.editor.put("a draft")
        app.on_editor_abort_asked()
        await idle(pilot)
        assert app.permission.request is None and not app.permission.display
        assert "Allow bash?" not in screen(pilot) and app.editor.text == "a draft"
        assert not (work / "made").exists()


@pytest.mark.usefixtures("brisk")
async def test_an_abort_gives_back_a_reason_that_is_half_written(make_app: MakeApp) -> None:
    async with make_app(TOUCH, DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        await pilot.press("r", *"because")
        assert app.runtime is not None
        app.runtime.abort()
        await idle(pilot)
        assert app.editor.text == "because" and app.focused is app.editor and app.reason.text == ""


async def test_requests_come_one_after_the_other(make_app: MakeApp, work: Path) -> None:
    async with make_app([bash("touch one"), bash("touch two")], DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        assert "touch one" in screen(pilot)
        await pilot.press("y", "y")
        await asked(pilot, takes_keys=False)
        assert app.permission.request is not None and app.permission.request.about == "touch two"
        await asked(pilot)
        await pilot.press("n")
        await idle(pilot)
        assert (work / "one").exists() and not (work / "two").exists()


async def test_requests_that_come_together_are_shown_one_at_a_time(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(80, 24)) as pilot:
        app = await ready(pilot)
        assert app.controller is not None
        app.controller.transcript.requests = [
            request("bash", {"command": f"echo {name}"}, id=name) for name in ("one", "two", "three")
        ]
        app.show_state()
        await asked(pilot)
        assert (
            "echo one" in screen(pilot) and "echo two" not in screen(pilot) and "(2 more after this)" in screen(pilot)
        )
        await pilot.press("y", "y")
        assert [each.id for each in app.controller.transcript.requests] == ["two", "three"] and app.editor.text == "y"


@pytest.mark.usefixtures("brisk")
@pytest.mark.parametrize("size", [(10, 3), (5, 1), (1, 1), (20, 6), (30, 9), (24, 10), (200, 60)])
async def test_it_fits_into_any_terminal(make_app: MakeApp, work: Path, size: tuple[int, int]) -> None:
    command = "touch made; " + "echo long " * 200
    async with make_app([bash(command)], DONE, mode=None).run_test(size=size) as pilot:
        app = await start(pilot)
        await pilot.pause()
        assert app.permission.size.height <= room(size[1])
        if size[1] >= 3:
            assert app.editor.region.bottom <= size[1]
        if size[1] >= 4:
            assert app.footer.region.bottom <= size[1]
        await pilot.resize_terminal(80, 24)
        await pilot.press("y")
        await idle(pilot)
        assert (work / "made").exists()


@pytest.mark.usefixtures("brisk")
@pytest.mark.parametrize("height", [10, 12, 18, 23, 24, 30])
async def test_a_long_draft_and_a_queue_leave_it_room(make_app: MakeApp, height: int) -> None:
    async with make_app([bash("touch made; " + "echo long " * 200)], DONE, mode=None).run_test(
        size=(80, height)
    ) as pilot:
        app = await start(pilot)
        assert app.runtime is not None
        for number in range(9):
            app.runtime.steer(f"later {number}")
        draft = "\n".join(map(str, range(40)))
        app.editor.put(draft)
        app.show_state()
        await until(pilot, lambda: app.footer.region.bottom <= height)
        shown = screen(pilot)
        assert "Allow bash?" in shown and "39" in shown and app.editor.text == draft
        assert ("n no  r reason" if height == 10 else "deny, say why") in shown


async def test_what_no_rule_can_allow_is_allowed_once_only(make_app: MakeApp) -> None:
    async with make_app([bash("$(cat x)")], DONE, mode=None).run_test() as pilot:
        app = await start(pilot)
        assert "always" not in screen(pilot)
        await pilot.press("a")
        assert app.editor.text == "a" and app.permission.request is not None


async def test_moving_in_the_session_shows_what_is_there(make_app: MakeApp) -> None:
    async with make_app([{"text": "first answer"}], [{"text": "second answer"}]).run_test() as pilot:
        app = await ready(pilot)
        for prompt in ("one", "two"):
            await send(pilot, prompt)
            await idle(pilot)
        assert app.runtime is not None
        leaf = app.runtime.session.leaf_id
        await app.runtime.go_to(None)
        await until(pilot, lambda: "first answer" not in screen(pilot) and "second answer" not in screen(pilot))
        assert app.transcript.items == []
        await app.runtime.go_to(leaf)
        await until(pilot, lambda: "first answer" in screen(pilot) and "second answer" in screen(pilot))
        assert screen(pilot).count("❯ one") == 1


# What is shown of a request


def request(tool: str, arguments: dict[str, Any], about: str = "", id: str = "p1") -> PermissionRequestEvent:
    return PermissionRequestEvent(
        id=id,
        tool_call_id="c1",
        tool_name=tool,
        arguments=arguments,
        about=about or str(arguments.get("command", tool)),
        because="the mode is ask, and no rule allows it",
        suggested_rules=[f"{tool}(x)"],
    )


def rows(asked: PermissionRequestEvent, width: int = 80, height: int = 14) -> list[str]:
    made = request_rows(asked, 0, Stage.READY, draft=False, width=width, height=height, palette=Palette({}))
    assert 1 <= len(made) <= height and all(strip.cell_length <= width for strip in made)
    return plain(made)


def test_an_edit_shows_what_goes_and_what_comes() -> None:
    edits = {"path": "a.py", "edits": [{"old_text": "one\ntwo", "new_text": "1"}]}
    shown = rows(request("edit", edits, "edit /elsewhere/a.py"))
    assert [line.removeprefix("  │ ") for line in shown[1:5]] == ["edit /elsewhere/a.py", "- one", "- two", "+ 1"]


def test_a_new_file_shows_its_start_and_its_end() -> None:
    content = "".join(f"line {number}\n" for number in range(5_000))
    shown = "\n".join(rows(request("write", {"path": "a", "content": content}, "write a")))
    assert "+ line 0" in shown and "+ line 4999" in shown and "rows not shown" in shown


def test_the_end_of_a_long_command_is_seen() -> None:
    shown = "\n".join(rows(request("bash", {"command": "echo x; " * 50_000 + "rm -rf everything"})))
    assert "rm -rf everything" in shown and "rows not shown" in shown


def test_the_part_that_is_asked_about_is_named() -> None:
    shown = "\n".join(rows(request("bash", {"command": "ls && rm x"}, "rm x")))
    assert "ls && rm x" in shown and "asked because rm x: the mode is ask" in shown


def test_an_unknown_tool_shows_its_arguments() -> None:
    arguments = {"where": "home", "list": [1, "\x1b"], "long": "x" * 300 + "the end"}
    shown = "\n".join(rows(request("teleport", arguments)))
    assert "Allow teleport?" in shown and "where: home" in shown and "list: [1," in shown and "the end" in shown


def test_what_the_shell_would_get_is_written_out_and_not_left_out() -> None:
    hidden = "echo hi \x1b]0;rm -rf x\x07\u202e\u200b\r"
    shown = "\n".join(rows(request("bash", {"command": hidden})))
    assert "echo hi \\x1b]0;rm -rf x\\x07\\u202e\\u200b\\r" in shown


@pytest.mark.parametrize("tool", ["bash", "write", "edit", "teleport"])
def test_nothing_is_markup_and_no_control_passes(tool: str) -> None:
    for text in (*markup_lines(), escapes(), "".join(map(chr, range(0x250))), "\ud800"):
        edits = [{"old_text": text, "new_text": text}, text, None]
        arguments = {"command": text, "path": text, "content": text, "edits": edits, "other": {"deep": text}}
        for about in (text, "x"):
            asked = request(tool, arguments, about)
            for width, height in ((120, 400), (10, 1), (1, 3)):
                shown = "".join(rows(asked, width, height))
                assert not [character for character in shown if not character.isprintable()]
                assert height < 400 or about == "x" or visible(text)[:20].split("\n")[0].strip() in shown
