"""Repos: both keep, find, fork and delete sessions in the same way; the directory of files has rules of its own."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AssistantMessage, TextContent, user_message
from agentcli.sessions import listing
from agentcli.sessions.repo import InMemorySessionRepo, JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from tests.growth.cost import Work, assert_doubles
from tests.sessions.context_texts import context_texts


@pytest.fixture(params=["memory", "jsonl"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return InMemorySessionRepo() if request.param == "memory" else JsonlSessionRepo(tmp_path / "sessions")


@pytest.fixture
def files(tmp_path: Path) -> JsonlSessionRepo:
    return JsonlSessionRepo(tmp_path / "sessions")


def name_of(session: Session) -> Any:
    """What the session's repo calls it by."""
    return session.storage.path if isinstance(session.storage, JsonlSessionStorage) else session.id


def talk(repo: Any, cwd: Path, *texts: str) -> tuple[Session, list[str]]:
    session = repo.create(cwd)
    ids = [
        session.append_message(user_message(text) if number % 2 == 0 else AssistantMessage([TextContent(text)]))
        for number, text in enumerate(texts)
    ]
    return session, ids


def test_a_session_is_created_listed_opened_and_deleted(repo: Any, tmp_path: Path):
    session, _ = talk(repo, tmp_path, "hi", "hello")
    session.close()
    assert [info.id for info in repo.list(tmp_path)] == [session.id]
    assert repo.list(tmp_path / "other") == []
    opened = repo.open(name_of(session))
    assert context_texts(opened) == ["hi", "hello"]
    opened.close()
    repo.delete(name_of(session))
    assert repo.list() == []
    with pytest.raises(SessionError) as error:
        repo.open(name_of(session))
    assert error.value.code == "not_found"


def test_a_fork_at_an_entry_holds_the_path_up_to_it(repo: Any, tmp_path: Path):
    session, ids = talk(repo, tmp_path, "a", "b", "c")
    fork = repo.fork(name_of(session), entry_id=ids[1], position="at")
    assert context_texts(fork) == ["a", "b"]
    assert fork.id != session.id
    assert fork.header.parent_session == str(name_of(session))
    fork.append_message(user_message("other"))
    assert context_texts(session) == ["a", "b", "c"]
    fork.close()
    session.close()


def test_a_fork_before_a_user_message_ends_at_its_parent(repo: Any, tmp_path: Path):
    session, ids = talk(repo, tmp_path, "a", "b", "c")
    fork = repo.fork(name_of(session), entry_id=ids[2])
    assert context_texts(fork) == ["a", "b"]
    fork.close()
    empty = repo.fork(name_of(session), entry_id=ids[0], position="before")
    assert context_texts(empty) == []
    empty.append_message(user_message("anew"))
    assert context_texts(empty) == ["anew"]
    empty.close()
    session.close()


@pytest.mark.parametrize("kind", ["assistant", "label", "gone", "sideways"])
def test_a_fork_that_cannot_be_is_refused(repo: Any, tmp_path: Path, kind: str):
    session, ids = talk(repo, tmp_path, "a", "b")
    label = session.append_label(ids[0], "x")
    target = {"assistant": ids[1], "label": label, "gone": "nowhere", "sideways": ids[0]}[kind]
    position = "beside" if kind == "sideways" else "before"
    with pytest.raises(SessionError) as error:
        repo.fork(name_of(session), entry_id=target, position=position)
    assert error.value.code == ("not_found" if kind == "gone" else "invalid_fork_target")
    assert len(repo.list()) == 1
    session.close()


def test_a_fork_of_everything_has_every_branch_and_the_leaf(repo: Any, tmp_path: Path):
    session, ids = talk(repo, tmp_path, "a", "b")
    session.move_to(ids[0])
    session.append_message(AssistantMessage([TextContent("c")]))
    session.append_label(ids[1], "left")
    session.append_session_info("named")
    fork = repo.fork(name_of(session))
    assert [head.id for head in fork.storage.heads()] == [head.id for head in session.storage.heads()]
    assert (fork.leaf_id, fork.labels, fork.name) == (session.leaf_id, session.labels, "named")
    fork.close()
    session.close()


def test_a_fork_keeps_the_compaction_its_labels_and_the_chain_of_parents(repo: Any, tmp_path: Path):
    session, ids = talk(repo, tmp_path, "a", "b", "c", "d")
    session.append_label(ids[0], "start")
    session.append_label(ids[3], "end")
    session.append_compaction("a to b", ids[2], 10)
    last = session.append_message(user_message("e"))
    session.append_session_info("named")
    fork = repo.fork(name_of(session), entry_id=last, position="at")
    assert fork.build_context().messages == session.build_context().messages
    assert fork.build_context().messages[0].summary == "a to b"
    assert (fork.labels, fork.name) == ({ids[0]: "start", ids[3]: "end"}, "named")
    branch = fork.get_branch()
    assert [entry.parent_id for entry in branch] == [None, *[entry.id for entry in branch[:-1]]]
    assert branch[0].id == ids[0], "the history before the compaction is there to read"
    part = repo.fork(name_of(session), entry_id=ids[1], position="at")
    assert part.labels == {ids[0]: "start"}
    for one in (fork, part, session):
        one.close()


