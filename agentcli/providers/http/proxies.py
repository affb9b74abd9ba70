"""Proxies: which one of the environment a request goes through. Only what concerns the request's host is looked at.

`https_proxy` (for an https URL) or `http_proxy`, then `all_proxy`; each also in capitals, which weigh less; an empty
one is none. `no_proxy` lists hosts that are reached directly, separated by commas: a host with all below it, with or
without a port, an address, a network (`10.0.0.0/8`), or `*`. An entry that is none of these is passed over.
"""

import os
import sys
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.providers.http.classify import one_line

SCHEMES = ("http", "https", "socks5", "socks5h")


class Proxy(Struct, frozen=True):
    url: str
    """With its user and password."""
    variable: str
    """Where it is set."""

    @property
    def shown(self) -> str:
        """Its URL as it may be shown, without user and password."""
        scheme, _, rest = self.url.partition("://")
        return one_line(f"{scheme}://{rest.rpartition('@')[2]}", 200)


def proxy_for(url: str, environment: Mapping[str, str] = os.environ) -> Proxy | None:
    """The proxy that a request to this URL goes through.

    Raises:
        ConfigError: there is one, and it is no use. The message names the variable and its value, not the password.
    """
    split = urlsplit(url)
    proxy = _of_environment(split.scheme, environment)
    if proxy is None and environment is os.environ and sys.platform in ("darwin", "win32"):
        proxy = _of_system(split)
    if proxy is None or _is_excepted(split, _variable("no_proxy", environment)[1]):
        return None
    _check(proxy)
    return proxy


def _of_environment(scheme: str, environment: Mapping[str, str]) -> Proxy | None:
    for name in (f"{scheme}_proxy", "all_proxy"):
        variable, value = _variable(name, environment)
        if value:
            return Proxy(value if "://" in value else f"http://{value}", variable)
    return None


def _variable(name: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """The variable that counts, and its value: in small letters, else in capitals."""
    if name in environment:
        return name, environment[name].strip()
    # A web server gives a program the header `Proxy:` of a request as HTTP_PROXY.
    if name == "http_proxy" and "REQUEST_METHOD" in environment:
        return name, ""
    return name.upper(), environment.get(name.upper(), "").strip()


def _of_system(split: SplitResult) -> Proxy | None:
    """What the settings of macOS or Windows say."""
    from urllib.request import getproxies, proxy_bypass  # 11 ms, and httpx has imported it

    value = getproxies().get(split.scheme)
    if not value or proxy_bypass(split.hostname or ""):
        return None
    return Proxy(value if "://" in value else f"http://{value}", "the system's settings")


def _check(proxy: Proxy) -> None:
    if problem := _problem_of(proxy.url):
        raise ConfigError(
            f"the proxy in {proxy.variable} ({proxy.shown}) cannot be used: {problem}",
            hint=f"correct {proxy.variable}, or unset it",
        )


def _problem_of(url: str) -> str:
    """What is wrong with a proxy's URL; empty if nothing is."""
    try:
        split = urlsplit(url)
        port_is_valid = split.port is None or split.port > 0
    except ValueError:
        return "it is no URL"
    if split.scheme not in SCHEMES:
        return f"`{one_line(split.scheme, 40)}` is none of {', '.join(SCHEMES)}"
    if not port_is_valid or not split.hostname or " " in split.hostname:
        return "it is no URL with a host"
    if split.scheme.startswith("socks"):
        from importlib.util import find_spec  # for those who have such a proxy

        if find_spec("socksio") is None:
            return "the library for SOCKS is not installed (pip install socksio)"
    return ""


def _is_excepted(split: SplitResult, no_proxy: str) -> bool:
    host = (split.hostname or "").rstrip(".").lower()
    port = split.port or (443 if split.scheme == "https" else 80)
    return any(_covers(entry, host, port) for entry in no_proxy.replace(",", " ").split())


def _covers(entry: str, host: str, port: int) -> bool:
    entry = entry.rpartition("://")[2].lower()
    if entry == "*":
        return True
    name, wanted = _host_and_port(entry)
    if wanted and wanted != str(port):
        return False
    name = name.removeprefix("*").removeprefix(".").rstrip(".")
    if not name:
        return False
    return host == name or host.endswith(f".{name}") or _is_in_network(host, name)


def _host_and_port(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        return host, rest.removeprefix(":")
    host, colon, port = entry.rpartition(":")
    # More colons are those of an IPv6 address without brackets.
    return (host, port) if colon and ":" not in host and port.isdigit() else (entry, "")


def _is_in_network(host: str, network: str) -> bool:
    """Whether a host that is an address is this one, or in this network."""
    if not (host[:1].isdigit() or ":" in host):
        return False
    import ipaddress  # 3 ms, for those whose server is an address

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except (ValueError, TypeError):
        return False
