"""A sandbox that may reach some hosts."""

import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from agentcli.tools.sandbox.policy import SandboxPolicy
from agentcli.tools.sandbox.proxy import HostProxy, _is_public, _wanted
from agentcli.tools.sandbox.sandbox import Sandbox
from agentcli.tools.toolset import ToolOptions, create_toolset
from tests.tools.conftest import Tools
from tests.tools.sandbox.conftest import Place, make_sandbox

PYTHON = os.path.realpath(sys.executable)


@pytest.fixture
def server() -> Iterator[int]:
    """Says what it was asked, over HTTP."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            with one:
                head = one.recv(9999)
                body = head.split(b"\r\n")[0] + (b" (closing)" if b"Connection: close" in head else b"")
                one.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(body), body))

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


class Reaching:
    def __init__(self, tools: Tools, sandbox: Sandbox, port: int) -> None:
        self.tools = tools
        self.sandbox = sandbox
        self.port = port

    async def get(self, host: str) -> str:
        code = f"import urllib.request as u, urllib.error as e\ntry: print(u.urlopen('http://{host}:{self.port}/a?b', timeout=5).read().decode())\nexcept e.HTTPError as x: print(x.code, x.read().decode())"
        return (await self.tools.bash(f'unset no_proxy NO_PROXY; {PYTHON} -c "{code}"')).text

    async def connect(self, host: str) -> str:
        code = (
            "import os, socket; s = socket.create_connection(('127.0.0.1', int(os.environ['http_proxy'].rpartition(':')[2])))\n"
            f"s.sendall(b'CONNECT {host}:{self.port} HTTP/1.1\\r\\n\\r\\n'); print(s.recv(99))\n"
            "s.sendall(b'GET /deep HTTP/1.1\\r\\n\\r\\n'); print(s.recv(999), s.recv(999))"
        )
        return (await self.tools.bash(f'{PYTHON} -c "{code}"')).text


@pytest.fixture
async def reaching(place: Place, server: int) -> AsyncIterator[Reaching]:
    sandbox = make_sandbox(
        SandboxPolicy(cwd=place.cwd, hosts=("localhost", "*.0.0.1")), place.folder / "private", "bubblewrap"
    )
    options = ToolOptions(cwd=place.cwd, sandbox=sandbox, bash_timeout_s=20)
    toolset = create_toolset(options)
    yield Reaching(Tools(toolset, options), sandbox, server)
    await toolset.close()


async def test_a_host_that_is_named_is_reached(reaching: Reaching) -> None:
    assert await reaching.get("localhost") == "GET /a?b HTTP/1.1 (closing)"
    assert "200 Connection established" in await reaching.connect("localhost")
    assert "GET /deep" in await reaching.connect("LOCALHOST.")


async def test_another_one_is_refused_and_told(reaching: Reaching) -> None:
    assert f"403 refused by the sandbox: example.org:{reaching.port} is not one of its hosts" in await reaching.get(
        "example.org"
    )


async def test_a_name_that_only_fits_a_pattern_does_not_lead_into_this_machine(reaching: Reaching) -> None:
    assert "403" in await reaching.get("127.0.0.1")


async def test_another_one_is_asked_about_once_a_command(reaching: Reaching) -> None:
    asked: list[tuple[str, int]] = []

    async def ask(host: str, port: int) -> bool:
        asked.append((host, port))
        return True

    assert reaching.sandbox.proxy is not None
    reaching.sandbox.proxy.ask = ask
    assert "GET /a?b" in await reaching.get("127.0.0.1")
    assert asked == [("127.0.0.1", reaching.port)]


async def test_nothing_goes_past_the_proxy(reaching: Reaching) -> None:
    code = f"import socket; socket.create_connection(('127.0.0.1', {reaching.port}), 2)"
    assert (await reaching.tools.bash(f'{PYTHON} -c "{code}"')).is_error
    assert (
        await reaching.tools.bash(f'{PYTHON} -c \'import socket; socket.socket(2, 2).sendto(b"x", ("8.8.8.8", 53))\'')
    ).is_error


@pytest.mark.parametrize(
    "request_", [b"", b"GET / HTTP/1.1", b"CONNECT a HTTP/1.1", b"GET ftp://a/ HTTP/1.1", b"\xff\xff \x00"]
)
async def test_what_is_no_request_is_refused(request_: bytes) -> None:
    import asyncio

    proxy = HostProxy(())
    listener = socket.create_server(("127.0.0.1", 0))
    await proxy.serve(listener)
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(request_ + b"\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    writer.close()
    proxy.close()
    listener.close()


def test_what_is_sent_on() -> None:
    head = [b"Host: a", b"Proxy-Authorization: x", b"Connection: keep-alive", b"X: y"]
    assert _wanted("GET", "http://A.b./c?d", head) == (
        "a.b",
        80,
        b"GET /c?d HTTP/1.1\r\nHost: a\r\nX: y\r\nConnection: close\r\n\r\n",
    )
    assert _wanted("CONNECT", "[::1]:443", []) == ("::1", 443, b"")


def test_public_addresses() -> None:
    assert _is_public("1.1.1.1") and not any(
        map(_is_public, ("127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0"))
    )
