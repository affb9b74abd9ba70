"""Limits of one prompt: what follows when one is reached is in order, and the session is sound."""

import asyncio
from typing import Any

import pytest

from agentcli.agent.messages import AssistantMessage, Usage, UsageCost
from agentcli.config.settings import RetrySettings, Settings
from agentcli.providers.scripted import Step
from agentcli.runtime.events import AgentSettledEvent, RetryStartEvent
from agentcli.runtime.session_choice import SessionChoice
from tests.agent.doubles import call, fail, say, word
from tests.runtime.conftest import Make
from tests.runtime.test_runtime import hear, said
from tests.waiting import until


def turn(number: int, tokens: int = 100, dollars: float = 0.01) -> list[Any]:
    usage = Usage(input=tokens - 30, output=10, cache_read=20, total_tokens=tokens, cost=UsageCost(total=dollars))
    return [call("bash", f"c{number}", command="true"), Step(usage=usage)]


def answers(runtime: Any) -> int:
    return sum(isinstance(message, AssistantMessage) for message in runtime.agent.state.messages)


@pytest.mark.parametrize(
    ("limits", "reached", "text"),
    [
        ({"max_turns": 2}, "max_turns", "stopped after 2 turns, as asked"),
        ({"max_turns": 1}, "max_turns", "stopped after 1 turn, as asked"),
        ({"max_tokens": 250}, "max_tokens", "stopped after 300 tokens; the limit is 250"),
        ({"max_cost": 0.015}, "max_cost", "stopped after $0.0200; the limit is $0.015"),
    ],
)
async def test_a_limit_stops_after_the_turn_that_reaches_it(make: Make, limits: Any, reached: str, text: str):
    runtime = make(*[turn(number) for number in range(5)], **limits)
    await runtime.prompt("go")
    assert runtime.reached_limit == reached
    assert runtime.limit_text == text
    assert said(runtime)[-1].startswith("toolResult")
    await runtime.close()
    again = make(session=SessionChoice(reference=str(runtime.session.storage.path)))
    again.options.stream_fn.answers = [[say("on")]]
    await again.prompt("go on")
    assert said(again)[-2:] == ["user: go on", "assistant: on"]


async def test_an_answer_that_is_the_last_anyway_reaches_no_limit(make: Make):
    runtime = make([say("done", usage=Usage(total_tokens=500))], max_tokens=100, max_turns=1)
    await runtime.prompt("go")
    assert runtime.reached_limit is None
    assert runtime.limit_text is None


async def test_each_prompt_counts_from_nothing(make: Make):
    runtime = make(turn(1), turn(2), [say("done")], max_turns=2)
    await runtime.prompt("go")
    assert runtime.reached_limit == "max_turns"
    await runtime.prompt("go on")
    assert runtime.reached_limit is None


async def test_what_failed_was_paid_too(make: Make):
    paid = say("half", usage=Usage(total_tokens=90))
    runtime = make([paid, fail("overloaded")], turn(1, tokens=50), [say("unreached")], max_tokens=120)
    await runtime.prompt("go")
    assert runtime.reached_limit == "max_tokens"


async def test_what_is_queued_waits_when_a_limit_is_reached(make: Make):
    runtime = make([say("one")], [say("unreached")], max_turns=1)
    run = runtime.prompt("go")
    runtime.follow_up("later")
    await run
    assert runtime.reached_limit == "max_turns"
    assert len(runtime.agent.follow_up_queue) == 1
    assert answers(runtime) == 1


async def test_a_latecomer_waits_when_a_limit_is_reached(make: Make):
    runtime = make([say("one")], [say("unreached")], max_turns=1)

    def listen(event: Any, signal: Any) -> None:
        if word(event) == "agent_end":
            runtime.steer("late")

    runtime.subscribe(listen)
    await runtime.prompt("go")
    assert (runtime.reached_limit, answers(runtime)) == ("max_turns", 1)


async def test_the_time_ends_a_command_and_its_call_is_answered(make: Make):
    runtime = make([call("bash", "a", command="sleep 30")], [say("unreached")], timeout=0.2)
    events = hear(runtime)
    await asyncio.wait_for(runtime.prompt("go"), 5)
    assert runtime.reached_limit == "timeout"
    assert runtime.limit_text == "stopped after 0.2 s, as asked"
    assert runtime.agent.signal.reason == "stopped after 0.2 s, as asked"
    assert [message.role for message in runtime.agent.state.messages] == ["user", "assistant", "toolResult"]
    assert events[-1] == AgentSettledEvent(aborted=True)


async def test_the_time_ends_a_stream_and_what_came_of_it_stays(make: Make):
    runtime = make([say("one two three", chunk=4, delay=0.15)], timeout=0.25)
    await asyncio.wait_for(runtime.prompt("go"), 5)
    assert runtime.reached_limit == "timeout"
    assert said(runtime)[-1] == "assistant: one "
    assert runtime.last_message.error_message == "stopped after 0.2 s, as asked".replace("0.2", "0.25")


async def test_the_time_ends_the_wait_before_a_retry(make: Make):
    runtime = make([fail("overloaded")], settings=Settings(retry=RetrySettings(base_delay=30.0)), timeout=0.1)
    events = hear(runtime)
    await asyncio.wait_for(runtime.prompt("go"), 5)
    assert any(isinstance(event, RetryStartEvent) for event in events)
    assert runtime.reached_limit == "timeout"


async def test_the_time_ends_with_the_prompt(make: Make):
    runtime = make([say("one")], [say("one two", chunk=4, delay=0.1)], timeout=0.15)
    await runtime.prompt("go")
    await asyncio.sleep(0.2)
    assert runtime.reached_limit is None


async def test_a_person_who_stops_first_is_not_the_limit(make: Make):
    runtime = make([call("bash", "a", command="trap '' TERM; sleep 30 & wait")], timeout=0.3)
    events = hear(runtime)
    run = runtime.prompt("go")
    await until(lambda: any(word(event) == "tool_execution_start a" for event in events))
    runtime.abort()
    await run
    assert runtime.reached_limit is None
    assert runtime.agent.signal.reason == "aborted by the user"
