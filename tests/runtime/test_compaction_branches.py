"""Going elsewhere in a session: nothing is lost, and the new branch may be told what happened on the old one."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from agentcli.agent.errors import AgentBusyError, ProviderError, SessionError
from agentcli.agent.messages import BranchSummaryMessage, text_of
from agentcli.config.settings import ProviderSettings
from agentcli.providers.scripted import Step
from agentcli.runtime.events import AgentSettledEvent
from agentcli.runtime.session_choice import SessionChoice
from tests.agent.doubles import call, fail, say
from tests.runtime.conftest import FAST, Make
from tests.runtime.test_runtime import hear, said
from tests.waiting import until


def entry_of(runtime: Any, text: str) -> str:
    for entry in runtime.session.find_entries("message"):
        if text_of(entry.message.content) == text:
            return entry.id
    raise AssertionError(text)


async def test_going_to_a_message_of_the_person_goes_on_before_it_and_gives_its_text(make: Make):
    runtime = make([say("a1")], [say("a2")], [say("a3")])
    await runtime.prompt("q1")
    await runtime.prompt("q2")
    moved = await runtime.go_to(entry_of(runtime, "q2"))
    assert (moved.moved, moved.edit_text) == (True, "q2")
    assert said(runtime) == ["user: q1", "assistant: a1"]
    await runtime.prompt("q2 again")
    assert said(runtime) == ["user: q1", "assistant: a1", "user: q2 again", "assistant: a3"]
    await runtime.go_to(entry_of(runtime, "a2"))
    assert said(runtime) == ["user: q1", "assistant: a1", "user: q2", "assistant: a2"]


async def test_the_place_outlives_the_process(make: Make):
    runtime = make([say("a1")], [say("a2")])
    await runtime.prompt("q1")
    await runtime.prompt("q2")
    await runtime.go_to(entry_of(runtime, "a1"))
    await runtime.close()
    again = make(session=SessionChoice(reference=str(runtime.session.storage.path)))
    assert said(again) == ["user: q1", "assistant: a1"]


async def test_a_branch_that_is_left_can_be_summed_up_for_the_new_one(make: Make):
    runtime = make(
        [say("a1")], [call("write", "w", path="f.txt", content="1")], [say("a2")], [say("what was tried")], [say("a3")]
    )
    await runtime.prompt("q1")
    await runtime.prompt("q2")
    left = runtime.session.leaf_id
    await runtime.go_to(entry_of(runtime, "a1"), summarize=True, instructions="the file")
    request = text_of(runtime.options.stream_fn.requests[-1].messages[0].content)
    assert "[User]: q2" in request and "q1" not in request and "the file" in request
    assert runtime.options.stream_fn.requests[-1].tools == []
    summary = runtime.agent.state.messages[-1]
    assert isinstance(summary, BranchSummaryMessage)
    assert summary.summary == "what was tried\n\n<modified-files>\nf.txt\n</modified-files>"
    (entry,) = runtime.session.find_entries("branch_summary")
    assert (entry.from_id, entry.abandoned_leaf_id) == (entry_of(runtime, "a1"), left)
    await runtime.prompt("q3")
    assert "what was tried" in text_of(runtime.options.stream_fn.requests[-1].messages[2].content)


async def test_a_summary_that_fails_moves_nothing(make: Make):
    runtime = make([say("a1")], [say("a2")], [fail("bad_request", "no")])
    await runtime.prompt("q1")
    await runtime.prompt("q2")
    before, leaf = said(runtime), runtime.session.leaf_id
    events = hear(runtime)
    with pytest.raises(ProviderError):
        await runtime.go_to(entry_of(runtime, "a1"), summarize=True)
    assert events[-1] == AgentSettledEvent(aborted=False)
    assert (said(runtime), runtime.session.leaf_id) == (before, leaf)
    assert not runtime.is_busy


async def test_abort_during_the_summary_moves_nothing(make: Make):
    runtime = make([say("a1")], [say("a2")], [Step(text="sum", delay=30)])
    await runtime.prompt("q1")
    await runtime.prompt("q2")
    before, entries = said(runtime), len(runtime.session.get_entries())
    going = asyncio.ensure_future(runtime.go_to(entry_of(runtime, "a1"), summarize=True))
    await until(lambda: len(runtime.options.stream_fn.requests) == 3)
    runtime.abort()
    assert not (await going).moved
    assert (said(runtime), len(runtime.session.get_entries())) == (before, entries)


async def test_going_elsewhere_during_a_run_ends_it_in_order_and_keeps_it(make: Make):
    runtime = make([say("a1")], [call("bash", "c", command="sleep 30")], [say("a3")])
    await runtime.prompt("q1")
    run = runtime.prompt("q2")
    await until(lambda: runtime.agent.state.pending_tool_calls)
    await runtime.go_to(entry_of(runtime, "a1"))
    await run
    kept = [entry.message.role for entry in runtime.session.find_entries("message")]
    assert kept[:5] == ["user", "assistant", "user", "assistant", "toolResult"]
    assert said(runtime) == ["user: q1", "assistant: a1"]
    await runtime.prompt("q3")
    assert said(runtime)[-2:] == ["user: q3", "assistant: a3"]


async def test_a_place_that_is_not_there_is_refused(make: Make):
    runtime = make([say("a1")])
    await runtime.prompt("q1")
    with pytest.raises(SessionError):
        await runtime.go_to("nowhere")
    assert said(runtime) == ["user: q1", "assistant: a1"]


async def test_model_and_thinking_level_are_those_of_the_place_also_after_a_restart(make: Make):
    thinking = replace(
        FAST,
        providers={"x": ProviderSettings(base_url="http://127.0.0.1:9/v1")},
        models={"x/one": {"reasoning": True}, "x/two": {"reasoning": True}},
    )
    runtime = make([say("a1")], [say("a2")], settings=thinking, model="x/one:low")
    state = runtime.agent.state
    await runtime.prompt("q1")
    state.model, state.thinking_level = runtime.catalog.resolve("x/two:high", has_key=lambda provider: True)
    await runtime.prompt("q2")
    await runtime.go_to(entry_of(runtime, "a1"))
    assert (state.model.id, state.thinking_level) == ("one", "low")
    await runtime.close()
    again = make(settings=thinking, session=SessionChoice(reference=str(runtime.session.storage.path)))
    assert (again.agent.state.model.id, again.agent.state.thinking_level) == ("one", "low")
    await again.go_to(entry_of(again, "a2"))
    assert (again.agent.state.model.id, again.agent.state.thinking_level) == ("two", "high")


async def test_opening_a_session_again_writes_nothing_until_something_is_said(make: Make):
    runtime = make([say("a1")])
    await runtime.prompt("q1")
    await runtime.close()
    path = runtime.session.storage.path
    before = path.read_bytes()
    again = make([say("a2")], session=SessionChoice(reference=str(path)))
    await again.close()
    assert path.read_bytes() == before
    third = make([say("a2")], session=SessionChoice(reference=str(path)))
    await third.prompt("q2")
    types = [entry.__struct_config__.tag for entry in third.session.get_entries()]
    assert types.count("model_change") == types.count("thinking_level_change") == 1


async def test_a_full_disk_is_told_once_and_what_was_said_meanwhile_is_kept_when_there_is_space(
    make: Make, monkeypatch: pytest.MonkeyPatch
):
    from agentcli.runtime.events import NoticeEvent

    runtime = make([say("a1")], [say("a2")], [say("a3")])
    await runtime.prompt("q1")
    storage = runtime.session.storage
    put = storage._put

    def refuse(line: bytes) -> None:
        raise OSError(28, "No space left on device")

    notices: list[str] = []
    runtime.subscribe(lambda event, signal: notices.append(event.text) if isinstance(event, NoticeEvent) else None)
    monkeypatch.setattr(storage, "_put", refuse)
    await runtime.prompt("q2")
    assert said(runtime)[-2:] == ["user: q2", "assistant: a2"]
    assert len(notices) == 1 and "No space left" in notices[0]
    monkeypatch.setattr(storage, "_put", put)
    await runtime.prompt("q3")
    stored = [text_of(message.content) for message in runtime.session.build_context().messages]
    assert stored == ["q1", "a1", "q2", "a2", "q3", "a3"]


async def test_nothing_else_starts_while_a_branch_is_summed_up(make: Make):
    runtime = make([say("a1")], [say("a2")], [Step(text="sum", delay=30)], [say("a3")])
    await runtime.prompt("q1")
    await runtime.prompt("q2")
    going = asyncio.ensure_future(runtime.go_to(entry_of(runtime, "a1"), summarize=True))
    await until(lambda: len(runtime.options.stream_fn.requests) == 3)
    with pytest.raises(AgentBusyError):
        runtime.prompt("q3")
    elsewhere = await runtime.go_to(entry_of(runtime, "a1"))
    assert not (await going).moved and elsewhere.moved
    assert said(runtime) == ["user: q1", "assistant: a1"]
