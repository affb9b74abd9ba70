"""Changes to files: one at a time, each on the file that was found and judged, whatever is swapped meanwhile."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agentcli.agent.abort import AbortController, Aborted, AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.tools.edit.edit import edit_file
from agentcli.tools.edit.locate import Edit
from agentcli.tools.files.atomic_write import write_atomically
from agentcli.tools.files.file_access import FileAccess
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.files.regular_file import open_regular
from agentcli.tools.files.write import write_file
from tests.tools.conftest import Tools
from tests.waiting import until


async def test_calls_made_at_the_same_time_change_one_file_in_their_order(tools: Tools, cwd: Path) -> None:
    (cwd / "link.txt").symlink_to("a.txt")
    for _ in range(10):
        answers = await asyncio.gather(
            tools.write("a.txt", "one\n"),
            tools.edit("link.txt", ("one", "two")),
            tools.edit(cwd / "a.txt", ("two", "three")),
            tools.write("./a.txt", "four\n"),
            tools.edit("@a.txt", ("four", "five")),
        )
        assert [answer.is_error for answer in answers] == [False] * 5
        assert (cwd / "a.txt").read_text() == "five\n"


class ScriptedWork:
    """Work that waits until it is let go, and notes when it begins and ends."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.gate = threading.Event()

    def named(self, name: str) -> Callable[[], str]:
        def work() -> str:
            self.notes.append(f"{name} begins")
            assert self.gate.wait(10)
            self.notes.append(f"{name} ends")
            return name

        return work

    async def until_begun(self) -> None:
        await until(lambda: self.notes)


async def test_a_cancelled_change_holds_its_place_until_it_has_ended() -> None:
    access, script = FileAccess(), ScriptedWork()
    first = asyncio.create_task(access.change(script.named("first"), AbortSignal()))
    await script.until_begun()
    second = asyncio.create_task(access.change(script.named("second"), AbortSignal()))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert script.notes == ["first begins"]
    script.gate.set()
    assert await second == "second"
    assert script.notes == ["first begins", "first ends", "second begins", "second ends"]


