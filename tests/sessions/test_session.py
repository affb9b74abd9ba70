"""A session is a tree; both storages keep it in the same way."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AssistantMessage, TextContent, text_of, user_message
from agentcli.sessions.context import SessionContextBuildOptions
from agentcli.sessions.entries import BranchSummaryEntry, MessageEntry, SessionHeader
from agentcli.sessions.ids import new_id, now_iso, to_milliseconds
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage
from tests.sessions.context_texts import context_texts

Make = Callable[[], Session]


def header() -> SessionHeader:
    return SessionHeader(id=new_id(), timestamp=now_iso(), cwd="/somewhere")


@pytest.fixture(params=["memory", "jsonl"])
def make(request: pytest.FixtureRequest, tmp_path: Path):
    made: list[Session] = []

    def make_session() -> Session:
        if request.param == "memory":
            storage = InMemorySessionStorage(header())
        else:
            storage = JsonlSessionStorage.create(tmp_path / f"{len(made)}.jsonl", header())
        made.append(Session(storage))
        return made[-1]

    yield make_session
    for session in made:
        session.close()


def answer(text: str) -> AssistantMessage:
    return AssistantMessage([TextContent(text)], provider="p", model="m")


def test_messages_follow_each_other(make: Make):
    session = make()
    first = session.append_message(user_message("hi"))
    second = session.append_message(answer("hello"))
    assert [(entry.id, entry.parent_id) for entry in session.get_branch()] == [(first, None), (second, first)]
    assert context_texts(session) == ["hi", "hello"]
    assert session.leaf_id == second


def test_going_back_makes_a_branch_and_keeps_both(make: Make):
    session = make()
    first = session.append_message(user_message("hi"))
    left = session.append_message(answer("one way"))
    session.move_to(first)
    session.append_message(answer("another way"))
    assert context_texts(session) == ["hi", "another way"]
    session.move_to(left)
    assert context_texts(session) == ["hi", "one way"]


def test_a_branch_summary_names_the_branch_point_and_the_leaf_that_was_left(make: Make):
    session = make()
    first = session.append_message(user_message("hi"))
    left = session.append_message(answer("one way"))
    id = session.move_to(first, summary="it went nowhere")
    entry = session.storage.get_entry(id or "")
    assert isinstance(entry, BranchSummaryEntry)
    assert (entry.from_id, entry.abandoned_leaf_id, entry.parent_id) == (first, left, first)
    assert session.build_context().messages[-1].summary == "it went nowhere"


def test_moving_before_the_first_entry_starts_over(make: Make):
    session = make()
    session.append_message(user_message("hi"))
    session.move_to(None)
    assert context_texts(session) == []
    session.append_message(user_message("again"))
    assert context_texts(session) == ["again"]


def test_labels_and_names_do_not_move_the_leaf(make: Make):
    session = make()
    first = session.append_message(user_message("hi"))
    session.append_label(first, "start")
    session.append_session_info("a  good\nname")
    assert session.leaf_id == first
    assert (session.labels, session.name) == ({first: "start"}, "a good name")
    session.append_label(first, None)
    session.append_session_info("")
    assert (session.labels, session.name) == ({}, None)


def test_a_place_that_is_not_there_cannot_be_gone_to(make: Make):
    session = make()
    session.append_message(user_message("hi"))
    for act in (lambda: session.move_to("nowhere"), lambda: session.append_label("nowhere", "x")):
        with pytest.raises(SessionError) as error:
            act()
        assert error.value.code == "not_found"
    assert context_texts(session) == ["hi"]


def test_the_context_knows_model_thinking_and_tools(make: Make):
    session = make()
    session.append_message(user_message("hi"))
    session.append_model_change("openai", "gpt")
    session.append_thinking_level_change("high")
    session.append_active_tools_change(["read"])
    context = session.build_context()
    assert (context.model.provider, context.model.model_id) == ("openai", "gpt")
    assert (context.thinking_level, context.active_tool_names) == ("high", ["read"])
    session.append_message(answer("hello"))
    assert session.build_context().model.provider == "p"


def test_the_latest_compaction_stands_for_what_lies_before_it(make: Make):
    session = make()
    for text in "abc":
        session.append_message(user_message(text))
    kept = session.append_message(user_message("d"))
    session.append_compaction("a to c", kept, 1000)
    session.append_message(user_message("e"))
    latest = session.append_message(user_message("f"))
    session.append_compaction("a to e", latest, 2000)
    session.append_message(user_message("g"))
    context = session.build_context()
    assert context.messages[0].summary == "a to e"
    assert [text_of(message.content) for message in context.messages[1:]] == ["f", "g"]


def test_a_retained_tail_stands_in_for_kept_entries(make: Make):
    session = make()
    session.append_message(user_message("a"))
    session.append_compaction("short", None, 10, retained_tail=[user_message("tail")])
    assert [getattr(m, "summary", None) or text_of(m.content) for m in session.build_context().messages] == [
        "short",
        "tail",
    ]


def test_custom_entries_are_in_the_context_only_if_they_are_messages_or_projected(make: Make):
    session = make()
    session.append_message(user_message("hi"))
    session.append_custom("note", {"text": "remember"})
    session.append_custom_message("reminder", "do not forget", details={"n": 1})
    assert context_texts(session) == ["hi", "do not forget"]
    options = SessionContextBuildOptions(
        entry_transforms=[lambda entries: entries[1:]],
        entry_projectors={"note": lambda entry, index, entries: [user_message(entry.data["text"])]},
    )
    projected = session.build_context(options)
    assert [text_of(message.content) for message in projected.messages] == ["remember", "do not forget"]


def test_ids_are_in_the_order_in_which_they_were_made():
    ids = [new_id() for _ in range(10_000)]
    assert all(id[14] == "7" and id[19] in "89ab" for id in ids)
    assert ids == sorted(set(ids))
    before = time.time_ns() // 1_000_000
    assert before <= to_milliseconds(now_iso()) <= time.time_ns() // 1_000_000
    assert to_milliseconds("nonsense") == 0


def test_a_reopened_session_is_the_same_tree(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    session = Session(JsonlSessionStorage.create(path, header()))
    first = session.append_message(user_message("hi"))
    session.append_message(answer("one way"))
    session.append_session_info("named")
    session.append_label(first, "start")
    session.move_to(first)
    session.close()
    again = Session(JsonlSessionStorage.open(path))
    assert (again.leaf_id, again.name, again.labels) == (first, "named", {first: "start"})
    again.append_message(answer("another way"))
    assert context_texts(again) == ["hi", "another way"]
    again.close()
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [line["type"] for line in lines] == [
        "session",
        "message",
        "message",
        "session_info",
        "label",
        "leaf",
        "message",
    ]
    assert lines[0]["version"] == 3
    assert lines[1]["parent_id"] is None
    assert lines[1]["message"]["role"] == "user"


def test_an_entry_of_the_path_is_a_message_entry(make: Make):
    session = make()
    id = session.append_message(user_message("hi"))
    assert isinstance(session.storage.get_entry(id), MessageEntry)
