"""What a scripted server answers: blocks of content, or bytes, and how they are sent."""

from typing import Any

import msgspec
from msgspec import Struct


class Text(Struct, frozen=True):
    text: str


class Thinking(Struct, frozen=True):
    text: str


class Redacted(Struct, frozen=True):
    """Thinking whose text is withheld."""


class Call(Struct, frozen=True):
    name: str
    arguments: dict[str, Any] | str = {}
    """A string is sent as it is, whole JSON or not."""
    id: str = ""
    """Empty: the server makes one up in the manner of its wire API."""


Block = Text | Thinking | Redacted | Call


class Reply(Struct, frozen=True):
    """One answer. Make it with the blocks first: `Reply("text", Call("read", {…}), delay=0.01)`, see `reply`."""

    blocks: list[Block] = []
    body: bytes | None = None
    """Sent in place of blocks."""
    status: int = 200
    headers: dict[str, str] = {}
    usage: tuple[int, int] | None = (100, 7)
    """Input and output tokens; None sends none."""
    stop: str | None = None
    """The stop reason, in the words of the wire API; None is the one that fits."""
    piece: int = 12
    """Characters of text or arguments to an event."""
    chunk: int | None = None
    """Bytes to a write; None sends each event in one."""
    first_delay: float = 0.0
    """Seconds before the first byte of the body."""
    delay: float = 0.0
    """Seconds between writes."""
    cut: int | None = None
    """So many bytes of the body are sent, then the connection ends."""
    reset: bool = False
    """Whether the connection ends with a reset, in place of a clean end, after the body or the cut."""
    hold: float = 0.0
    """Seconds for which the connection stays open, silent, after the body."""

    @staticmethod
    def of(*blocks: "Block | str", **how: Any) -> "Reply":
        """An answer of these blocks; a string is a text."""
        return Reply([Text(block) if isinstance(block, str) else block for block in blocks], **how)

    @staticmethod
    def raw(body: bytes | str, **how: Any) -> "Reply":
        """An answer of these bytes."""
        return Reply(body=body.encode() if isinstance(body, str) else body, **how)

    @staticmethod
    def error(status: int, body: Any = b"", **how: Any) -> "Reply":
        """An error with a body: bytes as they are, anything else as JSON."""
        headers = {"content-type": "application/json", **how.pop("headers", {})}
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return Reply(body=data, status=status, headers=headers, **how)
