"""Writing, sending, queueing and taking back."""

from pathlib import Path

import pytest
from textual import events
from textual.app import ComposeResult

from agentcli.agent.errors import UsageError
from agentcli.tui.commands.actions import Where
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.commands.table import ACTIONS
from agentcli.tui.widgets.editor import Editor
from agentcli.tui.widgets.reason_editor import ReasonEditor
from tests.tui.conftest import MakeApp
from tests.tui.drive import idle, ready, screen, send, type_keys, until, user_prompts
from tests.tui.writing import WritingApp, shown_list

SLOW = [{"text": "slow words come one by one here", "chunk": 1, "delay": 0.05}]


async def test_the_placeholder_begins_with_ask(make_app: MakeApp) -> None:
    async with make_app().run_test() as pilot:
        await ready(pilot)
        assert "Ask anything" in screen(pilot)


async def test_enter_twice_sends_once(make_app: MakeApp) -> None:
    async with make_app([{"text": "hi"}], [{"text": "again"}]).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"hello", "enter", "enter")
        await idle(pilot)
        assert user_prompts(app) == ["hello"]


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\t \n"])
async def test_a_blank_prompt_is_not_sent_and_not_lost(make_app: MakeApp, blank: str) -> None:
    async with make_app([{"text": "hi"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, blank)
        await pilot.pause()
        assert user_prompts(app) == [] and app.editor.text == blank


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j"])
async def test_a_prompt_may_have_several_lines(make_app: MakeApp, key: str) -> None:
    async with make_app([{"text": "hi"}]).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"ab", key, *"cd", "enter")
        await idle(pilot)
        assert user_prompts(app) == ["ab\ncd"]


async def test_enter_steers_while_the_agent_works(make_app: MakeApp) -> None:
    call = [{"tool": "bash", "arguments": {"command": "sleep 1"}}]
    async with make_app(call, [{"text": "done"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "● bash" in screen(pilot))
        await pilot.press(*"more", "enter", "enter")
        await until(pilot, lambda: [row.text for row in app.queue.rows] == ["more"])
        assert app.editor.text == ""
        await idle(pilot)
        assert user_prompts(app) == ["go", "more"]
        assert not app.queue.rows and "❯ more" in screen(pilot)


@pytest.mark.parametrize("key", ["alt+enter", "ctrl+q", "ctrl+enter"])
async def test_a_follow_up_waits_for_the_end_of_the_run(make_app: MakeApp, key: str) -> None:
    call = [{"tool": "bash", "arguments": {"command": "sleep 0.6"}}]
    async with make_app(call, [{"text": "first is done"}], [{"text": "second is done"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "first")
        await until(pilot, lambda: "● bash" in screen(pilot))
        await send(pilot, "second", key)
        await until(pilot, lambda: [row.text for row in app.queue.rows] == ["second"])
        await until(pilot, lambda: "second is done" in screen(pilot))
        await idle(pilot)
        shown = screen(pilot)
        assert shown.index("first is done") < shown.index("❯ second") < shown.index("second is done")
        assert user_prompts(app) == ["first", "second"]


async def test_a_follow_up_on_an_idle_agent_is_a_prompt(make_app: MakeApp) -> None:
    async with make_app([{"text": "yes"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "now", "alt+enter")
        await idle(pilot)
        assert user_prompts(app) == ["now"]


async def test_escape_stops_and_gives_what_waits_back_before_the_draft(make_app: MakeApp) -> None:
    call = [{"tool": "bash", "arguments": {"command": "sleep 60"}}]
    async with make_app(call, [{"text": "never"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "● bash" in screen(pilot))
        await send(pilot, "later", "alt+enter")
        await send(pilot, "sooner")
        await send(pilot, "even sooner")
        app.editor.put("the draft")
        await pilot.press("escape")
        await idle(pilot)
        assert app.editor.text == "sooner\n\neven sooner\n\nlater\n\nthe draft"
        assert user_prompts(app) == ["go"]
        assert "✗ bash" in screen(pilot) and not app.queue.rows


async def test_escape_on_an_idle_agent_keeps_the_draft(make_app: MakeApp) -> None:
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        app.editor.put("draft")
        await pilot.press("escape")
        await pilot.pause()
        assert app.editor.text == "draft" and app.is_running


async def test_escape_twice_on_an_empty_editor_opens_the_tree_but_not_when_it_closed_the_list(
    make_app: MakeApp, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (work / name).write_text("")
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        await until(pilot, lambda: app.editor.completing is not None)
        completing = app.editor.completing
        assert completing is not None
        done: list[str] = []
        monkeypatch.setattr(app, "act", done.append)
        await pilot.press("tab")
        assert completing.is_open and app.editor.text == ""
        await pilot.press("escape", "escape")
        assert not completing.is_open and done == []
        await pilot.press("escape", "escape")
        await until(pilot, lambda: "tree" in done)


async def test_resume_offers_the_other_sessions_of_this_folder(make_app: MakeApp) -> None:
    async with make_app([{"text": "yes"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "fix the race")
        await idle(pilot)
        assert app.runtime is not None
        first = app.runtime.session.id
        await send(pilot, "/new")
        await until(pilot, lambda: app.runtime is not None and app.runtime.session.id != first)
        await pilot.press(*"/resume race")
        await until(pilot, lambda: "❯ fix the race" in screen(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: app.runtime is not None and app.runtime.session.id == first)


async def test_escape_ends_the_wait_before_a_retry(make_app: MakeApp) -> None:
    async with make_app([{"error": "overloaded", "text": "busy"}], [{"text": "no"}], retry=None).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "trying again" in screen(pilot))
        await pilot.press("escape")
        await idle(pilot)
        assert user_prompts(app) == ["go"]


async def test_the_prompt_is_usable_at_once_after_escape(make_app: MakeApp) -> None:
    async with make_app(SLOW, [{"text": "fresh"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "slow one")
        await until(pilot, lambda: "slow w" in screen(pilot))
        await pilot.press("escape")
        await idle(pilot)
        await send(pilot, "next")
        await until(pilot, lambda: "fresh" in screen(pilot))
        assert user_prompts(app) == ["slow one", "next"]


async def test_ctrl_c_clears_then_stops_then_quits(make_app: MakeApp) -> None:
    async with make_app(SLOW).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "slow" in screen(pilot))
        app.editor.put("draft")
        await pilot.press("ctrl+c")
        assert app.editor.text == "" and app.runtime is not None and app.runtime.is_busy
        await pilot.press("ctrl+c")
        await idle(pilot)
        assert app.is_running
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "Ctrl+C again quits" in screen(pilot))
        assert app.is_running
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert not app.is_running and app.return_code == 0


async def test_a_draft_that_ctrl_c_cleared_comes_back_with_undo(make_app: MakeApp) -> None:
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"draft", "ctrl+c")
        assert app.editor.text == ""
        await pilot.press("ctrl+underscore")
        assert app.editor.text == "draft"


async def test_ctrl_d_quits_on_an_empty_editor_only(make_app: MakeApp) -> None:
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        await pilot.press(*"ab", "left", "ctrl+d")
        assert app.is_running and app.editor.text == "a"
        await pilot.press("backspace", "ctrl+d")
        await pilot.pause()
        assert not app.is_running


async def test_up_on_an_empty_editor_brings_the_last_prompt_back(make_app: MakeApp) -> None:
    async with make_app([{"text": "ok"}]).run_test() as pilot:
        app = await ready(pilot)
        await pilot.press("up")
        assert app.editor.text == ""
        await send(pilot, "two\nlines")
        await idle(pilot)
        await pilot.press("up")
        assert app.editor.text == "two\nlines"
        await pilot.press("up", *"x")
        assert app.editor.text == "twox\nlines" or app.editor.text.count("x") == 1


async def test_a_prompt_that_is_sent_before_the_runtime_is_there_is_sent_when_it_is(make_app: MakeApp) -> None:
    async with make_app([{"text": "first"}], [{"text": "second"}]).run_test() as pilot:
        app = pilot.app
        app.query_one(Editor).post_message(Editor.Submitted("early", follow_up=False))
        app.query_one(Editor).post_message(Editor.Submitted("and then", follow_up=True))
        await until(pilot, lambda: "second" in screen(pilot))
        assert user_prompts(await ready(pilot)) == ["early", "and then"]


async def test_a_prompt_that_cannot_be_sent_comes_back(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str, images: object = ()) -> str:
        raise UsageError("there is no such template", hint="see /help")

    async with make_app(SLOW).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "go")
        await until(pilot, lambda: "slow" in screen(pilot))
        monkeypatch.setattr(app.runtime, "steer", refuse)
        await send(pilot, "nope")
        await until(pilot, lambda: "✗ there is no such template" in screen(pilot))
        assert app.editor.text == "nope" and "see /help" in screen(pilot)


async def test_a_paste_is_one_draft_in_one_step(make_app: MakeApp) -> None:
    text = "\n".join(f"line {number} " + "x" * 70 for number in range(10_000))
    async with make_app([{"text": "ok"}]).run_test() as pilot:
        app = await ready(pilot)
        app.post_message(events.Paste(text.replace("\n", "\r\n")))
        await until(pilot, lambda: app.editor.text == text)
        assert user_prompts(app) == []
        await pilot.press("ctrl+underscore")
        assert app.editor.text == ""
        await pilot.press("ctrl+y", "enter")
        await idle(pilot)
        assert user_prompts(app) == [text]


async def test_a_paste_keeps_tabs_and_loses_sequences(make_app: MakeApp) -> None:
    async with make_app([{"text": "ok"}]).run_test() as pilot:
        app = await ready(pilot)
        app.post_message(events.Paste("a\tb\r\nc\x1b]52;c;ZQX\x07d\x1b[31me\x00"))
        await until(pilot, lambda: app.editor.text != "")
        assert app.editor.text == "a\tb\ncde"
        app.post_message(events.Paste(""))
        await pilot.pause()
        assert app.editor.text == "a\tb\ncde"


async def test_keys_count_in_the_order_in_which_they_were_typed(make_app: MakeApp) -> None:
    async with make_app([{"text": "ok"}]).run_test() as pilot:
        app = await ready(pilot)
        for key in (*"go", "enter", *"next"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await idle(pilot)
        assert user_prompts(app) == ["go"] and app.editor.text == "next"


async def test_words_after_alt_are_not_typed(make_app: MakeApp) -> None:
    async with make_app().run_test() as pilot:
        app = await ready(pilot)
        app.editor.post_message(events.Key("alt+x", "x"))
        await pilot.pause()
        assert app.editor.text == ""


async def test_a_backslash_before_enter_is_a_new_line(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await pilot.press(*"a\\", "enter", *"b\\c", "enter")
        await until(pilot, lambda: app.sent)
        assert app.sent == ["a\nb\\c"]
        await pilot.press(*"C:\\", "left", "enter", *"x\\", "alt+enter")
        await until(pilot, lambda: len(app.sent) == 3)
        assert app.sent[1:] == ["C:\\", "x\\"]


async def test_what_the_app_does_is_asked_of_it_in_order(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press("a", "pageup", "ctrl+o", "b", "shift+tab", "ctrl+p", "f1", "f5", "ctrl+t")
        assert app.asked == ["page_up", "expand_tools", "cycle_thinking", "palette", "help", "expand_thinking"]
        assert app.editor.text == "ab" and app.editor.has_focus


async def test_every_key_can_be_another(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        changes: dict[str, str | list[str]] = {"submit": "f2", "new_line": "enter", "undo": "ctrl+z", "delete_left": []}
        app.editor.keymap = Keymap({**changes, "complete": [], "completion_next": "alt+j"}, ACTIONS)
        await pilot.press(*"ab", "enter", *"cd", "backspace", "tab", "ctrl+z", "ctrl+y", "f2")
        await until(pilot, lambda: app.sent)
        assert app.sent == ["ab\ncd"] and app.asked == [] and app.editor.has_focus
        await pilot.press("/", "alt+j")
        assert shown_list(pilot)[1].startswith("❯ ")


async def test_each_key_of_the_editor_does_something_that_is_there(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        for action in ACTIONS:
            name = (action.does or action.name).partition("(")[0]
            if action.where is Where.EDITOR:
                assert hasattr(app.editor, f"action_{name}"), name
            elif action.where is Where.COMPLETION:
                await pilot.press("ctrl+u", "/", action.keys[0])


async def test_ctrl_d_on_a_blank_draft_quits_nothing(work: Path) -> None:
    quits: list[Editor.QuitAsked] = []

    class App(WritingApp):
        def on_editor_quit_asked(self, message: Editor.QuitAsked) -> None:
            quits.append(message)

    app = App(work)
    async with app.run_test() as pilot:
        await pilot.press(" ", "ctrl+d", "left", "ctrl+d")
        assert app.editor.text == "" and quits == []
        await pilot.press("ctrl+d")
        assert len(quits) == 1


async def test_a_command_for_the_shell_looks_like_one(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        for text, is_shell in (
            ("!ls", True),
            ("!!ls", True),
            (" !ls", False),
            ("a!", False),
            ("a\n!b", False),
            ("", False),
        ):
            app.editor.put(text)
            assert app.editor.has_class("-shell") == is_shell, text
        await pilot.press("!")
        assert "┏" in screen(pilot)


async def test_a_reason_has_no_history_no_commands_and_no_files(work: Path) -> None:
    image = work / "a.png"
    image.write_bytes(b"\x89PNG\r\n\x1a\n")
    given: list[str] = []

    class App(WritingApp):
        def compose(self) -> ComposeResult:
            yield Editor()
            yield ReasonEditor()

        def on_reason_editor_given(self, message: ReasonEditor.Given) -> None:
            given.append(message.reason)

    app = App(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        reason = app.query_one(ReasonEditor)
        reason.display = True
        reason.focus()
        await pilot.press("/", "tab", "n", "up", "down", "ctrl+r")
        app.post_message(events.Paste(f"\n{image}"))
        app.post_message(events.Paste("x" * 2_000))
        await until(pilot, lambda: len(reason.text) > 2_000)
        assert not reason.has_class("-shell") and shown_list(pilot) == [] and app.asked == []
        await pilot.press("enter", "up")
        assert given == [f"/n\n{image}{'x' * 2_000}"] and reason.text == ""


CLUSTERS = ["👩‍👩‍👧", "🇩🇪", "e\u0301", "👍🏽", "क्षि", "\u1100\u1161\u11a8", "☝️", "1️⃣", "ی\u200c", "é", "文", "x"]


async def test_a_key_moves_over_and_deletes_what_is_one_character_to_a_user(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        for cluster in CLUSTERS:
            editor = app.editor
            for keys, text, column in (
                (["backspace"], "a", 1),
                (["left"], f"a{cluster}", 1),
                (["left", "delete"], "a", 1),
                (["left", "left", "right", "right"], f"a{cluster}", 1 + len(cluster)),
                (["left", "z", "right"], f"az{cluster}", 2 + len(cluster)),
            ):
                editor.put(f"a{cluster}")
                type_keys(pilot, *keys)
                await pilot.pause()
                assert (editor.text, editor.cursor_location) == (text, (0, column)), (cluster, keys)


async def test_joiners_and_soft_hyphens_that_are_typed_or_pasted_are_sent(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        for text in ("می\u200cخ", "co\u00adop", "क\u094d\u200dष", "a\u00a0b", "👩\u200d👧"):
            app.editor.put("")
            for character in text:
                app.post_message(events.Key("some_name" if not character.isprintable() else character, character))
            await until(pilot, lambda text=text: app.editor.text == text)
            app.editor.put("")
            app.post_message(events.Paste(text))
            await until(pilot, lambda text=text: app.editor.text == text)


async def test_the_cursor_colours_a_whole_emoji_and_what_follows_stands_where_it_is_measured(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        app.editor.put("a👩‍👩‍👧b")
        await pilot.press("left", "left")
        strip = app.editor.render_line(0)
        assert [segment.text for segment in strip if "👩" in segment.text] == ["👩‍👩‍👧"]
        assert app.editor.cursor_screen_offset.x - app.editor.content_region.x == 1
        await pilot.press("right")
        assert app.editor.cursor_screen_offset.x - app.editor.content_region.x == 3
