"""post: one POST to a model's server whose answer streams, and `stream_answer`, which every wire API is driven by.

No request is made twice here; who calls decides that. Leaving the stream, by an error, a cancellation or `aclose()`,
closes the socket at once.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import BadResponseError, ConfigError, NetworkError, ProviderError, ProviderTimeoutError
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.agent.streaming import resolved
from agentcli.providers.catalog.endpoint import origin, shown_url
from agentcli.providers.history import RequestCache
from agentcli.providers.http.classify import error_of_body, error_of_response, one_line
from agentcli.providers.http.clients import HttpClients, import_httpx
from agentcli.providers.http.liveness import Liveness
from agentcli.providers.http.proxies import proxy_for
from agentcli.providers.http.sse import SseEvent, SseParser
from agentcli.providers.wire_json import to_json

if TYPE_CHECKING:
    import httpx

MAX_ERROR_BYTES = 64 * 1024
"""What is read of an error's body."""

ERROR_BODY_S = 10.0
"""So long an error's body is waited for: what it is, the status says."""

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""An answer may have so many bytes, or `BYTES_PER_TOKEN` for each token that its model can write, if that is more."""

BYTES_PER_TOKEN = 512
"""A delta holds a token or more; with all that servers put around it, it has 100 to 400 bytes."""

EVENTS_AT_ONCE = 200
"""So many events are in a batch at most. The event loop has its turn after each: one piece may hold many thousands."""

DRAIN_S = 0.25
"""So long the end of the connection is waited for when the answer is complete: only one that was read to its end can
serve the next request, and some servers never end it."""

_BLANKS = b"\xef\xbb\xbf \t\r\n"
_SECRET_HEADER = r"(?i)auth|key|token|secret|cookie|pass"


class Answer(Protocol):
    """What a wire API makes of the events of one answer."""

    partial: PartialMessage
    complete: bool
    """Whether the server said that nothing follows."""

    def take(self, name: bytes, data: bytes) -> list[AssistantMessageEvent]:
        """One server-sent event. Raises ProviderError if it is an error, or nothing that may come."""
        ...

    def end(self) -> list[AssistantMessageEvent]:
        """The end of the stream. Raises ProviderError if it came too early, or the answer is a refusal."""
        ...


class Call(Struct, frozen=True, kw_only=True):
    """One request to a model's server."""

    model: Model
    url: str
    headers: dict[str, str]
    body: dict[str, Any]
    api_key: str | None = None
    """As `clean_key` gives it; here only to be kept out of error messages."""


Sender = Callable[[Call, StreamOptions, HttpClients], AbstractAsyncContextManager[AsyncIterator[list[SseEvent]]]]


def histories_for(options: StreamOptions, clients: HttpClients) -> RequestCache:
    """What is remembered from request to request; nothing if somebody may change the body of this one."""
    return RequestCache() if options.on_payload else clients.histories


