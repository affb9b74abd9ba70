"""The file of a session: it only grows, survives what happens to files, and belongs to one process at a time."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AssistantMessage, TextContent, ToolResultMessage, user_message
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from tests.sessions.context_texts import context_texts


def new_session(path: Path) -> Session:
    header = SessionHeader(id=new_id(), timestamp=now_iso(), cwd=str(path.parent))
    return Session(JsonlSessionStorage.create(path, header))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "s.jsonl"


@pytest.fixture
def closed(path: Path) -> Path:
    """A session with one exchange, closed."""
    session = new_session(path)
    session.append_message(user_message("hi"))
    session.append_message(AssistantMessage([TextContent("hello")]))
    session.close()
    return path


def test_the_file_appears_with_the_first_user_message(path: Path):
    session = new_session(path)
    session.append_model_change("openai", "gpt")
    assert not path.exists()
    session.append_message(user_message("hi"))
    assert len(path.read_bytes().splitlines()) == 3
    session.close()


def test_a_session_without_a_message_leaves_nothing_behind(path: Path):
    session = new_session(path)
    session.append_model_change("openai", "gpt")
    session.close()
    assert not path.parent.exists()


def test_files_and_folders_are_private_whatever_the_umask(path: Path):
    old = os.umask(0)
    try:
        session = new_session(path)
        session.append_message(user_message("hi"))
        assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in path.parent.iterdir())
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        session.close()
    finally:
        os.umask(old)


def test_a_torn_last_line_is_set_aside_and_reported(closed: Path):
    whole = closed.read_bytes()
    closed.write_bytes(whole + b'{"type":"message","id":"torn","mess')
    session = Session(JsonlSessionStorage.open(closed))
    assert context_texts(session) == ["hi", "hello"]
    assert "set aside" in session.storage.notices[0]
    session.append_message(user_message("again"))
    session.close()
    assert closed.with_name("s.jsonl.torn").read_bytes() == b'{"type":"message","id":"torn","mess\n'
    assert closed.read_bytes().startswith(whole)
    assert all(json.loads(line) for line in closed.read_bytes().splitlines())


def test_a_whole_last_line_without_its_newline_is_kept_once(closed: Path):
    closed.write_bytes(closed.read_bytes().rstrip(b"\n"))
    session = Session(JsonlSessionStorage.open(closed))
    session.append_message(user_message("again"))
    session.close()
    again = Session(JsonlSessionStorage.open(closed))
    assert context_texts(again) == ["hi", "hello", "again"]
    again.close()


def test_lines_that_cannot_be_read_are_kept_and_counted(closed: Path):
    lines = closed.read_bytes().splitlines(keepends=True)
    closed.write_bytes(b"".join([*lines[:2], b"garbage\n", b"\n", *lines[2:]]))
    session = Session(JsonlSessionStorage.open(closed))
    assert context_texts(session) == ["hi", "hello"]
    assert session.storage.notices[0].startswith("1 line ")
    session.close()
    assert b"garbage\n" in closed.read_bytes()


def test_entries_and_fields_of_another_version_survive(closed: Path):
    last = json.loads(closed.read_bytes().splitlines()[-1])
    future = {"type": "hologram", "id": "f1", "parent_id": last["id"], "timestamp": now_iso(), "beam": [1]}
    closed.write_bytes(closed.read_bytes() + json.dumps(future).encode() + b"\n")
    session = Session(JsonlSessionStorage.open(closed))
    assert session.leaf_id == "f1"
    session.append_message(user_message("again"))
    assert context_texts(session) == ["hi", "hello", "again"]
    session.close()
    assert json.dumps(future).encode() in closed.read_bytes()


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"type":"message"}\n', b"\x00\xff" * 100, b"{}"])
def test_a_file_that_is_no_session_is_refused_and_left_alone(tmp_path: Path, content: bytes):
    file = tmp_path / "notes.jsonl"
    file.write_bytes(content)
    with pytest.raises(SessionError) as error:
        JsonlSessionStorage.open(file)
    assert error.value.code == "not_a_session"
    assert file.read_bytes() == content
    assert sorted(tmp_path.iterdir()) == [file]


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path):
    with pytest.raises(SessionError) as error:
        JsonlSessionStorage.open(tmp_path / "none.jsonl")
    assert error.value.code == "not_found"


HOLD = """
import sys, time
from pathlib import Path
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
storage = JsonlSessionStorage.open(Path(sys.argv[1]))
print("open", flush=True)
time.sleep(60)
"""


def test_a_second_process_is_refused_with_the_owners_pid_and_a_killed_owner_blocks_nobody(closed: Path):
    owner = subprocess.Popen([sys.executable, "-c", HOLD, str(closed)], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"open\n"
    with pytest.raises(SessionError, match=str(owner.pid)) as error:
        JsonlSessionStorage.open(closed)
    assert error.value.code == "locked"
    assert len(JsonlSessionStorage.read(closed).heads()) == 2
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    JsonlSessionStorage.open(closed).close()
    assert sorted(file.name for file in closed.parent.iterdir()) == ["s.jsonl"]


def test_looking_at_a_session_changes_nothing(closed: Path):
    closed.write_bytes(closed.read_bytes() + b'{"torn')
    before = closed.read_bytes()
    session = Session(JsonlSessionStorage.read(closed))
    assert context_texts(session) == ["hi", "hello"]
    session.close()
    assert closed.read_bytes() == before
    assert len(list(closed.parent.iterdir())) == 1


def test_an_append_that_fails_changes_neither_file_nor_memory(closed: Path):
    session = Session(JsonlSessionStorage.open(closed))
    before, leaf = closed.read_bytes(), session.leaf_id
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
    try:
        with pytest.raises(SessionError, match=r"cannot be written") as error:
            session.append_message(user_message("x" * 1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert error.value.code == "storage"
    assert (closed.read_bytes(), session.leaf_id) == (before, leaf)
    session.append_message(user_message("now"))
    assert context_texts(session) == ["hi", "hello", "now"]
    session.close()


def test_lone_surrogates_do_not_keep_a_message_out(path: Path):
    session = new_session(path)
    session.append_message(user_message("odd \ud83d name"))
    session.append_message(ToolResultMessage("a", "bash", [TextContent("\udcff")], details={"\udc80": "\udc80"}))
    session.close()
    again = Session(JsonlSessionStorage.open(path))
    assert context_texts(again) == ["odd \ufffd name", "\ufffd"]
    again.close()
    path.read_bytes().decode("utf-8")


def test_a_repo_finds_sessions_by_path_id_and_parts_of_it(tmp_path: Path):
    repo = JsonlSessionRepo(tmp_path / "sessions")
    here, there = tmp_path / "a-b", tmp_path / "a" / "b"
    for folder in (here, there):
        folder.mkdir(parents=True)
        session = repo.create(folder)
        session.append_message(user_message(f"work in\n{folder.name}"))
        session.close()
    assert repo.folder_of(here) != repo.folder_of(there)
    (info,) = repo.list(here)
    assert (info.first_message, info.cwd) == ("work in a-b", str(here))
    assert len(repo.list()) == 2
    assert repo.latest(here) == info.path
    assert repo.latest(tmp_path) is None
    for reference in (str(info.path), info.id, info.id[:20], info.id[-8:]):
        assert repo.find(reference, here) == info.path
    with pytest.raises(SessionError, match="no session nothing"):
        repo.find("nothing")
    with pytest.raises(SessionError) as error:
        repo.find("0")
    assert error.value.code == "ambiguous"


def test_a_list_shows_the_latest_name_and_is_ordered_by_the_last_message(tmp_path: Path):
    repo = JsonlSessionRepo(tmp_path)
    for number in range(2):
        session = repo.create(tmp_path)
        session.append_message(user_message(f"question {number}"))
        session.close()
    older = repo.open(repo.list(tmp_path)[1].path)
    older.append_session_info("first try")
    older.close()
    assert [info.name for info in repo.list(tmp_path)] == [None, "first try"]
    (repo.folder_of(tmp_path) / "notes.jsonl").write_text("not a session\n")
    assert len(repo.list(tmp_path)) == 2


def test_a_file_never_stands_under_its_name_without_its_header(path: Path, monkeypatch: pytest.MonkeyPatch):
    """What a kill leaves at any moment: no file, or one that opens."""
    seen: list[bytes | None] = []
    session = new_session(path)
    for name in ("open", "write"):
        original = getattr(os, name)

        def looking(*arguments: object, original=original) -> object:
            seen.append(path.read_bytes() if path.exists() else None)
            return original(*arguments)

        monkeypatch.setattr(f"agentcli.sessions.storage.jsonl_storage.os.{name}", looking)
    session.append_message(user_message("hi"))
    monkeypatch.undo()
    assert seen[0] is None
    assert all(content is None or content.startswith(b'{"type":"session"') for content in seen)
    session.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


LITTLE_MEMORY = """
import resource, sys
from pathlib import Path
from agentcli.agent.errors import SessionError
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
try:
    JsonlSessionStorage.read(Path(sys.argv[1]))
except SessionError as error:
    print(error.code, error.message)
"""


def test_too_little_memory_is_told_as_such(closed: Path):
    """And not as a session that is not there."""
    with closed.open("ab") as file:
        file.write(b'{"type":"message","id":"big","x":"')
        for _ in range(300):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n')
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY, str(closed), str(400 << 20)], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("storage there is not enough memory"), done.stderr


def test_on_a_full_disk_a_torn_line_stays_and_the_next_one_is_sound(closed: Path, monkeypatch: pytest.MonkeyPatch):
    closed.write_bytes(closed.read_bytes() + b'{"torn')

    def refuse(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agentcli.sessions.storage.jsonl_storage.os.write", refuse)
    session = Session(JsonlSessionStorage.open(closed))
    assert "No space left" in session.storage.notices[0]
    monkeypatch.undo()
    session.append_message(user_message("again"))
    session.close()
    again = Session(JsonlSessionStorage.open(closed))
    assert context_texts(again) == ["hi", "hello", "again"]
    again.close()
