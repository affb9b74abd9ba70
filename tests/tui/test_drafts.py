"""A draft that was not sent is there again at the next start."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual import events

from agentcli.config.masking import remember_key
from agentcli.tui.app_settings import drafts_folder
from agentcli.tui.editing import drafts as drafts_module
from agentcli.tui.editing.drafts import Drafts
from tests.tui.drive import screen, until
from tests.tui.pty_app import PtyApp
from tests.tui.writing import WritingApp
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from agentcli.tui.terminal.terminal import Terminal
from tests.tui.writing import WritingApp

class App(WritingApp):
    def get_driver_class(self):
        return Terminal

    def on_editor_action_asked(self, message):
        raise RuntimeError("as asked")

app = App(Path.cwd())
app.run()
sys.exit(app.return_code)
"""


@pytest.fixture
def start(work: Path) -> Iterator[Callable[[], PtyApp]]:
    apps: list[PtyApp] = []

    def make() -> PtyApp:
        apps.append(PtyApp(work, program=PROGRAM))
        apps[-1].until("╰")
        return apps[-1]

    yield make
    for app in apps:
        app.kill()


def kept(work: Path) -> list[str]:
    return sorted(path.read_text() for path in drafts_folder(work).glob("*.draft"))


async def test_a_draft_is_there_again_with_its_lines_and_pastes(work: Path) -> None:
    pasted = "\n".join(f"line {number} [/] 文件" for number in range(50))
    async with WritingApp(work).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, WritingApp)
        await until(pilot, lambda: app.is_ready)
        assert not app.restored
        await pilot.press(*"ab", "ctrl+j", *"cd ")
        app.post_message(events.Paste(pasted))
        await until(pilot, lambda: "[paste #1" in screen(pilot))
    assert kept(work) == [f"ab\ncd {pasted}"]
    async with WritingApp(work).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, WritingApp)
        await until(pilot, lambda: app.is_ready)
        assert app.restored and app.editor.text == f"ab\ncd {pasted}"
        await pilot.press("enter")
    assert kept(work) == [] and app.sent == [f"ab\ncd {pasted}"]
    assert list(drafts_folder(work).iterdir()) == []


async def test_what_is_typed_before_the_draft_is_back_comes_after_it(work: Path) -> None:
    left = Drafts(drafts_folder(work))
    left.close("left behind")
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        app.editor.put("")
        app.editor.drafts = None
        Drafts(drafts_folder(work)).close("left behind")
        await pilot.press(*"typed")
        await app.on_mount()
        await pilot.press("!")
        assert app.editor.text == "left behind\n\ntyped!"


async def test_nothing_is_written_while_nothing_changes(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[bytes] = []
    write = drafts_module.write_private
    monkeypatch.setattr(drafts_module, "WRITE_AFTER_S", 0.05)

    def counted(path: Path, data: bytes) -> None:
        writes.append(data)
        write(path, data)

    monkeypatch.setattr(drafts_module, "write_private", counted)
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"abc")
        await until(pilot, lambda: kept(work) == ["abc"])
        before = len(writes)
        await pilot.press("left", "right", "x", "backspace", "home")
        await pilot.pause(0.2)
        assert len(writes) <= before + 2 and kept(work) == ["abc"]
        before = len(writes)
        await pilot.pause(0.2)
        assert len(writes) == before
        await pilot.press("ctrl+c")
        await until(pilot, lambda: kept(work) == [])


async def test_a_draft_that_is_out_of_view_is_kept_too(work: Path) -> None:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"old", "enter", *"draft", "up")
        assert app.editor.text == "old" and app.editor.unsent == "draft"
        await pilot.press("!")
        assert app.editor.unsent == "draft\n\nold!"
    assert kept(work) == ["draft\n\nold!"]


def test_nobody_takes_the_draft_of_a_process_that_lives(work: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from agentcli.tui.editing.drafts import Drafts\n"
        "drafts = Drafts(Path(sys.argv[1])); drafts.save('mine'); print('kept', flush=True); sys.stdin.read()"
    )
    argv = [sys.executable, "-c", program, str(drafts_folder(work))]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as other:
        assert other.stdout is not None
        other.stdout.readline()
        here = Drafts(drafts_folder(work))
        assert here.claim() == ""
        here.save("yours")
        assert kept(work) == ["mine", "yours"]
        other.kill()
    again = Drafts(drafts_folder(work))
    assert again.claim() == "mine"
    again.save("")
    again.close("")
    assert kept(work) == ["yours"]


def test_the_latest_of_several_comes_first_and_none_is_lost(work: Path) -> None:
    for number, text in enumerate(("older", "newest", "old")):
        left = Drafts(drafts_folder(work))
        left.close(text)
        newest = max(drafts_folder(work).glob("*.draft"), key=lambda path: path.name)
        os.utime(newest, (1000 + number * (1 if text != "newest" else 5),) * 2)
    found = []
    for _ in range(4):
        drafts = Drafts(drafts_folder(work))
        found.append(drafts.claim())
        drafts.close("")
    assert found == ["newest", "old", "older", ""]


def test_a_draft_is_for_its_owner_and_without_keys(work: Path) -> None:
    remember_key("sk-1234567890")
    Drafts(drafts_folder(work)).close("use sk-1234567890")
    (path,) = drafts_folder(work).glob("*.draft")
    assert path.read_text() == "use [key hidden]"
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_a_disk_that_does_not_take_it_is_told(work: Path) -> None:
    drafts_folder(work).parent.parent.mkdir(parents=True, exist_ok=True)
    drafts_folder(work).parent.write_text("")
    drafts = Drafts(drafts_folder(work))
    assert drafts.claim() == ""
    drafts.save("text")
    assert "the draft is not kept" in drafts.problem
    drafts.close("text")


def test_a_kill_loses_no_draft_that_is_a_moment_old(start: Callable[[], PtyApp], work: Path) -> None:
    app = start()
    app.write("written 文件")
    app.until("written")
    wait_until(lambda: kept(work) == ["written 文件"])
    app.process.kill(signal.SIGKILL)
    app = start()
    app.until("written 文")
    app.write(" more")
    app.until("more")
    app.process.kill(signal.SIGKILL)
    wait_until(lambda: not app.process.isalive())


def test_a_crash_loses_not_a_letter(start: Callable[[], PtyApp], work: Path) -> None:
    app = start()
    # The key of an action of the app, which raises.
    app.write("written just now\x0f")
    assert app.wait() != 0
    assert kept(work) == ["written just now"]


async def test_the_draft_comes_along_to_another_folder(work: Path) -> None:
    other = work.parent / "other"
    other.mkdir()
    (other / "far.txt").write_text("")
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"sent", "enter", *"draft ")
        app.cwd = other
        await app.on_mount()
        assert app.editor.text == "draft " and kept(work) == [] and kept(other) == ["draft "]
        await pilot.press(*"fa", "tab")
        assert app.editor.text == "draft far.txt "
        await pilot.press("up")
        assert app.editor.text == "draft far.txt "
    assert kept(other) == ["draft far.txt "]
