"""Going to another session from the app: what belongs to the folder and to the conversation comes with it."""

from pathlib import Path

from agentcli.agent.messages import user_message
from agentcli.config.paths import sessions_folder
from agentcli.runtime.events import NoticeEvent
from agentcli.sessions.repo import JsonlSessionRepo
from tests.tui.conftest import MakeApp
from tests.tui.drive import idle, ready, screen, send, transcript, until, user_prompts

HELD = [{"tool": "bash", "arguments": {"command": "until [ -e go ]; do sleep 0.05; done"}}]


def session_in(folder: Path, text: str) -> str:
    """The id of a session that was held in another folder."""
    folder.mkdir()
    session = JsonlSessionRepo(sessions_folder()).create(folder)
    session.append_message(user_message(text))
    session.close()
    return session.id


async def test_a_session_of_another_folder_brings_its_files_history_and_drafts(make_app: MakeApp, work: Path) -> None:
    elsewhere = work.parent / "elsewhere"
    id = session_in(elsewhere, "said there")
    (elsewhere / "far-away.txt").write_text("")
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        await until(pilot, lambda: app.editor.completing is not None)
        await send(pilot, f"/resume {id}")
        await until(pilot, lambda: user_prompts(app) == ["said there"])
        await until(pilot, lambda: app.editor.cwd == elsewhere)
        await pilot.press(*"@far")
        await until(pilot, lambda: "far-away.txt" in screen(pilot))


async def test_what_the_session_before_has_still_to_show_is_not_shown_in_the_next(make_app: MakeApp) -> None:
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        await idle(pilot)
        assert app.controller is not None
        left = app.controller.batcher
        app.act("new")
        await until(pilot, lambda: app.controller is not None and app.controller.batcher is not left)
        left(NoticeEvent("of the one before"))
        await pilot.pause(0.2)
        assert "of the one before" not in transcript(app)


async def test_a_queued_message_that_cannot_go_back_is_in_the_editor_again(make_app: MakeApp, work: Path) -> None:
    (work / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(2 << 20))
    async with make_app(HELD, [{"text": "done"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "running bash" in app.footer.activity)
        await send(pilot, "look")
        await until(pilot, lambda: bool(app.queue.rows))
        app.queue.focus()
        await pilot.press("enter")
        await until(pilot, lambda: app.editor.text == "look")
        await send(pilot, "look at @huge.png")
        await until(pilot, lambda: "huge.png cannot be attached" in transcript(app).replace("\n", ""))
        assert app.editor.text == "look at @huge.png"
        (work / "go").write_text("")


async def test_it_says_how_to_go_on_only_if_something_was_said(make_app: MakeApp) -> None:
    async with make_app([{"text": "hello"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "/thinking off")
        await send(pilot, "/name mine")
        await idle(pilot)
        assert app.resume_hint == ""
        await send(pilot, "hi")
        await idle(pilot)
        assert app.runtime is not None and app.resume_hint.endswith(app.runtime.session.id[-12:])
