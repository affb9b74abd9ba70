"""Answers are done only when the server said so: finish reasons, statuses, and streams without their end."""

from typing import Any

import pytest

from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import (
    BadResponseError,
    ContextOverflowError,
    NetworkError,
    OverloadedError,
    ProviderError,
    RefusedError,
)
from agentcli.agent.messages import StopReason, text_of
from agentcli.providers.finish_reasons import MEANINGS, stop_reason_of
from tests.providers.support import (
    APIS,
    MESSAGE,
    STOP,
    answered,
    block,
    chat,
    context_of,
    events,
    events_of,
    failed,
    model_of,
    replayed,
)


def ended(api: str, reason: str | None) -> bytes:
    """An answer that says `half`, and ends with this reason as its wire API gives one."""
    match api:
        case "openai-completions":
            return chat({"content": "half"}, {"choices": [{"delta": {}, "finish_reason": reason}]})
        case "anthropic-messages":
            said = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "half"})
            return events(MESSAGE, *said, {"type": "message_delta", "delta": {"stop_reason": reason}}, STOP)
        case _:
            said = {"type": "response.output_text.delta", "output_index": 0, "delta": "half"}
            response = {"status": "incomplete", "incomplete_details": {"reason": reason}}
            return events(said, {"type": "response.incomplete", "response": response})


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("insufficient_system_resource", OverloadedError),
        ("network_error", NetworkError),
        ("network-error", NetworkError),
        ("abort", BadResponseError),
        ("repetition_truncation", BadResponseError),
        ("server_error", OverloadedError),
        ("overloaded", OverloadedError),
        ("upstream_went_away_error", BadResponseError),
        ("MALFORMED_FUNCTION_CALL", BadResponseError),
        ("something new", ProviderError),
        ("pause_turn", ProviderError),
        ("model_context_window_exceeded", ContextOverflowError),
        ("context_length_limit_reached", ContextOverflowError),
        ("SAFETY", RefusedError),
        ("content_filter: HATE", RefusedError),
    ],
)
async def test_a_reason_that_is_no_success_is_an_error_that_quotes_it(
    api: str, reason: str, kind: type[ProviderError]
) -> None:
    error = await failed(api, ended(api, reason))
    assert type(error) is kind
    assert reason in str(error) and "\n" not in str(error)
    assert error.retryable == (kind in (OverloadedError, NetworkError, BadResponseError))


async def test_every_known_reason_is_a_stop_reason_or_an_error() -> None:
    for word, meaning in MEANINGS.items():
        if isinstance(meaning, StopReason):
            assert stop_reason_of(word.upper(), field="f", provider="p") is meaning
        else:
            with pytest.raises(meaning):
                stop_reason_of(word, field="f", provider="p")


def said(text: str, reason: str | None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]}


EVERY = [said("a", "stop"), said("b", "stop"), said("c", "stop")]


@pytest.mark.parametrize(
    ("chunks", "done", "whole"),
    [
        (EVERY, False, False),
        (EVERY, True, True),
        ([said("a", None), said("b", None)], False, False),
        ([said("a", "stop")], False, True),
        ([said("a", None), said("b", "stop")], False, True),
        ([said("a", None), said("", "stop")], False, True),
        ([said("a", "stop"), said("", None), {"choices": [], "usage": {"prompt_tokens": 1}}], False, True),
        ([said("a", "stop"), {"choices": [{"delta": {"reasoning_content": "hm"}}]}], False, False),
    ],
)
async def test_a_finish_reason_with_more_after_it_ends_nothing(chunks: list[Any], done: bool, whole: bool) -> None:
    data = chat(*chunks, done=done)
    if whole:
        assert (await answered("openai-completions", data)).stop_reason is StopReason.DONE
    else:
        error = await failed("openai-completions", data)
        assert isinstance(error, BadResponseError) and "cut off" in str(error)


@pytest.mark.parametrize("api", APIS)
async def test_a_connection_that_breaks_before_the_end_is_no_end(api: str) -> None:
    data = ended(api, "stop").rpartition(b"data: ")[0] if api != "openai-completions" else chat(*EVERY, done=False)
    with pytest.raises(NetworkError):
        await events_of(replayed(data, broken=True), model_of(api))


TEXT = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "a"})
CALL = block(0, {"type": "tool_use", "id": "t", "name": "ls", "input": {}})


@pytest.mark.parametrize(("parts", "whole"), [(TEXT, True), (CALL, True), (CALL[:-1], False), ([], False)])
async def test_a_stop_without_a_reason_ends_only_what_is_whole(parts: list[Any], whole: bool) -> None:
    data = events(MESSAGE, *parts, {"type": "message_delta", "delta": {"stop_reason": None}}, STOP)
    if whole:
        assert (await answered("anthropic-messages", data)).stop_reason in (StopReason.DONE, StopReason.TOOL_CALLS)
    else:
        assert isinstance(await failed("anthropic-messages", data), BadResponseError)


@pytest.mark.parametrize("status", ["failed", "cancelled", "in_progress", "queued", "odd", "incomplete"])
@pytest.mark.parametrize("named", [True, False])
async def test_a_response_is_completed_only_with_that_status(status: str, named: bool) -> None:
    data = events({"type": "response.completed", "response": {"status": status}})
    if named:
        data = b"event: response.completed\n" + data.replace(b'"type": "response.completed", ', b"")
    if status == "incomplete":
        assert (await answered("openai-responses", data)).stop_reason is StopReason.LENGTH
    else:
        await failed("openai-responses", data)


async def test_a_failure_that_only_the_events_name_tells_is_one() -> None:
    await failed("openai-responses", b'event: response.failed\ndata: {"response": {}}\n\n')


async def test_what_came_before_a_bad_end_is_kept() -> None:
    client = replayed(ended("openai-completions", "network_error"))
    seen: list[Any] = []
    with pytest.raises(NetworkError):
        async for event in client(model_of("openai-completions"), context_of(), StreamOptions()):
            seen.append(event)
    assert text_of(seen[0].partial.content) == "half"
