"""What only a real terminal shows: keys as bytes, the way out, and what reaches the screen."""

import json
import os
import pty
import re
import signal
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.messages import UserMessage, text_of, user_message
from agentcli.config.paths import sessions_folder
from agentcli.sessions.entries import MessageEntry
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from tests.files.repository import make_repository
from tests.tui.conftest import escapes
from tests.tui.pty_app import PtyApp
from tests.waiting import wait_until

SLOW = [{"text": "slow words come one by one here", "chunk": 1, "delay": 0.1}]
HANG = [{"tool": "bash", "arguments": {"command": "sleep 97 & sleep 97"}}]

LEAKS = (b"\x1b]52", b"\x1b]0;", b"\x1b]2;", b"\x1b]8;;http", b"\x1bP", b"\x1b_", b"\x1b[6n", b"\x1bc", b"\x1b^")


def is_put_back(app: PtyApp) -> bool:
    """Whether every mode that was set has been taken back after the screen was left."""
    after = app.raw[app.raw.rindex(b"\x1b[?1049h") :]
    undone = (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?1006l", b"\x1b[?2004l", b"\x1b[?25h", b"\x1b[<u")
    return all(mode in after for mode in undone) and termios.tcgetattr(app.process.child_fd) == new_terminal()


def new_terminal() -> list[Any]:
    """The modes of a terminal that nobody has used: typed letters are shown, lines end with Enter, Ctrl+C interrupts."""
    ours, theirs = pty.openpty()
    try:
        return termios.tcgetattr(theirs)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("key", ["\x1b\r", "\x11", "\x1b[13;5u", "\x1b[13;3u", "\x1b[27;3;13~"])
def test_follow_up_keys(start: Callable[..., PtyApp], key: str) -> None:
    app = start(HANG)
    app.write("go\r")
    app.until("● bash")
    app.write(f"and then{key}")
    app.until("follow-up: and then")


def test_esc_denies_and_ctrl_d_quits_while_it_asks(start: Callable[..., PtyApp], work: Path) -> None:
    call = [{"tool": "bash", "arguments": {"command": "touch made"}}]
    app = start(call, call, mode="ask")
    app.write("go\r")
    app.until(lambda shown: "Allow bash?" in shown and "stop typing" not in shown)
    app.write("\x1b")
    app.until(lambda shown: "did not allow" in shown and "Allow bash?" in shown)
    app.write("\x04")
    assert app.wait() == 0
    assert is_put_back(app) and not (work / "made").exists()


@pytest.mark.parametrize("way", ["ctrl+d", "ctrl+c twice"])
def test_quitting_puts_the_terminal_back(start: Callable[..., PtyApp], way: str) -> None:
    app = start()
    app.write("\x04" if way == "ctrl+d" else "\x03\x03")
    app.write("\x1b[<35;10;10M" * 20)
    assert app.wait() == 0
    assert is_put_back(app)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
    ids=lambda value: str(value),
)
def test_a_signal_ends_the_app_in_order(
    start: Callable[..., PtyApp], work: Path, number: signal.Signals, code: int
) -> None:
    app = start(HANG)
    app.write("go\r")
    app.until("● bash")
    children = _sleepers(work)
    assert children
    os.kill(app.process.pid, number)
    assert app.wait() == code
    assert is_put_back(app)
    assert not _sleepers(work)


def test_the_app_ends_when_its_terminal_is_closed(start: Callable[..., PtyApp], work: Path) -> None:
    app = start(HANG)
    app.write("go\r")
    app.until("● bash")
    pid = app.process.pid
    app.hang_up()
    wait_until(lambda: os.waitpid(pid, os.WNOHANG) != (0, 0))
    assert not _sleepers(work)


def test_no_sequence_of_others_reaches_the_terminal(start: Callable[..., PtyApp]) -> None:
    payload = escapes().encode("utf-8", "replace").decode()
    app = start(
        [
            {"thinking": payload, "chunk": 1},
            {"text": payload, "chunk": 1},
            {"tool": "bash", "arguments": {"command": f"printf '%s' '{payload.replace(chr(0), '')}'"}},
            {"tool": payload, "arguments": {payload: payload}},
        ],
        [{"error": "quota", "text": payload}],
        size=(100, 40),
    )
    app.write("\x1b[200~" + payload + "\x1b[201~")
    app.until("│ before")
    app.write("\r")
    app.until("top up the account")
    app.write("\x1b[200~" + payload + "\x1b[201~")
    shown = app.until(lambda shown: shown.count("before") > 3)
    assert "middle" in shown
    obeys_nobody(app.raw)


def obeys_nobody(raw: bytes) -> None:
    """Fails if a sequence of the file of escapes is in what the terminal got."""
    # The title is the app's own.
    theirs = re.sub(rb"\x1b\]2;[^\x07\x1b]*agentcli[^\x07\x1b]*\x07", b"", raw)
    for leak in LEAKS:
        assert leak not in theirs, leak
    assert not re.search("[\x80-\x9f]", raw.decode("utf-8", "replace"))


def test_no_sequence_in_a_name_reaches_the_terminal(start: Callable[..., PtyApp], work: Path) -> None:
    """Of a file, a session, a label and a branch."""
    payload = escapes().encode("utf-8", "replace").decode()
    name = payload.replace("/", "").replace("\0", "").encode()[:240].decode("utf-8", "ignore")
    (work / name).write_text("")
    make_repository(work, f"ref: refs/heads/{payload}")
    session = JsonlSessionRepo(sessions_folder()).create(work)
    session.append_label(session.append_message(user_message("asked")), payload)
    session.append_session_info(payload)
    session.close()
    app = start(size=(260, 30), options=("--continue",))
    footer = app.until(lambda shown: shown.count("before") == 2 and "ready" in shown).splitlines()[-2]
    assert "(before link" in footer and footer.count("before") == 2
    app.write("see @befo")
    app.until(lambda shown: any("❯" in line and "before" in line for line in shown.splitlines()))
    app.write("\t")
    app.until(lambda shown: '@"before' in shown or "@before" in shown)
    app.write("\x15/tree\r")
    app.until(lambda shown: any("user: asked" in line and "before" in line for line in shown.splitlines()))
    app.write("\x1b")
    app.until("sk anything")
    app.write("/resume\r")
    app.until(lambda shown: any("❯ " in line and "before" in line for line in shown.splitlines()))
    obeys_nobody(app.raw)


def test_a_paste_that_ends_itself_runs_and_answers_nothing(start: Callable[..., PtyApp], work: Path) -> None:
    app = start([{"tool": "bash", "arguments": {"command": "touch asked"}}], [{"text": "ok"}], mode="ask")
    for data in ("\x1b[201~!touch pwned\r", "fine\x1b[201~\r/quit\r\x04\x03\x03"):
        app.write(f"\x1b[200~{data}\x1b[201~")
        app.until(data.rpartition("~")[2].strip("\r\x04\x03"))
        app.write("\x03")
        app.until("sk anything")
    app.write("go\r")
    app.until("touch asked")
    app.until(lambda shown: "Allow bash?" in shown and "stop typing" not in shown)
    app.write("\x1b[200~x\x1b[201~yy\r")
    app.until("│ xyy")
    app.read(0.3)
    assert not (work / "pwned").exists() and not (work / "asked").exists()


def test_a_paste_without_an_end_is_left_by_the_keys_that_leave(start: Callable[..., PtyApp]) -> None:
    app = start()
    app.write("\x1b[200~never ended\r")
    app.read(0.2)
    app.write("\x1b")
    app.until("│ never ended")
    app.write("\x1b[200~or by itself")
    app.until("or by itself")
    app.write("\x15\x15\x7f\x15\x04")
    assert app.wait() == 0


def test_every_way_to_a_newline_in_the_draft(start: Callable[..., PtyApp]) -> None:
    app = start([{"text": "ok"}])
    for number, key in enumerate(("\n", "\x1b[13;2u", "\x1b[27;2;13~")):
        app.write(f"line {number}{key}")
    app.write("end")
    shown = app.until("end")
    assert all(f"line {number} " in shown for number in range(3)) and "❯" not in shown


def test_the_keys_of_other_terminals(start: Callable[..., PtyApp]) -> None:
    """Each row of the table: what is typed after `a` and before `b`, and what the draft is then."""
    table = json.loads((Path(__file__).parent / "inputs" / "keys.json").read_text())
    typed = {"shift+space": " ", "space (CSI u)": " "}
    silent = ("release of a", "left shift alone", "mouse move", "broken mouse report", "focus in/out", "empty paste")
    app = start()
    for row in table:
        if row["key"] in (*typed, *silent, "late cursor report"):
            app.write("x" + row["bytes"] + "y")
            app.until(f"│ x{typed.get(row['key'], '')}y ")
            app.write("\x15")
            app.until("sk anything")
    for row in table:
        if row["key"].startswith("ctrl+c"):
            app.write("draft")
            app.until("│ draft")
            app.write(row["bytes"])
            app.until("sk anything")


def test_escape_followed_by_a_letter_at_once_is_alt(start: Callable[..., PtyApp]) -> None:
    app = start(SLOW)
    app.write("go\r")
    app.until("slow")
    app.write("\x1bx")
    app.until("one by one here")
    assert "│ x" not in app.screen()


def test_fast_lines_without_paste_marks_are_one_draft(start: Callable[..., PtyApp]) -> None:
    app = start([{"text": "ok"}])
    app.write("\r".join(f"line {number:02} of a paste that no terminal marked" for number in range(8)))
    shown = app.until("line 07")
    assert "❯" not in shown
    app.write("\r")
    app.until("❯ line 00")


def sent_in(folder: Path) -> list[str]:
    """The user's prompts in the sessions of a folder."""
    found: list[str] = []
    for info in JsonlSessionRepo(sessions_folder()).list(folder):
        session = Session(JsonlSessionStorage.read(info.path))
        for entry in session.get_entries():
            if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
                found.append(text_of(entry.message.content))
        session.close()
    return found


@pytest.mark.parametrize("marked", [True, False])
def test_ten_thousand_lines_are_one_draft_and_one_message(
    start: Callable[..., PtyApp], work: Path, marked: bool
) -> None:
    """They come in writes that end within a line and within a character; a terminal may not mark them as a paste."""
    text = "\n".join(f"{number:05} é文 " + "x" * 70 for number in range(10_000))
    data = text.replace("\n", "\r").encode()
    data = b"\x1b[200~" + data + b"\x1b[201~" if marked else data
    app = start([{"text": "all read"}])
    for place in range(0, len(data), 4_095):
        os.write(app.process.child_fd, data[place : place + 4_095])
        if marked and place == 4_095 * 7:
            app.read(0.3)
    app.until("[paste #1 +10000 lines]" if marked else "lines]", 60)
    assert sent_in(work) == []
    app.write("\r")
    app.until(lambda shown: "all read" in shown and "ready" in shown, 60)
    assert sent_in(work) == [text]


def test_sizes_down_to_nothing_while_it_streams(start: Callable[..., PtyApp]) -> None:
    answer = {"text": "many words " * 60 + "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend", "chunk": 3, "delay": 0.01}
    app, undisturbed = start([answer]), start([answer])
    undisturbed.write("go\r")
    app.write("go\r")
    for columns, rows in ((200, 50), (80, 24), (20, 5), (10, 3), (1, 1), (0, 0), (80, 24)):
        app.resize(columns, rows)
        app.read(0.15)
    shown = app.until(lambda shown: "\nend" in shown and "ready" in shown)
    assert "1 │ 2" in shown and app.process.isalive()
    assert undisturbed.until(lambda shown: "\nend" in shown and "ready" in shown) == shown


@pytest.mark.parametrize("size", [(10, 3), (1, 1)])
def test_it_starts_in_the_smallest_terminals(work: Path, size: tuple[int, int]) -> None:
    app = PtyApp(work, [{"text": "found room"}], size=size)
    app.read(2.0)
    app.write("go\r")
    app.read(1.0)
    app.resize(80, 24)
    assert "❯ go" in app.until("found room")
    app.write("\x04")
    assert app.wait() == 0
    app.kill()


CRASH = """
import sys
from agentcli.runtime.options import RuntimeOptions
from agentcli.tui.app import ChatApp

MESSAGE, SECRET = "boom \\x1b]0;ZQX\\x07[/b]", "a secret of a local variable"

class CrashingApp(ChatApp):
    {method}(self, *arguments):
        local = SECRET
        raise RuntimeError(MESSAGE)

sys.exit(CrashingApp(RuntimeOptions(model="offline")).run())
"""


@pytest.mark.parametrize(
    "method", ["compose", "on_mount", "on_resize", "act", "show_state", "on_editor_quit_asked", "async _open_session"]
)
def test_a_crash_puts_the_terminal_back_and_then_says_what_happened(work: Path, method: str) -> None:
    """In what the framework calls, in what keys do, and in work beside them."""
    *kind, name = method.split()
    app = PtyApp(work, program=CRASH.format(method=" ".join([*kind, "def", name])))
    app.read(2.0)
    app.write("\x1b[5~")
    app.read(0.5)
    app.write("\x04")
    assert app.wait() == 1
    assert is_put_back(app)
    after = app.raw[app.raw.rindex(b"\x1b[?1049l") :].decode()
    assert "RuntimeError: boom" in after and "[/b]" in after and "ZQX" not in after
    assert "a secret" not in after
    app.kill()


def test_what_is_typed_at_once_is_sent_when_there_is_an_agent(work: Path) -> None:
    app = PtyApp(work, [{"text": "here I am"}])
    app.until("sk anything")
    app.write("hello\r")
    shown = app.until("here I am")
    assert "❯ hello" in shown
    app.kill()


def test_an_error_at_the_start_is_one_line(work: Path) -> None:
    app = PtyApp(work, options=("--session", "no-such-session"))
    assert app.wait() == 2
    after = app.raw[app.raw.rindex(b"\x1b[?1049l") :].decode()
    assert "agentcli: " in after and "no-such-session" in after and "Traceback" not in after
    assert is_put_back(app)
    app.kill()


def _sleepers(folder: Path) -> list[int]:
    """Processes of the tools of this test."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if b"sleep\x0097" in (entry / "cmdline").read_bytes() and (entry / "cwd").readlink() == folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found
