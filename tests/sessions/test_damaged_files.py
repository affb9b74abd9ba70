"""Files that something happened to: every entry that can be read is there, once, and the conversation goes on."""

import json
import time
from pathlib import Path

import pytest

from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, text_of, user_message
from agentcli.sessions.doctor import examine, repair
from agentcli.sessions.jsonl_storage import JsonlSessionStorage
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.tree import tree_lines

INPUTS = Path(__file__).with_name("inputs")
NAMES = sorted(file.stem for file in INPUTS.glob("*.jsonl"))


def own_entry(id: str, parent_id: str | None, text: str) -> bytes:
    """A message entry as another writer might lay it out."""
    message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}
    record = {
        "timestamp": "2026-01-01T00:00:01.000Z",
        "message": message,
        "parent_id": parent_id,
        "id": id,
        "type": "message",
    }
    return json.dumps(record).encode() + b"\n"


HEADER = b'{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}\n'


def write(path: Path, *entries: tuple[str, str | None]) -> Path:
    path.write_bytes(HEADER + b"".join(own_entry(id, parent_id, id) for id, parent_id in entries))
    return path


def shape(session: Session) -> dict[str, str | None]:
    return {head.id: head.parent_id for head in session.storage.heads()}


def branch(session: Session, leaf: str | None = None) -> list[str]:
    return [entry.id for entry in session.get_branch(leaf)]


@pytest.mark.parametrize("name", NAMES)
def test_every_damaged_file_opens_at_once_and_its_tree_has_each_entry_once(tmp_path: Path, name: str):
    repo = JsonlSessionRepo(tmp_path / "sessions")
    file = tmp_path / f"{name}.jsonl"
    file.write_bytes((INPUTS / f"{name}.jsonl").read_bytes())
    before = file.read_bytes()
    started = time.perf_counter()
    session = repo.open(file)
    assert time.perf_counter() - started < 1
    ids = [line.head.id for line in tree_lines(session.storage, everything=True)]
    assert sorted(ids) == sorted(head.id for head in session.storage.heads())
    readable = [line for line in before.splitlines() if line.endswith(b"}")]
    assert len(ids) == len(readable) - 1
    for id in ids:
        session.move_to(id)
        session.append_message(user_message("and now?"))
        assert text_of(session.build_context().messages[-1].content) == "and now?"
    session.close()
    assert file.read_bytes() == before


def test_an_id_that_comes_twice_loses_no_entry(tmp_path: Path):
    session = Session(
        JsonlSessionStorage.open(write(tmp_path / "s.jsonl", ("a", None), ("b", "a"), ("b", "a"), ("c", "b")))
    )
    assert shape(session) == {"a": None, "b": "a", "b~2": "a", "c": "b~2"}
    assert branch(session) == ["a", "b~2", "c"]
    assert branch(session, "b") == ["a", "b"]
    assert session.get_entry("b~2").id == "b~2"
    session.close()


def test_an_unknown_parent_makes_a_root(tmp_path: Path):
    session = Session(JsonlSessionStorage.open(write(tmp_path / "s.jsonl", ("a", None), ("b", "gone"), ("c", "b"))))
    assert shape(session) == {"a": None, "b": None, "c": "b"}
    assert session.get_entry("b").parent_id is None
    session.close()


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([("a", "b"), ("b", "a"), ("c", "b")], {"a": None, "b": "a", "c": "b"}),
        ([("a", "a"), ("b", "a")], {"a": None, "b": "a"}),
        ([("a", "c"), ("b", "a"), ("c", "b"), ("d", "b")], {"a": None, "b": "a", "c": "b", "d": "b"}),
        ([("b", "a"), ("a", None)], {"b": "a", "a": None}),
    ],
    ids=["two", "itself", "three", "no circle, only out of order"],
)
def test_a_circle_is_cut_once_and_what_is_only_out_of_order_is_not(tmp_path: Path, entries, expected):
    session = Session(JsonlSessionStorage.open(write(tmp_path / "s.jsonl", *entries)))
    assert shape(session) == expected
    session.close()


