"""What an answer costs: tokens as the server counted them, times the model's prices."""

import msgspec

from agentcli.agent.messages import Usage, UsageCost
from agentcli.agent.models import Model

_PER_TOKEN = 1e-6


def cost_of(model: Model, usage: Usage, *, long_cache_write: int = 0) -> UsageCost:
    """US dollars for these tokens; zeros where the model's prices are not known.

    Args:
        long_cache_write: tokens of `usage.cache_write` that were cached for an hour, which costs twice the input.
    """
    price = model.cost.rates(usage.input + usage.cache_read + usage.cache_write)
    long = min(long_cache_write, usage.cache_write) if price.cache_write else 0
    parts = (
        usage.input * price.input * _PER_TOKEN,
        usage.output * price.output * _PER_TOKEN,
        usage.cache_read * price.cache_read * _PER_TOKEN,
        ((usage.cache_write - long) * price.cache_write + long * 2 * price.input) * _PER_TOKEN,
    )
    return UsageCost(*parts, total=sum(parts))


def usage_of(
    model: Model, *, input: int, output: int, cache_read: int = 0, cache_write: int = 0, long_cache_write: int = 0
) -> Usage:
    """Usage with its sum and its cost.

    Args:
        input: tokens that no cache had to do with.
        long_cache_write: the part of `cache_write` that was cached for an hour.
    """
    usage = Usage(input, output, cache_read, cache_write, input + output + cache_read + cache_write)
    return msgspec.structs.replace(usage, cost=cost_of(model, usage, long_cache_write=long_cache_write))


def token_count(value: object) -> int:
    """A count as servers send it: whole, with a fraction, or not at all."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12 else 0
