"""Tool-call ids and tool names as a wire API takes them. Only requests have them; the session keeps the originals.

What is made of a name, or of an id that comes once, depends on it alone, so that the same history is written down the
same way in every request. A changed one carries a hash of the original: two different ones never become one.
"""

import re
from collections.abc import Iterable
from hashlib import blake2s
from os import urandom

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_OTHER = re.compile(r"[^a-zA-Z0-9_-]+")
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class CallIds:
    """Gives each call of one request an id that the server takes and no other call of the request has.

    Args:
        longest: characters an id may have.
        keep_kin: whether ids that this provider made go back as they are, whatever is in them.
        exactly: if not 0, ids have exactly so many characters, letters and digits only.
    """

    def __init__(self, *, longest: int = 64, keep_kin: bool = False, exactly: int = 0) -> None:
        self._longest = longest
        self._keep_kin = keep_kin
        self._exactly = exactly
        self._used: set[str] = set()

    def assign(self, id: str, *, kin: bool = False) -> str:
        """The wire id of the next call. Its result has the same.

        Args:
            kin: whether the call was made by a model of the same provider and wire API.
        """
        wire = self._wire(id, kin)
        again = 0
        while wire in self._used:
            again += 1
            wire = self._made(f"{id}\0{again}", id)
        self._used.add(wire)
        return wire

    def _wire(self, id: str, kin: bool) -> str:
        if self._exactly:
            return id if len(id) == self._exactly and id.isascii() and id.isalnum() else self._made(id, id)
        if id and kin and self._keep_kin:
            return id
        fits = len(id) <= self._longest and _OTHER.search(id) is None
        return id if id and fits else self._made(id, id)

    def _made(self, seed: str, id: str) -> str:
        if self._exactly:
            return _digits(seed, self._exactly)
        stem = _OTHER.sub("_", id)[: self._longest - 11] or "call"
        return f"{stem}_{_digits(seed, 10)}"


def new_call_id() -> str:
    """An id for a call that the server gave none."""
    return f"call_{urandom(12).hex()}"


def wire_name(name: str) -> str:
    """The name of a tool as every API takes it: at most 64 letters, digits, `_` and `-`."""
    if _NAME.fullmatch(name):
        return name
    return f"{_OTHER.sub('_', name)[:53] or 'tool'}_{_digits(name, 8)}"


def real_names(names: Iterable[str]) -> dict[str, str]:
    """Wire name to name, of the tools whose names had to change: empty for most."""
    return {wire: name for name in names if (wire := wire_name(name)) != name}


def _digits(seed: str, count: int) -> str:
    number = int.from_bytes(blake2s(seed.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    digits: list[str] = []
    for _ in range(count):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(digits)
