"""HostProxy: the way out of a sandbox that may reach some hosts only: an HTTP proxy that agentcli itself is.

It knows the names of hosts and their ports, not what is said: TLS stays closed. A host that is not listed is asked
about. Programs that heed no proxy reach nothing.
"""

import asyncio
import contextlib
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

AskAboutHost = Callable[[str, int], Awaitable[bool]]

_MOST_HEAD = 1 << 16
_HEAD_AT_MOST_S = 30.0
_CONNECT_AT_MOST_S = 30.0
_PIECE = 1 << 16
_NAMES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class HostProxy:
    """Args:
    hosts: names, or `*.name`, that may be reached without a question.
    """

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self._hosts = [host.lower().rstrip(".") for host in hosts]
        self.ask: AskAboutHost | None = None
        """Asks about a host that is not listed; without, it is refused."""
        self._answers: dict[str, asyncio.Future[bool]] = {}
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[None]] = set()

    async def serve(self, listener: socket.socket) -> None:
        """Serve a listening TCP socket until `close`."""
        own = listener.dup()
        own.setblocking(False)
        self._servers.append(await asyncio.start_server(self._take, sock=own, limit=_MOST_HEAD))

    def begin_command(self) -> None:
        """What was answered for one command need not hold for the next."""
        self._answers = {host: answer for host, answer in self._answers.items() if not answer.done()}

    def close(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._open:
            task.cancel()
        self._servers = []

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await self._answer(reader, writer)
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_AT_MOST_S):
                head = await reader.readuntil(b"\r\n\r\n")
            method, target, rest = _parsed(head)
            host, port, first = _wanted(method, target, rest)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            writer.write(_said(400, "this is no request to a proxy"))
            return
        address = await self._address(host, port)
        if address is None:
            writer.write(_said(403, f"refused by the sandbox: {host}:{port} is not one of its hosts"))
            return
        try:
            async with asyncio.timeout(_CONNECT_AT_MOST_S):
                far_reader, far_writer = await asyncio.open_connection(address, port)
        except (OSError, TimeoutError, ValueError) as error:
            writer.write(_said(502, f"{host}:{port} cannot be reached: {error}"))
            return
        try:
            if first:
                far_writer.write(first)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            far_writer.close()

    async def _address(self, host: str, port: int) -> str | None:
        """Where to connect to; None if the host may not be reached."""
        is_named = host in self._hosts
        is_listed = is_named or any("*" in pattern and fnmatchcase(host, pattern) for pattern in self._hosts)
        if not is_listed and not await self._asked(host, port):
            return None
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            return host  # the connection will say so
        except ValueError:
            return None  # no name that there can be: a label is empty, or too long
        addresses = [str(entry[4][0]) for entry in found]
        # A name that only fits a pattern may be anybody's, and lead into the network of this machine.
        if is_listed and not is_named and not all(_is_public(address) for address in addresses):
            return addresses[0] if await self._asked(host, port) else None
        return addresses[0]

    async def _asked(self, host: str, port: int) -> bool:
        if self.ask is None:
            return False
        answer = self._answers.get(host)
        if answer is None:
            answer = self._answers[host] = asyncio.ensure_future(self.ask(host, port))
        return await asyncio.shield(answer)


def proxy_variables(port: int) -> dict[str, str]:
    """What tells programs of the proxy."""
    url = f"http://127.0.0.1:{port}"
    local = "localhost,127.0.0.1,::1"
    return {**dict.fromkeys(_NAMES, url), "no_proxy": local, "NO_PROXY": local, "NODE_USE_ENV_PROXY": "1"}


def _parsed(head: bytes) -> tuple[str, str, list[bytes]]:
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    method, target, _ = lines[0].decode("ascii").split(" ")
    return method, target, lines[1:]


def _wanted(method: str, target: str, rest: list[bytes]) -> tuple[str, int, bytes]:
    """Host, port, and what to send there first; nothing after CONNECT. Raises ValueError."""
    if method == "CONNECT":
        parts = urlsplit(f"//{target}")
        if not parts.hostname or parts.port is None:
            raise ValueError(target)
        return _host(parts.hostname), parts.port, b""
    parts = urlsplit(target)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(target)
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    kept = [line for line in rest if not re.match(rb"(?:proxy-[a-z-]+|connection|keep-alive)\s*:", line, re.I)]
    # One request a connection: the next may be for another host.
    lines = [f"{method} {path} HTTP/1.1".encode("ascii"), *kept, b"Connection: close", b"", b""]
    return _host(parts.hostname), parts.port or 80, b"\r\n".join(lines)


def _host(name: str) -> str:
    return name.lower().rstrip(".")


def _is_public(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_global
    except ValueError:
        return False


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def _said(status: int, text: str) -> bytes:
    reason = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway"}[status]
    body = f"{text}\n".encode()
    head = [
        f"HTTP/1.1 {status} {reason}",
        "Content-Type: text/plain",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body
