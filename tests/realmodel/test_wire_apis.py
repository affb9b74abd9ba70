"""A real model answers through all three wire APIs: streams, usage, abort, errors, and two requests at once."""

import asyncio
from typing import Any

import pytest

from agentcli.agent.agent import Agent, AgentState
from agentcli.agent.assistant_events import AssistantMessageEvent, DoneEvent, StartEvent, TextDeltaEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import AuthError, ContextOverflowError
from agentcli.agent.events import MessageUpdateEvent
from agentcli.agent.loop_config import AgentConfig
from agentcli.agent.messages import AssistantMessage, Message, StopReason, TextContent, text_of, user_message
from agentcli.agent.models import Model, Provider
from agentcli.providers.catalog.discovery import discover
from agentcli.providers.stream_client import StreamClient
from tests.realmodel.server import API_KEY, BASE_URLS, Server

pytestmark = pytest.mark.parametrize("api", BASE_URLS)

QUESTION = "hi"
ENDLESS = {"extra_body": {"ignore_eos": True}}
"""The model does not end by itself. Where the server does not pass it on (messages), a story is long enough."""

STORY = "Tell a long story."


async def ask(model: Model, *messages: Message, system: str = "", **options: Any) -> list[AssistantMessageEvent]:
    client = StreamClient()
    options = {"api_key": API_KEY, "temperature": 0.0, "max_tokens": 48, **options}
    try:
        context = Context(system, list(messages) or [user_message(QUESTION)])
        return [event async for event in client(model, context, StreamOptions(**options))]
    finally:
        await client.aclose()


def answer_of(events: list[AssistantMessageEvent]) -> AssistantMessage:
    last = events[-1]
    assert isinstance(last, DoneEvent)
    return last.message


async def test_an_answer_streams_with_its_usage(smollm2: Server, api: str) -> None:
    events = await ask(smollm2.as_model(api))
    message = answer_of(events)
    deltas = [event.delta for event in events if isinstance(event, TextDeltaEvent)]
    assert isinstance(events[0], StartEvent)
    assert len(deltas) > 2
    assert "".join(deltas) == text_of(message.content)
    assert message.stop_reason is StopReason.DONE
    usage = message.usage
    assert usage.input > 10
    assert usage.output >= len(deltas) - 1
    assert usage.total_tokens == usage.input + usage.output + usage.cache_read


async def test_an_answer_at_its_limit_says_so(smollm2: Server, api: str) -> None:
    message = answer_of(await ask(smollm2.as_model(api, compat=ENDLESS), user_message(STORY), max_tokens=16))
    # This server calls the answer complete in the Responses API, and gives no sign that it is not.
    expected = StopReason.DONE if api == "openai-responses" else StopReason.LENGTH
    assert message.stop_reason is expected
    assert message.usage.output == 16


async def test_the_wire_apis_put_the_same_conversation_before_the_model(smollm2: Server, api: str) -> None:
    """So they get the same words: same system prompt, same turns, same order."""
    said = AssistantMessage([TextContent("The capital is Paris.")], stop_reason=StopReason.DONE)
    messages = [user_message("Name a capital."), said, user_message("And which country is it in?")]
    system = "You answer in one short sentence."
    reference, other = [
        answer_of(await ask(smollm2.as_model(name), *messages, system=system)) for name in ("openai-completions", api)
    ]
    assert text_of(other.content) == text_of(reference.content)
    assert other.usage.input == reference.usage.input


async def test_an_abort_frees_the_slot(smollm2: Server, api: str) -> None:
    client = StreamClient()
    agent = Agent(
        state=AgentState(model=smollm2.as_model(api, compat=ENDLESS)),
        stream_function=client,
        config=AgentConfig(get_api_key=lambda provider: API_KEY, max_tokens=1500),
    )
    busy: list[int] = []

    async def abort_at_the_first_word(event: Any, signal: Any) -> None:
        if isinstance(event, MessageUpdateEvent) and not busy:
            busy.append(await asyncio.to_thread(smollm2.busy_slots))
            agent.abort()

    agent.subscribe(abort_at_the_first_word)
    await agent.prompt(STORY)
    await client.aclose()
    last = agent.state.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.stop_reason is StopReason.ABORTED
    assert text_of(last.content)
    assert busy == [1]
    assert await asyncio.to_thread(smollm2.wait_until_idle, 10)


async def test_a_prompt_longer_than_the_window_is_an_overflow(smollm2: Server, api: str) -> None:
    with pytest.raises(ContextOverflowError) as caught:
        await ask(smollm2.as_model(api), user_message("word " * 4000))
    assert not caught.value.retryable


@pytest.mark.parametrize("key", ["a-wrong-key-123", None])
async def test_a_wrong_key_is_an_auth_error_that_does_not_show_it(smollm2: Server, api: str, key: str | None) -> None:
    with pytest.raises(AuthError) as caught:
        await ask(smollm2.as_model(api), api_key=key)
    assert caught.value.status == 401
    assert "a-wrong-key-123" not in str(caught.value)


async def test_two_requests_at_once_are_both_answered(smollm2: Server, api: str) -> None:
    model = smollm2.as_model(api, compat=ENDLESS)
    client = StreamClient()
    seen: list[str] = []

    async def run(name: str) -> AssistantMessage:
        options = StreamOptions(api_key=API_KEY, temperature=0.0, max_tokens=32)
        events: list[AssistantMessageEvent] = []
        async for event in client(model, Context("", [user_message(f"Tell a long story about {name}.")]), options):
            events.append(event)
            if isinstance(event, TextDeltaEvent):
                seen.append(name)
        return answer_of(events)

    first, second = await asyncio.gather(run("cats"), run("dogs"))
    await client.aclose()
    assert {message.usage.output for message in (first, second)} == {32}
    assert text_of(first.content) != text_of(second.content)
    assert seen.index("dogs") < len(seen) - 1 - seen[::-1].index("cats"), "they did not overlap"


async def test_discovery_finds_the_server_and_the_window_of_a_request(smollm2: Server, api: str) -> None:
    served = smollm2.as_model(api)
    server = Provider(
        name="llamacpp", api=api, base_url=served.base_url, headers={"authorization": f"Bearer {API_KEY}"}
    )
    (model,) = await discover(timeout_s=10, servers=[server])
    assert (model.id, model.context_window, model.api) == (served.id, served.context_window, api)
