"""Ids and times of entries: UUIDv7, whose order is the order in which they were made, and ISO 8601 UTC."""

import os
import time
from datetime import UTC, datetime
from uuid import UUID


def new_id() -> str:
    """A UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, the rest random."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    high = (milliseconds & (1 << 48) - 1) << 16 | 0x7 << 12 | random >> 68
    low = 0b10 << 62 | random & (1 << 62) - 1
    return str(UUID(int=high << 64 | low))


def now_iso() -> str:
    """The time as entries have it: ISO 8601 UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_milliseconds(timestamp: str) -> int:
    """An entry's time in the unit of messages: Unix milliseconds. 0 if it is no time."""
    try:
        return int(datetime.fromisoformat(timestamp).timestamp() * 1000)
    except ValueError:
        return 0
