"""What is asked for: thinking, caching, limits, tools and images, per wire API and server (PROV-13, -15, -20, -22, -25)."""

from typing import Any

import pytest

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import ConfigError
from agentcli.agent.messages import (
    TextContent,
    ThinkingContent,
    ToolCall,
    user_message,
)
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.providers.catalog.compat import Compat, compat_of, unknown_compat_keys
from agentcli.providers.history import RequestCache
from tests.providers.support import APIS, BODIES, PNG, assistant, body_of, model_of, result

CHAT, CLAUDE, RESPONSES = (model_of(api) for api in ("openai-completions", "anthropic-messages", "openai-responses"))


def test_the_smallest_chat_request() -> None:
    model = model_of("openai-completions", reasoning=False)
    assert body_of(model, user_message("hi"), tools=()) == {
        "model": "model-a",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_the_smallest_messages_request() -> None:
    assert body_of(CLAUDE, user_message("hi"), tools=(), cache_retention="none") == {
        "model": "model-a",
        "max_tokens": 16384,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "stream": True,
        "system": [{"type": "text", "text": "Be brief."}],
    }


def test_the_smallest_responses_request() -> None:
    model = model_of("openai-responses", reasoning=False)
    assert body_of(model, user_message("hi"), tools=()) == {
        "model": "model-a",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "stream": True,
        "store": False,
        "instructions": "Be brief.",
    }


@pytest.mark.parametrize("model", [CHAT, CLAUDE, RESPONSES], ids=APIS)
def test_a_blank_system_prompt_is_not_sent(model: Model) -> None:
    context = Context(" ", [user_message("hi")])
    body = BODIES[model.api](model, context, StreamOptions(), compat_of(model), RequestCache())
    assert "system" not in str(body)
    assert "instructions" not in body


@pytest.mark.parametrize(
    ("compat", "level", "levels", "fields"),
    [
        ({}, "off", {}, {}),
        ({}, "high", {}, {"reasoning_effort": "high"}),
        ({}, "off", {"off": "none"}, {"reasoning_effort": "none"}),
        ({}, "minimal", {"minimal": None, "low": "low"}, {"reasoning_effort": "low"}),
        ({}, "max", {}, {"reasoning_effort": "high"}),
        ({}, "max", {"max": "max"}, {"reasoning_effort": "max"}),
        ({}, "high", {"high": {"x": 1}}, {"x": 1}),
        ({"thinking_format": "none"}, "high", {}, {}),
        ({"thinking_format": "openrouter"}, "high", {}, {"reasoning": {"effort": "high"}}),
        ({"thinking_format": "openrouter"}, "off", {}, {"reasoning": {"effort": "none"}}),
        ({"thinking_format": "switch"}, "low", {}, {"thinking": {"type": "enabled"}}),
        (
            {"thinking_format": "switch"},
            "high",
            {"high": "max"},
            {"thinking": {"type": "enabled"}, "reasoning_effort": "max"},
        ),
        ({"thinking_format": "switch"}, "off", {}, {"thinking": {"type": "disabled"}}),
        ({"thinking_format": "qwen"}, "low", {}, {"enable_thinking": True}),
        ({"thinking_format": "template"}, "off", {}, {"chat_template_kwargs": {"enable_thinking": False}}),
    ],
)
def test_thinking_levels_of_chat_completions(
    compat: dict[str, Any], level: str, levels: dict[str, Any], fields: dict[str, Any]
) -> None:
    model = model_of("openai-completions", compat=compat, thinking_levels=levels)
    plain = body_of(model_of("openai-completions", reasoning=False))
    assert {k: v for k, v in body_of(model, reasoning=ThinkingLevel(level)).items() if k not in plain} == fields


@pytest.mark.parametrize(
    ("compat", "level", "levels", "fields"),
    [
        ({}, "off", {}, {}),
        ({}, "off", {"off": "disabled"}, {"thinking": {"type": "disabled"}}),
        ({}, "minimal", {}, {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ({}, "high", {}, {"thinking": {"type": "enabled", "budget_tokens": 15360}}),
        ({}, "low", {"low": 4000}, {"thinking": {"type": "enabled", "budget_tokens": 4000}}),
        (
            {},
            "high",
            {"high": "high"},
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}},
        ),
        (
            {"thinking_format": "adaptive"},
            "low",
            {},
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}},
        ),
        ({"thinking_format": "none"}, "low", {}, {}),
        ({}, "low", {"low": {"thinking": {"type": "between_tools"}}}, {"thinking": {"type": "between_tools"}}),
    ],
)
def test_thinking_levels_of_messages(
    compat: dict[str, Any], level: str, levels: dict[str, Any], fields: dict[str, Any]
) -> None:
    model = model_of("anthropic-messages", compat=compat, thinking_levels=levels)
    plain = body_of(CLAUDE)
    assert {k: v for k, v in body_of(model, reasoning=ThinkingLevel(level)).items() if k not in plain} == fields


