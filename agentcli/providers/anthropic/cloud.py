"""Cloud requests: the Messages API's, addressed and signed by Anthropic's SDK for a cloud that serves its models.

The SDK knows where such models live and how one signs in, and does nothing else here. What it has signed goes out over
agentcli's own connections, so that proxies, certificates, time limits, aborts and errors are those of every provider.
"""

import logging
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import AgentcliError, ConfigError, CredentialsError, NetworkError
from agentcli.agent.models import Model, clean_key
from agentcli.agent.streaming import resolved
from agentcli.agent.threads import to_thread
from agentcli.providers.anthropic.messages_body import request_body
from agentcli.providers.catalog.compat import compat_of
from agentcli.providers.http.classify import one_line
from agentcli.providers.http.clients import HttpClients, headers_of
from agentcli.providers.http.post import Call, histories_for
from agentcli.providers.wire_json import to_json

if TYPE_CHECKING:
    import httpx2
    from anthropic.lib.bedrock import AsyncAnthropicBedrock
    from anthropic.lib.vertex import AsyncAnthropicVertex

    SdkClient = AsyncAnthropicBedrock | AsyncAnthropicVertex

MAX_PROBLEM = 300
"""Characters of what a sign-in library says that are shown."""

_UNREACHED = {"TransportError", "HTTPClientError", "EndpointConnectionError"}
"""What the sign-in libraries call their errors of the network."""


class Place(Struct, frozen=True, kw_only=True):
    """Where a cloud's models are asked, and for whom. None leaves it to the environment, as the SDK reads it."""

    base_url: str | None
    region: str | None
    project: str | None
    profile: str | None
    key: str | None


class Cloud(Struct, frozen=True, kw_only=True):
    """A cloud that serves Anthropic's models."""

    label: str
    """The name that people read."""
    extra: str
    """What to install: `agentcli[extra]`."""
    new_client: "Callable[[Place, httpx2.AsyncClient], SdkClient]"
    """Makes the SDK's client; may raise ValueError for what is missing or no use."""
    libraries: tuple[str, ...]
    """Modules that it needs beside the SDK. The errors of the first one's package are about signing in."""
    sign_in: str
    """How one signs in, as a hint."""


_sdk_clients: "WeakKeyDictionary[HttpClients, dict[tuple[str, Place], SdkClient]]" = WeakKeyDictionary()
"""Kept from turn to turn: a client holds the token that signing in gave it. It holds no connection."""


async def signed_call(
    cloud: Cloud, model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> Call:
    """The request as it has to go out: its body is `msgspec.Raw`, whose bytes are what was signed.

    Raises:
        ConfigError: the SDK is not installed, or the region, project or profile is missing or no use.
        CredentialsError: nobody is signed in, or the sign-in is no longer valid.
        NetworkError: the server where one signs in does not answer.
    """
    place = _place_of(model, clean_key(options.api_key))
    headers = headers_of(model, options, "none", None)
    # What our own connections can unpack, whatever the SDK's could.
    headers = {"accept-encoding": "gzip, deflate"} | headers
    body = request_body(model, context, options, compat_of(model), histories_for(options, clients))
    if options.on_payload:
        replaced = await resolved(options.on_payload(body))
        body = body if replaced is None else replaced
    # Nothing may change after the signature, so the repairs that `to_json` makes come before it.
    clean: dict[str, Any] = msgspec.json.decode(to_json(body))
    try:
        request = await _sign(await _client_of(cloud, place, clients), clean, headers)
    except Exception as error:
        if problem := _problem_of(cloud, model, error):
            raise problem from error
        raise
    sent = {name.lower(): value for name, value in request.headers.items() if name.lower() != "connection"}
    raw = cast("dict[str, Any]", msgspec.Raw(request.content))
    return Call(model=model, url=str(request.url), headers=sent, body=raw, api_key=place.key)


def _place_of(model: Model, key: str | None) -> Place:
    return Place(
        base_url=model.base_url.strip() or None,
        region=_setting(model, "region"),
        project=_setting(model, "project"),
        profile=_setting(model, "profile"),
        key=key,
    )


def _setting(model: Model, name: str) -> str | None:
    value = model.compat.get(name)
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise ConfigError(
        f"`compat.{name}` of {model.full_id} is not a name",
        hint="correct it in the configuration of the provider or the model",
    )


async def _client_of(cloud: Cloud, place: Place, clients: HttpClients) -> "SdkClient":
    known = _sdk_clients.setdefault(clients, {})
    if (cloud.extra, place) not in known:
        # In a thread: the imports take a second, and the AWS library may ask the network for its region.
        known[cloud.extra, place] = await to_thread(_new_client, cloud, place)
    return known[cloud.extra, place]


def _new_client(cloud: Cloud, place: Place) -> "SdkClient":
    import httpx2  # 120 ms; the SDK needs it

    for name in cloud.libraries:
        import_module(name)
    if (logger := logging.getLogger("httpx2")).level == logging.NOTSET:
        logger.setLevel(logging.WARNING)  # below that it would log requests as sent that are only signed
    # This transport stands where the network would be: it hands every request back, signed.
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, request=request))
    return cloud.new_client(place, httpx2.AsyncClient(transport=transport, trust_env=False))


async def _sign(client: "SdkClient", body: dict[str, Any], headers: dict[str, str]) -> "httpx2.Request":
    import httpx2

    response = await client.post("/v1/messages", cast_to=httpx2.Response, body=body, options={"headers": headers})
    return response.request


def _problem_of(cloud: Cloud, model: Model, error: Exception) -> AgentcliError | None:
    """What went wrong while signing, in our words; None if it is nothing that a person can put right."""
    said = one_line(str(error), MAX_PROBLEM)
    library = type(error).__module__.partition(".")[0]
    signs_in = library == cloud.libraries[0].partition(".")[0]
    match error:
        case ImportError():
            return ConfigError(
                f"{model.full_id} needs a library for {cloud.label} that is not installed ({said})",
                hint=f"pip install 'agentcli[{cloud.extra}]'",
            )
        case _ if signs_in and _UNREACHED & {kind.__name__ for kind in type(error).__mro__}:
            return NetworkError(f"no answer where one signs in to {cloud.label}: {said}", hint="check the network")
        case RuntimeError() if library == "builtins":
            return CredentialsError(f"no sign-in for {cloud.label}: {said}", hint=cloud.sign_in)
        case ValueError() if library == "builtins":
            return ConfigError(
                f"{model.full_id} cannot be asked on {cloud.label}: {said}",
                hint="correct `compat` or `base_url` of the provider, or the environment",
            )
        case _ if signs_in:
            return CredentialsError(f"the sign-in for {cloud.label} failed: {said}", hint=cloud.sign_in)
        case _:
            return None
