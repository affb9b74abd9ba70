"""HTTP: the connections to model servers, and the key and the headers of a request.

httpx is imported with the first request and a TLS context made for the first https URL, neither before: they cost 40
and 17 ms (of a second that a person waits for).
"""

import asyncio
import logging
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import ConfigError
from agentcli.agent.models import Model
from agentcli.providers.catalog.endpoint import origin
from agentcli.providers.history import RequestCache
from agentcli.providers.http.classify import one_line

if TYPE_CHECKING:
    import ssl

    import httpx

    from agentcli.providers.http.proxies import Proxy

CONNECT_TIMEOUT_S = 15.0
FIRST_TOKEN_TIMEOUT_S = 600.0
"""So long a server may think about its first word: local ones read a long prompt before it."""
IDLE_TIMEOUT_S = 300.0
"""So long it may say nothing after that."""

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class HttpClients:
    """One `httpx.AsyncClient` for each origin, kept open from turn to turn, as long as the event loop lives.

    Proxies (`proxies`) and certificates (`SSL_CERT_FILE`, `SSL_CERT_DIR`) come from the environment.

    Args:
        first_token_timeout_s: seconds after which an answer that has not begun is given up.
        idle_timeout_s: seconds without progress after which an answer is given up that has.
        key_source: where the key of a provider comes from (`OPENAI_API_KEY` …), for error messages; by its name.
    """

    def __init__(
        self,
        *,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        first_token_timeout_s: float = FIRST_TOKEN_TIMEOUT_S,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
        key_source: Callable[[str], str] | None = None,
    ) -> None:
        self.connect_timeout_s = connect_timeout_s
        self.first_token_timeout_s = first_token_timeout_s
        self.idle_timeout_s = idle_timeout_s
        self.key_source = key_source
        self.histories: RequestCache = RequestCache()
        """What wire APIs remember from request to request."""
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._tls: ssl.SSLContext | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def client_for(self, url: str) -> "httpx.AsyncClient":
        """The client of a URL's origin, made if need be. Raises ConfigError if the environment's proxy is no use."""
        place = origin(url.strip())
        self._forget_other_loops()
        client = self._clients.get(place)
        if client is None or client.is_closed:
            client = self._clients[place] = self._new_client(place)
        return client

    async def aclose(self) -> None:
        """Close every connection; a later request opens new ones."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    def _forget_other_loops(self) -> None:
        """Connections die with their event loop: a program that calls `asyncio.run` twice gets new ones."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        if self._loop not in (None, loop):
            self._clients = {}
        self._loop = loop

    def _new_client(self, place: str) -> "httpx.AsyncClient":
        from agentcli.providers.http.proxies import proxy_for  # with the first request

        httpx = import_httpx()
        if (logger := logging.getLogger("httpx")).level == logging.NOTSET:
            logger.setLevel(logging.WARNING)  # below that it logs every URL, and a URL may hold a key
        # How long an answer may take, `Liveness` says: bytes that mean nothing would hide from here that it hangs.
        timeout = httpx.Timeout(None, connect=self.connect_timeout_s)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=90)
        proxy = proxy_for(place)
        tls = place.startswith("https:") or (proxy is not None and proxy.url.startswith("https:"))
        context = self._context(needed=tls)
        through = _httpx_proxy(proxy, context) if proxy else None
        return httpx.AsyncClient(timeout=timeout, limits=limits, verify=context, proxy=through, trust_env=False)

    def _context(self, *, needed: bool) -> "ssl.SSLContext":
        import ssl  # 4 ms, and httpx needs it anyway

        import httpx

        if not needed:
            # Never used: a context with certificates costs 17 ms, an empty one 1.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._tls is None:
            name = "SSL_CERT_FILE" if os.environ.get("SSL_CERT_FILE") else "SSL_CERT_DIR"
            try:
                if name == "SSL_CERT_DIR" and (folder := os.environ.get(name)):
                    next(Path(folder).iterdir(), None)  # OpenSSL would pass over one that is not there
                self._tls = httpx.create_ssl_context()
            except (OSError, ssl.SSLError) as error:
                value, why = os.environ.get(name, ""), getattr(error, "strerror", None) or str(error)
                raise ConfigError(
                    f"the certificates of {name} ({one_line(value, 200)}) cannot be read: {one_line(why, 200)}",
                    hint=f"correct {name}, or unset it",
                ) from error
        return self._tls


def _httpx_proxy(proxy: "Proxy", context: "ssl.SSLContext") -> "httpx.Proxy":
    import httpx

    try:
        return httpx.Proxy(proxy.url, ssl_context=context if proxy.url.startswith("https:") else None)
    except (ValueError, httpx.InvalidURL):
        raise ConfigError(
            f"the proxy in {proxy.variable} ({proxy.shown}) is no URL", hint=f"correct {proxy.variable}, or unset it"
        ) from None


def import_httpx() -> Any:
    """httpx without its command-line tool, which would import rich, click and pygments: 25 ms in place of 60."""
    if "httpx" not in sys.modules:
        sys.modules["httpx._main"] = None  # pyright: ignore[reportArgumentType]: the documented way to say "not there"
        try:
            import httpx
        finally:
            del sys.modules["httpx._main"]
        try:
            import sniffio  # noqa: F401
        except ImportError:
            # httpcore looks for it on the whole path four times a request; that it is not there can be said at once.
            sys.modules["sniffio"] = None  # pyright: ignore[reportArgumentType]
    else:
        import httpx
    return httpx


def headers_of(model: Model, options: StreamOptions, auth: str, api_key: str | None) -> dict[str, str]:
    """The headers of a request that the model, the caller and the key ask for; later ones win.

    Args:
        auth: how the key is sent: `bearer`, `none`, or the name of a header.

    Raises:
        ConfigError: a header holds what no header can. The message does not hold its value.
    """
    from agentcli.version import __version__

    headers = {"user-agent": f"agentcli/{__version__}"}
    if api_key is not None and auth != "none":
        name, value = ("authorization", f"Bearer {api_key}") if auth == "bearer" else (auth, api_key)
        headers[name] = value
    for more in (model.headers, options.headers or {}):
        for name, value in more.items():
            headers = {known: kept for known, kept in headers.items() if known != name.strip().lower()}
            headers[name.strip().lower()] = _clean_header(name, value, model)
    return headers


def _clean_header(name: str, value: str, model: Model) -> str:
    value = value.strip()
    wrong = next((place for place, character in enumerate(value, 1) if not " " <= character <= "~"), None)
    if wrong is None and _HEADER_NAME.fullmatch(name.strip()):
        return value
    what = f"a character that cannot be sent, at position {wrong}" if wrong else "a name that no header can have"
    raise ConfigError(f"header `{one_line(name, 60)}` of {model.full_id} has {what}", hint="correct `headers`")
