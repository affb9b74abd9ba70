"""Classification: from what a server answered in place of a message to the error that says what to do about it.

Servers agree neither on status codes nor on the shape of a body, so the order of the questions matters: too long for
the window, out of credit, refused, then what the error calls itself, then the status. Patterns are matched against the
error's own words only. Every text that leaves here is one line, and holds no control character and no secret.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from agentcli.agent.errors import (
    AuthError,
    BadRequestError,
    ContextOverflowError,
    ModelNotFoundError,
    OverloadedError,
    ProviderError,
    ProviderTimeoutError,
    QuotaError,
    RateLimitError,
    RefusedError,
)
from agentcli.providers.http.retry_after import retry_after_of

MAX_TEXT = 600
"""Characters of a server's words that are shown."""

# Patterns are text here: `re` compiles and keeps each when it is first used, which is never in a run without errors.
_OVERFLOW = r"""(?ix)
    context[_\s]length[_\s]exceeded | exceed_context_size | model_context_window_exceeded
    | (maximum|max|model'?s)\s(allowed\s)?context\s(length|window|size)
    | context\s(length|window|size|limit)\b.{0,60}?(exceed|is\sonly|too\s(small|short))
    | exceed(s|ed|ing)?\b.{0,40}?\bcontext(\s(length|window|size|limit))?\b
    | (greater|longer|larger|more)\sthan\s(the\s)?(model'?s\s)?(maximum\s)?context
    | (prompt|input|conversation|request)\s(is\s|was\s)?too\slong
    | maximum\sprompt\slength
    | (prompt|input)\stoken\scount\b.{0,60}?exceed
    | exceed(s|ed)?\s(the\s)?(model'?s?\s)?(maximum\s)?(input\s)?token\slimit
    | reduce\sthe\slength\sof\s(the\s|your\s)?(messages|prompt|input)
    | too\slarge\sfor\smodel\swith\b.{0,40}?context
    | context\sshift\sis\s(disabled|not\ssupported) | context_window_exceeded
    | context\s(length|window|size)\b.{0,40}?\b(full|reached)\b
"""
_NOT_OVERFLOW = (
    r"(?i)rate.?limit|tokens?\sper\s(min|hour|day)|\b[tr]p[md]\b|throttl|too many requests|quota"
    r"|^\W*max_(completion_|output_)?tokens\b.{0,60}?(too large|must be)"
)
_QUOTA = (
    r"(?i)insufficient_quota|billing|credit balance|insufficient (balance|credit|fund)|out of (credit|budget|fund)"
    r"|exceeded your current quota|quota exceeded|payment required|(monthly|plan|weekly|daily) (usage |spend\w* )?limit"
    r"|usage limit (reached|exceeded)|spend\w* (limit|cap)"
)
_REFUSED = r"(?i)content[_\s]?(filter|policy)|content_management|safety system|flagged|moderation|responsibleai"
_NO_MODEL = (
    r"(?i)model[_\s]not[_\s]found|^model: |not a valid model"
    r"|\bmodel\b.{0,120}?(not found|not exist|unknown|not available|not supported|is invalid)"
    r"|(unknown|invalid|no such|unsupported) model\b|no endpoints found"
)
_BY_NAME: tuple[tuple[str, type[ProviderError]], ...] = (
    (r"(?i)overloaded|engine_busy|server_busy|unavailable|at capacity", OverloadedError),
    (r"(?i)rate.?limit|too_many_requests|resource_exhausted|throttl", RateLimitError),
    (r"(?i)authentication|invalid_api_key|permission|unauthenticated|unauthorized|forbidden", AuthError),
    (r"(?i)timeout|deadline_exceeded", ProviderTimeoutError),
    (r"(?i)server_error|api_error|internal|upstream|provider_", OverloadedError),
    (r"(?i)invalid_request|invalid_argument|bad_?request|unprocessable|validation", BadRequestError),
)
"""What an error calls itself, in `type`, `code` or `status`."""