def test_a_budget_of_the_person_wins_and_leaves_room_for_the_answer() -> None:
    budgets = {"low": 5000, "high": 10**6}
    assert body_of(CLAUDE, reasoning=ThinkingLevel.LOW, thinking_budgets=budgets)["thinking"]["budget_tokens"] == 5000
    body = body_of(CLAUDE, reasoning=ThinkingLevel.HIGH, thinking_budgets=budgets, max_tokens=4000)
    assert body["thinking"]["budget_tokens"] == 4000 - 1024
    assert "thinking" not in body_of(CLAUDE, reasoning=ThinkingLevel.HIGH, max_tokens=1500)


def test_a_temperature_is_not_sent_with_thinking() -> None:
    assert "temperature" not in body_of(CLAUDE, reasoning=ThinkingLevel.LOW, temperature=0.5)
    assert body_of(CLAUDE, temperature=0.5)["temperature"] == 0.5


def test_no_budget_is_asked_for_amid_calls_that_were_made_without_thinking() -> None:
    calls = [user_message("hi"), assistant(CLAUDE, ToolCall("c", "read")), result("c")]
    assert "thinking" not in body_of(CLAUDE, *calls, reasoning=ThinkingLevel.LOW)
    assert "thinking" in body_of(CLAUDE, *calls, user_message("next"), reasoning=ThinkingLevel.LOW)
    thought = assistant(CLAUDE, ThinkingContent("hm", "SIG"), ToolCall("c", "read"))
    assert "thinking" in body_of(CLAUDE, user_message("hi"), thought, result("c"), reasoning=ThinkingLevel.LOW)


@pytest.mark.parametrize(
    ("level", "levels", "fields"),
    [
        ("off", {}, {"include": ["reasoning.encrypted_content"]}),
        ("off", {"off": "none"}, {"include": ["reasoning.encrypted_content"], "reasoning": {"effort": "none"}}),
        (
            "high",
            {},
            {"include": ["reasoning.encrypted_content"], "reasoning": {"effort": "high", "summary": "auto"}},
        ),
    ],
)
def test_thinking_levels_of_responses(level: str, levels: dict[str, Any], fields: dict[str, Any]) -> None:
    model = model_of("openai-responses", thinking_levels=levels)
    plain = body_of(model_of("openai-responses", reasoning=False))
    assert {k: v for k, v in body_of(model, reasoning=ThinkingLevel(level)).items() if k not in plain} == fields


def _marks(value: Any) -> list[Any]:
    if isinstance(value, dict):
        found = [value] if "cache_control" in value else []
        return found + [mark for item in value.values() for mark in _marks(item)]
    return [mark for item in value for mark in _marks(item)] if isinstance(value, list) else []


@pytest.mark.parametrize(
    ("retention", "control"),
    [("short", {"type": "ephemeral"}), (None, {"type": "ephemeral"}), ("long", {"type": "ephemeral", "ttl": "1h"})],
)
def test_breakpoints_are_on_the_system_prompt_the_last_tool_and_the_last_user_message(
    retention: str | None, control: dict[str, Any]
) -> None:
    call = assistant(CLAUDE, ToolCall("a", "read"), ToolCall("b", "read"))
    history = [user_message("hi"), call, result("a"), result("b")]
    body = body_of(CLAUDE, *history, tools=("read", "bash"), cache_retention=retention)
    assert [mark["cache_control"] for mark in _marks(body)] == [control] * 3
    assert body["system"][-1]["cache_control"] == control
    assert body["tools"][-1]["cache_control"] == control
    assert body["messages"][-1]["content"][-1]["cache_control"] == control


