"""Images that are pasted or dropped, the clipboard, and the user's own editor."""

import os
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual import events

from agentcli.tui.editing.pasted_paths import image_mentions
from tests.tui.drive import until
from tests.tui.pty_app import PtyApp
from tests.tui.writing import WritingApp

PNG = b"\x89PNG\r\n\x1a\n"


def script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def image(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(PNG)
    return path


# Paths


@pytest.mark.parametrize(
    ("pasted", "mentions"),
    [
        ("{one}", "@one.png"),
        ("  {one}\n", "@one.png"),
        ("'{one}'", "@one.png"),
        ("{two}", '@"two words.png"'),
        ("'{two}' {one}", '@"two words.png" @one.png'),
        ("{escaped}", '@"two words.png"'),
        ("file://{two}", '@"two words.png"'),
        ("{url}", '@"two words.png"'),
        ("{one}\n{two}\n", '@one.png @"two words.png"'),
        ("{away}", "@{away}"),
        ("~/away.PNG", "@{away}"),
        ("{text}", ""),
        ("{one} {text}", ""),
        ("see {one}", ""),
        ("{one} is wrong", ""),
        ("one.png", ""),
        ("{one}x", ""),
        ("'{one}", ""),
        ("/", ""),
        ("~nobody-here/x.png", ""),
        ("file://elsewhere{one}", ""),
        ("file://[", ""),
        ("/nul\0.png", ""),
        ("/{long}.png", ""),
    ],
)
def test_names_of_images_are_told_from_text(work: Path, pasted: str, mentions: str) -> None:
    names = {
        "one": image(work / "one.png"),
        "two": image(work / "two words.png"),
        "away": image(work.parent / "away.PNG"),
        "text": work / "notes.txt",
        "escaped": str(work / "two words.png").replace(" ", "\\ "),
        "url": f"file://{work}/two%20words.png",
        "long": "x" * 5000,
    }
    names["text"].write_text("words")  # type: ignore[union-attr]
    assert image_mentions(pasted.format(**names), work) == mentions.format(**names)


async def test_a_dropped_image_is_attached_and_anything_else_is_text(work: Path) -> None:
    image(work / "one.png")
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"see")
        app.post_message(events.Paste(str(work / "one.png")))
        await until(pilot, lambda: app.editor.text == "see @one.png ")
        app.post_message(events.Paste("/etc/hosts"))
        await until(pilot, lambda: app.editor.text == "see @one.png /etc/hosts")
        await pilot.press("ctrl+underscore", "ctrl+underscore")
        assert app.editor.text == "see"


# The clipboard


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are found."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    return folder


async def pasted(work: Path, *, clipboard: str = "") -> WritingApp:
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        app._clipboard = clipboard
        await pilot.press("a", "ctrl+v", "b")
        await until(pilot, lambda: app.editor.text.endswith("b"))
        await pilot.pause()
        app.editor.drafts = None
    return app