def test_a_line_that_broke_after_its_head_keeps_its_place_in_the_tree(tmp_path: Path):
    repo = JsonlSessionRepo(tmp_path)
    session = repo.create(tmp_path)
    ids = [session.append_message(user_message(text)) for text in "abc"]
    path = session.storage.path
    session.close()
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"content":[{', b'"content":[{{{')
    path.write_bytes(b"".join(lines))
    again = repo.open(path)
    assert branch(again) == ids
    assert [text_of(message.content) for message in again.build_context().messages] == ["a", "c"]
    again.close()
    assert [finding.kind for finding in examine(path)] == ["damaged"]


def test_a_leaf_that_points_nowhere_is_not_followed(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", ("a", None), ("b", "a"))
    leaf = {"type": "leaf", "id": "l", "parent_id": "b", "timestamp": "2026-01-01T00:00:02.000Z", "target_id": "gone"}
    path.write_bytes(path.read_bytes() + json.dumps(leaf).encode() + b"\n")
    session = Session(JsonlSessionStorage.open(path))
    assert session.leaf_id == "b"
    session.close()


def test_windows_line_ends_and_blank_lines_are_read(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", ("a", None), ("b", "a"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    session = Session(JsonlSessionStorage.open(path))
    assert branch(session) == ["a", "b"]
    assert session.storage.notices == []
    session.close()


def test_one_huge_line_is_read_and_small_ones_around_it(tmp_path: Path):
    repo = JsonlSessionRepo(tmp_path)
    session = repo.create(tmp_path)
    session.append_message(user_message("before"))
    session.append_message(user_message("x" * 5_000_000))
    session.append_message(user_message("after"))
    session.close()
    again = repo.open(session.storage.path)
    assert [len(text_of(message.content)) for message in again.build_context().messages] == [6, 5_000_000, 5]
    again.close()
    assert repo.list(tmp_path)[0].first_message == "before"


def test_the_doctor_names_what_is_wrong_and_repairs_a_copy(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", ("a", None), ("b", "gone"), ("b", "a"), ("x", "y"), ("y", "x"))
    fused = b'{"type":"message","id":"t","mess' + own_entry("f", "b", "rescued").replace(
        b'{"timestamp"', b'{"timestamp"'
    )
    path.write_bytes(path.read_bytes() + b"garbage\n" + fused + b'{"type":"message","id":"torn')
    before = path.read_bytes()
    kinds = sorted(finding.kind for finding in examine(path) if finding.is_wrong)
    assert kinds == ["duplicate", "orphaned", "orphaned", "torn", "unreadable", "unreadable"]
    copy = repair(path)
    assert path.read_bytes() == before
    assert [finding.kind for finding in examine(copy) if finding.is_wrong] == []
    session = Session(JsonlSessionStorage.open(copy))
    assert set(shape(session)) == {"a", "b", "b~2", "x", "y"}
    session.close()


def test_the_doctor_rescues_an_entry_that_another_write_ran_into(tmp_path: Path):
    repo = JsonlSessionRepo(tmp_path)
    session = repo.create(tmp_path)
    session.append_message(user_message("a"))
    last = session.append_message(user_message("b"))
    path = session.storage.path
    session.close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"type":"message","id":"half', lines[2]]))
    assert repo.read(path).storage.get_head(last) is None
    copy = repair(path)
    assert JsonlSessionStorage.read(copy).get_head(last) is not None


def test_a_call_without_a_result_is_only_worth_knowing(tmp_path: Path):
    repo = JsonlSessionRepo(tmp_path)
    session = repo.create(tmp_path)
    session.append_message(user_message("go"))
    session.append_message(AssistantMessage([ToolCall("1", "bash"), ToolCall("2", "bash")]))
    session.append_message(ToolResultMessage("1", "bash", [TextContent("x")]))
    session.close()
    (finding,) = examine(session.storage.path)
    assert (finding.kind, finding.is_wrong) == ("unanswered", False)
