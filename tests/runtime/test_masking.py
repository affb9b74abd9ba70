"""Keys that are known are in nothing that a runtime stores, sends or tells."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.assistant_events import TextDeltaEvent, ThinkingDeltaEvent
from agentcli.agent.errors import ToolError
from agentcli.agent.events import MessageUpdateEvent
from agentcli.agent.messages import TextContent
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.config.masking import MASK, remember_key
from agentcli.config.settings import ProviderSettings, Settings
from agentcli.providers.scripted import Step
from agentcli.runtime.masking import masked_tool
from tests.agent.doubles import call, fail, say
from tests.runtime.conftest import Make

KEY = "sk-CANARY-1234567890"


@pytest.fixture(autouse=True)
def known_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def everything(runtime: Any, heard: list[Any], folder: Path) -> str:
    files = "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())
    requests = str(runtime.options.stream_fn.requests)
    return files + requests + "".join(repr(event) for event in heard) + repr(runtime.agent.state.messages)


async def test_a_key_that_a_tool_prints_goes_nowhere(make: Make, tmp_path: Path):
    command = f"for i in 1 2 3; do echo {KEY[:9]}''{KEY[9:]}; sleep 0.2; done; exit 3"
    runtime = make([call("bash", "a", command=command)], [say("ok")])
    heard: list[Any] = []
    runtime.subscribe(lambda event, signal: heard.append(event))
    await runtime.prompt("go")
    text = everything(runtime, heard, tmp_path / "home")
    assert KEY not in text
    assert MASK in text


async def test_a_key_that_the_person_types_or_a_server_says_is_not_stored(make: Make, tmp_path: Path):
    runtime = make([say(f"your key is {KEY}")], [fail("auth", f"wrong key {KEY}")])
    await runtime.prompt(f"my key is {KEY}")
    await runtime.prompt("again")
    stored = "".join(path.read_text() for path in (tmp_path / "home").rglob("*.jsonl"))
    assert "CANARY" not in stored
    assert stored.count(MASK) >= 3
    assert MASK in (runtime.last_message.error_message or "")


@pytest.mark.parametrize("chunk", [1, 3, 7])
@pytest.mark.parametrize("end", ["done", "error", "aborted"])
async def test_a_key_in_pieces_is_in_no_event(end: str, chunk: int, make: Make):
    said = f"it is {KEY}, or {KEY[:5]}"
    last = [fail("bad_request", "no")] if end == "error" else []
    runtime = make([Step(thinking=said, chunk=chunk), say(said, chunk=chunk), *last], [say("ok")])
    received: list[Any] = []

    def listen(event: Any, signal: Any) -> None:
        received.append(event)
        if end == "aborted" and "or" in shown(received, TextDeltaEvent):
            runtime.abort()

    runtime.subscribe(listen)
    await runtime.prompt("go")
    for kind in (TextDeltaEvent, ThinkingDeltaEvent):
        text = shown(received, kind)
        assert text.startswith(f"it is {MASK}, or")
        assert end == "aborted" or text == said.replace(KEY, MASK)
    without_partial = [event for event in received if not isinstance(event, MessageUpdateEvent)]
    assert KEY not in repr(without_partial)
    assert KEY not in repr(
        [event.assistant_message_event for event in received if isinstance(event, MessageUpdateEvent)]
    )
    assert KEY not in repr(runtime.agent.state.messages)
    await runtime.prompt("again")
    assert KEY not in str(runtime.options.stream_fn.requests)


def shown(events: list[Any], kind: type[Any]) -> str:
    """The text of all deltas of a kind."""
    updates = [event.assistant_message_event for event in events if isinstance(event, MessageUpdateEvent)]
    return "".join(update.delta for update in updates if isinstance(update, kind))


async def test_steering_is_masked_too(make: Make):
    runtime = make([say("ok")])
    runtime.steer(f"use {KEY}")
    assert KEY not in repr(runtime.agent.steering_queue.items)
    runtime.agent.clear_all_queues()


async def test_secret_headers_and_passwords_in_the_settings_are_known(make: Make):
    provider = ProviderSettings(
        base_url="https://u:pw-CANARY-2@host/v1",
        headers={"Authorization": "Bearer tok-CANARY-3", "X-Team": "blue-team-x"},
    )
    command = "echo pw-CANA''RY-2 tok-CANA''RY-3 blue-team-x"
    runtime = make([call("bash", "a", command=command)], [say("ok")], settings=Settings(providers={"mine": provider}))
    await runtime.prompt("go")
    (result,) = [message for message in runtime.agent.state.messages if message.role == "toolResult"]
    assert "CANARY" not in repr(result)
    assert "blue-team-x" in repr(result)


async def test_the_error_of_a_tool_is_masked_and_stays_the_tools_own_otherwise():
    remember_key(KEY)

    def failing(text: str) -> AgentTool:
        async def execute(*arguments: Any) -> AgentToolResult:
            raise ValueError(text)

        return masked_tool(AgentTool(name="t", description="", parameters={}, execute=execute))

    with pytest.raises(ToolError) as masked:
        await failing(f"it said {KEY}").execute("1", {}, None)
    assert str(masked.value) == f"it said {MASK}"
    with pytest.raises(ValueError, match="plain"):
        await failing("plain").execute("1", {}, None)


async def test_updates_are_masked_before_anybody_sees_them():
    remember_key(KEY)
    seen: list[AgentToolResult] = []

    async def execute(id: str, params: Any, signal: Any, on_update: Any, context: Any) -> AgentToolResult:
        on_update(AgentToolResult(content=[TextContent(KEY)], details={"line": KEY}))
        await asyncio.sleep(0)
        return AgentToolResult(content=[TextContent("done")])

    tool = masked_tool(AgentTool(name="t", description="", parameters={}, execute=execute))
    await tool.execute("1", {}, None, seen.append, None)
    assert seen == [AgentToolResult(content=[TextContent(MASK)], details={"line": MASK})]
