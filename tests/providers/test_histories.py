"""Any history, made by any models, is accepted by any wire API's strict server, and begins as the one before it did."""

import itertools
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.context import StreamOptions
from agentcli.agent.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user_message,
)
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.providers.anthropic import messages_body as anthropic_messages_body
from agentcli.providers.catalog.compat import compat_of
from agentcli.providers.history import MAX_HISTORIES, RequestCache
from agentcli.providers.openai import completions_body as openai_completions_body
from agentcli.providers.openai import responses_body as openai_responses_body
from agentcli.providers.wire_json import to_json
from tests.fake_server.strict import refusal_of
from tests.providers.support import ENDPOINTS, context_of, model_of, tool_of

MODELS = [
    model_of("anthropic-messages", id="model-a"),
    model_of("anthropic-messages", id="model-text-only", input=["text"]),
    model_of("openai-completions", id="model-b"),
    model_of("openai-completions", id="mistral-x", compat={"tool_call_ids": "mistral", "assistant_after_tool": True}),
    model_of("openai-completions", id="needs-reasoning", compat={"send_reasoning": True, "require_reasoning": True}),
    model_of("openai-completions", id="text-only", input=["text"], compat={"empty_content": "omit"}),
    model_of("openai-responses", id="model-c"),
    model_of("openai-responses", id="model-text-only", input=["text"], reasoning=False),
]
MARKS = {"anthropic-messages": "SIG", "openai-completions": "reasoning_content", "openai-responses": "ENC"}
BODIES = {
    "anthropic-messages": anthropic_messages_body.request_body,
    "openai-completions": openai_completions_body.request_body,
    "openai-responses": openai_responses_body.request_body,
}


def body_of(
    model: Model, messages: list[Message], histories: RequestCache | None = None, **options: Any
) -> dict[str, Any]:
    """The JSON that the server reads."""
    context = context_of(*messages, tools=[tool_of("read"), tool_of("my.tool")])
    body = BODIES[model.api](model, context, StreamOptions(**options), compat_of(model), histories or RequestCache())
    return msgspec.json.decode(to_json(body))


def signature_of(model: Model, number: int) -> str:
    """What a server of this model's API gives a thinking block, as the decoder keeps it."""
    if model.api == "openai-responses":
        item = {
            "type": "reasoning",
            "id": f"rs_{number}",
            "summary": [],
            "encrypted_content": f"ENC-{model.id}-{number}",
        }
        return msgspec.json.encode(item).decode()
    return f"SIG-{model.id}-{number}" if model.api == "anthropic-messages" else "reasoning_content"


texts = st.sampled_from(["", " ", "\n", "text", "é💩", "\ud83d", "a\0b", "  x  "])
ids = st.sampled_from(["", "call_0", "call_1", "toolu_9", "functions.bash:0", "call_1|fc_2", "a" * 120, "Abcdefgh9"])
names = st.sampled_from(["read", "browser.tabs.open", "", "ls -la && echo x", "n" * 80])
arguments = st.dictionaries(texts, st.one_of(texts, st.integers(0, 9), st.lists(texts, max_size=2)), max_size=2)
images = st.just(ImageContent("aW1n", "image/png"))
contents = st.lists(st.one_of(texts.map(TextContent), images), max_size=3)
ODD_SIGNATURES = st.sampled_from([None, "", "x", "{", "[]", '{"a":1}', '{"reasoning_details":[]}'])
"""Such as another program may have left in a session."""
numbers = st.builds(next, st.just(itertools.count()))


