"""Tool calls: the way of one call, and how the calls of one message go side by side."""

import asyncio
from typing import Any

import pytest
from msgspec import Struct

from agentcli.agent.events import ToolExecutionEndEvent, ToolExecutionUpdateEvent
from agentcli.agent.hooks import AfterToolCallContext, AfterToolCallResult, BeforeToolCallContext, BeforeToolCallResult
from agentcli.agent.messages import ToolResultMessage, text_of
from tests.agent.doubles import agent, call, raw_call, record, say, scripted, sleeper, text_result, texts, tool

NEEDS_PATH = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["path"],
}


def results(subject: Any) -> list[ToolResultMessage]:
    return [message for message in subject.state.messages if isinstance(message, ToolResultMessage)]


async def test_an_unknown_tool_is_an_error_result_that_names_the_tools():
    subject = agent(scripted([call("nope", "a")], [say("sorry")]), tool("read"), tool("bash"))
    await subject.prompt("hi")
    assert "'nope'" in text_of(results(subject)[0].content)
    assert "read, bash" in text_of(results(subject)[0].content)
    assert texts(subject)[-1] == "assistant: sorry"


async def test_invalid_arguments_are_told_with_every_error_and_its_path():
    ran: list[Any] = []
    subject = agent(
        scripted([call("read", "a", limit="many")], [say("ok")]),
        tool("read", lambda *arguments: ran.append(arguments), parameters=NEEDS_PATH),
    )
    await subject.prompt("hi")
    text = text_of(results(subject)[0].content)
    assert "$.limit: expected integer, got string" in text
    assert "$: missing required field `path`" in text
    assert ran == []


async def test_arguments_are_converted_where_that_is_safe():
    seen: list[Any] = []

    async def read(id: str, params: Any, *rest: Any):
        seen.append(params)
        return text_result("ok")

    subject = agent(
        scripted([call("read", "a", path="x", limit="5")], [say("ok")]), tool("read", read, parameters=NEEDS_PATH)
    )
    await subject.prompt("hi")
    assert seen == [{"path": "x", "limit": 5}]


@pytest.mark.parametrize("text", ['{"path": "x"', '["x"]', '{"path": "x"} and more', "nonsense", '{"path": 1e400}'])
async def test_arguments_that_are_not_one_whole_object_never_run_and_are_quoted(text: str):
    ran: list[Any] = []
    subject = agent(scripted([raw_call("read", "a", text)], [say("ok")]), tool("read", lambda *a: ran.append(a)))
    await subject.prompt("hi")
    assert text in text_of(results(subject)[0].content)
    assert results(subject)[0].is_error
    assert ran == []


async def test_prepare_arguments_runs_before_validation_and_the_policy_sees_what_will_run():
    seen: list[Any] = []

    async def before(hook: BeforeToolCallContext, signal: Any) -> None:
        seen.append(hook.args)

    def rename(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"path": arguments["file"]}

    subject = agent(
        scripted([call("read", "a", file="x")], [say("ok")]),
        tool("read", parameters=NEEDS_PATH, prepare_arguments=rename),
        before_tool_call=before,
    )
    await subject.prompt("hi")
    assert seen == [{"path": "x"}]
    assert texts(subject)[2] == "toolResult: read x"


