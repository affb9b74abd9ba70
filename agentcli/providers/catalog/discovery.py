"""Discovery: which models the servers on this machine have: Ollama, LM Studio, llama.cpp, vLLM at their usual ports.

Nothing but loopback is asked, past any proxy, and no redirect is followed. Who does not answer in time, or with what is
no list of models, is not there: discovery raises nothing.
"""

import asyncio
import ipaddress
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from agentcli.agent.models import Model, Provider
from agentcli.providers.catalog.catalog import LOCAL, Catalog
from agentcli.providers.catalog.endpoint import endpoint
from agentcli.providers.http.clients import import_httpx

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 1 << 20
"""What is read of an answer: whatever listens at a port, it does not fill the memory."""


class _Details(Struct, frozen=True):
    """What a server says of one model beside its id."""

    context_window: int = 0
    """Tokens; 0 if it does not say."""
    sees: bool = False
    thinks: bool = False
    thinking_levels: dict[str, Any] = {}
    chats: bool = True


class _Meta(Struct, frozen=True):
    n_ctx: int = 0
    n_ctx_train: int = 0


class _Listed(Struct, frozen=True):
    id: str
    max_model_len: int = 0
    """vLLM: the window it serves."""
    meta: _Meta | None = None
    """llama.cpp."""


class _List(Struct, frozen=True):
    data: list[_Listed]


async def discover(timeout_s: float = 0.5, *, servers: Sequence[Provider] | None = None) -> list[Model]:
    """The models of the servers that answer, server by server.

    Args:
        timeout_s: seconds for all of it; what is known by then counts.
        servers: whom to ask; None: the local servers of the catalog. One that is not on loopback is passed over.
    """
    if servers is None:
        catalog = Catalog()
        servers = [catalog.provider(name) for name in LOCAL]
    httpx = import_httpx()
    import ssl  # 4 ms, and httpx needs it anyway

    # An empty TLS context: nothing here speaks TLS, and one with certificates costs 17 ms.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    async with httpx.AsyncClient(timeout=timeout_s, trust_env=False, verify=context) as client:
        asked = [_Server(client, server, timeout_s) for server in servers if is_loopback(server.base_url)]
        found = await asyncio.gather(*(server.models() for server in asked))
    return [model for models in found for model in models]


def is_loopback(url: str) -> bool:
    """Whether a URL can only lead to this machine."""
    try:
        split = urlsplit(url)
        host = split.hostname or ""
        if split.scheme != "http":
            return False
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Server:
    """One server while it is asked."""

    def __init__(self, client: "httpx.AsyncClient", provider: Provider, timeout_s: float) -> None:
        self.client = client
        self.provider = provider
        self.timeout_s = timeout_s

    async def models(self) -> list[Model]:
        listed: list[_Listed] = []
        details: dict[str, _Details] = {}
        try:
            async with asyncio.timeout(self.timeout_s):
                answer = await self.get(endpoint(self.provider.base_url, "models"), _List)
                listed = answer.data if answer else []
                if listed and (ask := _MORE.get(self.provider.name)):
                    details = await ask(self, [model.id for model in listed])
        except TimeoutError:
            # What is listed by now is there, whatever else the server would have said of it.
            details = {}
        return [self._model(model, known) for model in listed if (known := details.get(model.id, _Details())).chats]

    def _model(self, listed: _Listed, known: _Details) -> Model:
        meta = listed.meta or _Meta()
        window = known.context_window or listed.max_model_len or meta.n_ctx or meta.n_ctx_train
        said: dict[str, Any] = {"context_window": window, "max_tokens": min(16_384, window)} if window > 0 else {}
        if known.thinks:
            said |= {"reasoning": True, "thinking_levels": known.thinking_levels}
        return Model(
            id=listed.id,
            name=listed.id,
            api=self.provider.api,
            provider=self.provider.name,
            base_url=self.provider.base_url,
            input=["text", "image"] if known.sees else ["text"],
            headers=self.provider.headers,
            compat=self.provider.compat,
            **said,
        )

    async def get(self, url: str, kind: type[Any], body: Any = None) -> Any:
        """The decoded answer to a GET, or a POST of `body`; None if it is none."""
        import httpx

        method = "GET" if body is None else "POST"
        content = None if body is None else msgspec.json.encode(body)
        try:
            async with self.client.stream(method, url, content=content, headers=self.provider.headers) as response:
                data = bytearray()
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > MAX_BYTES:
                        return None
            return msgspec.json.decode(data, type=kind) if response.status_code == 200 else None
        except (httpx.HTTPError, httpx.InvalidURL, msgspec.DecodeError, RecursionError):
            return None

    def at_root(self, path: str) -> str:
        split = urlsplit(self.provider.base_url)
        return f"{split.scheme}://{split.netloc}{path}"


