"""How long a server asks to wait: its headers in the forms that are in use, else what its message says."""

import re
import time
from collections.abc import Mapping

_NUMBER = r"\d+(\.\d+)?"
_RETRY_DELAY = rb'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"'
_IN_WORDS = r"(?i)(?:try again|retry) (?:in|after) (?:(\d+)h)?\s?(?:(\d+)m(?!s))?\s?(?:(\d+(?:\.\d+)?)\s?(ms|s\b|sec))?"


def retry_after_of(headers: Mapping[str, str], body: bytes = b"", text: str = "") -> float | None:
    """Seconds to wait before the next try, or None. What cannot be read, and what has passed, is ignored.

    Args:
        headers: `retry-after-ms`, `retry-after` (seconds or an HTTP date; dates count from the header `date`).
        body: Google's `retryDelay`.
        text: the error's message ("… try again in 1m2.5s").
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if re.fullmatch(_NUMBER, milliseconds):
        return float(milliseconds) / 1000
    stated = headers.get("retry-after", "").strip()
    if re.fullmatch(_NUMBER, stated):
        return float(stated)
    if stated and (wait := _until(stated, headers.get("date", ""))) is not None:
        return wait
    if delay := re.search(_RETRY_DELAY, body):
        return float(delay[1])
    return _in_words(text)


def _until(date: str, now: str) -> float | None:
    then = _seconds(date)
    if then is None:
        return None
    wait = then - (_seconds(now) or time.time())
    return wait if wait > 0 else None


def _seconds(date: str) -> float | None:
    """Unix seconds of an HTTP date."""
    from email.utils import mktime_tz, parsedate_tz  # 3 ms, on errors only

    parts = parsedate_tz(date)
    if parts is None:
        return None
    try:
        return float(mktime_tz(parts))
    except (ValueError, OverflowError):
        return None


def _in_words(text: str) -> float | None:
    found = re.search(_IN_WORDS, text)
    if not found or not any(found.groups()):
        return None
    hours, minutes, amount, unit = found.groups()
    seconds = float(amount or 0) / (1000 if (unit or "").lower() == "ms" else 1)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds
