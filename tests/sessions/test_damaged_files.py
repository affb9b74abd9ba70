"""Damaged files: every entry that can be read is there, once, and the conversation continues."""

import json
from pathlib import Path

import pytest

from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, text_of, user_message
from agentcli.sessions.doctor import examine, repair
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
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
def test_every_damaged_file_opens_and_its_tree_has_each_entry_once(tmp_path: Path, name: str):
    repo = JsonlSessionRepo(tmp_path / "sessions")
    file = tmp_path / f"{name}.jsonl"
    file.write_bytes((INPUTS / f"{name}.jsonl").read_bytes())
    before = file.read_bytes()
    session = repo.open(file)
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


def test_an_entry_whose_parent_is_gone_follows_what_was_written_before_it(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", ("a", None), ("b", "gone"), ("c", "b"), ("d", "gone too"))
    session = Session(JsonlSessionStorage.open(path))
    assert shape(session) == {"a": None, "b": "a", "c": "b", "d": "c"}
    assert session.get_entry("b").parent_id == "a"
    assert branch(session) == ["a", "b", "c", "d"]
    (notice,) = session.storage.notices
    assert notice.startswith("the parent of 2 entries of")
    session.close()


def test_an_orphan_follows_the_place_to_which_the_conversation_had_moved(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", ("a", None), ("b", "a"))
    moved = {"type": "leaf", "id": "l", "parent_id": "b", "timestamp": "2026-01-01T00:00:02.000Z", "target_id": "a"}
    path.write_bytes(path.read_bytes() + json.dumps(moved).encode() + b"\n" + own_entry("c", "gone", "c"))
    session = Session(JsonlSessionStorage.open(path))
    assert branch(session) == ["a", "c"]
    session.close()


def written(tmp_path: Path) -> tuple[Path, list[str], list[bytes]]:
    """A session of four messages as agentcli writes it: its file, the ids, and the lines."""
    session = JsonlSessionRepo(tmp_path / "sessions").create(tmp_path)
    ids = [session.append_message(user_message(text)) for text in "abcd"]
    session.close()
    path = session.storage.path
    return path, ids, path.read_bytes().splitlines(keepends=True)


FUSED = {
    "two entries": lambda lines: [lines[0], lines[1], lines[2].rstrip() + lines[3], lines[4]],
    "two with a blank between": lambda lines: [lines[0], lines[1], lines[2].rstrip() + b" \t" + lines[3], lines[4]],
    "three": lambda lines: [lines[0], lines[1].rstrip() + lines[2].rstrip() + lines[3], lines[4]],
    "the last two, and no newline": lambda lines: [*lines[:3], lines[3].rstrip() + lines[4].rstrip()],
    "all, with the header": lambda lines: [line.rstrip() for line in lines],
    "other key order": lambda lines: [*lines[:2], lines[2].rstrip() + reordered(lines[3]), lines[4]],
    "other key order first": lambda lines: [*lines[:2], reordered(lines[2]).rstrip() + lines[3], lines[4]],
    "a mark at the start": lambda lines: [b"\xef\xbb\xbf", *lines],
    "a mark, and the header fused": lambda lines: [b"\xef\xbb\xbf" + lines[0].rstrip(), *lines[1:]],
    "zeros before one": lambda lines: [*lines[:2], b"\0" * 300 + lines[2], *lines[3:]],
    "torn before a whole one": lambda lines: [*lines[:3], lines[3][:-60] + lines[3], lines[4]],
    "torn within a text": lambda lines: [
        *lines[:2],
        lines[2][: lines[2].index(b'"text":"') + 8] + lines[2],
        *lines[3:],
    ],
}


def reordered(line: bytes) -> bytes:
    return json.dumps(dict(sorted(json.loads(line).items(), reverse=True))).encode() + b"\n"


@pytest.mark.parametrize("how", FUSED)
def test_entries_that_ran_into_each_other_are_each_there(tmp_path: Path, how: str):
    path, ids, lines = written(tmp_path)
    path.write_bytes(b"".join(FUSED[how](lines)))
    session = JsonlSessionRepo(tmp_path / "sessions").open(path)
    assert branch(session) == ids
    assert [text_of(message.content) for message in session.build_context().messages] == list("abcd")
    ids.append(session.append_message(user_message("e")))
    session.close()
    (info,) = JsonlSessionRepo(tmp_path / "sessions").list(tmp_path)
    assert (info.first_message, info.cwd) == ("a", str(tmp_path))
    copy = repair(path)
    assert not any(finding.is_wrong for finding in examine(copy))
    assert list(shape(JsonlSessionRepo(tmp_path).read(copy))) == ids
    imported = JsonlSessionRepo(tmp_path / "elsewhere").import_file(path)
    assert list(shape(JsonlSessionRepo(tmp_path).read(imported))) == ids


def test_what_was_lost_between_two_entries_is_counted_and_what_follows_hangs_where_it_was_written(tmp_path: Path):
    path, ids, lines = written(tmp_path)
    path.write_bytes(b"".join([*lines[:2], lines[2][:-60] + lines[3], lines[4]]))
    repo = JsonlSessionRepo(tmp_path / "sessions")
    session = repo.open(path)
    assert branch(session) == [ids[0], *ids[2:]]
    assert [notice.partition(" of ")[0] for notice in session.storage.notices] == ["1 line", "the parent"]
    session.close()
    assert sorted(finding.kind for finding in examine(path)) == ["fused", "orphaned", "unreadable"]
    repo.import_file(path)
    assert [notice.partition(" of ")[0] for notice in repo.notices] == ["1 line"]


def test_a_torn_end_behind_a_whole_entry_is_set_aside_alone(tmp_path: Path):
    path, ids, lines = written(tmp_path)
    path.write_bytes(b"".join([*lines[:4], lines[4].rstrip() + lines[3][:-60]]))
    session = JsonlSessionStorage.open(path)
    assert [head.id for head in session.heads()] == ids
    Session(session).append_message(user_message("e"))
    session.close()
    assert path.with_name(path.name + ".torn").read_bytes() == lines[3][:-60] + b"\n"
    assert len(path.read_bytes().splitlines()) == 6
    assert examine(path)[0].kind == "set_aside"


def test_a_name_that_ran_into_an_entry_does_not_stop_the_list(tmp_path: Path):
    path, _, lines = written(tmp_path)
    name = b'{"type":"session_info","id":"n","parent_id":null,"timestamp":"2026-01-01T00:00:00.000Z","name":"mine"}'
    path.write_bytes(b"".join([*lines[:4], name + lines[4]]))
    (info,) = JsonlSessionRepo(tmp_path / "sessions").list(tmp_path)
    assert info.name == "mine"
    path.write_bytes(b"".join([*lines[:4], name[:-9] + lines[4]]))
    assert len(JsonlSessionRepo(tmp_path / "sessions").list(tmp_path)) == 1


def test_a_line_full_of_beginnings_is_given_up_soon(tmp_path: Path):
    path = write(tmp_path / "s.jsonl", ("a", None))
    path.write_bytes(path.read_bytes() + b'{"type":[' * 20_000 + b"\n" + own_entry("b", "a", "b"))
    session = JsonlSessionStorage.open(path)
    assert [head.id for head in session.heads()] == ["a", "b"]
    session.close()


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([("a", "b"), ("b", "a"), ("c", "b")], {"a": None, "b": "a", "c": "b"}),
        ([("a", "a"), ("b", "a")], {"a": None, "b": "a"}),
        ([("a", "c"), ("b", "a"), ("c", "b"), ("d", "b")], {"a": None, "b": "a", "c": "b", "d": "b"}),
        ([("b", "a"), ("a", None)], {"b": "a", "a": None}),
    ],
    ids=["two", "itself", "three", "no cycle, only out of order"],
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
    assert kinds == ["duplicate", "fused", "orphaned", "orphaned", "torn", "unreadable", "unreadable"]
    copy = repair(path)
    assert path.read_bytes() == before
    assert [finding.kind for finding in examine(copy) if finding.is_wrong] == []
    session = Session(JsonlSessionStorage.open(copy))
    assert set(shape(session)) == {"a", "b", "b~2", "x", "y", "f"}
    session.close()


def test_a_call_without_a_result_is_only_worth_knowing(tmp_path: Path):
    repo = JsonlSessionRepo(tmp_path)
    session = repo.create(tmp_path)
    session.append_message(user_message("go"))
    session.append_message(AssistantMessage([ToolCall("1", "bash"), ToolCall("2", "bash")]))
    session.append_message(ToolResultMessage("1", "bash", [TextContent("x")]))
    session.close()
    (finding,) = examine(session.storage.path)
    assert (finding.kind, finding.is_wrong) == ("unanswered", False)


def test_calls_that_share_an_id_are_paired_in_order_named_by_the_doctor_and_told_apart_in_a_copy(tmp_path: Path):
    repo = JsonlSessionRepo(tmp_path)
    session = repo.create(tmp_path)
    start = session.append_message(user_message("go"))
    for text in "ab":
        session.append_message(AssistantMessage([ToolCall("c", "t"), ToolCall("c", "t"), ToolCall(text, "t")]))
        for id in ("c", "c", text):
            session.append_message(ToolResultMessage(id, "t", [TextContent(f"{text} {id}")]))
    session.move_to(start)
    session.append_message(AssistantMessage([ToolCall("c", "t")]))  # on a branch of its own
    session.append_message(ToolResultMessage("c", "t", [TextContent("other")]))
    session.close()
    path = session.storage.path
    assert [finding.kind for finding in examine(path)] == ["same_call"] * 3
    copy = repair(path)
    assert examine(copy) == []
    for file in (path, copy):
        opened = repo.read(file)
        heads = opened.storage.heads()
        for leaf in (heads[8].id, heads[-1].id):
            opened.storage._leaf_id = leaf
            messages = opened.build_context().messages
            calls = [
                call.id for message in messages if isinstance(message, AssistantMessage) for call in message.tool_calls
            ]
            answers = [message for message in messages if isinstance(message, ToolResultMessage)]
            assert len(set(calls)) == len(calls) and [answer.tool_call_id for answer in answers] == calls
            texts = [text_of(answer.content) for answer in answers]
            assert texts in (["a c", "a c", "a a", "b c", "b c", "b b"], ["other"])
        opened.close()
