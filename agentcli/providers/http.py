"""HTTP: the connections to model servers, and the key and the headers of a request.

httpx is imported with the first request and a TLS context made for the first https URL, neither before: they cost 40
and 17 ms (of a second that a person waits for).
"""

import asyncio
import logging
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import ConfigError, CredentialsError
from agentcli.agent.models import Model
from agentcli.providers.classify import one_line
from agentcli.providers.endpoint import origin
from agentcli.providers.history import Histories

if TYPE_CHECKING:
    import ssl

    import httpx

CONNECT_TIMEOUT_S = 15.0
IDLE_TIMEOUT_S = 300.0
"""So long a server may say nothing: local ones read a long prompt before their first word."""

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class HttpClients:
    """One `httpx.AsyncClient` for each origin, kept open from turn to turn, as long as the event loop lives.

    Proxies (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`) and certificates (`SSL_CERT_FILE`, `SSL_CERT_DIR`) come from the
    environment.

    Args:
        idle_timeout_s: seconds without a byte after which an answer is given up.
        key_source: where the key of a provider comes from (`OPENAI_API_KEY` …), for error messages; by its name.
    """

    def __init__(
        self,
        *,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
        key_source: Callable[[str], str] | None = None,
    ) -> None:
        self.connect_timeout_s = connect_timeout_s
        self.idle_timeout_s = idle_timeout_s
        self.key_source = key_source
        self.histories = Histories()
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
        httpx = import_httpx()
        if (logger := logging.getLogger("httpx")).level == logging.NOTSET:
            logger.setLevel(logging.WARNING)  # below that it logs every URL, and a URL may hold a key
        timeout = httpx.Timeout(self.idle_timeout_s, connect=self.connect_timeout_s, pool=None)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=90)
        try:
            return httpx.AsyncClient(timeout=timeout, limits=limits, verify=self._context(place), trust_env=True)
        except (ValueError, TypeError, ImportError, httpx.InvalidURL) as error:
            # The text of the error may hold the proxy's password.
            raise ConfigError(
                f"the proxy in the environment cannot be used ({type(error).__name__})",
                hint="set HTTPS_PROXY, HTTP_PROXY and ALL_PROXY to an http:// or https:// URL, or unset them",
            ) from None

    def _context(self, place: str) -> "ssl.SSLContext":
        import ssl  # 4 ms, and httpx needs it anyway

        import httpx

        if not place.startswith("https:") and not _has_tls_proxy():
            # Never used: a context with certificates costs 17 ms, an empty one 1.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._tls is None:
            try:
                self._tls = httpx.create_ssl_context()
            except (OSError, ssl.SSLError) as error:
                raise ConfigError(
                    f"the certificates of SSL_CERT_FILE or SSL_CERT_DIR cannot be read: {error}",
                    hint="correct the variable, or unset it",
                ) from error
        return self._tls


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


def proxy_for(url: str) -> str | None:
    """The proxy of the environment that a request to this URL goes through, without user and password."""
    from urllib.request import getproxies, proxy_bypass  # 11 ms, and httpx has imported it

    split = urlsplit(url)
    if proxy_bypass(split.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(split.scheme) or proxies.get("all")
    return origin(proxy if "://" in proxy else f"http://{proxy}") if proxy else None


def _has_tls_proxy() -> bool:
    from urllib.request import getproxies  # 11 ms, and httpx has imported it

    return any(proxy.startswith("https:") for proxy in getproxies().values())


def clean_key(key: str | None, *, source: str = "the API key") -> str | None:
    """The key as it can be sent; None if there is none, which an empty one is as good as.

    Args:
        source: where the key comes from, for the error message.

    Raises:
        CredentialsError: it has a character that no key has. The message says which and where, never the key.
    """
    key = (key or "").strip()
    for position, character in enumerate(key, 1):
        if not "!" <= character <= "~":
            raise CredentialsError(
                f"{source} has a character that no key has: U+{ord(character):04X} at position {position}",
                hint="copy the key again, without line breaks, blanks or look-alike letters",
            )
    return key or None


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
