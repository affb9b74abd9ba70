"""Tool-call arguments: from the text a model streamed to one JSON object, with safe repairs only.

Safe means that nothing is guessed: no text at all is `{}`, raw control characters inside strings are taken as they
stand, and half a surrogate pair is U+FFFD. Text that stops early, or goes on after the object, is no object.
"""

import json
import math
from typing import Any, cast

import msgspec

from agentcli.agent.surrogates import data_without_surrogates, without_surrogates

MAX_LEVELS = 100
"""Deeper nesting is no arguments: what walks through it later would run out of stack."""


def parse_arguments(text: str) -> dict[str, Any] | None:
    """The arguments, or None if `text` is not one whole JSON object."""
    if not text.strip():
        return {}
    try:
        value = msgspec.json.decode(without_surrogates(text))
    except (msgspec.DecodeError, RecursionError):
        value = _lenient(text)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _lenient(value)
    if value is None:
        return {} if text.strip() == "null" else None
    return cast("dict[str, Any]", value) if isinstance(value, dict) and _can_be_written(cast("object", value)) else None


def _lenient(text: str) -> object:
    """What Python's own parser makes of it, control characters allowed; None if that fails too."""
    try:
        return data_without_surrogates(json.loads(text, strict=False, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _can_be_written(value: object, levels: int = MAX_LEVELS) -> bool:
    """Whether it can be written down again, wherever it has to go: `1e400` cannot, nor can what is nested too deep."""
    match value:
        case float():
            return math.isfinite(value)
        case dict():
            inner = cast("dict[str, object]", value).values()
        case list():
            inner = cast("list[object]", value)
        case _:
            return True
    return levels > 0 and all(_can_be_written(item, levels - 1) for item in inner)
