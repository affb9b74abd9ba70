"""What both storages do alike: the calls of a storage by name, and what they refuse."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AssistantMessage, TextContent, text_of, user_message
from agentcli.sessions.entries import LabelEntry, MessageEntry, SessionHeader
from agentcli.sessions.ids import now_iso
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage
from agentcli.sessions.storage.storage import SessionStorage

HEADER = SessionHeader(id="s", timestamp="2026-01-01T00:00:00.000Z", cwd="/w", metadata={"team": "blue"})


@pytest.fixture(params=["memory", "jsonl"])
def storage(request: pytest.FixtureRequest, tmp_path: Path):
    storage = (
        InMemorySessionStorage(HEADER)
        if request.param == "memory"
        else JsonlSessionStorage.create(tmp_path / "s.jsonl", HEADER)
    )
    yield storage
    storage.close()


def entry(storage: SessionStorage, text: str) -> MessageEntry:
    return MessageEntry(
        id=storage.create_entry_id(), parent_id=storage.get_leaf_id(), timestamp=now_iso(), message=user_message(text)
    )


def test_the_leaf_follows_what_is_appended_and_can_be_set(storage: SessionStorage):
    assert storage.get_leaf_id() is None
    first, second = entry(storage, "a"), None
    storage.append_entry(first)
    second = entry(storage, "b")
    storage.append_entry(second)
    assert storage.get_leaf_id() == second.id
    storage.set_leaf_id(first.id)
    assert storage.get_leaf_id() == first.id
    storage.set_leaf_id(None)
    assert storage.get_leaf_id() is None
    assert [head.type for head in storage.heads()] == ["message", "message", "leaf", "leaf"]


def test_entries_are_found_by_id_and_by_type(storage: SessionStorage):
    first = entry(storage, "a")
    storage.append_entry(first)
    label = LabelEntry(id="l", parent_id=first.id, timestamp=now_iso(), target_id=first.id, label="here")
    storage.append_entry(label)
    assert storage.get_entry(first.id) == first
    assert storage.get_entry("none") is None
    assert storage.find_entries("label") == [label]
    assert storage.find_entries("hologram") == []
    assert storage.get_entries() == [first, label]
    assert storage.get_label(first.id) == "here"
    assert storage.get_session_name() is None
    assert storage.get_metadata() == HEADER


def test_an_id_can_be_appended_once(storage: SessionStorage):
    first = entry(storage, "a")
    storage.append_entry(first)
    with pytest.raises(SessionError) as error:
        storage.append_entry(replace(first, message=user_message("b")))
    assert error.value.code == "duplicate_id"
    assert storage.get_entry(first.id) == first


def test_the_path_to_the_root_or_the_compaction(storage: SessionStorage):
    session = Session(storage)
    ids = [session.append_message(user_message(text)) for text in "abcd"]
    assert [entry.id for entry in storage.get_path_to_root_or_compaction(ids[2])] == ids[:3]
    compaction = session.append_compaction("sum", ids[2], 10)
    last = session.append_message(user_message("e"))
    path = [entry.id for entry in storage.get_path_to_root_or_compaction(session.leaf_id)]
    assert path == [ids[2], ids[3], compaction, last]
    session.append_compaction("sum", None, 10, retained_tail=[user_message("t")])
    assert len(storage.get_path_to_root_or_compaction(session.leaf_id)) == 1
    assert storage.get_path_to_root_or_compaction(None) == []


def test_what_was_chosen_before_a_compaction_still_holds(storage: SessionStorage):
    session = Session(storage)
    session.append_message(user_message("a"))
    session.append_model_change("p", "old")
    session.append_thinking_level_change("high")
    session.append_active_tools_change(["read"])
    session.append_message(AssistantMessage([TextContent("b")], provider="p", model="new"))
    kept = session.append_message(user_message("c"))
    session.append_compaction("sum", kept, 10)
    context = session.build_context()
    assert (context.thinking_level, context.active_tool_names) == ("high", ["read"])
    assert (context.model.provider, context.model.model_id) == ("p", "new")
    assert context.kept == 2
    session.append_message(user_message("d"))
    assert session.build_context().kept == 2
    assert [text_of(message.content) for message in session.build_context().messages[1:]] == ["c", "d"]


def test_a_long_session_costs_no_more_to_append_to(storage: SessionStorage, monkeypatch: pytest.MonkeyPatch):
    session = Session(storage)
    for number in range(200):
        session.append_message(user_message(f"{number}"))

    def refuse(*arguments: object) -> None:
        raise AssertionError("an append reads or walks nothing")

    for name in ("get_path", "get_entries", "heads", "get_some", "get_entry"):
        monkeypatch.setattr(type(storage), name, refuse)
    session.append_message(user_message("one more"))


def test_opening_decodes_only_the_active_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    session = Session(JsonlSessionStorage.create(tmp_path / "s.jsonl", HEADER))
    root = session.append_message(user_message("root"))
    for _ in range(50):
        session.append_message(user_message("left"))
    session.move_to(root)
    session.append_message(user_message("here"))
    session.close()
    decoded: list[bytes] = []
    from agentcli.sessions.storage import jsonl_storage

    original = jsonl_storage.decode_entry
    monkeypatch.setattr(jsonl_storage, "decode_entry", lambda line, head: decoded.append(line) or original(line, head))
    again = Session(JsonlSessionStorage.open(tmp_path / "s.jsonl"))
    assert decoded == [], "the leaf is the last entry: nothing has to be decoded to know it"
    assert [text_of(message.content) for message in again.build_context().messages] == ["root", "here"]
    assert len(decoded) == 2
    again.close()
