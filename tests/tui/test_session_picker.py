"""The list of sessions: reading, searching, renaming, deleting."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agentcli.agent.errors import SessionError
from agentcli.sessions.listing import SessionInfo
from agentcli.sessions.search import SearchHit
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.screens import session_picker
from agentcli.tui.screens.session_picker import SessionPicker, age
from tests.tui.conftest import escapes, markup_lines
from tests.tui.drive import screen, until
from tests.tui.screen_app import KEYMAP, NOT_YET, PALETTE, FakeApp, chosen
from tests.tui.test_markup import flat, visible
from tests.tui.test_screens import part, shows_nothing_to_obey


def info(id: str, name: str | None = None, first: str = "", cwd: str = "/srv/here", days: float = 1) -> SessionInfo:
    modified = int((time.time() - days * 86_400) * 1000)
    return SessionInfo(Path("/sessions") / f"{id}.jsonl", id, cwd, "2026-01-01", modified, name, first)


HERE = [
    info("aaa1", "the parser", "please fix it", days=0.1),
    info("bbb2", None, "write a parser for dates", days=2),
    info("ccc3", "docs", "explain the cache", days=40),
]
ELSEWHERE = [info("ddd4", None, "deploy", "/srv/else/where", days=800)]


class FakeSessions:
    """Sessions in memory, with the failures that are wanted."""

    def __init__(self, here: list[SessionInfo] = HERE, elsewhere: list[SessionInfo] = ELSEWHERE) -> None:
        self.here = here
        self.elsewhere = elsewhere
        self.failure: Exception | None = None
        self.searched: list[tuple[list[str], str]] = []
        self.done: list[tuple[str, ...]] = []
        self.may_load = threading.Event()
        self.may_load.set()
        self.threads: set[str] = set()

    def fail(self) -> None:
        self.threads.add(threading.current_thread().name)
        if self.failure is not None:
            raise self.failure

    def load(self, all_folders: bool) -> list[SessionInfo]:
        self.may_load.wait(10)
        self.fail()
        return [*self.here, *(self.elsewhere if all_folders else [])]

    def search(self, infos: Sequence[SessionInfo], text: str) -> list[SearchHit]:
        self.fail()
        self.searched.append(([each.id for each in infos], text))
        return [SearchHit(each, 1, f"… about {text} there", (8, 8 + len(text))) for each in infos if each.id == "ccc3"]

    async def rename(self, info: SessionInfo, name: str) -> None:
        self.fail()
        self.done.append(("rename", info.id, name))

    async def delete(self, info: SessionInfo) -> bool:
        self.fail()
        self.done.append(("delete", info.id))
        return info.id != "ccc3"

    def picker(self, *, keymap: Keymap = KEYMAP, **options: Any) -> SessionPicker:
        return SessionPicker(
            load=self.load,
            search=self.search,
            rename=self.rename,
            delete=self.delete,
            folder=Path("/srv/here"),
            keymap=keymap,
            palette=PALETTE,
            **options,
        )


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_picker, "SEARCH_AFTER_S", 0.0)


async def listed(pilot: Pilot[Any], text: str = "the parser") -> None:
    await until(pilot, lambda: text in screen(pilot))


async def test_it_lists_by_name_or_first_message_with_the_age() -> None:
    async with FakeApp(FakeSessions().picker(open_path=HERE[1].path)).run_test(size=(80, 24)) as pilot:
        await listed(pilot)
        text = screen(pilot)
        assert "Sessions in /srv/here" in text and "2h" in text and "1mo" in text
        assert "● write a parser for dates" in text and "please fix it" not in text and "deploy" not in text
        await pilot.press("down", "enter")
        await until(pilot, lambda: pilot.app.result == HERE[1].path)


async def test_keys_work_while_the_list_is_read_in_a_thread() -> None:
    sessions = FakeSessions()
    sessions.may_load.clear()
    async with FakeApp(sessions.picker()).run_test() as pilot:
        await pilot.press(*"dat", "enter", "down", "ctrl+d", "ctrl+r")
        assert "…" in screen(pilot) and pilot.app.result is NOT_YET and sessions.done == []
        sessions.may_load.set()
        await listed(pilot, "for dates")
        assert "the parser" not in screen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.result == HERE[1].path)
    assert threading.current_thread().name not in sessions.threads


async def test_all_folders_are_a_key_away_and_a_late_answer_counts_for_nothing() -> None:
    sessions = FakeSessions()
    async with FakeApp(sessions.picker()).run_test(size=(100, 24)) as pilot:
        await listed(pilot)
        await pilot.press("tab")
        await listed(pilot, "deploy")
        assert "Sessions of all folders" in screen(pilot) and "/srv/else/where" in screen(pilot)
        sessions.may_load.clear()
        await pilot.press("tab", "tab", "tab")
        sessions.may_load.set()
        await listed(pilot, "Sessions in /srv/here")
        await listed(pilot)
        await pilot.pause(0.1)
        assert "deploy" not in screen(pilot)


@pytest.mark.parametrize(
    "typed, found",
    [
        ("parser", ["the parser", "write a parser for dates"]),
        ("dates parser", ["write a parser for dates"]),
        ("please", ["the parser"]),
        ("ccc", ["docs"]),
        ('"a parser"', ["write a parser for dates"]),
        ("re:^d.cs$", ["docs"]),
        ("here", ["the parser", "write a parser for dates", "docs"]),
    ],
)
async def test_names_messages_ids_and_folders_are_searched_at_once(typed: str, found: list[str]) -> None:
    sessions = FakeSessions()
    async with FakeApp(sessions.picker()).run_test() as pilot:
        await listed(pilot)
        pilot.app.shown.line.put(typed)
        pilot.app.shown.place_list()
        assert [each.label for each in pilot.app.shown._found] == found
        assert sessions.searched == []


async def test_the_conversations_are_searched_if_nothing_else_fits() -> None:
    sessions = FakeSessions([*(info(f"x{number}", f"session {number}") for number in range(50)), *HERE])
    async with FakeApp(sessions.picker()).run_test(size=(80, 24)) as pilot:
        await listed(pilot, "session 1")
        await pilot.press(*"zyx")
        await listed(pilot, "… about zyx there")
        assert "docs" in chosen(pilot)
        ids = [id for part, text in sessions.searched if text == "zyx" for id in part]
        assert len(ids) == 53 and all(len(part) <= 20 for part, _ in sessions.searched)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.result == HERE[2].path)


async def test_nothing_anywhere_is_said() -> None:
    sessions = FakeSessions(HERE[:2])
    async with FakeApp(sessions.picker()).run_test() as pilot:
        await listed(pilot)
        await pilot.press(*"zyx")
        await listed(pilot, "nothing fits, in no conversation either")
    async with FakeApp(FakeSessions([]).picker()).run_test() as pilot:
        await listed(pilot, "there is no session in this folder; Tab shows all folders")


async def test_a_pattern_that_is_none_is_one_line() -> None:
    async with FakeApp(FakeSessions().picker()).run_test() as pilot:
        await listed(pilot)
        await pilot.press(*"re:(")
        assert "'(' is no pattern" in screen(pilot)
        await pilot.press("backspace", *"date")
        assert "is no pattern" not in screen(pilot) and "for dates" in chosen(pilot)


async def test_renaming_begins_with_the_name_and_shows_the_new_one() -> None:
    sessions = FakeSessions()
    async with FakeApp(sessions.picker()).run_test() as pilot:
        await listed(pilot)
        await pilot.press("ctrl+r")
        assert "Name: the parser" in screen(pilot)
        await pilot.press("ctrl+w", *"lexer", "enter")
        await listed(pilot, "it is called “the lexer” now")
        assert sessions.done == [("rename", "aaa1", "the lexer")] and "the lexer" in chosen(pilot)
        await pilot.press("ctrl+r", "ctrl+u", "enter")
        await until(pilot, lambda: sessions.done[-1] == ("rename", "aaa1", ""))
        await listed(pilot, "❯   please fix it")
        await pilot.press("ctrl+r", "x", "escape", "enter")
        await until(pilot, lambda: pilot.app.result == HERE[0].path)
        assert len(sessions.done) == 2


async def test_deleting_takes_the_same_key_twice_and_says_the_name() -> None:
    sessions = FakeSessions()
    async with FakeApp(sessions.picker()).run_test(size=(100, 24)) as pilot:
        await listed(pilot)
        await pilot.press("ctrl+d")
        assert "delete “the parser”? Ctrl+D again deletes it" in screen(pilot)
        await pilot.press("x", "backspace", "ctrl+d", "down", "ctrl+d", "up", "ctrl+d", "down")
        assert sessions.done == [] and "again deletes" not in screen(pilot)
        await pilot.press("ctrl+d", "ctrl+d")
        await listed(pilot, "“write a parser for dates” was moved to the trash")
        assert sessions.done == [("delete", "bbb2")] and "docs" in chosen(pilot)
        await pilot.press("ctrl+d", "ctrl+d")
        await listed(pilot, "“docs” was deleted")
        assert "the parser" in chosen(pilot) and "for dates" not in screen(pilot)


async def test_the_open_session_is_not_deleted() -> None:
    sessions = FakeSessions()
    async with FakeApp(sessions.picker(open_path=HERE[0].path)).run_test() as pilot:
        await listed(pilot)
        await pilot.press("ctrl+d", "ctrl+d", "ctrl+d")
        assert sessions.done == [] and "this session is open, so it cannot be deleted" in screen(pilot)


LOCKED = SessionError("locked", "the session is open in process 4711", hint="close it there")


@pytest.mark.parametrize("keys", [["ctrl+d", "ctrl+d"], ["ctrl+r", "x", "enter"]])
@pytest.mark.parametrize("failure", [LOCKED, OSError(30, "Read-only file system")])
async def test_what_fails_is_one_line_and_changes_nothing(keys: list[str], failure: Exception) -> None:
    sessions = FakeSessions()
    async with FakeApp(sessions.picker()).run_test(size=(100, 24)) as pilot:
        await listed(pilot)
        sessions.failure = failure
        await pilot.press(*keys)
        await listed(pilot, "process 4711" if failure is LOCKED else "Read-only file system")
        assert "the parser" in chosen(pilot)
        await pilot.press("down")
        assert "4711" not in screen(pilot) and "Read-only" not in screen(pilot)


async def test_a_list_that_cannot_be_read_is_said() -> None:
    sessions = FakeSessions()
    sessions.failure = PermissionError(13, "Permission denied", "/sessions")
    async with FakeApp(sessions.picker()).run_test() as pilot:
        await listed(pilot, "Permission denied")
        assert "the list cannot be read" in screen(pilot)


async def test_a_failure_after_the_screen_was_closed_is_told_all_the_same() -> None:
    sessions = FakeSessions()
    async with FakeApp(sessions.picker()).run_test(notifications=True, size=(100, 24)) as pilot:
        await listed(pilot)
        picker = pilot.app.shown

        async def slowly(info: SessionInfo) -> bool:
            await until(pilot, lambda: not picker.is_attached)
            raise LOCKED

        picker._delete = slowly
        await pilot.press("ctrl+d", "ctrl+d", "escape")
        await listed(pilot, "process 4711")


async def test_keys_are_those_that_are_bound_now() -> None:
    sessions = FakeSessions()
    keymap = Keymap({"sessions_delete": "f8", "sessions_scope": "f2"})
    async with FakeApp(sessions.picker(keymap=keymap)).run_test(size=(100, 24)) as pilot:
        await listed(pilot)
        assert "F8 delete" in screen(pilot) and "F2 all folders" in screen(pilot)
        await pilot.press("f8", "f8")
        await until(pilot, lambda: sessions.done == [("delete", "aaa1")])
        await pilot.press("f2")
        await listed(pilot, "deploy")


async def test_five_thousand_sessions_draw_only_what_is_in_view() -> None:
    sessions = FakeSessions([info(f"{number:04}", f"session {number}") for number in range(5_000)])
    picker = sessions.picker()
    drawn: set[int] = set()
    draw = picker.list._draw
    picker.list._draw = lambda number, width, is_chosen: (drawn.add(number), draw(number, width, is_chosen))[1]
    async with FakeApp(picker).run_test(size=(80, 24)) as pilot:
        await listed(pilot, "session 0")
        await pilot.press("ctrl+end", *"session 49")
        fitting = sum("49" in each.id for each in sessions.here)
        assert len(drawn) < 200 and f"{fitting} of 5000" in screen(pilot)


@pytest.mark.parametrize("size", [(20, 5), (10, 3), (1, 1)])
async def test_it_works_in_a_tiny_terminal(size: tuple[int, int]) -> None:
    sessions = FakeSessions()
    async with FakeApp(sessions.picker(all_folders=True)).run_test(size=size) as pilot:
        await until(pilot, lambda: pilot.app.shown.list.count == 4)
        await pilot.press("down", "ctrl+r", "x", "escape", "ctrl+d", "down", "enter")
        await until(pilot, lambda: pilot.app.result == HERE[2].path)


@pytest.mark.parametrize("surface", ["name", "first", "cwd", "excerpt", "error"])
async def test_nothing_of_a_session_is_markup_or_obeyed(surface: str) -> None:
    texts = [*markup_lines(), escapes()]
    # A folder has no double slash.
    wide = [text for text in texts if visible(text) and "//" not in text] if surface == "cwd" else texts
    infos = [
        info(f"s{number}", text if surface == "name" else None, text if surface == "first" else "x", cwd=cwd)
        for number, text in enumerate(wide)
        for cwd in [text if surface == "cwd" else "/x"]
    ]
    sessions = FakeSessions(infos, [])
    if surface == "excerpt":
        sessions.search = lambda some, text: [SearchHit(each, 1, texts[int(each.id[1:])], (0, 3)) for each in some]
    async with FakeApp(sessions.picker(all_folders=True)).run_test(size=(150, 40)) as pilot:
        await until(pilot, lambda: pilot.app.shown.list.count == len(infos))
        if surface == "excerpt":
            await pilot.press(*"zzz")
            await until(pilot, lambda: pilot.app.shown.list.count >= len(infos) and not pilot.app.shown._searching)
        if surface == "error":
            for text in texts:
                pilot.app.shown.show_notice(text)
                await pilot.pause()
                assert part(text) in flat(screen(pilot))
                shows_nothing_to_obey(pilot)
            return
        await pilot.pause()
        seen = flat(screen(pilot))
        assert [text for text in wide if part(text) not in seen] == []
        shows_nothing_to_obey(pilot)


def test_an_age_is_a_number_and_a_letter() -> None:
    now = 1_800_000_000.0
    ages = {0: "now", 59: "now", 60: "1m", 7_199: "1h", 90_000: "1d", 8 * 86_400: "1w", 90 * 86_400: "3mo", -50: "now"}
    assert {seconds: age(int((now - seconds) * 1000), now) for seconds in ages} == ages
    assert age(int((now - 800 * 86_400) * 1000), now) == "2y"