async def test_an_image_in_the_clipboard_becomes_a_file_that_is_attached(work: Path, programs: Path) -> None:
    script(
        programs,
        "xclip",
        "case \"$*\" in *TARGETS*) echo TARGETS; echo image/png;; *image/png*) printf 'PNG data';; esac",
    )
    app = await pasted(work)
    (path,) = (work.parent / "home" / "pasted").iterdir()
    assert app.editor.document.text == f"a @{path} b"
    assert path.read_bytes() == b"PNG data" and stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_wayland_is_asked_in_its_own_way(work: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    script(programs, "wl-paste", 'case "$*" in --list-types) echo image/jpeg;; "--type image/jpeg") printf JPG;; esac')
    app = await pasted(work)
    assert app.editor.document.text.endswith(".jpg b")


async def test_without_an_image_the_text_of_the_system_or_our_own_is_pasted(work: Path, programs: Path) -> None:
    script(programs, "xclip", 'case "$*" in *-t*) exit 1;; *) printf "from\\033[31m outside";; esac')
    assert (await pasted(work)).editor.document.text == "afrom outsideb"
    script(programs, "xclip", "exit 1")
    assert (await pasted(work, clipboard="ours")).editor.document.text == "aoursb"


@pytest.mark.parametrize("kind", ["no program", "empty", "hangs"])
async def test_nothing_to_paste_is_one_clear_line(
    work: Path, programs: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("agentcli.tui.editing.clipboard.TIMEOUT_S", 0.2)
    if kind != "no program":
        script(programs, "xclip", "exit 1" if kind == "empty" else "read forever </dev/tty || while :; do :; done")
    app = await pasted(work)
    assert app.editor.document.text == "ab"
    (told,) = app.told
    assert "@path/of/image.png" in told and "\n" not in told
    assert ("install" in told) == (kind == "no program")


# The external editor


async def test_a_missing_editor_leaves_the_draft_and_says_why(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor")
    app = WritingApp(work)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_ready)
        await pilot.press(*"draft", "ctrl+g")
        await until(pilot, lambda: app.told)
        assert app.editor.text == "draft" and "no-such-editor" in app.told[0]


@pytest.fixture
def start(work: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], PtyApp]]:
    """`start(script)` starts the app with this as its editor."""
    apps: list[PtyApp] = []

    def make(text: str) -> PtyApp:
        monkeypatch.setenv("VISUAL", str(script(work.parent, "my-editor", text)))
        apps.append(PtyApp(work))
        return apps[-1].ready()

    yield make
    for app in apps:
        app.kill()


def test_the_draft_goes_to_the_editor_and_back(start: Callable[[str], PtyApp], work: Path) -> None:
    app = start('cp "$1" seen; echo "$1" >name; read word; printf "from %s\\r\\nsecond\\r\\n" "$word" >"$1"')
    app.write("one \x1b[200~" + "line\n" * 20 + "\x1b[201~")
    app.until("paste #1")
    app.write("\x07")
    app.until(lambda shown: (work / "name").exists())
    app.write("there\n")
    app.until(lambda shown: "│ from there" in shown and "│ second" in shown)
    assert (work / "seen").read_text() == "one " + "line\n" * 20
    assert (work / "name").read_text().endswith("/prompt.md\n") and not Path(
        (work / "name").read_text().strip()
    ).exists()
    # Keys and pastes are read as before.
    app.write("\x1b[200~ pasted\nthird\x1b[201~ typed")
    app.until(lambda shown: "│ second pasted" in shown and "│ third typed" in shown)
    app.write("\x15\x15\x15\x15\x15\x15\x04")
    assert app.wait() == 0


def test_an_editor_that_fails_leaves_the_draft(start: Callable[[str], PtyApp]) -> None:
    app = start('echo lost >"$1"; exit 3')
    app.write("kept\x07")
    app.until(lambda shown: "│ kept" in shown)
    app.write("!")
    app.until("│ kept!")
    assert app.raw.count(b"\x1b[?1049h") == 2


def test_what_is_typed_ahead_comes_after_what_was_written(start: Callable[[str], PtyApp]) -> None:
    app = start('printf written >"$1"')
    app.write("x\x07abc")
    app.until(lambda shown: "│ written" in shown)


def test_ctrl_c_is_for_the_editor_alone(start: Callable[[str], PtyApp], work: Path) -> None:
    app = start('trap "echo caught >caught" INT; echo >ready; read word || read word; printf "%s" "$word" >"$1"')
    app.write("draft\x07")
    app.until(lambda shown: (work / "ready").exists())
    app.write("\x03")
    app.until(lambda shown: (work / "caught").exists())
    app.write("on\n")
    app.until("│ on ")
    assert app.process.isalive()


def test_the_end_of_the_app_ends_the_editor(start: Callable[[str], PtyApp], work: Path) -> None:
    app = start("echo $$ >ready; exec sleep 60")
    app.write("draft\x07")
    app.until(lambda shown: (work / "ready").exists() and (work / "ready").read_text().strip())
    editor = int((work / "ready").read_text())
    app.process.kill(signal.SIGTERM)
    assert app.wait() == 143
    with pytest.raises(ProcessLookupError):
        os.kill(editor, 0)