def test_no_breakpoints_without_retention() -> None:
    assert not _marks(body_of(CLAUDE, cache_retention="none"))
    assert not _marks(body_of(model_of("anthropic-messages", compat={"cache_control": False})))
    assert not _marks(body_of(CHAT, cache_retention="long"))
    assert len(_marks(body_of(model_of("openai-completions", compat={"cache_control": True})))) == 3


@pytest.mark.parametrize("api", ["openai-completions", "openai-responses"])
def test_a_session_finds_its_cache_where_the_server_knows_the_key(api: str) -> None:
    model = model_of(api, compat={"prompt_cache_key": True, "prompt_cache_retention": True})
    assert body_of(model, session_id="s")["prompt_cache_key"] == "s"
    assert body_of(model, session_id="s", cache_retention="long")["prompt_cache_retention"] == "24h"
    assert "prompt_cache_key" not in body_of(model, session_id="s", cache_retention="none")
    assert "prompt_cache_key" not in body_of(model_of(api), session_id="s")
    assert "prompt_cache_key" not in body_of(model)
    assert body_of(model_of(api, "https://api.openai.com/v1"), session_id="s")["prompt_cache_key"] == "s"


def test_the_output_limit_is_sent_in_the_field_that_the_server_knows() -> None:
    assert body_of(CHAT, max_tokens=99)["max_tokens"] == 99
    assert "max_tokens" not in body_of(CHAT)
    assert body_of(model_of("openai-completions", compat={"always_max_tokens": True}))["max_tokens"] == 16384
    openai = model_of("openai-completions", compat={"max_tokens_field": "max_completion_tokens"})
    assert body_of(openai, max_tokens=99)["max_completion_tokens"] == 99
    assert body_of(RESPONSES, max_tokens=5)["max_output_tokens"] == 16
    assert body_of(CLAUDE, max_tokens=10**9)["max_tokens"] == CLAUDE.max_tokens


def test_thinking_goes_back_under_its_key_to_who_wants_it() -> None:
    keeping = model_of("openai-completions", compat={"send_reasoning": True})
    for thinking in ("hm", ""):
        message = assistant(keeping, ThinkingContent(thinking, "reasoning"), ToolCall("c", "read"))
        sent = body_of(keeping, user_message("hi"), message, result("c"))["messages"][2]
        assert sent["reasoning"] == thinking
        assert "reasoning_content" not in sent
        plain = body_of(CHAT, user_message("hi"), message, result("c"))["messages"][2]
        assert "reasoning" not in plain
        assert "signature" not in plain


def test_thinking_that_was_not_there_is_empty_where_it_must_be() -> None:
    needing = model_of("openai-completions", compat={"send_reasoning": True, "require_reasoning": True})
    for message in (
        assistant(CLAUDE, ThinkingContent("hm", "SIG"), TextContent("a")),
        assistant(needing, TextContent("a")),
    ):
        sent = body_of(needing, user_message("hi"), message, user_message("go on"))["messages"][2]
        assert sent["reasoning_content"] == ""


def test_reasoning_details_go_back_as_they_came() -> None:
    keeping = model_of("openai-completions", compat={"send_reasoning": True})
    signature = '{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}'
    message = assistant(keeping, ThinkingContent("hm", signature), TextContent("a"))
    sent = body_of(keeping, user_message("hi"), message, user_message("go on"))["messages"][2]
    assert sent["reasoning_details"] == [{"type": "reasoning.encrypted", "data": "x"}]
    assert "reasoning" not in sent


@pytest.mark.parametrize(("how", "content"), [("null", None), ("empty", "")])
def test_the_content_of_a_message_with_calls_only(how: str, content: str | None) -> None:
    model = model_of("openai-completions", compat={"empty_content": how})
    sent = body_of(model, user_message("hi"), assistant(model, ToolCall("c", "read")), result("c"))["messages"][2]
    assert sent["content"] == content


