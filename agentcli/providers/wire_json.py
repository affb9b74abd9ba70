"""JSON on the wire: events as the Structs that a wire API expects, forgiving what can be; what is sent, repaired."""

import json
from typing import Any, TypeVar, cast

import msgspec

from agentcli.agent.errors import BadResponseError
from agentcli.agent.surrogates import data_without_surrogates
from agentcli.providers.http.classify import one_line

T = TypeVar("T")


def decode_event(decoder: msgspec.json.Decoder[T], data: bytes, provider: str) -> T:
    """The event. What msgspec does not read, such as half a surrogate pair, is given to Python's own parser.

    Raises:
        BadResponseError: it is not JSON, or not of the shape that the wire API has.
    """
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = str(error)
    text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        raise BadResponseError(f"{provider} sent what is not JSON: {one_line(text, 120)}") from None
    try:
        return msgspec.convert(data_without_surrogates(value), decoder.type)
    except (msgspec.ValidationError, RecursionError):
        raise BadResponseError(f"{provider} sent an event of an unknown shape: {problem}") from None


def to_json(value: Any) -> bytes:
    """Plain data as JSON, without lone surrogates and NUL characters: servers refuse both, request after request."""
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        data = msgspec.json.encode(data_without_surrogates(value))
    return msgspec.json.encode(_without_nul(msgspec.json.decode(data))) if b"\\u0000" in data else data


def kept_json(signature: str | None) -> dict[str, Any]:
    """The object that a signature holds; empty if it holds none, as one from another program may not."""
    if not signature or not signature.startswith("{"):
        return {}
    try:
        return msgspec.json.decode(signature, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return {}


def _without_nul(value: Any) -> Any:
    match value:
        case str():
            return value.replace("\0", "\ufffd")
        case dict():
            items = cast("dict[str, Any]", value).items()
            return {_without_nul(key): _without_nul(item) for key, item in items}
        case list():
            return [_without_nul(item) for item in cast("list[Any]", value)]
        case _:
            return value
