"""Cloud requests: the Messages API's, addressed and signed by Anthropic's SDK for a cloud that serves its models.

The SDK knows where such models live and how one signs in, and does nothing else here. What it has signed goes out over
agentcli's own connections, so that proxies, certificates, time limits, aborts and errors are those of every provider.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import AgentcliError, ConfigError, CredentialsError, NetworkError
from agentcli.agent.models import Model
from agentcli.agent.streaming import resolved
from agentcli.providers.anthropic_messages_body import request_body
from agentcli.providers.classify import one_line
from agentcli.providers.compat import compat_of
from agentcli.providers.http import HttpClients, clean_key, headers_of
from agentcli.providers.post import Call, histories_for
from agentcli.providers.wire_json import to_json

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropicBedrock, AsyncAnthropicVertex

    SdkClient = AsyncAnthropicBedrock | AsyncAnthropicVertex

MAX_PROBLEM = 300
"""Characters of what a sign-in library says that are shown."""


class Cloud(Struct, frozen=True, kw_only=True):
    """A cloud that serves Anthropic's models."""

    label: str
    """The name that people read."""
    extra: str
    """What to install: `agentcli[extra]`."""
    new_client: "Callable[[Model, str | None, httpx2.AsyncClient], SdkClient]"
    """Makes the SDK's client for a model and its key; may raise ImportError and ValueError."""
    how_to_sign_in: str
    sign_in_package: str
    """The library whose errors are about signing in."""


_sdk_clients: "WeakKeyDictionary[HttpClients, dict[tuple[str, Model, str | None], SdkClient]]" = WeakKeyDictionary()
"""Kept from turn to turn: a client holds the token that signing in gave it. It holds no connection."""


async def signed_call(
    cloud: Cloud, model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> Call:
    """The request as it has to go out: its body is `msgspec.Raw`, whose bytes are what was signed.

    Raises:
        ConfigError: the SDK is not installed, or the region, project or profile is missing or no use.
        CredentialsError: nobody is signed in, or the sign-in has expired.
        NetworkError: the place where one signs in does not answer.
    """
    key = clean_key(options.api_key)
    headers = headers_of(model, options, "none", None)
    body = request_body(model, context, options, compat_of(model), histories_for(options, clients))
    if options.on_payload:
        replaced = await resolved(options.on_payload(body))
        body = body if replaced is None else replaced
    # Nothing may change after the signature, so the repairs that `to_json` makes come before it.
    clean: dict[str, Any] = msgspec.json.decode(to_json(body))
    try:
        request = await _sign(await _client_of(cloud, model, key, clients), clean, headers)
    except ImportError as error:
        raise ConfigError(
            f"{cloud.label} needs a library that is not installed: {error.name or one_line(str(error))}",
            hint=f"pip install 'agentcli[{cloud.extra}]'",
        ) from error
    except Exception as error:
        if problem := _problem_of(cloud, model, error):
            raise problem from error
        raise
    sent = {name.lower(): value for name, value in request.headers.items() if name.lower() != "connection"}
    raw = cast("dict[str, Any]", msgspec.Raw(request.content))
    return Call(model=model, url=str(request.url), headers=sent, body=raw, api_key=key)


def setting(model: Model, name: str) -> str | None:
    """A text in the `compat` of the model or its provider; None if it is not there. Raises ConfigError if it is none."""
    value = model.compat.get(name)
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise ConfigError(
        f"`compat.{name}` of {model.full_id} is not a text",
        hint="correct it in the configuration of the provider or the model",
    )


async def _client_of(cloud: Cloud, model: Model, key: str | None, clients: HttpClients) -> "SdkClient":
    known = _sdk_clients.setdefault(clients, {})
    place = (cloud.extra, _identity(model), key)
    if place not in known:
        # In a thread: the imports take a second, and the AWS library may look for its region on the network.
        known[place] = await asyncio.to_thread(_new_client, cloud, model, key)
    return known[place]
