"""Overflow and compaction with a server that is as strict as the real ones."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, text_of
from agentcli.config.settings import CompactionSettings, ProviderSettings, RetrySettings, Settings
from agentcli.runtime.runtime import Runtime, RuntimeOptions
from agentcli.runtime.session_choice import SessionChoice
from tests.fake_server import Call, FakeServer, Reply

OVERFLOW = {
    "error": {
        "message": "This model's maximum context length is 8000 tokens. However, your messages resulted in 9000 tokens.",
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
    }
}
RATE_LIMIT = {"error": {"message": "Rate limit reached: too many tokens per min (TPM)", "type": "tokens"}}
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    b"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
)


@pytest.fixture
async def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_server: FakeServer) -> AsyncIterator[Runtime]:
    monkeypatch.setenv("AGENTCLI_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "dot.png").write_bytes(PNG)
    settings = Settings(
        model="fake/sees",
        retry=RetrySettings(base_delay=0.01),
        compaction=CompactionSettings(keep_recent_tokens=100),
        providers={"fake": ProviderSettings(base_url=f"{fake_server.url}/v1")},
        models={"fake/sees": {"input": ["text", "image"]}},
    )
    runtime = Runtime.create(RuntimeOptions(settings=settings, session=SessionChoice(cwd=folder)))
    yield runtime
    await runtime.close()


def bodies(server: FakeServer) -> list[str]:
    return [str(request.body) for request in server.requests]


async def test_an_overflow_costs_one_summary_and_one_more_request(runtime: Runtime, fake_server: FakeServer):
    fake_server.answer("first answer")
    await runtime.prompt("first question " + "word " * 100)
    fake_server.answer(Reply.error(400, OVERFLOW))
    fake_server.answer("a summary")
    fake_server.answer("the answer")
    await runtime.prompt("the second question")
    _, failed, summary, again = fake_server.requests
    assert "tools" not in summary.body and "tools" in failed.body
    assert "the second question" not in str(summary.body["messages"][0])
    assert str(again.body).count("the second question") == 1
    assert "a summary" in str(again.body)
    assert text_of(runtime.last_message.content) == "the answer"
    assert fake_server.refusals == []


async def test_a_rate_limit_on_tokens_is_no_overflow(runtime: Runtime, fake_server: FakeServer):
    fake_server.answer(Reply.error(429, RATE_LIMIT))
    fake_server.answer("the answer")
    await runtime.prompt("question " + "word " * 100)
    assert len(fake_server.requests) == 2
    assert runtime.session.find_entries("compaction") == []


async def test_a_summary_has_no_image_and_the_session_keeps_it(runtime: Runtime, fake_server: FakeServer):
    fake_server.answer(Call("read", {"path": "dot.png"}))
    fake_server.answer("a dot")
    await runtime.prompt("look at dot.png")
    assert "image_url" in bodies(fake_server)[1]
    fake_server.answer("ok")
    await runtime.prompt("more " + "word " * 100)
    fake_server.answer("the summary")
    end = await runtime.compact()
    assert end is not None and end.summary is not None, end
    assert "image_url" not in bodies(fake_server)[-1] and "[image]" in bodies(fake_server)[-1]
    results = [entry.message for entry in runtime.session.find_entries("message")]
    assert any(block.__class__.__name__ == "ImageContent" for message in results for block in message.content)
    assert fake_server.refusals == []


async def test_the_question_is_on_the_disk_before_the_request_is_sent(runtime: Runtime, fake_server: FakeServer):
    seen: list[Any] = []
    stream = runtime.agent.stream_function

    def looking(*arguments: Any) -> Any:
        path = runtime.session.storage.path
        seen.append(path.read_text().count('"first question"'))
        return stream(*arguments)

    runtime.agent.stream_function = looking
    fake_server.answer("ok")
    await runtime.prompt("first question")
    assert seen == [1]


async def test_a_call_that_a_killed_process_left_open_is_answered_when_the_session_is_compacted(
    runtime: Runtime, fake_server: FakeServer
):
    fake_server.answer("ok")
    await runtime.prompt("first " + "word " * 100)
    runtime.session.append_message(AssistantMessage([TextContent("I try"), ToolCall("c1", "bash", {"command": "x"})]))
    runtime.agent.state.messages = runtime.session.build_context().messages
    fake_server.answer("fine")
    await runtime.prompt("go on " + "word " * 100)
    fake_server.answer("the summary")
    assert (await runtime.compact()).summary is not None
    fake_server.answer("done")
    await runtime.prompt("and now")
    assert fake_server.refusals == []
    results = [entry.message for entry in runtime.session.find_entries("message")]
    assert sum(isinstance(message, ToolResultMessage) for message in results) == 1
