"""Compaction in a runtime: when it happens, what it asks for, what it leaves behind, and how it fails."""

from typing import Any

import pytest
from msgspec.structs import replace

from agentcli.agent.messages import (
    AssistantMessage,
    ImageContent,
    Usage,
    text_of,
)
from agentcli.config.settings import CompactionSettings, RetrySettings, Settings
from agentcli.providers.scripted import Step
from agentcli.runtime.events import CompactionEndEvent, CompactionStartEvent, RetryStartEvent
from agentcli.runtime.session_choice import SessionChoice
from agentcli.sessions.entries import CompactionEntry
from tests.agent.doubles import call, fail, say, stop
from tests.runtime.conftest import Make
from tests.runtime.test_runtime import hear

WINDOW = 10_000
SMALL = Settings(
    retry=RetrySettings(base_delay=0.01),
    compaction=CompactionSettings(reserve_tokens=2_000, keep_recent_tokens=500),
)
LONG = "word " * 600
"""750 tokens."""


def used(tokens: int) -> Step:
    return Step(usage=Usage(input=tokens - 10, output=10, total_tokens=tokens))


def with_window(runtime: Any, tokens: int = WINDOW) -> Any:
    state = runtime.agent.state
    state.model = replace(state.model, context_window=tokens)
    return runtime


def requests(runtime: Any) -> list[list[str]]:
    """The messages of every request so far, as `role: text`."""
    script = runtime.options.stream_fn
    return [
        [f"{message.role}: {text_of(message.content)}" for message in request.messages] for request in script.requests
    ]


def is_summary_request(request: list[str]) -> bool:
    return request[-1].startswith("user: <conversation>")


def compactions(runtime: Any) -> list[CompactionEntry]:
    return runtime.session.find_entries("compaction")


def ends(events: list[Any]) -> list[CompactionEndEvent]:
    return [event for event in events if isinstance(event, CompactionEndEvent)]


async def test_a_conversation_that_comes_near_the_window_is_compacted_before_the_next_prompt(make: Make):
    runtime = with_window(make([say(LONG), used(8_500)], [say("the summary")], [say("done")], settings=SMALL))
    events = hear(runtime)
    await runtime.prompt("first " + LONG)
    assert compactions(runtime) == []
    await runtime.prompt("second")
    first, summary, last = requests(runtime)
    assert is_summary_request(summary) and "[User]: first" in summary[0] and "second" not in summary[0]
    assert "the summary" in last[0] and last[-1] == "user: second"
    assert first[0] not in last
    (end,) = ends(events)
    assert (end.reason, end.aborted, end.error_message) == ("threshold", False, None)
    assert end.tokens_before == 8_500
    assert end.tokens_after < 2_000
    (entry,) = compactions(runtime)
    assert (entry.summary, entry.tokens_before) == (end.summary, 8_500)


def x_times(count: int, id: str = "a") -> Step:
    return call("bash", id, command=f"head -c {count} /dev/zero | tr '\\0' x")


async def test_what_came_before_makes_room_for_large_tool_results_in_the_same_run(make: Make):
    first = [x_times(8_000), used(500)]
    runtime = with_window(make(first, [x_times(24_000, "b"), used(2_700)], [say("sum")], [say("done")], settings=SMALL))
    events = hear(runtime)
    await runtime.prompt("go")
    asked = requests(runtime)
    assert [is_summary_request(request) for request in asked] == [False, False, True, False]
    assert "[Tool result]: xxx" in asked[2][0]
    assert len(asked[2][0]) < 6_000, "of a result 2,000 characters are quoted"
    assert "more characters were left out" in asked[2][0]
    assert "Original Request" in asked[2][0]
    summary, prompt, _, result = asked[3]
    assert "sum" in summary and prompt == "user: go"
    assert result == "toolResult: " + "x" * 24_000, "the model has not seen it yet"
    (end,) = ends(events)
    assert (end.reason, end.message_count) == ("threshold", 2)
    assert text_of(runtime.last_message.content) == "done"


async def test_what_is_kept_in_a_run_goes_on_with_calls_and_results_together(make: Make):
    answers = [
        [call("bash", "a", command="printf '%8000s' x"), used(3_000)],
        [call("bash", "b", command="echo b"), used(9_000)],
    ]
    runtime = with_window(make(*answers, [say("sum")], [say("done")], settings=SMALL))
    await runtime.prompt("go")
    last = runtime.options.stream_fn.requests[-1].messages
    assert [message.role for message in last] == ["user", "user", "assistant", "toolResult"]
    assert last[2].tool_calls[0].id == last[3].tool_call_id == "b"