class _Shown(Struct, frozen=True):
    capabilities: list[str] = []
    parameters: str = ""
    model_info: dict[str, Any] = {}


class _Loaded(Struct, frozen=True):
    name: str = ""
    context_length: int = 0


class _AllLoaded(Struct, frozen=True):
    models: list[_Loaded] = []


async def _ask_ollama(server: _Server, ids: list[str]) -> dict[str, _Details]:
    """Ollama loads a model with the window it likes, so a loaded one's counts before what the model was trained for."""
    running, *shown = await asyncio.gather(
        server.get(server.at_root("/api/ps"), _AllLoaded),
        *(server.get(server.at_root("/api/show"), _Shown, {"model": id}) for id in ids),
    )
    loaded = {model.name: model.context_length for model in running.models} if running else {}
    return {id: _ollama_details(known, loaded.get(id, 0)) for id, known in zip(ids, shown, strict=True) if known}


def _ollama_details(shown: _Shown, loaded: int) -> _Details:
    set_windows = [line.split()[1] for line in shown.parameters.splitlines() if line.split()[:1] == ["num_ctx"]]
    trained = [size for key, size in shown.model_info.items() if key.endswith(".context_length")]
    sizes = [loaded, *(int(size) for size in set_windows if size.isdigit()), *trained]
    return _Details(
        context_window=next((size for size in sizes if isinstance(size, int) and size > 0), 0),
        sees="vision" in shown.capabilities,
        thinks="thinking" in shown.capabilities,
        thinking_levels={"off": "none", "minimal": None},
        chats=not shown.capabilities or "completion" in shown.capabilities,
    )


class _StudioModel(Struct, frozen=True):
    id: str
    type: str = "llm"
    max_context_length: int = 0
    loaded_context_length: int = 0


class _StudioList(Struct, frozen=True):
    data: list[_StudioModel]


async def _ask_lmstudio(server: _Server, ids: list[str]) -> dict[str, _Details]:
    answer = await server.get(server.at_root("/api/v0/models"), _StudioList)
    return {
        model.id: _Details(
            context_window=model.loaded_context_length or model.max_context_length,
            sees=model.type == "vlm",
            chats=model.type in ("llm", "vlm"),
        )
        for model in (answer.data if answer else [])
    }


class _Settings(Struct, frozen=True):
    n_ctx: int = 0


class _Modalities(Struct, frozen=True):
    vision: bool = False


class _Properties(Struct, frozen=True):
    default_generation_settings: _Settings = _Settings()
    modalities: _Modalities = _Modalities()
    chat_template: str = ""


async def _ask_llamacpp(server: _Server, ids: list[str]) -> dict[str, _Details]:
    """llama.cpp serves one model with one window, which the list of older versions does not give."""
    known = await server.get(server.at_root("/props"), _Properties)
    if not known:
        return {}
    details = _Details(
        context_window=known.default_generation_settings.n_ctx,
        sees=known.modalities.vision,
        thinks="enable_thinking" in known.chat_template,
        thinking_levels={"minimal": None, "low": None, "medium": None},  # on or off
    )
    return dict.fromkeys(ids, details)


_MORE: dict[str, Callable[[_Server, list[str]], Any]] = {
    "ollama": _ask_ollama,
    "lmstudio": _ask_lmstudio,
    "llamacpp": _ask_llamacpp,
}
"""Who has more to say of its models than the list, and how it is asked."""