@st.composite
def assistant_messages(draw: st.DrawFn) -> AssistantMessage:
    model = draw(st.sampled_from(MODELS))
    blocks: list[Any] = []
    for kind in draw(st.lists(st.sampled_from("tktcr"), max_size=4)):
        match kind:
            case "k":
                odd = draw(ODD_SIGNATURES) if model.api != "anthropic-messages" and draw(st.booleans()) else None
                blocks.append(ThinkingContent(draw(texts), odd or signature_of(model, draw(numbers))))
            case "r":
                blocks.append(ThinkingContent("", signature_of(model, draw(numbers)), redacted=True))
            case "c":
                signature = f"fc_{draw(numbers)}" if model.api == "openai-responses" else draw(ODD_SIGNATURES)
                blocks.append(ToolCall(draw(ids), draw(names), draw(arguments), signature=signature))
            case _:
                own = model.api == "openai-responses" and draw(st.booleans())
                signature = f'{{"id":"msg_{draw(numbers)}"}}' if own else draw(ODD_SIGNATURES)
                blocks.append(TextContent(draw(texts), signature))
    stop = draw(st.sampled_from([StopReason.DONE, StopReason.TOOL_CALLS, StopReason.LENGTH, *list(StopReason)]))
    return AssistantMessage(blocks, model.api, model.provider, model.id, stop_reason=stop)


results = st.builds(ToolResultMessage, tool_call_id=ids, tool_name=names, content=contents, is_error=st.booleans())
histories = st.lists(st.one_of(st.builds(UserMessage, content=contents), assistant_messages(), results), max_size=10)


@given(
    histories, st.sampled_from(MODELS), st.sampled_from(list(ThinkingLevel)), st.sampled_from(["none", "short", "long"])
)
def test_any_history_is_accepted_by_any_server(
    history: list[Message], model: Model, level: ThinkingLevel, retention: str
) -> None:
    prompt = user_message("go on")
    body = body_of(
        model, [*history, prompt], reasoning=level, cache_retention=retention, session_id="s", temperature=0.5
    )
    assert refusal_of(ENDPOINTS[model.api], body) == ""


@given(histories, st.sampled_from(MODELS), histories)
def test_a_longer_history_begins_with_the_same_bytes(history: list[Message], model: Model, more: list[Message]) -> None:
    first = [user_message("begin"), *history, user_message("go on")]
    new: list[Message] = [message for message in more if not isinstance(message, ToolResultMessage)]
    before, after = (
        _messages(body_of(model, messages, cache_retention="none")) for messages in (first, [*first, *new])
    )
    assert after.startswith(before)


def _messages(body: dict[str, Any]) -> bytes:
    """The history in a body, without the bracket at its end."""
    return msgspec.json.encode(body.get("messages", body.get("input")))[:-1]


def test_the_whole_head_of_two_requests_is_the_same() -> None:
    for model in MODELS:
        history: list[Message] = [user_message("one")]
        before = body_of(model, history, session_id="s")
        after = body_of(model, [*history, AssistantMessage([TextContent("a")]), user_message("two")], session_id="s")
        heads = [{k: v for k, v in body.items() if k not in ("messages", "input")} for body in (before, after)]
        assert msgspec.json.encode(heads[0]) == msgspec.json.encode(heads[1])


@given(st.lists(st.tuples(histories, st.integers(0, 3), st.sampled_from(["a", "b"])), max_size=5), st.data())
def test_what_is_remembered_changes_no_request(steps: list[Any], data: st.DataObject) -> None:
    """Requests of two sessions that grow, shrink and change models are the same with a memory and without."""
    remembered = RequestCache()
    conversations: dict[str, list[Message]] = {"a": [], "b": []}
    model = data.draw(st.sampled_from(MODELS))
    for more, cut, session in steps:
        conversation = conversations[session]
        if cut == 1:
            del conversation[len(conversation) // 2 :]
        elif cut == 2:
            model = data.draw(st.sampled_from(MODELS))
        conversation += [user_message("go on"), *more]
        options: dict[str, Any] = {
            "session_id": session,
            "cache_retention": data.draw(st.sampled_from(["none", "short"])),
        }
        assert body_of(model, conversation, remembered, **options) == body_of(model, conversation, **options)


def test_few_histories_are_remembered() -> None:
    remembered = RequestCache()
    for number in range(10):
        body_of(MODELS[0], [user_message("hi")], remembered, session_id=str(number))
    assert len(remembered._histories) == MAX_HISTORIES