async def test_an_abort_waits_for_a_change_that_has_begun_and_drops_one_that_waits() -> None:
    access, script, controller = FileAccess(), ScriptedWork(), AbortController()
    first = asyncio.create_task(access.change(script.named("first"), controller.signal))
    await script.until_begun()
    second = asyncio.create_task(access.change(script.named("second"), controller.signal))
    await asyncio.sleep(0)
    assert controller.signal.has_listeners
    controller.abort()
    with pytest.raises(Aborted):
        await second
    script.gate.set()
    assert await first == "first"
    assert script.notes == ["first begins", "first ends"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def outside(cwd: Path) -> Path:
    folder = cwd.parent / "outside"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("theirs\n")
    return folder


def swap_folder(cwd: Path, outside: Path) -> None:
    (cwd / "sub").rename(cwd / "was")
    (cwd / "sub").symlink_to(outside)


def swap_file(cwd: Path, outside: Path) -> None:
    (cwd / "sub/a.txt").unlink()
    (cwd / "sub/a.txt").symlink_to(outside / "a.txt")


SWAPS = pytest.mark.parametrize("swap", [swap_folder, swap_file])


@SWAPS
def test_a_link_put_in_the_way_after_a_file_was_found_leads_nowhere(
    cwd: Path, outside: Path, swap: Callable[[Path, Path], None]
) -> None:
    (cwd / "sub").mkdir()
    (cwd / "sub/a.txt").write_text("ours\n")
    place = FilePlace(cwd / "sub/a.txt")
    swap(cwd, outside)
    for act in (
        lambda: write_file(place, "new\n", ReadTracker()),
        lambda: edit_file(place, [Edit("theirs", "new")], cwd, ReadTracker()),
        lambda: open_regular(place, cwd),
    ):
        with place, pytest.raises(ToolError, match="leads elsewhere now"):
            act()
    assert [path.read_text() for path in sorted(outside.iterdir())] == ["theirs\n"] * 2


@SWAPS
def test_a_link_put_in_the_way_while_a_file_is_written_leads_nowhere(
    cwd: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, swap: Callable[[Path, Path], None]
) -> None:
    (cwd / "sub").mkdir()
    (cwd / "sub/a.txt").write_text("ours\n")
    really_fstat = os.fstat

    def fstat_and_swap(descriptor: int) -> os.stat_result:
        if not (cwd / "was").exists() and not (cwd / "sub/a.txt").is_symlink():
            swap(cwd, outside)
        return really_fstat(descriptor)

    with FilePlace(cwd / "sub/a.txt") as place:
        before = place.status()
        monkeypatch.setattr(os, "fstat", fstat_and_swap)
        try:
            write_atomically(place, [b"new\n"], before)
        except ToolError:
            assert swap is swap_file
        else:
            assert (cwd / "was/a.txt").read_text() == "new\n"
    assert names(outside) == ["a.txt", "b.txt"]
    assert [path.read_text() for path in sorted(outside.iterdir())] == ["theirs\n"] * 2


def test_a_new_file_and_its_folders_are_made_where_they_were_judged(cwd: Path, outside: Path) -> None:
    place = FilePlace(cwd / "sub/deep/new.txt")
    (cwd / "sub").symlink_to(outside)
    with place, pytest.raises(ToolError, match="leads elsewhere now"):
        write_file(place, "new\n", ReadTracker())
    assert names(outside) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("tool", ["read", "write", "edit"])
async def test_a_call_acts_on_the_path_that_was_judged_or_not_at_all(
    tools: Tools, cwd: Path, outside: Path, tool: str
) -> None:
    (cwd / "a.txt").symlink_to(outside / "a.txt")
    more = {"write": {"content": "new"}, "edit": {"edits": [{"old_text": "theirs", "new_text": "new"}]}}.get(tool, {})
    for judged in (cwd / "a.txt", outside / "b.txt", None):
        tools.toolset.files.judged["call"] = judged
        answer = await tools(tool, {"path": "a.txt", **more})
        assert answer.is_error
        assert "leads elsewhere now" in answer.text and "\n" not in answer.text
    assert (outside / "a.txt").read_text() == "theirs\n"
    tools.toolset.files.judged["call"] = outside / "a.txt"
    await tools.read("a.txt")
    assert not (await tools(tool, {"path": "a.txt", **more})).is_error


@pytest.mark.parametrize("links", [1, 2])
def test_a_change_from_outside_while_an_edit_is_made_is_not_lost(
    cwd: Path, monkeypatch: pytest.MonkeyPatch, links: int
) -> None:
    path = cwd / "a.txt"
    path.write_text("one\n")
    if links == 2:
        os.link(path, cwd / "other")
    really_check = FilePlace.is_writable

    def check_and_change(self: FilePlace) -> bool:
        path.write_text("one\nfrom outside\n")
        return really_check(self)

    monkeypatch.setattr(FilePlace, "is_writable", check_and_change)
    with FilePlace(path) as place, pytest.raises(ToolError, match="changed on disk just now"):
        edit_file(place, [Edit("one", "two")], cwd, ReadTracker())
    assert path.read_text() == "one\nfrom outside\n"


def test_a_file_that_appears_while_it_is_made_is_not_replaced(cwd: Path) -> None:
    (cwd / "a.txt").write_text("theirs\n")
    with FilePlace(cwd / "a.txt") as place, pytest.raises(ToolError, match="changed on disk just now"):
        write_atomically(place, [b"new\n"], None)
    assert (cwd / "a.txt").read_text() == "theirs\n"


async def test_folders_that_may_be_passed_through_but_not_listed_are_no_hindrance(tools: Tools, cwd: Path) -> None:
    (cwd / "sub/deep").mkdir(parents=True)
    (cwd / "sub").chmod(0o111)
    try:
        assert not (await tools.write("sub/deep/a.txt", "one\n")).is_error
        assert (await tools.read("sub/deep/a.txt")).text == "one"
    finally:
        (cwd / "sub").chmod(0o755)
