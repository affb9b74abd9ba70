"""ModelRequests: how a runtime asks the model: by whom, with which key, and how it failed."""

from collections.abc import AsyncGenerator, Awaitable

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamFn, StreamOptions
from agentcli.agent.errors import AuthError, ConfigError, ProviderError
from agentcli.agent.models import Model
from agentcli.agent.streaming import resolved
from agentcli.agent.threads import to_thread
from agentcli.config.credentials import forget_key, is_quick, require_key
from agentcli.providers.catalog.catalog import Catalog
from agentcli.providers.stream_client import StreamClient
from agentcli.runtime.masking import masked_end, masked_error


class ModelRequests:
    """Finds whom to ask, and with which key.

    Args:
        client: asks the providers of the catalog.
        added: stream functions of extensions, by wire API.
        given: the program's own, in place of all others.
        problems: by provider or `provider/id`: what of its settings makes it impossible to ask it.
    """

    def __init__(
        self,
        catalog: Catalog,
        client: StreamClient,
        added: dict[str, StreamFn],
        given: StreamFn | None,
        problems: dict[str, str],
    ) -> None:
        self._catalog = catalog
        self._problems = problems
        self._client = client
        self._given = given
        self._added = added
        self.failure: ProviderError | None = None
        """How the last request failed, for whoever decides whether to make it again."""

    @property
    def asks_providers(self) -> bool:
        """Whether the model's wire API says who is asked, and not the program."""
        return self._given is None

    async def stream(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """The agent's stream function."""
        self.failure = None
        self._check(model.full_id)
        try:
            stream_fn = self._given or self._added.get(model.api) or self._client
            async for event in await resolved(stream_fn(model, context, options)):
                yield masked_end(event)
        except ProviderError as error:
            self.failure = error
            if isinstance(error, AuthError):
                forget_key(self._catalog.provider(model.provider))
            raise masked_error(error) from None

    def key_for(self, name: str) -> "str | Awaitable[str | None] | None":
        """The key of a provider; in a thread, if a command or the keyring has to be asked."""
        self._check(name)
        provider = self._catalog.provider(name)
        return require_key(provider) if is_quick(provider) else to_thread(require_key, provider)

    def require_ready(self, model: Model) -> None:
        """Raises ConfigError if the model needs a key and there is none, or its settings cannot be used."""
        self._check(model.provider)
        self._check(model.full_id)
        require_key(self._catalog.provider(model.provider))

    def _check(self, name: str) -> None:
        if problem := self._problems.get(name):
            raise ConfigError(problem, hint="set it, or write $$ for a $")

    def prepare(self, model: Model) -> None:
        """Do the slow part of the first request now."""
        if self._given is None and model.api not in self._added:
            self._client.prepare(model)