def test_forking_never_writes_to_the_parent_and_writes_one_header(files: JsonlSessionRepo, tmp_path: Path):
    session, ids = talk(files, tmp_path, "a", "b", "c")
    before = session.storage.path.read_bytes()
    fork = files.fork(session.storage.path, entry_id=ids[1], position="at")
    fork.append_message(user_message("more"))
    fork.close()
    assert session.storage.path.read_bytes() == before
    lines = fork.storage.path.read_bytes().splitlines()
    assert sum(b'"type":"session",' in line for line in lines) == 1
    assert lines[1:3] == before.splitlines()[1:3], "lines are taken over byte for byte"
    session.close()


def test_a_fork_takes_over_what_this_version_does_not_know(files: JsonlSessionRepo, tmp_path: Path):
    session, ids = talk(files, tmp_path, "a", "b")
    path = session.storage.path
    session.close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1].replace(b'"message":{', b'"colour":"blue","message":{"shape":1,') + lines[2])
    fork = files.fork(path, entry_id=ids[1], position="at")
    fork.close()
    assert b'"colour":"blue","message":{"shape":1,' in fork.storage.path.read_bytes()


def test_a_fork_appears_complete_or_not_at_all(
    files: JsonlSessionRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    session, ids = talk(files, tmp_path, "a", "b")

    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agentcli.sessions.copying.os.fsync", refuse)
    with pytest.raises(SessionError, match="No space left"):
        files.fork(session.storage.path, entry_id=ids[1], position="at")
    assert list(files.files()) == [session.storage.path]
    assert not list(files.folder.rglob("*.partial"))
    session.close()


def test_an_open_session_can_be_forked_and_read_but_not_deleted(files: JsonlSessionRepo, tmp_path: Path):
    session, _ = talk(files, tmp_path, "a")
    with pytest.raises(SessionError) as error:
        files.delete(session.storage.path)
    assert error.value.code == "locked"
    assert session.storage.path.exists()
    files.fork(session.storage.path).close()
    files.read(session.storage.path).close()
    session.close()


def test_what_is_no_session_is_not_deleted(files: JsonlSessionRepo, tmp_path: Path):
    notes = tmp_path / "notes.jsonl"
    notes.write_text("mine\n")
    with pytest.raises(SessionError):
        files.delete(notes)
    assert notes.read_text() == "mine\n"


def test_deleting_uses_the_trash_and_without_one_the_file_goes(
    files: JsonlSessionRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    trashed: list[str] = []

    def fake_trash(path: Path) -> None:
        trashed.append(path.name)
        path.unlink()

    def no_trash(path: Path) -> None:
        raise OSError("there is no trash here")

    for trash, expected in ((fake_trash, True), (no_trash, False)):
        session, _ = talk(files, tmp_path, "a")
        session.close()
        monkeypatch.setattr("send2trash.send2trash", trash)
        assert files.delete(session.storage.path) is expected
        assert not session.storage.path.exists()
    assert len(trashed) == 1
    assert [file for file in files.folder.rglob("*") if file.is_file()] == []


def test_folders_of_one_name_have_places_of_their_own_and_links_to_one_folder_share(
    files: JsonlSessionRepo, tmp_path: Path
):
    one, other = tmp_path / "a" / "b", tmp_path / "a-b"
    for folder in (one, other):
        folder.mkdir(parents=True)
    assert files.folder_of(one) != files.folder_of(other)
    link = tmp_path / "link"
    link.symlink_to(one)
    assert files.folder_of(link) == files.folder_of(one)


def test_a_folder_that_two_names_lead_to_is_listed_once(files: JsonlSessionRepo, tmp_path: Path):
    session, _ = talk(files, tmp_path, "a")
    session.close()
    (files.folder / "also").symlink_to(session.storage.path.parent)
    assert len(files.list()) == 1


def test_a_session_is_of_the_folder_that_its_header_names(files: JsonlSessionRepo, tmp_path: Path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (tmp_path / "link").symlink_to(there)
    session, _ = talk(files, there, "hi")
    session.close()
    files.folder_of(here).mkdir()
    moved = session.storage.path.rename(files.folder_of(here) / session.storage.path.name)  # type: ignore[attr-defined]
    assert files.latest(here) is None and files.latest(there) == moved == files.latest(tmp_path / "link")
    assert [info.path for info in files.list(there)] == [info.path for info in files.list()] == [moved]
    there.rename(tmp_path / "renamed")
    assert files.latest(here) == moved  # its own folder is gone, so the one it lies with counts


def test_naming_a_session_does_not_make_it_the_last_used(files: JsonlSessionRepo, tmp_path: Path):
    sessions = [talk(files, tmp_path, f"q{number}", "x" * 60_000)[0] for number in range(2)]
    for session in sessions:
        session.close()
    time.sleep(0.01)
    older = files.open(sessions[0].storage.path)
    older.append_session_info("renamed")
    older.close()
    os.utime(older.storage.path)
    assert [info.name for info in files.list(tmp_path)] == [None, "renamed"]


def test_a_name_is_listed_however_much_was_said_since(files: JsonlSessionRepo, tmp_path: Path):
    session, _ = talk(files, tmp_path, "q")
    session.append_session_info("early name")
    session.append_message(AssistantMessage([TextContent("x" * 200_000)]))
    for _ in range(30):
        session.append_message(AssistantMessage([TextContent("word " * 2000)]))
    session.close()
    (info,) = files.list(tmp_path)
    assert (info.name, info.first_message) == ("early name", "q")
    again = files.open(info.path)
    again.append_session_info("")
    again.close()
    assert files.list(tmp_path)[0].name is None


def test_the_first_message_is_shown_even_if_it_is_huge_and_as_one_clean_line(files: JsonlSessionRepo, tmp_path: Path):
    session, _ = talk(files, tmp_path, "\x1b[31mred\n\x07 \u202e and " + "x" * 100_000)
    session.close()
    (info,) = files.list(tmp_path)
    assert info.first_message.startswith("[31mred ⟨U+202E⟩ and xxx")
    assert not set(info.first_message) & {"\x1b", "\n", "\x07", "\u202e"}


def test_names_cannot_hold_control_characters_on_a_screen(files: JsonlSessionRepo, tmp_path: Path):
    from agentcli.headless.session_lines import list_row

    session, _ = talk(files, tmp_path, "q")
    session.append_session_info("a\x1b]0;owned\x07b")
    session.close()
    row = list_row(files.list(tmp_path)[0], with_folder=True)
    assert "\x1b" not in row and "\x07" not in row


def test_a_list_reads_the_ends_of_files_only(files: JsonlSessionRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    session, _ = talk(files, tmp_path, "q", *["x" * 100_000] * 20)
    session.close()
    read: list[int] = []
    original: Callable[..., Any] = listing.open_file

    def counting(path: Path) -> Any:
        file = original(path)
        inner = file.read

        class Counted:
            def __enter__(self) -> Any:
                file.__enter__()
                return self

            def __exit__(self, *error: object) -> None:
                file.__exit__(*error)

            def read(self, *size: int) -> bytes:
                data = inner(*size)
                read.append(len(data))
                return data

            def __getattr__(self, name: str) -> Any:
                return getattr(file, name)

        return Counted()

    monkeypatch.setattr(listing, "open_file", counting)
    assert len(files.list(tmp_path)) == 1
    assert 0 < sum(read) < 400_000 < session.storage.path.stat().st_size


@pytest.mark.parametrize("part", [slice(0, 20), slice(-8, None), slice(None)])
def test_any_part_of_an_id_that_only_one_has_will_do(files: JsonlSessionRepo, tmp_path: Path, part: slice):
    session, ids = talk(files, tmp_path, "a", "b")
    talk(files, tmp_path, "c")[0].close()
    assert files.find(session.id[part], tmp_path) == session.storage.path
    assert session.storage.find_id(ids[1][-12:]) == ids[1]
    with pytest.raises(SessionError) as error:
        session.storage.find_id("0")
    assert error.value.code == "ambiguous"
    session.close()


def test_a_lookup_by_id_opens_no_file(files: JsonlSessionRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    session, _ = talk(files, tmp_path, "a")
    session.close()

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("the name of the file says enough")

    monkeypatch.setattr(Path, "open", refuse)
    assert files.find(session.id) == session.storage.path


async def test_a_session_without_a_branch_costs_twice_as_much_when_it_is_twice_as_deep(
    files: JsonlSessionRepo, tmp_path: Path
):
    def prepare(depth: int) -> Work:
        session, _ = talk(files, tmp_path, *["text"] * depth)
        session.close()

        def look() -> None:
            again = files.open(session.storage.path)
            assert len(again.build_context().messages) == len(again.get_branch()) == depth
            again.close()

        return look

    await assert_doubles(prepare, 1_000)
