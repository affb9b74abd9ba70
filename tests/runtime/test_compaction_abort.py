"""What happens during a compaction: abort, queued messages, another compaction, a disk that is full."""

import asyncio

import pytest

from agentcli.agent.messages import (
    text_of,
    user_message,
)
from agentcli.providers.scripted import Step
from agentcli.runtime.session_choice import SessionChoice
from tests.agent.doubles import call, say
from tests.runtime.conftest import Make
from tests.runtime.test_compaction import (
    LONG,
    SMALL,
    compactions,
    ends,
    is_summary_request,
    requests,
    used,
    with_window,
)
from tests.runtime.test_runtime import hear
from tests.waiting import until


def slow(text: str) -> list[Step]:
    return [Step(text=text, delay=30)]


async def test_abort_cancels_a_manual_compaction_and_leaves_everything_as_it_was(make: Make):
    runtime = with_window(make([say(LONG)], [say("b")], slow("sum"), settings=SMALL))
    await runtime.prompt(LONG)
    await runtime.prompt("two " + LONG)
    before, entries = list(runtime.agent.state.messages), len(runtime.session.get_entries())
    events = hear(runtime)
    compacting = asyncio.ensure_future(runtime.compact())
    await until(lambda: len(runtime.options.stream_fn.requests) == 3)
    runtime.follow_up("later")
    assert runtime.is_busy
    runtime.abort()
    end = await compacting
    assert end is not None and end.aborted and ends(events) == [end]
    assert runtime.agent.state.messages == before
    assert len(runtime.session.get_entries()) == entries
    assert len(runtime.agent.follow_up_queue) == 1


async def test_abort_between_two_turns_ends_the_compaction_before_the_run(make: Make):
    turn = [call("bash", "a", command="printf '%4000s' x"), used(8_200)]
    runtime = with_window(make([say(LONG)], turn, slow("sum"), settings=SMALL))
    await runtime.prompt(LONG)
    events = hear(runtime)
    run = runtime.prompt("go " + LONG)
    await until(lambda: len(runtime.options.stream_fn.requests) == 3)
    runtime.abort()
    await run
    (end,) = ends(events)
    assert end.aborted
    kinds = [type(event).__name__ for event in events]
    assert kinds.index("CompactionEndEvent") < kinds.index("AgentEndEvent")
    assert compactions(runtime) == []
    roles = [message.role for message in runtime.agent.state.messages]
    assert roles == ["user", "assistant", "user", "assistant", "toolResult"]


async def test_abort_of_the_compaction_before_a_prompt_keeps_the_prompt(make: Make):
    runtime = with_window(make([say(LONG), used(8_500)], slow("sum"), settings=SMALL))
    await runtime.prompt(LONG)
    run = runtime.prompt("two")
    await until(lambda: len(runtime.options.stream_fn.requests) == 2)
    runtime.abort()
    await run
    assert compactions(runtime) == []
    assert text_of(runtime.agent.state.messages[2].content) == "two"


async def test_what_is_queued_during_a_compaction_runs_after_it_in_order_on_the_compacted_context(make: Make):
    summary = [Step(text="sum", delay=0.05)]
    runtime = with_window(make([say(LONG)], [say("b")], summary, [say("r1")], [say("r2")], settings=SMALL))
    await runtime.prompt(LONG)
    await runtime.prompt("two " + LONG)
    compacting = asyncio.ensure_future(runtime.compact())
    await until(lambda: len(runtime.options.stream_fn.requests) == 3)
    runtime.follow_up("Q1")
    runtime.follow_up("Q2")
    await compacting
    asked = requests(runtime)
    assert [is_summary_request(request) for request in asked] == [False, False, True, False, False]
    assert "Q1" not in asked[2][0] and "Q2" not in asked[2][0]
    assert "sum" in asked[3][0] and asked[3][-1] == "user: Q1"
    assert asked[4][-1] == "user: Q2"


async def test_steering_during_an_automatic_compaction_reaches_the_run_after_it(make: Make):
    turn = [call("bash", "a", command="echo hi"), used(8_500)]
    runtime = with_window(make([say(LONG)], turn, [Step(text="sum", delay=0.05)], [say("done")], settings=SMALL))
    await runtime.prompt(LONG)
    run = runtime.prompt("go")
    await until(lambda: len(runtime.options.stream_fn.requests) == 3)
    runtime.steer("also this")
    await run
    asked = requests(runtime)
    assert "also this" not in asked[2][0]
    assert asked[3][-1] == "user: also this"


async def test_a_manual_compaction_stops_the_run_and_does_not_resume_it(make: Make):
    runtime = with_window(make([say(LONG)], [Step(text="never", delay=30)], [say("sum")], settings=SMALL))
    await runtime.prompt(LONG)
    run = runtime.prompt("two " + LONG)
    await until(lambda: len(runtime.options.stream_fn.requests) == 2)
    end = await runtime.compact()
    await run
    assert end is not None and end.summary is not None
    assert len(runtime.options.stream_fn.requests) == 3
    assert not runtime.is_busy


async def test_two_compactions_never_run_at_once(make: Make):
    runtime = with_window(make([say(LONG)], [say("b")], slow("sum"), [say("sum")], settings=SMALL))
    await runtime.prompt(LONG)
    await runtime.prompt("two " + LONG)
    first = asyncio.ensure_future(runtime.compact())
    await until(lambda: len(runtime.options.stream_fn.requests) == 3)
    second = await runtime.compact()
    assert (await first).aborted
    assert second is not None and second.summary == "sum"
    assert len(compactions(runtime)) == 1


async def test_a_compacted_session_goes_on_in_another_process_with_the_same_context(make: Make):
    runtime = with_window(make([say(LONG)], [say("b")], [say("sum")], settings=SMALL))
    await runtime.prompt(LONG)
    await runtime.prompt("two " + LONG)
    await runtime.compact()
    messages = runtime.agent.state.messages
    await runtime.close()
    again = make([say("c")], session=SessionChoice(reference=str(runtime.session.storage.path)))
    assert again.agent.state.messages == messages


async def test_a_summary_that_cannot_be_written_changes_nothing(make: Make, monkeypatch: pytest.MonkeyPatch):
    runtime = with_window(make([say(LONG)], [say("b")], [say("sum")], settings=SMALL))
    await runtime.prompt(LONG)
    await runtime.prompt("two " + LONG)
    before = list(runtime.agent.state.messages)

    def refuse(line: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(runtime.session.storage, "_put", refuse)
    end = await runtime.compact()
    assert end is not None and "No space left" in (end.error_message or "")
    assert runtime.agent.state.messages == before


def test_what_is_reserved_and_kept_becomes_less_with_the_window(make: Make):
    runtime = make()
    for size in (8_000, 16_000, 32_000, 48_000, 64_000, 200_000):
        window = with_window(runtime, size)._window
        assert window.reserve == min(16_384, size // 3)
        assert window.limit == size - window.reserve
        assert window.keep <= window.limit // 2
        assert window.limit <= window.room <= size - 1_024
    assert window.keep == 20_000


async def test_a_message_is_known_by_its_role_after_compaction(make: Make):
    runtime = with_window(make([say(LONG)], [say("b")], [say("sum")], settings=SMALL))
    await runtime.prompt(LONG)
    await runtime.prompt(user_message("two " + LONG))
    await runtime.compact()
    assert [message.role for message in runtime.agent.state.messages] == ["compactionSummary", "user", "assistant"]