async def test_without_usage_the_context_is_estimated(make: Make):
    runtime = with_window(make([say("a")], [say("b")], [say("sum")], [say("done")], settings=SMALL))
    await runtime.prompt("word " * 4_700)
    await runtime.prompt(LONG)
    await runtime.prompt("next " + LONG * 2)
    assert [is_summary_request(request) for request in requests(runtime)] == [False, False, True, False]


async def test_an_image_counts_as_much_as_twelve_hundred_tokens(make: Make):
    runtime = with_window(make([say("a")], [say("b")], [say("sum")], [say("c")], settings=SMALL))
    await runtime.prompt("look", [ImageContent("aGk=", "image/png")] * 5)
    await runtime.prompt(LONG)
    await runtime.prompt("next " + LONG * 2)
    asked = runtime.options.stream_fn.requests
    assert len(asked) == 4
    (request,) = asked[2].messages
    assert text_of(request.content).count("[image]") == 5
    assert not any(isinstance(block, ImageContent) for block in request.content)


async def test_usage_from_before_a_compaction_starts_no_second_one(make: Make):
    answers = [[say("a")], [say("b"), used(8_500)], [say("sum")], [say("c")], [say("d")]]
    runtime = with_window(make(*answers, settings=SMALL))
    await runtime.prompt("zero " + LONG)
    await runtime.prompt("old " + LONG)
    await runtime.prompt("three")
    assert len(compactions(runtime)) == 1
    kept = [text_of(message.content)[:3] for message in runtime.agent.state.messages[1:3]]
    assert kept == ["old", "b"], "the answer whose usage was 8,500 is kept"
    await runtime.prompt("four")
    assert len(compactions(runtime)) == 1
    await runtime.close()
    path = str(runtime.session.storage.path)
    again = with_window(make([say("e")], settings=SMALL, session=SessionChoice(reference=path)))
    await again.prompt("five")
    assert len(compactions(again)) == 1


async def test_automatic_compaction_can_be_switched_off(make: Make):
    off = replace(SMALL, compaction=CompactionSettings(enabled=False))
    runtime = with_window(make([say(LONG), used(9_900)], [fail("overflow")], settings=off))
    await runtime.prompt("one")
    await runtime.prompt("two")
    assert compactions(runtime) == []
    assert runtime.last_message.error_kind == "overflow"


async def test_an_overflow_is_compacted_and_asked_again_once(make: Make):
    runtime = with_window(make([say(LONG)], [fail("overflow")], [say("sum")], [say("answer")], settings=SMALL))
    events = hear(runtime)
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    asked = requests(runtime)
    assert [is_summary_request(request) for request in asked] == [False, False, True, False]
    assert [line for line in asked[-1] if line == "user: two"] == ["user: two"], "neither lost nor doubled"
    assert text_of(runtime.last_message.content) == "answer"
    assert [(end.reason, end.will_retry) for end in ends(events)] == [("overflow", True)]
    said = [message for message in runtime.session.build_context().messages if isinstance(message, AssistantMessage)]
    assert all(message.error_message is None for message in said), "the failed attempt is on no branch that goes on"


async def test_a_second_overflow_of_the_same_prompt_is_told(make: Make):
    runtime = with_window(make([say(LONG)], [fail("overflow")], [say("sum")], [fail("overflow")], settings=SMALL))
    events = hear(runtime)
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    assert len(ends(events)) == 1
    assert runtime.last_message.error_kind == "overflow"
    assert not runtime.is_busy


async def test_an_answer_cut_off_before_its_first_token_in_a_full_window_is_an_overflow(make: Make):
    silent = [Step(usage=Usage(input=9_950)), stop("length")]
    runtime = with_window(make([say(LONG)], silent, [say("sum")], [say("answer")], settings=SMALL))
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    assert text_of(runtime.last_message.content) == "answer"


async def test_a_finished_answer_that_reports_too_much_is_not_asked_again(make: Make):
    runtime = with_window(make([say("done"), used(12_000)], settings=SMALL))
    events = hear(runtime)
    await runtime.prompt(LONG)
    assert ends(events) == []
    assert text_of(runtime.last_message.content) == "done"


@pytest.mark.parametrize("kind", ["rate_limit", "overloaded"])
async def test_rate_limits_are_retried_and_never_compacted(make: Make, kind: str):
    runtime = with_window(make([fail(kind, "too many tokens per minute")], [say("ok")], settings=SMALL))
    events = hear(runtime)
    await runtime.prompt(LONG)
    assert ends(events) == []
    assert text_of(runtime.last_message.content) == "ok"


@pytest.mark.parametrize("kind", ["quota", "bad_request"])
async def test_quota_and_bad_requests_are_neither_retried_nor_compacted(make: Make, kind: str):
    runtime = with_window(make([fail(kind)], settings=SMALL))
    events = hear(runtime)
    await runtime.prompt(LONG)
    assert not [event for event in events if isinstance(event, CompactionStartEvent | RetryStartEvent)]