async def test_prepare_arguments_that_raises_is_an_error_result():
    def broken(arguments: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("file")

    subject = agent(scripted([call("read", "a")], [say("ok")]), tool("read", prepare_arguments=broken))
    await subject.prompt("hi")
    assert results(subject)[0].is_error


async def test_a_blocked_call_does_not_run_and_its_reason_reaches_the_model():
    async def no_bash(hook: BeforeToolCallContext, signal: Any) -> BeforeToolCallResult | None:
        return BeforeToolCallResult(block=True, reason="no commands here") if hook.tool_call.name == "bash" else None

    subject = agent(
        scripted([call("bash", "a"), call("read", "b")], [say("ok")]),
        tool("bash"),
        tool("read"),
        before_tool_call=no_bash,
    )
    words = record(subject)
    await subject.prompt("hi")
    assert texts(subject)[2:4] == ["toolResult: no commands here", "toolResult: read"]
    assert [result.is_error for result in results(subject)] == [True, False]
    assert words.index("tool_execution_end a") < words.index("tool_execution_start b")


async def test_a_policy_that_raises_blocks_the_call():
    ran: list[Any] = []

    def broken(hook: Any, signal: Any) -> None:
        raise RuntimeError("policy is down")

    subject = agent(
        scripted([call("bash", "a")], [say("ok")]), tool("bash", lambda *a: ran.append(a)), before_tool_call=broken
    )
    await subject.prompt("hi")
    assert "policy is down" in text_of(results(subject)[0].content)
    assert results(subject)[0].is_error
    assert ran == []


async def test_preflight_goes_in_source_order_before_any_call_runs():
    order: list[str] = []

    async def before(hook: BeforeToolCallContext, signal: Any) -> None:
        await asyncio.sleep(0.01 if hook.tool_call.id == "a" else 0)
        order.append(f"asked {hook.tool_call.id}")

    async def run(id: str, *rest: Any):
        order.append(f"ran {id}")
        return text_result("ok")

    subject = agent(scripted([call("t", "a"), call("t", "b")], [say("ok")]), tool("t", run), before_tool_call=before)
    await subject.prompt("hi")
    assert order == ["asked a", "asked b", "ran a", "ran b"]


async def test_allowed_calls_run_at_the_same_time():
    running = 0
    most = 0

    async def together(*arguments: Any):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return text_result("ok")

    subject = agent(scripted([call("t", "a"), call("t", "b"), call("t", "c")], [say("ok")]), tool("t", together))
    await subject.prompt("hi")
    assert most == 3


async def test_ends_come_as_calls_finish_and_results_in_the_order_of_the_calls():
    async def failing(*arguments: Any):
        raise ValueError("exit 3")

    stream = scripted([call("slow", "a"), call("fails", "b"), call("fast", "c")], [say("ok")])
    subject = agent(stream, sleeper("slow", 0.05), tool("fails", failing), sleeper("fast", 0.01))
    words = record(subject)
    await subject.prompt("hi")
    ends = [word for word in words if word.startswith("tool_execution_end")]
    assert ends == ["tool_execution_end b", "tool_execution_end c", "tool_execution_end a"]
    assert texts(subject)[2:5] == ["toolResult: slow", "toolResult: exit 3", "toolResult: fast"]
    assert [result.is_error for result in results(subject)] == [False, True, False]
    assert words.index("tool_execution_end a") < words.index("message_start toolResult")


async def test_updates_are_shown_until_the_end_and_dropped_after_it():
    late: list[Any] = []

    async def counting(id: str, params: Any, signal: Any, on_update: Any, context: Any):
        on_update(text_result("1"))
        await asyncio.sleep(0)
        on_update(text_result("2"))
        late.append(on_update)
        return text_result("done")

    subject = agent(
        scripted([call("t", "a"), call("slow", "b")], [say("ok")]), tool("t", counting), sleeper("slow", 0.03)
    )
    seen: list[str] = []

    def listen(event: Any, signal: Any) -> None:
        if isinstance(event, ToolExecutionUpdateEvent):
            seen.append(text_of(event.partial_result.content))
        elif isinstance(event, ToolExecutionEndEvent) and event.tool_call_id == "a":
            late[0](text_result("too late"))

    subject.subscribe(listen)
    await subject.prompt("hi")
    assert seen == ["1", "2"]


async def test_the_after_hook_can_change_each_part_of_a_result():
    async def after(hook: AfterToolCallContext, signal: Any) -> AfterToolCallResult:
        assert (hook.args, hook.is_error, text_of(hook.result.content)) == ({"path": "x"}, False, "read x")
        return AfterToolCallResult(content=text_result("masked").content, details={"n": 1}, is_error=True)

    subject = agent(scripted([call("read", "a", path="x")], [say("ok")]), tool("read"), after_tool_call=after)
    await subject.prompt("hi")
    result = results(subject)[0]
    assert (text_of(result.content), result.details, result.is_error) == ("masked", {"n": 1}, True)


async def test_an_after_hook_that_raises_makes_an_error_result_and_leaves_siblings_alone():
    def broken(hook: AfterToolCallContext, signal: Any) -> None:
        if hook.tool_call.id == "a":
            raise RuntimeError("hook is down")

    subject = agent(scripted([call("read", "a"), call("read", "b")], [say("ok")]), tool("read"), after_tool_call=broken)
    await subject.prompt("hi")
    assert "hook is down" in text_of(results(subject)[0].content)
    assert [result.is_error for result in results(subject)] == [True, False]


async def test_a_tool_may_be_sync_and_must_give_a_result():
    subject = agent(
        scripted([call("sync", "a"), call("odd", "b")], [say("ok")]),
        tool("sync", lambda *arguments: text_result("fine")),
        tool("odd", lambda *arguments: "just text"),
    )
    await subject.prompt("hi")
    assert text_of(results(subject)[0].content) == "fine"
    assert "AgentToolResult" in text_of(results(subject)[1].content)


async def test_details_are_plain_data_in_the_transcript():
    class Details(Struct):
        lines: int

    subject = agent(
        scripted([call("t", "a")], [say("ok")]), tool("t", lambda *arguments: text_result("ok", details=Details(3)))
    )
    await subject.prompt("hi")
    assert results(subject)[0].details == {"lines": 3}


async def test_a_tool_gets_its_call_id_and_the_context_of_the_turn():
    seen: list[Any] = []

    async def look(id: str, params: Any, signal: Any, on_update: Any, context: Any):
        seen.append((id, context.system_prompt, [message.role for message in context.messages]))
        return text_result("ok")

    await agent(scripted([call("t", "a")], [say("ok")]), tool("t", look)).prompt("hi")
    assert seen == [("a", "be good", ["user", "assistant"])]


def ordered_tools(order: list[str]) -> list[Any]:
    """`look` may run beside others, `change` runs alone; both note when they begin and end."""

    async def run(id: str, *rest: Any):
        order.append(f"{id} begins")
        await asyncio.sleep(0.01)
        order.append(f"{id} ends")
        return text_result(id)

    return [tool("look", run), tool("change", run, execution_mode="exclusive")]


async def test_calls_that_look_run_together_and_one_that_changes_runs_alone_in_its_place():
    order: list[str] = []
    calls = [call("look", "r1"), call("look", "r2"), call("change", "w1"), call("change", "w2"), call("look", "r3")]
    subject = agent(scripted(calls, [say("ok")]), *ordered_tools(order))
    words = record(subject)
    await subject.prompt("hi")
    assert order == [
        "r1 begins", "r2 begins", "r1 ends", "r2 ends",
        "w1 begins", "w1 ends", "w2 begins", "w2 ends",
        "r3 begins", "r3 ends",
    ]  # fmt: skip
    assert [result.tool_call_id for result in results(subject)] == ["r1", "r2", "w1", "w2", "r3"]
    starts = [index for index, word in enumerate(words) if word.startswith("tool_execution_start")]
    ends = [index for index, word in enumerate(words) if word.startswith("tool_execution_end")]
    assert len(starts) == len(ends) == 5
    assert max(starts) < min(ends)
    assert max(ends) < words.index("message_start toolResult")


async def test_an_exclusive_call_that_fails_or_is_blocked_does_not_stop_those_after_it():
    async def failing(*arguments: Any):
        raise ValueError("exit 3")

    async def no_b(hook: BeforeToolCallContext, signal: Any) -> BeforeToolCallResult | None:
        return BeforeToolCallResult(block=True, reason="no") if hook.tool_call.id == "b" else None

    fails = tool("fails", failing, execution_mode="exclusive")
    stream = scripted([call("fails", "a"), call("fails", "b"), call("look", "c")], [say("ok")])
    subject = agent(stream, fails, *ordered_tools([]), before_tool_call=no_b)
    await subject.prompt("hi")
    assert texts(subject)[2:5] == ["toolResult: exit 3", "toolResult: no", "toolResult: c"]


async def test_the_agent_can_make_every_tool_exclusive_that_says_nothing_of_its_own():
    order: list[str] = []
    stream = scripted([call("look", "a"), call("look", "b")], [say("ok")])
    subject = agent(stream, *ordered_tools(order), tool_execution="exclusive")
    await subject.prompt("hi")
    assert order == ["a begins", "a ends", "b begins", "b ends"]