def test_the_content_of_a_message_with_calls_only_may_be_left_out() -> None:
    model = model_of("openai-completions", compat={"empty_content": "omit"})
    sent = body_of(model, user_message("hi"), assistant(model, ToolCall("c", "read")), result("c"))["messages"][2]
    assert "content" not in sent


def test_images_of_results_follow_in_a_user_message_or_stay() -> None:
    history = [user_message("hi"), assistant(CHAT, ToolCall("c", "read")), result("c", PNG)]
    messages = body_of(CHAT, *history)["messages"]
    assert [message["role"] for message in messages[2:]] == ["assistant", "tool", "user"]
    assert messages[-1]["content"][1]["image_url"]["url"] == "data:image/png;base64,aW1n"
    inside = model_of("openai-completions", compat={"images_in_tool_results": True})
    assert body_of(inside, *history)["messages"][-1]["content"][1]["type"] == "image_url"
    assert body_of(CLAUDE, *history)["messages"][-1]["content"][0]["content"][1]["type"] == "image"
    assert body_of(RESPONSES, *history)["input"][-1]["output"][1]["type"] == "input_image"


def test_images_of_failed_results_come_after_the_results() -> None:
    calls = assistant(CLAUDE, ToolCall("a", "read"), ToolCall("b", "read"))
    history = [user_message("hi"), calls, result("a", TextContent("no"), PNG, is_error=True), result("b")]
    content = body_of(CLAUDE, *history)["messages"][-1]["content"]
    assert [block["type"] for block in content] == ["tool_result", "tool_result", "image"]
    assert content[0]["is_error"] is True


def test_mistral_gets_what_it_wants() -> None:
    compat = {"tool_call_ids": "mistral", "assistant_after_tool": True, "tool_result_name": True}
    model = model_of("openai-completions", compat=compat)
    history = [user_message("hi"), assistant(model, ToolCall("call_1", "read")), result("call_1"), user_message("go")]
    messages = body_of(model, *history)["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert len(messages[3]["tool_call_id"]) == 9
    assert messages[3]["name"] == "read"


def test_tools_have_a_schema_even_if_they_say_nothing() -> None:
    body = body_of(CHAT)
    assert body["tools"][0]["function"]["parameters"]["type"] == "object"
    assert body_of(CLAUDE)["tools"][0]["input_schema"]["type"] == "object"
    assert body_of(RESPONSES)["tools"][0]["strict"] is False


def test_empty_tools_are_sent_only_where_the_history_needs_them() -> None:
    history = [user_message("hi"), assistant(CHAT, ToolCall("c", "read")), result("c")]
    assert "tools" not in body_of(CHAT, *history, tools=())
    needing = model_of("openai-completions", compat={"tools_with_history": True})
    assert body_of(needing, *history, tools=())["tools"] == []
    assert "tools" not in body_of(needing, user_message("hi"), tools=())


def test_extra_fields_are_merged_last() -> None:
    for api in APIS:
        model = model_of(api, compat={"extra_body": {"stream": False, "provider": {"only": ["x"]}}})
        assert body_of(model)["provider"] == {"only": ["x"]}
        assert body_of(model)["stream"] is False


def test_metadata_names_the_user() -> None:
    assert body_of(CLAUDE, metadata={"user_id": "u", "x": 1})["metadata"] == {"user_id": "u"}


def test_openai_itself_needs_no_configuration() -> None:
    compat = compat_of(model_of("openai-completions", "https://api.openai.com/v1"))
    assert compat.max_tokens_field == "max_completion_tokens"
    assert compat.system_role == "developer"
    told = model_of("openai-completions", "https://api.openai.com/v1", compat={"system_role": "system"})
    assert compat_of(told).system_role == "system"
    assert body_of(told)["store"] is False


def test_compat_is_checked() -> None:
    with pytest.raises(ConfigError, match="max_tokens_field"):
        compat_of(model_of("openai-completions", compat={"max_tokens_field": "tokens"}))
    compat = {"send_reasoning": True, "sendReasoning": True, "region": "x", "project": "y", "profile": "z"}
    assert unknown_compat_keys(compat) == ["sendReasoning"]
    assert compat_of(model_of("openai-completions", compat={"what": 1})) == Compat()
