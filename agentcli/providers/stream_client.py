"""StreamClient: the one `StreamFn` of the program. It finds the module that speaks a model's wire API.

A wire module has one public function, an async generator or what returns one, which yields the events of
`agentcli.agent.assistant_events`:

```python
def stream(
    model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AssistantMessageEvent, None]: ...
```

It makes its events with one `PartialMessage`, raises an `AgentcliError` for what goes wrong, at once or while it is
iterated (the loop makes the error message of it, with what had streamed), and closes what it opened when it is closed
or cancelled. Modules that need no network leave `clients` alone. Importing this module imports neither them nor httpx.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from importlib import import_module
from typing import cast

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import ConfigError
from agentcli.agent.models import Model
from agentcli.providers.http.clients import HttpClients

WIRE_APIS: dict[str, str] = {
    "openai-completions": "agentcli.providers.openai.completions",
    "openai-responses": "agentcli.providers.openai.responses",
    "anthropic-messages": "agentcli.providers.anthropic.messages",
    "anthropic-bedrock": "agentcli.providers.anthropic.bedrock",
    "anthropic-vertex": "agentcli.providers.anthropic.vertex",
    "offline": "agentcli.providers.offline",
    "scripted": "agentcli.providers.scripted",
    "replay": "agentcli.providers.replay",
}
"""Wire API to the module that speaks it."""

Stream = Callable[[Model, Context, StreamOptions, HttpClients], AsyncGenerator[AssistantMessageEvent, None]]


_WITH_THE_FIRST_REQUEST = ("anyio._backends._asyncio", "anyio.streams.tls", "anyio.to_thread", "h11")
"""What httpx imports while it makes its first request: 15 ms."""


class StreamClient:
    """Asks any model: `async for event in client(model, context, options)`. For one thread.

    Args:
        clients: the connections to use; None makes own ones. They are kept open from turn to turn.
    """

    def __init__(self, clients: HttpClients | None = None) -> None:
        self.clients: HttpClients = clients or HttpClients()

    def __call__(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """The answer as events. Nothing is sent before the first one is asked for.

        Raises:
            ConfigError: nothing here speaks the model's wire API, or its configuration is no use.
            CredentialsError: the key has a character that no key has.
            ProviderError: while iterating; of what the server did, or did not do.
        """
        return self._stream_of(model)(model, context, options, self.clients)

    def prepare(self, model: Model) -> None:
        """Do the slow part of a model's first request (imports, TLS context) now; may run in another thread."""
        self._stream_of(model)
        if model.base_url:
            self.clients.client_for(model.base_url)
            for name in _WITH_THE_FIRST_REQUEST:
                # Where a release of theirs has none of that name, the first request imports what it needs.
                with suppress(ImportError):
                    import_module(name)

    async def aclose(self) -> None:
        """Close every connection."""
        await self.clients.aclose()

    def _stream_of(self, model: Model) -> Stream:
        path = WIRE_APIS.get(model.api)
        if path is None:
            raise ConfigError(
                f"{model.full_id} speaks the unknown wire API `{model.api}`",
                hint=f"set `api` to one of {', '.join(WIRE_APIS)}",
            )
        return cast("Stream", import_module(path).stream)