_LEVEL = r"(?i)reasoning|thinking|\beffort\b"
_NO_LEVEL = r"(?i)reasoning_content|thinking.{0,3} blocks?|signature|thought_signature|image"
"""Words of an error about a thinking level; and of those that are about something else that has to do with thinking."""

_BUSY = r"(?i)overload|at capacity|\bbusy\b|try again later|temporarily"
_SLOW_DOWN = r"(?i)rate.?limit|too many requests"


class ServerError(msgspec.Struct, frozen=True):
    """What the body of an error says."""

    text: str
    """Its message; empty if it has none."""
    names: str = ""
    """`type`, `code` and `status`, joined by blanks."""
    status: int | None = None
    """A status code in the body."""


def error_of_response(
    status: int, headers: Mapping[str, str], body: bytes, *, url: str, provider: str, key_hint: str = ""
) -> ProviderError:
    """The error that an HTTP response with a status other than 200 is.

    Args:
        body: as much of it as was read.
        url: the request's, as it may be shown.
        provider: who answered, as people call it.
        key_hint: what to do about a key that was not accepted.
    """
    said = _read_body(body)
    wait = retry_after_of(headers, body, said.text)
    kind = _kind_of(said, status, waits=wait is not None)
    text = said.text or _reason(status)
    message = f"{provider} answered {status}: {text}"
    hint = ""
    if status in (404, 405) or kind is ModelNotFoundError:
        message = f"{provider} answered {status} at {url}: {text}"
        hint = "check the model's name" if kind is ModelNotFoundError else "check `base_url` and the model's name"
    elif 300 <= status < 400:
        message = f"{provider} answered {status} at {url}: moved to {one_line(headers.get('location', 'elsewhere'))}"
        hint = "set `base_url` to the new place"
    elif kind is AuthError:
        hint = key_hint
    elif kind is BadRequestError and re.search(_LEVEL, text) and not re.search(_NO_LEVEL, text):
        hint = "choose another level with --model NAME:LEVEL or /thinking, or correct `thinking_levels` of the model"
    return kind(message, hint=hint, status=status, retry_after=wait)


def error_of_event(error: Any, *, provider: str, status: int | None = None) -> ProviderError:
    """The error that an error object in the middle of a stream is. The server's fault, unless it says otherwise.

    Args:
        error: the value of `error`, an object or text.
    """
    said = _read_error({"error": error})
    status = said.status or status
    wait = retry_after_of({}, b"", said.text)
    kind = _kind_of(said, status, waits=wait is not None)
    text = said.text or said.names or "an error without a message"
    return kind(f"{provider} broke off its answer: {text}", status=status, retry_after=wait)


