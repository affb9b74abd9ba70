"""The wire API `anthropic-bedrock`: Anthropic's models on Amazon Bedrock, signed by the SDK (`anthropic_cloud`).

Signing in: whatever the AWS tools take (`aws sso login`, `AWS_PROFILE`, `AWS_ACCESS_KEY_ID` and
`AWS_SECRET_ACCESS_KEY`, the role of the machine), or a Bedrock key, in `AWS_BEARER_TOKEN_BEDROCK` or as the provider's
key. Where: `AWS_REGION` or the profile's region, or `compat = { region = "…", profile = "…" }` of the provider, which
weighs more. `base_url`, or `ANTHROPIC_BEDROCK_BASE_URL`, only for a place that is not Amazon's own.

An answer is no SSE but AWS's binary event stream, each of whose messages holds an event of the Messages API.
"""

from base64 import b64decode
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import BadResponseError, ProviderError
from agentcli.agent.models import Model
from agentcli.agent.streaming import resolved
from agentcli.providers.anthropic.cloud import Cloud, Place, signed_call
from agentcli.providers.anthropic.messages import _Answer
from agentcli.providers.catalog.endpoint import shown_url
from agentcli.providers.http.classify import error_of_body, error_of_event, error_of_response, one_line
from agentcli.providers.http.clients import HttpClients, import_httpx
from agentcli.providers.http.post import Call, _network_error, _read, answer_limit, stream_answer, too_long
from agentcli.providers.http.sse import SseEvent
from agentcli.providers.wire_json import to_json

if TYPE_CHECKING:
    import httpx
    import httpx2
    from anthropic.lib.bedrock import AsyncAnthropicBedrock


async def stream(
    model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Ask the model; see `stream_client` for the contract."""
    call = await signed_call(CLOUD, model, context, options, clients)
    async with aclosing(
        stream_answer(call, _Answer(model, context, options), options, clients, sender=_post)
    ) as events:
        async for event in events:
            yield event


@asynccontextmanager
async def _post(
    call: Call, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AsyncIterator[list[SseEvent]], None]:
    """`post.post` for a binary event stream."""
    httpx = import_httpx()
    client = clients.client_for(call.url)
    try:
        async with client.stream("POST", call.url, content=to_json(call.body), headers=call.headers) as response:
            if options.on_response:
                told = {"status": response.status_code, "headers": dict(response.headers)}
                await resolved(options.on_response(told))
            if response.status_code != 200:
                raise _error_of(call, response, await _read(response.aiter_bytes()))
            if "eventstream" not in response.headers.get("content-type", ""):
                body = await _read(response.aiter_bytes())
                raise error_of_body(body, url=shown_url(call.url), provider=call.model.provider)
            async with aclosing(_batches(call, response)) as batches:
                yield batches
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
        raise _network_error(call, error, clients) from None


async def _batches(call: Call, response: "httpx.Response") -> AsyncGenerator[list[SseEvent], None]:
    # Imported with the SDK, before the request was signed.
    from botocore.eventstream import EventStreamBuffer, ParserError

    provider = call.model.provider
    buffer = EventStreamBuffer()
    left = answer_limit(call.model)
    async for chunk in response.aiter_bytes():
        left -= len(chunk)
        if left < 0:
            raise too_long(call)
        buffer.add_data(chunk)
        batch: list[SseEvent] = []
        failed: ProviderError | None = None
        try:
            for message in buffer:
                batch += _events_of(message.headers, message.payload, provider)
        except ParserError as error:
            failed = BadResponseError(f"{provider} sent what is no event stream: {one_line(str(error), 120)}")
        except ProviderError as error:
            failed = error
        # What came before an error is part of the answer.
        if batch:
            yield batch
        if failed:
            raise failed


class _Chunk(Struct, gc=False):
    """The payload of a message; `p`, which pads it, is passed over."""

    bytes: str = ""


_decoder = msgspec.json.Decoder(_Chunk)


def _events_of(headers: dict[str, Any], payload: bytes, provider: str) -> list[SseEvent]:
    """The event in a message. Raises ProviderError if the message is an error."""
    match headers.get(":message-type"):
        case "exception":
            raise error_of_event(_named(payload, str(headers.get(":exception-type", ""))), provider=provider)
        case "error":
            error = {"type": headers.get(":error-code"), "message": headers.get(":error-message")}
            raise error_of_event(error, provider=provider)
        case _ if headers.get(":event-type") == "chunk":
            try:
                return [(b"", b64decode(_decoder.decode(payload).bytes, validate=True))]
            except ValueError as error:
                raise BadResponseError(f"{provider} sent an event of an unknown shape: {error}") from None
        case _:
            return []


def _error_of(call: Call, response: "httpx.Response", body: bytes) -> ProviderError:
    """The error that a response is. AWS says in a header what kind it is: `ThrottlingException:http://…`."""
    name = response.headers.get("x-amzn-errortype", "").partition(":")[0]
    named = _named(body, name)
    return error_of_response(
        response.status_code,
        response.headers,
        body if isinstance(named, str) else msgspec.json.encode(named),
        url=shown_url(call.url),
        provider=call.model.provider,
        key_hint=f"check that you may use the model in this region; {CLOUD.sign_in}",
    )


def _named(body: bytes, name: str) -> dict[str, Any] | str:
    """An error's body with the name that stands beside it in a header; as text if it is no JSON object."""
    try:
        found = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body.decode("utf-8", "replace")
    text = found.get("message", found.get("Message"))
    return {**found, **({"message": text} if text else {}), **({"type": name} if name else {})}


def _new_client(place: Place, connection: "httpx2.AsyncClient") -> "AsyncAnthropicBedrock":
    # 0.7 to 2 s and 70 MB.
    from anthropic.lib.bedrock import AsyncAnthropicBedrock

    return AsyncAnthropicBedrock(
        api_key=place.key,
        aws_region=place.region,
        aws_profile=place.profile,
        base_url=place.base_url,
        max_retries=0,
        open_telemetry=False,
        http_client=connection,
    )


CLOUD = Cloud(
    label="Bedrock",
    extra="bedrock",
    new_client=_new_client,
    libraries=("botocore.eventstream", "boto3"),  # 60 ms
    sign_in="sign in with `aws sso login`, or set AWS_PROFILE, AWS_ACCESS_KEY_ID or AWS_BEARER_TOKEN_BEDROCK",
)
