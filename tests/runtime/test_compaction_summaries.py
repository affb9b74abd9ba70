"""Summaries: what is asked for, what is taken for one, and what they hold."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agentcli.agent.messages import AssistantMessage, CompactionSummaryMessage, text_of
from agentcli.agent.models import ThinkingLevel
from agentcli.providers.scripted import ScriptedStream
from agentcli.runtime.events import RetryEndEvent, RetryStartEvent
from tests.agent.doubles import call, fail, say, stop
from tests.runtime.conftest import Make
from tests.runtime.test_compaction import LONG, SMALL, compactions, ends, requests, used, with_window
from tests.runtime.test_runtime import hear

BAD_SUMMARIES = {
    "empty": [say("   ")],
    "cut off": [say("half a summ"), stop("length")],
    "did not answer with a summary": [call("bash", "x", command="rm -rf /")],
    "no credit": [fail("bad_request", "no credit")],
}


@pytest.mark.parametrize("says", BAD_SUMMARIES)
async def test_a_summary_that_is_none_is_never_stored_and_the_conversation_goes_on(make: Make, says: str):
    summary = BAD_SUMMARIES[says]
    runtime = with_window(make([say(LONG), used(8_500)], summary, [say("answer")], settings=SMALL))
    events = hear(runtime)
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    assert compactions(runtime) == []
    (end,) = ends(events)
    assert end.summary is None and says in (end.error_message or "")
    assert requests(runtime)[-1][0] == f"user: {LONG}"
    assert text_of(runtime.last_message.content) == "answer"


async def test_a_compaction_that_fails_in_a_run_is_not_tried_after_every_batch(make: Make):
    turns = [[call("bash", name, command="echo hi"), used(8_500)] for name in "abc"]
    first = [say("ok " + LONG)]
    runtime = with_window(
        make(first, turns[0], [fail("bad_request")], turns[1], turns[2], [say("done")], settings=SMALL)
    )
    events = hear(runtime)
    await runtime.prompt("one")
    await runtime.prompt(LONG)
    assert len(ends(events)) == 1
    assert text_of(runtime.last_message.content) == "done"


async def test_a_summary_request_is_retried_as_any_other(make: Make):
    runtime = with_window(
        make([say(LONG), used(8_500)], [fail("overloaded")], [say("sum")], [say("answer")], settings=SMALL)
    )
    events = hear(runtime)
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    assert len(compactions(runtime)) == 1
    retries = [event for event in events if isinstance(event, RetryStartEvent | RetryEndEvent)]
    assert isinstance(retries[0], RetryStartEvent) and retries[1] == RetryEndEvent(True, 1)


async def test_a_manual_compaction_takes_instructions_and_keeps_the_latest_messages(make: Make):
    runtime = with_window(make([say(LONG)], [say("ok")], [say("sum")], settings=SMALL))
    await runtime.prompt(LONG)
    await runtime.prompt("keep me: " + LONG)
    end = await runtime.compact("the names of the tests")
    assert end is not None and end.summary == "sum" and end.reason == "manual"
    assert "attend to this above all: the names of the tests" in requests(runtime)[-1][0]
    summary, kept, answer = runtime.agent.state.messages
    assert isinstance(summary, CompactionSummaryMessage)
    assert text_of(kept.content).startswith("keep me") and text_of(answer.content) == "ok"


async def test_summary_requests_have_no_tools_no_cache_a_conversation_of_their_own_and_the_sessions_thinking(
    make: Make,
):
    seen: list[Any] = []
    script = ScriptedStream([[say(LONG)], [say("ok")], [say("sum")]])

    def stream(model: Any, context: Any, options: Any) -> Any:
        seen.append((context, options))
        return script(model, context, options)

    runtime = with_window(make(stream_fn=stream, settings=SMALL))
    state = runtime.agent.state
    state.model = replace(state.model, reasoning=True)
    state.thinking_level = ThinkingLevel.HIGH
    await runtime.prompt(LONG)
    await runtime.prompt(LONG)
    await runtime.compact()
    context, options = seen[-1]
    assert context.tools == [] and len(context.messages) == 1
    assert (options.cache_retention, options.reasoning, options.max_tokens) == ("none", "high", None)
    assert options.session_id not in (None, runtime.session.id)


async def test_the_beginning_of_a_turn_is_summarised_by_itself_after_the_history_with_the_same_instructions(make: Make):
    turn = [[call("bash", name, command=f"printf '%2000s' {name}")] for name in "abcd"]
    runtime = with_window(
        make([say("old answer")], *turn, [say("done")], [say("history")], [say("prefix")], settings=SMALL)
    )
    await runtime.prompt("old question")
    await runtime.prompt("the request")
    end = await runtime.compact("look at letters")
    history, prefix = requests(runtime)[-2:]
    assert "old question" in history[0] and "the request" not in history[0]
    assert "[User]: the request" in prefix[0] and "Original Request" in prefix[0]
    assert "look at letters" in history[0] and "look at letters" in prefix[0]
    assert end is not None and end.summary is not None
    assert end.summary.index("history") < end.summary.index("prefix")
    _, prompt, first_kept, *_ = runtime.agent.state.messages
    assert text_of(prompt.content) == "the request"
    assert isinstance(first_kept, AssistantMessage)


async def test_repeated_compaction_summarises_what_the_last_one_kept(make: Make):
    runtime = with_window(
        make([say("a1")], [say("a2")], [say("sum one")], [say("a3")], [say("sum two")], settings=SMALL)
    )
    await runtime.prompt("q1 " + LONG)
    await runtime.prompt("q2 " + LONG)
    await runtime.compact()
    await runtime.prompt("q3 " + LONG)
    await runtime.compact()
    request = requests(runtime)[-1][0]
    assert "q2" in request and "a2" in request and "q1" not in request
    assert "<previous-summary>\nsum one" in request
    first, *rest = runtime.agent.state.messages
    assert first.summary == "sum two"
    assert [text_of(message.content)[:2] for message in rest] == ["q3", "a3"]
    assert runtime.session.build_context().messages[0].summary == "sum two"


async def test_files_that_were_read_and_changed_are_listed_and_carried_on(make: Make, tmp_path: Path):
    (tmp_path / "work" / "in.txt").write_text("x\n")
    calls = [
        call("read", "r", path="in.txt"),
        call("write", "w", path="out.txt", content="1"),
        call("read", "s", path="out.txt"),
    ]
    runtime = with_window(make(calls, [say("a")], [say("b")], [say("sum")], [say("c")], [say("sum2")], settings=SMALL))
    await runtime.prompt("q1")
    await runtime.prompt("q2 " + LONG)
    end = await runtime.compact()
    assert end is not None and end.summary is not None
    assert end.summary.endswith("<read-files>\nin.txt\n</read-files>\n\n<modified-files>\nout.txt\n</modified-files>")
    files = {"read_files": ["in.txt"], "modified_files": ["out.txt"]}
    assert compactions(runtime)[0].details == files | {"reason": "manual", "message_count": 6}
    await runtime.prompt("q3 " + LONG)
    await runtime.compact()
    assert compactions(runtime)[1].details == files | {"reason": "manual", "message_count": 2}
    assert "<read-files>" not in requests(runtime)[-1][0]


async def test_there_may_be_nothing_to_compact_or_nothing_new(make: Make):
    runtime = with_window(make([say("hello")], [say("ok")], [say("sum")], settings=SMALL))
    await runtime.prompt("hi")
    end = await runtime.compact()
    assert end is not None and "nothing to compact" in (end.error_message or "")
    await runtime.prompt(LONG)
    assert (await runtime.compact()).summary is not None
    end = await runtime.compact()
    assert end is not None and "since the last compaction" in (end.error_message or "")
    assert len(compactions(runtime)) == 1


async def test_a_conversation_longer_than_the_window_is_summarised_piece_by_piece(make: Make):
    answers = [[say(f"a{number}")] for number in range(5)]
    runtime = with_window(
        make(*answers, [say("one")], [say("two")], [say("three")], [say("four")], settings=SMALL), 200_000
    )
    for number in range(5):
        await runtime.prompt(f"q{number} " + LONG * 5)
    with_window(runtime, 10_000)
    end = await runtime.compact()
    asked = [request[0] for request in requests(runtime)[5:]]
    assert len(asked) == 4
    assert "<previous-summary>\none" in asked[1]
    assert end is not None and "four" in (end.summary or "")


async def test_a_summary_request_that_does_not_fit_is_made_smaller(make: Make):
    runtime = with_window(
        make([say("a")], [say("b")], [fail("overflow")], [say("one")], [say("two")], settings=SMALL), 50_000
    )
    await runtime.prompt("q1 " + LONG * 2)
    await runtime.prompt("q2 " + LONG)
    end = await runtime.compact()
    assert end is not None and end.summary is not None and "two" in end.summary


async def test_a_session_stuck_on_errors_can_still_be_compacted(make: Make):
    runtime = with_window(
        make(
            [say(LONG), used(5_000)],
            [fail("bad_request")],
            [fail("bad_request")],
            [say("sum")],
            [say("well")],
            settings=SMALL,
        )
    )
    await runtime.prompt(LONG)
    await runtime.prompt("again " + LONG)
    await runtime.prompt("again " + LONG)
    assert (await runtime.compact()).summary is not None
    await runtime.prompt("now")
    assert text_of(runtime.last_message.content) == "well"