def error_of_body(body: bytes, *, url: str, provider: str) -> ProviderError:
    """The error that a body is which came with status 200 in place of a stream."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = None
    if isinstance(value, dict) and "error" in value:
        return error_of_event(value["error"], provider=provider)
    what = "JSON without a stream" if value is not None else "a web page" if b"<" in body[:200] else "no event stream"
    # It would be the same the next time: somebody else answers there, or the server cannot stream.
    return BadRequestError(
        f"{provider} answered with {what} at {url}", hint="check `base_url`, and that the server can stream"
    )


def one_line(text: str, limit: int = MAX_TEXT) -> str:
    """The text without line breaks and control characters, cut in the middle of what is too long."""
    line = " ".join("".join(character if character.isprintable() else " " for character in text[:20_000]).split())
    return line if len(line) <= limit else f"{line[: limit * 2 // 3]} … {line[-limit // 3 :]}"


def _kind_of(said: ServerError, status: int | None, *, waits: bool) -> type[ProviderError]:
    words = f"{said.names} {said.text}"
    if status == 413 or (status not in (401, 403, 429) and _is_overflow(said.text, said.names)):
        return ContextOverflowError
    if "insufficient_quota" in said.names or status == 402 or (not waits and _is_quota(words, status)):
        return QuotaError
    if status in (None, 400, 403, 422) and re.search(_REFUSED, words):
        return RefusedError
    if status in (None, 400, 404, 422) and re.search(_NO_MODEL, said.text or said.names):
        return ModelNotFoundError
    for pattern, kind in _BY_NAME:
        if re.search(pattern, said.names) and not (kind is BadRequestError and status and status >= 429):
            return kind
    return _kind_of_status(status, said.text)


def _is_overflow(text: str, names: str) -> bool:
    return bool(re.search(_OVERFLOW, f"{names} {text}")) and not re.search(_NOT_OVERFLOW, text)


def _is_quota(words: str, status: int | None) -> bool:
    return status in (None, 400, 403, 429) and bool(re.search(_QUOTA, words))


def _kind_of_status(status: int | None, text: str) -> type[ProviderError]:
    match status:
        case None:
            return RateLimitError if re.search(_SLOW_DOWN, text) else OverloadedError
        case 401 | 403 | 407:
            return AuthError
        case 408:
            return ProviderTimeoutError
        case 429:
            return RateLimitError
        case 400 if re.search(_BUSY, text):
            return OverloadedError
        case _ if status >= 500:
            return OverloadedError
        case _:
            return BadRequestError


def _read_body(body: bytes) -> ServerError:
    if not body.strip():
        return ServerError("")
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ServerError(_plain_text(body))
    return _read_error(value)


def _read_error(value: Any) -> ServerError:
    """The message and the names of an error, from any of the shapes that servers give it."""
    if isinstance(value, list) and value:
        value = cast("list[Any]", value)[0]
    if not isinstance(value, dict):
        return ServerError(one_line(str(value)) if value else "")
    outer = cast("dict[str, Any]", value)
    error = outer.get("error") or outer
    if not isinstance(error, dict):
        return ServerError(one_line(str(error)), _names(outer))
    error = cast("dict[str, Any]", error)
    text = _message_of(error) or (_message_of(outer) if error is not outer else "")
    code = error.get("code", outer.get("code"))
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    return ServerError(one_line(text), _names(error), status)


def _message_of(error: dict[str, Any]) -> str:
    match error:
        case {"message": str(message), "metadata": {"raw": str(raw)}} if raw not in message:
            return f"{message}: {_raw_message(raw)}"
        case {"message": str(message)} | {"detail": str(message)} | {"msg": str(message)}:
            return message
        case {"error_description": str(message)} | {"error_message": str(message)}:
            return message
        case {"detail": list(items)} | {"errors": list(items)} | {"message": list(items)}:
            return "; ".join(_message_of(item) if isinstance(item, dict) else str(item) for item in items)
        case {"detail": dict(inner)} | {"message": dict(inner)} | {"errors": dict(inner)}:
            return _message_of(cast("dict[str, Any]", inner))
        case _:
            return ""


def _raw_message(raw: str) -> str:
    """The message of an upstream server's error, which a router passes on as text."""
    try:
        return _read_error(msgspec.json.decode(raw.encode("utf-8", "replace"))).text or raw
    except (msgspec.DecodeError, RecursionError):
        return raw


def _names(error: dict[str, Any]) -> str:
    metadata = error.get("metadata")
    found = [error.get("type"), error.get("code"), error.get("status")]
    if isinstance(metadata, dict):
        found.append(cast("dict[str, Any]", metadata).get("error_type"))
    return " ".join(one_line(name, 100) for name in found if isinstance(name, str))


def _plain_text(body: bytes) -> str:
    import html  # 1 ms

    text = body[:20_000].decode("utf-8", "replace")
    if "<" in text[:500] and re.search(r"(?i)<(!doctype|html|head|body|title|h1)\b", text):
        heading = re.search(r"(?is)<(title|h1)[^>]*>(.*?)</\1>", text)
        inner = heading[2] if heading else re.sub(r"(?is)<(script|style).*?</\1>", " ", text)
        text = "web page: " + html.unescape(re.sub(r"<[^>]*>", " ", inner))
    return one_line(text)


def _reason(status: int) -> str:
    from http import HTTPStatus  # 1 ms

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Overloaded" if status == 529 else "an error without a message"
