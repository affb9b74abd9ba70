"""JSON of any value: what JSON cannot say is said as text, so that nothing is lost for one odd part of it.

Odd parts come from tools and extensions (`details`): objects, lone surrogates, what contains itself, what is too deep.
"""

from collections.abc import Set
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.surrogates import without_surrogates

DEEPEST = 100
"""So many containers in each other are said of a value that is too deep for an encoder."""

LEFT_OUT = "…"
"""Stands for what is too deep, and for a container within itself."""

T = TypeVar("T")


def json_bytes(value: object) -> bytes:
    """The JSON of a Struct, of plain data, or of both. It never fails."""
    return to_json_lossy(value)[1]


def to_json_lossy(value: T) -> tuple[T, bytes]:
    """The value itself, or a copy that JSON can say; and its JSON."""
    try:
        return value, _encoder.encode(value)
    except Exception:  # Whatever odd part it was: only those are changed.
        plain = _sayable(value, frozenset())
        return plain, _encoder.encode(plain)


def _sayable(value: Any, above: Set[int]) -> Any:
    """Args:
    above: the identities of the containers that it is in.
    """
    if isinstance(value, str):
        return without_surrogates(value)
    try:
        _encoder.encode(value)
    except Exception:
        if id(value) in above or len(above) >= DEEPEST:
            return LEFT_OUT
    else:
        return value
    above = {*above, id(value)}
    match value:
        case Struct():
            return replace(value, **{name: _sayable(getattr(value, name), above) for name in value.__struct_fields__})
        case dict():
            items = cast("dict[Any, Any]", value).items()
            return {_text(key): _sayable(item, above) for key, item in items}
        case list() | tuple() | set() | frozenset():
            return [_sayable(item, above) for item in cast("list[Any]", value)]
        case _:
            return _text(value)


def _text(value: object) -> str:
    try:
        return without_surrogates(str(value))
    except Exception:  # Its own code, which may do anything.
        return f"<{type(value).__name__}>"


_encoder = msgspec.json.Encoder(enc_hook=_text)
