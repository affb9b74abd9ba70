"""Thinking that open models write between tags in their text is thinking, wherever the stream is cut."""

from typing import Any

import pytest

from agentcli.agent.context import StreamOptions
from agentcli.agent.messages import TextContent, ThinkingContent, user_message
from agentcli.agent.models import Model
from agentcli.providers.catalog.catalog import Catalog
from agentcli.providers.catalog.compat import compat_of
from agentcli.providers.openai.think_tags import think_tags_of
from tests.providers.support import (
    APIS,
    DONE,
    END,
    MESSAGE,
    STOP,
    ask,
    assistant,
    block,
    body_of,
    chat,
    context_of,
    events,
    model_of,
    replayed,
)

AFAR = "https://host.invalid"


def answer(api: str, pieces: list[str]) -> bytes:
    match api:
        case "openai-completions":
            return chat(*({"content": piece} for piece in pieces), "stop")
        case "anthropic-messages":
            deltas = ({"type": "text_delta", "text": piece} for piece in pieces)
            return events(MESSAGE, *block(0, {"type": "text", "text": ""}, *deltas), END, STOP)
        case _:
            deltas = ({"type": "response.output_text.delta", "output_index": 0, "delta": piece} for piece in pieces)
            item = {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "".join(pieces)}]}
            return events(*deltas, {"type": "response.output_item.done", "output_index": 0, "item": item}, DONE)


async def read(api: str, pieces: list[str], tags: str = "leading", **options: Any) -> tuple[str, str]:
    """The thinking and the text of an answer."""
    model = model_of(api, AFAR, compat={"think_tags": tags}, reasoning=bool(options))
    message = await ask(replayed(answer(api, pieces)), model, context_of(), **options)
    thought = [block.thinking for block in message.content if isinstance(block, ThinkingContent)]
    said = [block.text for block in message.content if isinstance(block, TextContent)]
    assert len(thought) <= 1 and len(said) <= 1
    assert not thought or isinstance(message.content[0], ThinkingContent)
    return "".join(thought), "".join(said)


CASES = {
    "<think>\nhm, 1 < 2\n</think>\n\nyes": ("hm, 1 < 2", "yes"),
    " \n<think>hm</think>yes": ("hm", "yes"),
    "<THINK>hm</Think>yes": ("hm", "yes"),
    "<thinking>hm</thinking> yes": ("hm", "yes"),
    "[THINK]hm[/THINK]yes": ("hm", "yes"),
    "<think>hm": ("hm", ""),
    "<think>hm</thi": ("hm</thi", ""),
    "<think></think>yes": ("", "yes"),
    "<think>\n\n</think>\n\n": ("", ""),
    "<think>İİİ</think>yes": ("İİİ", "yes"),
    "<think>hm</think>a <think>quoted</think> tag": ("hm", "a <think>quoted</think> tag"),
    "Use <think>x</think>": ("", "Use <think>x</think>"),
    "`<think>` is a tag": ("", "`<think>` is a tag"),
    "<thin": ("", "<thin"),
    "<p>html</p>": ("", "<p>html</p>"),
    "  indented": ("", "  indented"),
    "a</think>b": ("", "a</think>b"),
}


@pytest.mark.parametrize("api", APIS)
async def test_tags_at_the_start_are_thinking_wherever_they_are_cut(api: str) -> None:
    for text, expected in CASES.items():
        for size in (1, 3, 7, len(text)):
            assert await read(api, _cut(text, size)) == expected, (text, size)


def _cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hm</think>\n\nyes", ("hm", "yes")),
        ("<think>hm</think>yes", ("hm", "yes")),
        ("\nhm, <b>\n</think>yes </think>", ("hm, <b>", "yes </think>")),
        ("hm", ("hm", "")),
        ("", ("", "")),
    ],
)
async def test_a_tag_that_the_template_opened_needs_only_its_end(text: str, expected: tuple[str, str]) -> None:
    for size in (1, 4, 100):
        assert await read("openai-completions", _cut(text, size), "opened") == expected


async def test_a_model_that_was_told_not_to_think_has_no_open_tag() -> None:
    assert await read("openai-completions", ["yes"], "opened", reasoning="off") == ("", "yes")
    assert await read("openai-completions", ["hm</think>yes"], "opened", reasoning="high") == ("hm", "yes")


async def test_nothing_is_taken_apart_where_it_is_not_known() -> None:
    for api in APIS:
        assert await read(api, ["<think>a</think>b"], "none") == ("", "<think>a</think>b")


def tags_of(model: Model) -> str:
    return think_tags_of(model, compat_of(model), StreamOptions())


@pytest.mark.parametrize(
    ("id", "base_url", "tags"),
    [
        ("gpt-6-sol", AFAR, "none"),
        ("claude-opus-5", AFAR, "none"),
        ("deepseek-v4-pro", AFAR, "none"),
        ("deepseek-ai/DeepSeek-R1-0528", AFAR, "leading"),
        ("qwen3:8b", AFAR, "leading"),
        ("QwQ-32B", AFAR, "leading"),
        ("MiniMax-M2", AFAR, "leading"),
        ("anything", "http://127.0.0.1:8080/v1", "leading"),
        ("anything", "http://localhost:8080", "leading"),
        ("anything", "http://[::1]:8080", "leading"),
        ("anything", "http://[bad", "none"),
    ],
)
def test_what_is_known_of_models_and_servers(id: str, base_url: str, tags: str) -> None:
    assert tags_of(model_of("openai-completions", base_url, id=id)) == tags
    assert tags_of(model_of("openai-completions", base_url, id=id, compat={"think_tags": "none"})) == "none"


@pytest.mark.parametrize("name", ["ollama", "lmstudio", "llamacpp", "vllm", "groq", "cerebras"])
def test_the_catalogs_servers_of_open_models_are_known(name: str) -> None:
    assert Catalog().provider(name).compat["think_tags"] == "leading"


async def test_thinking_between_tags_is_not_sent_back_as_text() -> None:
    model = model_of("openai-completions")
    message = await ask(replayed(chat({"content": "<think>secret</think>yes"}, "stop")), model)
    body = body_of(model, user_message("a"), assistant(model, *message.content), user_message("b"))
    assert body["messages"][2]["content"] == "yes"
    assert "secret" not in str(body)
    wants = model_of("openai-completions", compat={"send_reasoning": True})
    body = body_of(wants, user_message("a"), assistant(wants, *message.content), user_message("b"))
    assert body["messages"][2]["reasoning_content"] == "secret"
