"""Where a conversation is cut: about so many tokens are kept, and never a result without its call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    CustomMessage,
    ImageContent,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    text_of,
    user_message,
)
from agentcli.sessions.compaction.files import FileLists, files_of, with_file_lists, without_file_lists
from agentcli.sessions.compaction.plan import CompactionPlan, plan_compaction
from agentcli.sessions.compaction.text import conversation_parts, split_conversation
from agentcli.sessions.compaction.token_estimate import estimate_all, estimate_tokens
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.session import Session
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage

T100 = "x" * 400
"""A hundred tokens."""


def new_session(*messages: AgentMessage) -> Session:
    session = Session(InMemorySessionStorage(SessionHeader(id="s", timestamp="", cwd="/")))
    for message in messages:
        session.append_message(message)
    return session


def answer(text: str, *calls: str) -> AssistantMessage:
    return AssistantMessage([TextContent(text), *(ToolCall(id, "bash", {}) for id in calls)])


def result(id: str, text: str) -> ToolResultMessage:
    return ToolResultMessage(id, "bash", [TextContent(text)])


def plan(session: Session, keep: int, most: int = 1_000_000) -> CompactionPlan:
    path = session.storage.get_path_to_root_or_compaction(session.leaf_id)
    return plan_compaction(path, keep_recent=keep, most_kept=most)


def texts(messages: list[AgentMessage]) -> list[str]:
    return [text_of(message.content)[:6] for message in messages]


def kept(session: Session, made: CompactionPlan) -> list[str]:
    ids = [entry.id for entry in session.get_branch()]
    if made.first_kept_entry_id is None:
        return []
    return texts(
        [
            entry.message
            for entry in session.get_branch()[ids.index(made.first_kept_entry_id) :]
            if hasattr(entry, "message")
        ]
    )


def test_whole_turns_are_summarised_and_the_last_ones_kept():
    session = new_session(*[message for n in range(3) for message in (user_message(f"q{n} " + T100), answer(f"a{n}"))])
    made = plan(session, 150)
    assert (texts(made.history), made.turn_prefix) == (["q0 xxx", "a0"], [])
    assert kept(session, made) == ["q1 xxx", "a1", "q2 xxx", "a2"]


@pytest.mark.parametrize("keep", range(10, 420, 10))
def test_a_cut_never_parts_a_result_from_its_call(keep: int):
    session = new_session(
        user_message("q0"), answer("a0", "1", "2"), result("1", T100), result("2", T100), answer("a1"),
        user_message("q1"), answer("a2", "3"), result("3", T100), answer("a3"),
    )  # fmt: skip
    try:
        made = plan(session, keep)
    except SessionError as error:
        assert error.code == "nothing_to_compact"
        return
    branch = session.get_branch()
    first = [entry.id for entry in branch].index(made.first_kept_entry_id)
    calls = {call.id for entry in branch[first:] for call in getattr(entry.message, "tool_calls", [])}
    assert all(
        entry.message.tool_call_id in calls for entry in branch[first:] if isinstance(entry.message, ToolResultMessage)
    )
    assert len(made.history) + len(made.turn_prefix) == first, "what is not kept is summarised, all of it"


def test_a_message_between_a_call_and_its_result_is_no_place_to_cut():
    session = new_session(
        user_message("q"), answer("a", "1"), CustomMessage("note", T100), result("1", T100), answer("b")
    )
    assert plan(session, 150).first_kept_entry_id == session.get_branch()[4].id
    session = new_session(
        user_message("q"),
        answer("a"),
        user_message("r"),
        answer("a", "1"),
        CustomMessage("note", T100),
        result("1", T100),
    )
    assert plan(session, 150).first_kept_entry_id == session.get_branch()[3].id


def test_a_cut_inside_a_turn_gives_the_turns_beginning_by_itself():
    session = new_session(
        user_message("old"),
        answer("done"),
        user_message("task"),
        answer("a", "1"),
        result("1", T100),
        answer("b", "2"),
        result("2", T100),
    )
    made = plan(session, 90)
    assert texts(made.history) == ["old", "done"]
    assert texts(made.turn_prefix) == ["task", "a", "xxxxxx"]
    assert kept(session, made) == ["b", "xxxxxx"]


def test_results_that_were_answered_and_are_too_large_to_keep_are_summarised_with_their_calls():
    session = new_session(user_message("task"), answer("a", "1"), result("1", T100 * 50), answer("b"))
    made = plan(session, 100, most=1000)
    assert texts(made.turn_prefix) == ["task", "a", "xxxxxx"]
    assert kept(session, made) == ["b"]


UNSEEN: dict[str, list[AgentMessage]] = {
    "results": [result("1", T100 * 50), result("2", T100)],
    "results and what was said meanwhile": [result("1", T100), result("2", T100 * 50), user_message("also " + T100)],
    "results whose request failed": [
        result("1", T100 * 50),
        result("2", T100),
        AssistantMessage([], stop_reason=StopReason.ERROR, error_kind="overflow"),
    ],
    "results whose answer was stopped": [
        result("1", T100 * 50),
        result("2", T100),
        AssistantMessage([TextContent("I s")], stop_reason=StopReason.ABORTED),
    ],
    "results in a window that was full": [
        result("1", T100 * 50),
        result("2", T100),
        AssistantMessage([], stop_reason=StopReason.LENGTH),
    ],
}


@pytest.mark.parametrize("unseen", UNSEEN)
def test_what_the_model_has_not_answered_is_kept_however_large_it_is(unseen: str):
    session = new_session(
        user_message("old"), answer("done"), user_message("task"), answer("a", "1", "2"), *UNSEEN[unseen]
    )
    made = plan(session, 10, most=20)
    assert texts(made.history) == ["old", "done"]
    assert kept(session, made)[-len(UNSEEN[unseen]) - 1 :] == texts([answer("a"), *UNSEEN[unseen]])


def test_where_everything_is_unseen_there_is_nothing_to_compact():
    session = new_session(user_message("task " + T100), answer("a", "1"), result("1", T100 * 50))
    with pytest.raises(SessionError) as error:
        plan(session, 10, most=20)
    assert error.value.code == "nothing_to_compact"


def test_the_prompt_of_a_turn_that_goes_on_stays_also_through_further_compactions():
    session = new_session(user_message("old"), answer("done"), user_message("task"))
    for number in range(4):
        session.append_message(answer(f"a{number}", f"c{number}"))
        session.append_message(result(f"c{number}", T100))
        if number % 2 == 0:
            continue
        made = plan(session, 10)
        assert made.kept_prompt_id == session.get_branch()[2].id
        assert made.message_count == len(made.history) + len(made.turn_prefix) - 1
        session.append_compaction("sum", made.first_kept_entry_id, 0, kept_prompt_id=made.kept_prompt_id)
        _, *rest = session.build_context().messages
        assert texts(rest) == ["task", f"a{number}", "xxxxxx"]
    session.append_message(answer("end"))
    session.append_message(user_message("next"))
    made = plan(session, 1)
    assert texts(made.history)[0] == "task" and made.kept_prompt_id is None


def test_a_prompt_that_was_answered_does_not_stay_alone():
    session = new_session(user_message("task"), answer("done " + T100), BashExecutionMessage("ls", T100))
    assert plan(session, 50).kept_prompt_id is None


@pytest.mark.parametrize("message", [BashExecutionMessage("ls", T100), CustomMessage("note", T100)])
def test_commands_and_notes_may_be_cut_at(message: AgentMessage):
    session = new_session(user_message("q"), answer("a"), message, answer("b"))
    assert plan(session, 90).first_kept_entry_id == session.get_branch()[2].id


def test_changes_right_before_the_kept_part_go_with_it():
    session = new_session(user_message("q0"), answer("a0"))
    change = session.append_model_change("p", "m")
    session.append_message(user_message("q1 " + T100))
    assert plan(session, 90).first_kept_entry_id == change


def test_repeated_compaction_begins_where_the_last_one_kept():
    session = new_session(user_message("q0"), answer("a0"))
    first_kept = session.append_message(user_message("q1 " + T100))
    session.append_message(answer("a1"))
    session.append_compaction("sum", first_kept, 10, details={"read_files": ["r"], "modified_files": ["m"]})
    session.append_message(user_message("q2 " + T100))
    made = plan(session, 90)
    assert texts(made.history) == ["q1 xxx", "a1"]
    assert (made.previous_summary, made.files) == ("sum", FileLists(["r"], ["m"]))


def test_a_retained_tail_is_summarised_later_and_not_lost():
    session = new_session(user_message("q0"))
    session.append_compaction("sum", None, 10, retained_tail=[user_message("tail")])
    session.append_message(answer("a"))
    session.append_message(user_message("q1 " + T100))
    assert texts(plan(session, 90).history) == ["tail", "a"]


def test_nothing_to_compact_and_nothing_new_are_told_apart():
    session = new_session(user_message("hi"), answer("hello"))
    with pytest.raises(SessionError) as error:
        plan(session, 100)
    assert error.value.code == "nothing_to_compact"
    session.append_compaction("sum", None, 10)
    session.append_thinking_level_change("high")
    with pytest.raises(SessionError) as error:
        plan(session, 1)
    assert error.value.code == "already_compacted"


sizes = st.integers(min_value=0, max_value=300)
turns = st.lists(st.tuples(sizes, st.lists(sizes, max_size=3)), min_size=1, max_size=6)


@given(turns, st.integers(min_value=1, max_value=600))
def test_every_message_is_either_summarised_or_kept(turns: list[tuple[int, list[int]]], keep: int):
    messages: list[AgentMessage] = []
    for number, (size, results) in enumerate(turns):
        messages.append(user_message("u" * size * 4))
        ids = [f"{number}.{place}" for place in range(len(results))]
        messages.append(answer("a", *ids))
        messages += [result(id, "r" * length * 4) for id, length in zip(ids, results, strict=True)]
        messages.append(answer("b" * size))
    session = new_session(*messages)
    try:
        made = plan(session, keep)
    except SessionError:
        return
    session.append_compaction("sum", made.first_kept_entry_id, 0)
    after = session.build_context().messages[1:]
    assert [*made.history, *made.turn_prefix, *after] == messages
    assert not isinstance(after[0] if after else user_message(""), ToolResultMessage)
    if len(after) > 1:
        assert estimate_all(after[1:]) < keep + max(estimate_tokens(message) for message in after) * 4


def test_the_text_for_a_summary_has_calls_short_results_and_no_thinking():
    message = AssistantMessage(
        [ThinkingContent("secret"), TextContent("I look"), ToolCall("1", "read", {"path": "a", "n": 1})]
    )
    parts = conversation_parts(
        [user_message("go"), message, result("1", "y" * 5000), user_message("", [ImageContent("x", "image/png")])]
    )
    assert parts[0] == "[User]: go"
    assert parts[1] == '[Assistant]: I look\n\n[Assistant tool calls]: read(path="a", n=1)'
    assert parts[2].startswith("[Tool result]: yyy") and parts[2].endswith("[… 3000 more characters were left out]")
    assert parts[3] == "[User]: [image]"
    assert "secret" not in "".join(parts)


@given(st.lists(st.text(max_size=50), max_size=10), st.integers(min_value=1, max_value=60))
def test_a_split_conversation_loses_nothing_and_no_piece_is_too_long(parts: list[str], most: int):
    pieces = split_conversation(parts, most)
    assert all(len(piece) <= most for piece in pieces)
    assert "".join(pieces).replace("\n\n", "") == "".join(parts).replace("\n\n", "") or "\n" in "".join(parts)


def test_file_lists_come_from_calls_and_changed_wins_over_read():
    def using(name: str, **arguments: str) -> AssistantMessage:
        return AssistantMessage([ToolCall("1", name, arguments)])

    messages = [
        using("read", path="a"),
        using("read", file_path="b"),
        using("edit", path="b"),
        using("write", path="c"),
        using("bash", path="d"),
    ]
    files = files_of(messages, [{"read_files": ["z", "c"], "modified_files": ["y"]}, None, {"read_files": 5}])
    assert files == FileLists(["a", "z"], ["b", "c", "y"])
    summary = with_file_lists("text", files)
    assert without_file_lists(summary) == "text"
    assert with_file_lists("text", FileLists()) == "text"


def test_an_image_counts_4800_characters_and_text_four_to_a_token():
    assert estimate_tokens(user_message("x" * 400, [ImageContent("a" * 99_999, "image/png")])) == 100 + 1200
    assert estimate_tokens(BashExecutionMessage("ls", "x" * 398)) == 100
    assert estimate_tokens(BashExecutionMessage("ls", "x" * 398, exclude_from_context=True)) == 0