async def stream_answer(
    call: Call, answer: Answer, options: StreamOptions, clients: HttpClients, *, sender: "Sender | None" = None
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Make the call and yield the events of its answer.

    Args:
        sender: sends the request and reads events from what comes back; None is `post`.

    Raises:
        ProviderError, ConfigError: see `post`, and what `answer` raises. What had streamed is in `answer.partial`.
    """
    yield answer.partial.start()
    watch = Liveness(clients.first_token_timeout_s, clients.idle_timeout_s, shown_url(origin(call.url)))
    take = answer.take
    try:
        async with (sender or post)(call, options, clients) as batches:
            async for batch in batches:
                watch.waiting = False
                for name, data in batch:
                    if events := take(name, data):
                        watch.events = events
                        for event in events:
                            yield event
                if answer.complete:
                    await _drain(batches)
                    break
                watch.waiting = True
        watch.waiting = False
        for event in answer.end():
            yield event
    except asyncio.CancelledError:
        if timeout := watch.error():
            raise timeout from None
        raise
    except ProviderError as error:
        error.message = mask_secrets(call, error.message)
        error.args = (error.message,)
        raise
    finally:
        watch.close()


async def _drain(batches: AsyncIterator[list[SseEvent]]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in batches:
                pass


@asynccontextmanager
async def post(
    call: Call, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AsyncIterator[list[SseEvent]], None]:
    """Send a request; what comes back are the events of its answer, in batches as they arrive.

    Leaving the block closes the connection if the answer is not over.

    Raises:
        ProviderError: no connection, an error of the server, an answer that is no stream; also while iterating.
    """
    httpx = import_httpx()
    body = call.body
    if options.on_payload:
        replaced = await resolved(options.on_payload(body))
        body = body if replaced is None else replaced
    client = clients.client_for(call.url)
    headers = {"content-type": "application/json", "accept": "text/event-stream", **call.headers}
    try:
        with ExitStack() as afterwards:
            async with client.stream("POST", call.url, content=to_json(body), headers=headers) as response:
                afterwards.callback(_let_go, response)
                if options.on_response:
                    told = {"status": response.status_code, "headers": dict(response.headers)}
                    await resolved(options.on_response(told))
                if response.status_code != 200:
                    raise await _failed(call, response, clients)
                async with aclosing(_batches(call, response)) as batches:
                    yield batches
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
        raise _network_error(call, error, clients) from None


def _let_go(response: "httpx.Response") -> None:
    """Break the circle that a response of httpx is part of: the request's whole body hangs on it, and would stay until
    garbage is collected, which a few large objects do not bring about."""
    import httpx

    response.stream = httpx.ByteStream(b"")


async def _batches(call: Call, response: "httpx.Response") -> AsyncGenerator[list[SseEvent], None]:
    parser = SseParser()
    sure = "event-stream" in response.headers.get("content-type", "")
    held = b""
    left = answer_limit(call.model)
    chunks = response.aiter_bytes()
    async for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise too_long(call)
        if not sure:
            # Some servers stream under another content type; what begins like JSON or HTML is no stream.
            if not (start := (held + chunk).lstrip(_BLANKS)):
                held = (held + chunk)[-len(_BLANKS) :]
                continue
            if start[:1] in b"{[<":
                raise error_of_body(
                    await _read(chunks, held + chunk), url=shown_url(call.url), provider=call.model.provider
                )
            sure, chunk = True, held + chunk
        events = parser.feed(chunk)
        if 0 < len(events) <= EVENTS_AT_ONCE:
            yield events
            continue
        for start in range(0, len(events), EVENTS_AT_ONCE):
            yield events[start : start + EVENTS_AT_ONCE]
            await asyncio.sleep(0)
    if events := parser.close():
        yield events


def answer_limit(model: Model) -> int:
    """How many bytes a whole answer of this model may have, as they come from the server."""
    return max(MAX_ANSWER_BYTES, model.max_tokens * BYTES_PER_TOKEN)


def too_long(call: Call) -> ProviderError:
    """An answer longer than `answer_limit`. It would be no shorter the next time."""
    limit = answer_limit(call.model) // 2**20
    return ProviderError(f"{call.model.provider} sent more than {limit} MiB, which is no answer of {call.model.id}")


async def _read(chunks: AsyncIterator[bytes], start: bytes = b"") -> bytes:
    """The body of an error, as far as it is worth reading; what was read, if it breaks off or does not end."""
    import httpx

    body = start
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(ERROR_BODY_S):
            async for chunk in chunks:
                body += chunk
                if len(body) >= MAX_ERROR_BYTES:
                    break
    return body[:MAX_ERROR_BYTES]


async def _failed(call: Call, response: "httpx.Response", clients: HttpClients) -> ProviderError:
    body = await _read(response.aiter_bytes())
    source = clients.key_source(call.model.provider) if clients.key_source else ""
    if call.api_key is None:
        hint = f"no key was sent; set {source}" if source else "no key was sent; set the provider's key"
    else:
        hint = f"check the key in {source}" if source else f"check the key of {call.model.provider}"
    return error_of_response(
        response.status_code,
        response.headers,
        body,
        url=shown_url(call.url),
        provider=call.model.provider,
        key_hint=hint,
    )


def mask_secrets(call: Call, text: str) -> str:
    """The text without the key, which some servers echo, whole or its beginning, and without secrets in headers."""
    for name, value in call.headers.items():
        secret = value.rpartition(" ")[2]
        if len(secret) >= 4 and re.search(_SECRET_HEADER, name):
            text = text.replace(secret, "[key]")
    key = call.api_key or ""
    return re.sub(re.escape(key[:8]) + r"[^\s\"'<>,]*", "[key]", text) if len(key) >= 12 else text


def _network_error(call: Call, error: Exception, clients: HttpClients) -> Exception:
    import httpx

    place = shown_url(origin(call.url))
    detail = one_line(shown_url(str(error)), 200)
    match error:
        case httpx.ConnectTimeout():
            return ProviderTimeoutError(f"no connection to {place} within {clients.connect_timeout_s:g} s")
        case httpx.TimeoutException():
            return ProviderTimeoutError(f"{place} does not answer")
        case httpx.ConnectError() if "CERTIFICATE_VERIFY_FAILED" in detail or "certificate verify failed" in detail:
            return ConfigError(
                f"the certificate of {place} is not trusted: {detail}",
                hint="name your certificate authority in SSL_CERT_FILE",
            )
        case httpx.ProxyError() if proxy := proxy_for(call.url):
            hint = f"check {proxy.variable}"
            return NetworkError(f"the proxy {proxy.shown} on the way to {place} refused: {detail}", hint=hint)
        case httpx.ConnectError() if proxy := proxy_for(call.url):
            hint = f"check {proxy.variable} and NO_PROXY"
            return NetworkError(f"no connection to {place} through the proxy {proxy.shown}: {detail}", hint=hint)
        case httpx.ConnectError():
            return NetworkError(f"no connection to {place}: {detail}", hint="check that it runs, and the network")
        case httpx.LocalProtocolError() | httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return ConfigError(f"the request to {place} cannot be written down ({type(error).__name__})")
        case httpx.DecodingError():
            return BadResponseError(f"{place} sent an answer that cannot be unpacked: {detail}")
        case _:
            said = f": {detail}" if detail else " before the answer was whole"
            return NetworkError(f"the connection to {place} broke{said}")
