"""The tree of a session on the screen."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.session import Session
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage
from agentcli.sessions.tree import tree_lines
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.screens.tree_screen import TreeChoice, TreeDeed, TreeScreen
from tests.tui.conftest import escapes, markup_lines
from tests.tui.drive import screen, until
from tests.tui.screen_app import KEYMAP, NOT_YET, PALETTE, FakeApp, chosen, lines
from tests.tui.test_markup import flat
from tests.tui.test_screens import part, shows_nothing_to_obey


def new_session() -> Session:
    return Session(InMemorySessionStorage(SessionHeader(id="s", timestamp="2026-01-01T00:00:00.000Z", cwd="/")))


def say(session: Session, text: str) -> str:
    return session.append_message(UserMessage([TextContent(text)]))


def answer(session: Session, text: str) -> str:
    return session.append_message(AssistantMessage([TextContent(text)]))


def call(session: Session, name: str, arguments: dict[str, Any], result: str) -> str:
    session.append_message(AssistantMessage([ToolCall(id="c", name=name, arguments=arguments)]))
    return session.append_message(ToolResultMessage("c", name, [TextContent(result)]))


def tree_screen(session: Session, *, keymap: Keymap = KEYMAP, **options: Any) -> TreeScreen:
    return TreeScreen(
        list(tree_lines(session.storage, everything=True)),
        session.storage.get_some,
        labels=session.labels,
        label=options.pop("label", session.append_label),
        keymap=keymap,
        palette=PALETTE,
        **options,
    )


@pytest.fixture
def session() -> Session:
    """Two ways after the first answer; the second is the active one."""
    session = new_session()
    say(session, "first")
    call(session, "bash", {"command": "ls"}, "some files")
    first = answer(session, "found it")
    say(session, "one way")
    answer(session, "gone\nwith a second line")
    session.move_to(first)
    say(session, "other way")
    answer(session, "here we are")
    return session


def rows(pilot: Pilot[Any]) -> list[str]:
    shown = pilot.app.shown
    return [shown.draw_row(n, 100, n == shown.list.chosen).text.rstrip() for n in range(shown.list.count)]


async def test_the_tree_is_drawn_with_the_path_the_leaf_and_the_branches(session: Session) -> None:
    async with FakeApp(tree_screen(session, title="Fix the [b]")).run_test(size=(100, 24)) as pilot:
        assert rows(pilot) == [
            "  ▾ • user: first",
            '  • assistant: ● bash(command="ls")',
            "  • assistant: found it",
            "  ├ ▾   user: one way",
            "  │   assistant: gone with a second line",
            "  └ ▾ • user: other way",
            "❯   ● assistant: here we are",
        ]
        assert "Fix the [b]" in screen(pilot) and "conversation · 7 of 9" in screen(pilot)


async def test_a_long_text_is_previewed(session: Session) -> None:
    async with FakeApp(tree_screen(session)).run_test(size=(80, 24)) as pilot:
        await pilot.press("up", "up")
        assert lines(pilot)[-3:-1] == ["gone", "with a second line"]


@pytest.mark.parametrize(
    "keys, row, deed, instructions",
    [
        (["up", "enter"], "other way", TreeDeed.GO_TO, ""),
        (["up", "up", "ctrl+f"], "gone\nwith a second line", TreeDeed.FORK, ""),
        (["up", "up", "ctrl+s", "enter"], "gone\nwith a second line", TreeDeed.SUMMARIZE, ""),
        (["ctrl+home", "ctrl+s", *"why", "enter"], "first", TreeDeed.SUMMARIZE, "why"),
        (["up", "ctrl+s", "escape", "enter"], "other way", TreeDeed.GO_TO, ""),
    ],
)
async def test_a_place_is_chosen(
    session: Session, keys: list[str], row: str, deed: TreeDeed, instructions: str
) -> None:
    async with FakeApp(tree_screen(session)).run_test() as pilot:
        await pilot.press(*keys)
        await until(pilot, lambda: pilot.app.result is not NOT_YET)
        result = pilot.app.result
        assert isinstance(result, TreeChoice) and (result.what, result.instructions) == (deed, instructions)
        entry = session.get_entry(result.entry_id)
        assert entry.message.content == [TextContent(row)]


async def test_folding_hides_a_branch_and_unfolding_brings_it_back(session: Session) -> None:
    async with FakeApp(tree_screen(session)).run_test() as pilot:
        await pilot.press("up", "up", "left")
        assert "one way" in chosen(pilot)
        await pilot.press("left")
        assert "▸" in chosen(pilot) and "(1 folded) user: one way" in chosen(pilot) and "gone" not in str(rows(pilot))
        await pilot.press("left")
        assert "first" in chosen(pilot)
        await pilot.press("left")
        assert rows(pilot) == ["❯ ▸ ● (6 folded) user: first"]
        await pilot.press("right", "down", "down", "down", "right")
        assert len(rows(pilot)) == 7


async def test_the_filters_follow_each_other_and_the_mark_stays(session: Session) -> None:
    session.append_label(session.storage.heads()[3].id, "good")
    async with FakeApp(tree_screen(session)).run_test(size=(100, 24)) as pilot:
        await pilot.press("up", "up")
        seen = []
        for _ in range(5):
            await pilot.press("tab")
            seen.append((screen(pilot).split(" · ")[0].split()[-1], len(rows(pilot)), chosen(pilot).split(": ")[1]))
        assert seen == [
            ("tools", 6, "gone with a second line"),
            ("prompts", 3, "one way"),
            ("labelled", 1, "found it"),
            ("everything", 10, "found it"),
            ("conversation", 7, "found it"),
        ]


async def test_words_are_searched_in_the_whole_text_and_in_labels(session: Session) -> None:
    session.append_label(session.storage.heads()[0].id, "Start")
    async with FakeApp(tree_screen(session)).run_test() as pilot:
        await pilot.press(*"second")
        assert len(rows(pilot)) == 1 and "gone" in chosen(pilot)
        await pilot.press("ctrl+u", *"star")
        assert "[Start] user: first" in chosen(pilot)
        await pilot.press("ctrl+u", *"zzz", "enter", "left", "right", "ctrl+l", "ctrl+f", "ctrl+s")
        assert "nothing fits" in screen(pilot) and pilot.app.result is NOT_YET
        await pilot.press("ctrl+u")
        assert len(rows(pilot)) == 7


async def test_an_entry_is_labelled_and_the_label_taken_away(session: Session) -> None:
    async with FakeApp(tree_screen(session)).run_test() as pilot:
        await pilot.press("ctrl+l", *"to be", "enter")
        assert "[to be] assistant: here we are" in chosen(pilot)
        await pilot.press("ctrl+l")
        assert "Label: to be" in screen(pilot)
        await pilot.press("ctrl+u", "enter")
        assert "[" not in chosen(pilot) and session.labels == {}


async def test_a_label_that_cannot_be_kept_is_one_line(session: Session) -> None:
    def full(id: str, label: str | None) -> None:
        raise SessionError("storage", "the session cannot be written: No space left on device")

    async with FakeApp(tree_screen(session, label=full)).run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+l", "x", "enter")
        assert "No space left on device" in screen(pilot) and "here we are" in chosen(pilot)


async def test_an_empty_session_has_nothing_to_choose() -> None:
    async with FakeApp(tree_screen(new_session())).run_test() as pilot:
        await pilot.press("enter", "left", "right", "tab", "ctrl+l", "ctrl+s", "ctrl+f", "up")
        assert "nothing was said yet" in screen(pilot) and pilot.app.result is NOT_YET


async def test_the_keys_are_those_that_are_bound_now(session: Session) -> None:
    keymap = Keymap({"tree_fork": "f6", "tree_fold": "f7"})
    async with FakeApp(tree_screen(session, keymap=keymap)).run_test(size=(100, 24)) as pilot:
        assert "F6 fork" in screen(pilot) and "F7 fold" in screen(pilot)
        await pilot.press("f7")
        assert "other way" in chosen(pilot)
        await pilot.press("f6")
        await until(pilot, lambda: pilot.app.result.what is TreeDeed.FORK)


async def test_ten_thousand_entries_are_read_once_and_drawn_in_view_only() -> None:
    session = new_session()
    for number in range(5_000):
        say(session, f"prompt {number}")
        answer(session, f"answer {number}")
    asked: list[int] = []
    shown = tree_screen(session)
    read = shown._read

    def counting(ids: Any) -> Any:
        ids = list(ids)
        asked.append(len(ids))
        return read(ids)

    shown._read = counting
    async with FakeApp(shown).run_test(size=(80, 24)) as pilot:
        assert "answer 4999" in chosen(pilot)
        await pilot.press("up", "pageup", "ctrl+home")
        assert "prompt 0" in chosen(pilot) and max(asked) == 1 and len(asked) < 200
        await pilot.press(*"4321")
        assert len(rows(pilot)) == 2 and [count for count in asked if count > 1] == [10_000]


async def test_deep_branches_do_not_push_the_text_out() -> None:
    session = new_session()
    for number in range(60):
        here = say(session, f"prompt {number}")
        answer(session, "left")
        session.move_to(here)
    async with FakeApp(tree_screen(session)).run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+end")
        assert max(row.stem.depth for row in pilot.app.shown.view.rows) > 50
        for line in lines(pilot)[2:14]:
            assert "prompt" in line or "left" in line


@pytest.mark.parametrize("size", [(20, 5), (10, 3), (3, 2), (1, 1)])
async def test_it_works_in_a_tiny_terminal(session: Session, size: tuple[int, int]) -> None:
    async with FakeApp(tree_screen(session)).run_test(size=size) as pilot:
        await pilot.press("up", "left", "left", "right", "tab", "x", "backspace", "ctrl+l", "y", "enter")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "[y]" in screen(pilot))
        await pilot.resize_terminal(*size)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.result is not NOT_YET)


@pytest.mark.parametrize("surface", ["prompt", "answer", "tool", "label", "title"])
async def test_nothing_of_an_entry_is_markup_or_obeyed(surface: str) -> None:
    session = new_session()
    texts = [*markup_lines(), escapes()]
    for text in texts if surface != "title" else texts[:1]:
        match surface:
            case "prompt":
                say(session, text)
            case "answer":
                answer(session, text)
            case "tool":
                call(session, text[:40], {}, "x")
            case _:
                session.append_label(say(session, "x"), text)
    async with FakeApp(tree_screen(session)).run_test(size=(150, 40)) as pilot:
        for text in texts if surface == "title" else []:
            pilot.app.shown.heading = text
            pilot.app.shown.changed()
            await pilot.pause()
            assert part(text) in flat(screen(pilot))
            shows_nothing_to_obey(pilot)
        if surface == "title":
            return
        await pilot.press("ctrl+home")
        seen = flat(screen(pilot))
        await pilot.press("ctrl+end")
        seen += flat(screen(pilot))
        shows_nothing_to_obey(pilot)
        assert [text for text in texts if part(text)[:12] not in seen] == []


async def test_a_stored_session_is_shown_without_being_changed(tmp_path: Path, session: Session) -> None:
    before = [entry.id for entry in session.get_entries()]
    async with FakeApp(tree_screen(session)).run_test() as pilot:
        await pilot.press("up", *"way", "tab", "escape")
        await until(pilot, lambda: pilot.app.result is None)
    assert [entry.id for entry in session.get_entries()] == before
