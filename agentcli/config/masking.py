"""Masking: the keys that this process knows, and functions that replace them in texts and data.

A key is known as soon as it is found, wherever it comes from; nothing is guessed. A text without a key costs one search
for each known key.
"""

import os
import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from agentcli.agent.json_bytes import to_json_lossy

MASK = "[key hidden]"

MIN_LENGTH = 8
"""Characters. A shorter value is no secret, and may occur in ordinary text."""

MIN_GUESSED_LENGTH = 16
"""The same, for a variable that is only named like a key."""

_KEY_NAME = r"(?:.*_)?(?:API_?KEY|SECRET|SECRET_KEY|ACCESS_KEY|PRIVATE_KEY|TOKEN|PAT)|.*(?:PASSWORD|PASSWD)|.*_TOKEN_.*"

T = TypeVar("T")

_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")

_known: dict[str, str] = {}
"""Each key, and its form in JSON. The longest comes first: a key that contains another one is replaced whole."""


def remember_key(value: str, min_length: int = MIN_LENGTH) -> None:
    """Mask a value from now on in everything that is stored or shown.

    Args:
        value: the key.
        min_length: a shorter value is not masked.
    """
    value = value.strip()
    if len(value) < min_length or value in _known:
        return
    values = sorted([*_known, value], key=len, reverse=True)
    _known.clear()
    _known.update((key, msgspec.json.encode(key).decode()[1:-1]) for key in values)


def remember_environment(names: Iterable[str]) -> None:
    """Mask the values of these variables and of those that are named like keys, and the passwords of proxies."""
    for name in names:
        remember_key(os.environ.get(name, ""))
    for name in key_names():
        remember_key(os.environ[name], MIN_GUESSED_LENGTH)
    for name in _PROXY_VARIABLES:
        if "@" in (address := os.environ.get(name, "")):
            remember_key(password_in(address))


def key_names() -> frozenset[str]:
    """The variables of the environment that are named like keys, tokens and passwords: `GH_TOKEN`, `DB_PASSWORD`."""
    return frozenset(filter(is_key_name, os.environ))


def is_key_name(name: str) -> bool:
    """Whether a variable is named like a key, token or password."""
    return re.fullmatch(_KEY_NAME, name, re.I) is not None


def password_in(url: str) -> str:
    """The password of `scheme://user:password@host`; empty if there is none."""
    before, at, _ = url.partition("://")[2].rpartition("@")
    return before.partition(":")[2] if at else ""


def holds_key(text: str) -> bool:
    """Whether a text contains a known key."""
    return any(key in text for key in _known)


def mask(text: str) -> str:
    """`text` with every known key replaced."""
    for key in _known:
        if key in text:
            text = text.replace(key, MASK)
    return text


def hold_back(text: str) -> int:
    """How many characters at the end of a growing text may be the beginning of a known key."""
    return max((_beginning(text, key) for key in _known), default=0)


def _beginning(text: str, key: str) -> int:
    """The length of the end of a text that is the beginning of a key."""
    place = text.find(key[0], max(len(text) - len(key) + 1, 0))
    while place >= 0 and not key.startswith(text[place:]):
        place = text.find(key[0], place + 1)
    return len(text) - place if place >= 0 else 0


class MaskedBytes:
    """`mask` for bytes that arrive in pieces, such as the output of a command."""

    def __init__(self) -> None:
        self._held = b""

    def add(self, piece: bytes) -> bytes:
        """The bytes so far that are certain to contain no key, masked, without those returned before."""
        data = self._held + piece
        keys = [key.encode("utf-8", "surrogateescape") for key in _known]
        for key in keys:
            if key in data:
                data = data.replace(key, MASK.encode())
        end = data[-max(map(len, keys), default=1) :].decode("latin-1")
        held = max((_beginning(end, key.decode("latin-1")) for key in keys), default=0)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def end(self) -> bytes:
        """The remaining bytes."""
        rest, self._held = self._held, b""
        return rest


def mask_data(value: T) -> T:
    """A value (a Struct, plain data, or both) with every text masked; the value itself if it contains no key.

    The value is searched as JSON first; only one with a key is copied.
    """
    if not _known or value is None:
        return value
    value, data = to_json_lossy(value)
    encoded = data.decode()
    if not any(written in encoded for written in _known.values()):
        return value
    if isinstance(value, msgspec.Struct):
        fields = {name: mask_data(getattr(value, name)) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    return _masked(value)


def _masked(value: Any) -> Any:
    match value:
        case str():
            return mask(value)
        case dict():
            return {_masked(key): mask_data(item) for key, item in value.items()}
        case list() | set() | frozenset():
            return type(value)(mask_data(item) for item in value)
        case tuple():
            return tuple(mask_data(item) for item in value)
        case None | bool() | int() | float():
            return value
        case _:
            return mask(str(value))
