"""How long an answer may be, and what it costs."""

from typing import Any

import pytest

from agentcli.agent.context import StreamOptions
from agentcli.agent.messages import (
    AssistantMessage,
    StopReason,
    TextContent,
    Usage,
    UserMessage,
    user_message,
)
from agentcli.agent.models import ModelCost
from agentcli.providers.cost import cost_of, token_count, usage_of
from agentcli.providers.limits import output_limit
from tests.providers.support import PNG, context_of, model_of

CLAUDE = model_of("anthropic-messages")


@pytest.mark.parametrize(
    ("used", "limit"), [(0, 16384), (100_000, 16384), (110_000, 128_000 - 110_000 - 4096), (127_000, 1024)]
)
def test_the_output_limit_leaves_room_for_the_input(used: int, limit: int) -> None:
    answer = AssistantMessage([TextContent("a")], usage=Usage(total_tokens=used), stop_reason=StopReason.DONE)
    context = context_of(user_message("hi"), answer, user_message("go on"))
    assert abs(output_limit(CLAUDE, context, StreamOptions()) - limit) <= 2


def test_without_usage_the_input_is_guessed() -> None:
    long = context_of(UserMessage([TextContent("x" * 4 * 120_000)]))
    assert output_limit(CLAUDE, long, StreamOptions()) < 5000
    images = context_of(UserMessage([PNG] * 90))
    assert abs(output_limit(CLAUDE, images, StreamOptions()) - (128_000 - 90 * 1200 - 4096)) <= 2


def test_the_cost_of_an_answer() -> None:
    model = model_of("openai-completions", cost=ModelCost(input=3, output=15, cache_read=0.3, cache_write=3.75))
    usage = usage_of(model, input=1_000_000, output=100_000, cache_read=2_000_000, cache_write=1_000_000)
    assert usage.total_tokens == 4_100_000
    cost = usage.cost
    assert [round(part, 9) for part in (cost.input, cost.output, cost.cache_read, cost.cache_write)] == [
        3,
        1.5,
        0.6,
        3.75,
    ]
    assert round(cost.total, 9) == 8.85
    hour = usage_of(model, input=0, output=0, cache_write=1_000_000, long_cache_write=1_000_000)
    assert round(hour.cost.total, 9) == 6
    assert cost_of(model_of("openai-completions"), usage).total == 0


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        (7, 7),
        (7.9, 7),
        (0, 0),
        (-1, 0),
        (None, 0),
        ("7", 0),
        (True, 0),
        (float("nan"), 0),
        (float("inf"), 0),
        (10**15, 0),
    ],
)
def test_token_counts_are_never_odd(raw: Any, count: int) -> None:
    assert token_count(raw) == count
