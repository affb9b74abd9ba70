"""What a summary took counts also if it failed: in the session, its stats, the limits and the events."""

import asyncio
from typing import Any

import pytest

from agentcli.agent.errors import ProviderError
from agentcli.agent.messages import Usage, UsageCost
from agentcli.headless.result import UsageCounter
from agentcli.providers.scripted import Step
from agentcli.runtime.events import SpentEvent
from agentcli.runtime.session_choice import SessionChoice
from agentcli.sessions.entries import MessageEntry
from agentcli.sessions.stats import SPENT, SUMMARIES
from tests.agent.doubles import call, fail, say, stop
from tests.runtime.conftest import Make
from tests.runtime.test_compaction import LONG, SMALL, compactions, ends, used, with_window
from tests.runtime.test_compaction_branches import entry_of
from tests.runtime.test_runtime import hear
from tests.waiting import until

PAID = Step(usage=Usage(input=1_000, output=100, total_tokens=1_100, cost=UsageCost(total=0.25)))
FAILED = {
    "empty": [say(" "), PAID],
    "cut off": [say("half a summ"), PAID, stop("length")],
    "a tool call": [call("bash", "x", command="true"), PAID],
    "broken off": [say("half"), PAID, fail("bad_request", "no")],
    "longer than what it stands for": [say(LONG * 4), PAID],
}


def counter(runtime: Any) -> UsageCounter:
    tally = UsageCounter()
    runtime.subscribe(tally)
    return tally


@pytest.mark.parametrize("how", FAILED)
async def test_a_summary_that_failed_is_paid_for_everywhere(make: Make, how: str):
    runtime = with_window(make([say(LONG), used(8_500)], FAILED[how], [say("answer")], settings=SMALL))
    events = hear(runtime)
    tally = counter(runtime)
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    (end,) = ends(events)
    assert end.error_message and end.usage is not None and end.usage.cost.total == 0.25
    assert compactions(runtime) == []
    stats = runtime.stats().session
    assert (stats.total_tokens, stats.cost_total) == (9_600, 0.25)
    assert stats.models[SUMMARIES].total_tokens == 1_100
    assert (tally.tokens.total, tally.tokens.output, tally.usage.cost.total) == (9_600, 110, 0.25)
    assert runtime._runner.limits._cost == 0.25, "the limits are of this prompt"
    (entry,) = [entry for entry in runtime.session.find_entries("custom") if entry.custom_type == SPENT]
    assert entry.data["for"] == "compaction" and entry.data["error"] == end.error_message
    path = str(runtime.session.storage.path)
    await runtime.close()
    again = make([say("c")], session=SessionChoice(reference=path))
    assert again.stats().session.cost_total == 0.25
    assert [message.role for message in again.agent.state.messages] == ["user", "assistant"] * 2


async def test_attempts_before_a_summary_are_part_of_what_it_took(make: Make):
    busy = [say("ha"), PAID, fail("overloaded")]
    runtime = with_window(make([say(LONG), used(8_500)], busy, [say("sum"), PAID], [say("answer")], settings=SMALL))
    events = hear(runtime)
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    (end,) = ends(events)
    assert end.summary and end.usage is not None and end.usage.total_tokens == 2_200
    assert compactions(runtime)[0].usage == end.usage
    assert runtime.stats().session.cost_total == 0.5


async def test_a_summary_that_was_aborted_is_paid_for(make: Make):
    slow = [PAID, Step(text="sum", delay=30)]
    runtime = with_window(make([say(LONG)], [say("b")], slow, settings=SMALL))
    await runtime.prompt(LONG)
    await runtime.prompt("two " + LONG)
    events = hear(runtime)
    compacting = asyncio.ensure_future(runtime.compact())
    await until(lambda: runtime._summarizer._heard is not None and runtime._summarizer._heard.usage.total_tokens)
    runtime.abort()
    await compacting
    (end,) = ends(events)
    assert end.aborted and end.usage is not None and end.usage.total_tokens == 1_100
    assert runtime.stats().session.total_tokens == 1_100
    assert isinstance(
        runtime.session.get_entry(runtime.session.get_entry(runtime.session.leaf_id).parent_id), MessageEntry
    )


@pytest.mark.parametrize("answer", [[say("what was tried"), PAID], [say(" "), PAID]])
async def test_the_summary_of_a_branch_is_paid_for_whether_or_not_it_failed(make: Make, answer: list[Step]):
    runtime = make([say("a1")], [say("a2")], answer)
    await runtime.prompt("q1")
    await runtime.prompt("q2")
    events = hear(runtime)
    tally = counter(runtime)
    try:
        await runtime.go_to(entry_of(runtime, "a1"), summarize=True)
    except ProviderError:
        assert answer[0].text == " "
    assert [event.usage.total_tokens for event in events if isinstance(event, SpentEvent)] == [1_100]
    assert tally.usage.cost.total == runtime.stats().session.cost_total == 0.25


async def test_the_limit_of_a_prompt_counts_what_a_failed_summary_took(make: Make):
    turn = [call("bash", "b", command="true"), used(8_500)]
    runtime = with_window(make([say(LONG)], turn, FAILED["empty"], [say("never")], settings=SMALL, max_cost=0.2))
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    assert runtime.reached_limit == "max_cost"
    assert len(runtime.options.stream_fn.requests) == 3


def test_a_damaged_note_of_what_was_spent_counts_nothing(make: Make):
    runtime = make()
    for data in (None, {}, {"usage": 5}, {"usage": {"input": "x"}}):
        runtime.session.append_custom(SPENT, data)
    assert runtime.stats().session.total_tokens == 0
