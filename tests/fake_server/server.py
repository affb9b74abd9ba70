"""FakeServer: the HTTP side. One connection at a time is one coroutine; connections are kept open as real servers do."""

import asyncio
import socket
import ssl
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Self

import msgspec
from msgspec import Struct

from tests.fake_server.formats import events_of
from tests.fake_server.replies import Block, Reply
from tests.fake_server.strict import refusal_of


class Request(Struct):
    """A request as it came."""

    path: str
    """With its query."""
    headers: dict[str, str]
    """Names in lower case."""
    raw: bytes
    """The body's bytes."""
    body: Any
    """The body's JSON; None if it is none."""
    time: float
    """Seconds, monotonic."""
    connection: int
    """Counts from 1; two requests on one connection have the same."""
    cancelled: bool = False
    """Whether the client closed the connection before the answer was over."""


class FakeServer:
    """Args:
    strict: whether request bodies are refused that the real APIs refuse.
    models: ids that `GET /v1/models` lists.
    tls: makes it an https server.
    """

    def __init__(
        self, *, strict: bool = False, models: list[str] | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self.strict = strict
        self.tls = tls
        self.models = models or ["fake-model"]
        self.requests: list[Request] = []
        self.refusals: list[str] = []
        """Why requests were refused by `strict`: a test that expects none asserts that it is empty."""
        self.port = 0
        self._replies: deque[Reply] = deque()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._count = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        """The base URL, without `/v1`."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def answer(self, *blocks: "Block | str | Reply", **how: Any) -> None:
        """Script the next answer: a `Reply`, or blocks and how to send them. Safe from any thread."""
        reply = blocks[0] if len(blocks) == 1 and isinstance(blocks[0], Reply) else Reply.of(*blocks, **how)
        self._replies.append(reply)

    async def start(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**26, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def aclose(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self._server = None

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @classmethod
    def start_in_thread(cls, **options: Any) -> Self:
        """A server with an event loop and a thread of its own, for tests that start subprocesses. End it with `stop`."""
        server = cls(**options)
        ready = threading.Event()

        async def run() -> None:
            server._loop = asyncio.get_running_loop()
            async with server:
                ready.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.get_running_loop().create_future()

        server._thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
        server._thread.start()
        if not ready.wait(10):
            raise RuntimeError("the fake server did not start")
        return server

    def stop(self) -> None:
        """End a server that has its own thread."""
        assert self._loop is not None and self._thread is not None
        loop = self._loop
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        self._thread.join(10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self._count += 1
        connection = self._count
        # One byte is always being read, so that a client that goes away is noticed while an answer is sent.
        next_byte = asyncio.ensure_future(reader.read(1))
        try:
            while first := await next_byte:
                request = await _read_request(first, reader, connection)
                next_byte = asyncio.ensure_future(reader.read(1))
                if not await self._respond(request, writer, next_byte):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            await _stopped(next_byte)
            writer.close()

    async def _respond(self, request: Request, writer: asyncio.StreamWriter, next_byte: asyncio.Future[bytes]) -> bool:
        """Answer; whether the connection stays open."""
        sending = asyncio.ensure_future(_send(self._reply(request), request, len(self.requests), writer))
        try:
            await asyncio.wait([sending, next_byte], return_when=asyncio.FIRST_COMPLETED)
            if sending.done() or not _has_left(next_byte):
                return await sending
        except ConnectionError:
            pass
        finally:
            await _stopped(sending)
        request.cancelled = True
        return False

    def _reply(self, request: Request) -> Reply:
        path = request.path.partition("?")[0]
        if request.body is None and not request.raw:
            listed = {"object": "list", "data": [{"id": id, "object": "model"} for id in self.models]}
            return Reply.error(200, listed)
        self.requests.append(request)
        if self.strict and (refusal := refusal_of(path, request.body)):
            self.refusals.append(refusal)
            return Reply.error(400, {"type": "error", "error": {"type": "invalid_request_error", "message": refusal}})
        if not self._replies:
            text = f"no answer is scripted for request {len(self.requests)}"
            return Reply.error(418, {"type": "error", "error": {"type": "invalid_request_error", "message": text}})
        return self._replies.popleft()


def _has_left(next_byte: asyncio.Future[bytes]) -> bool:
    """Whether the client closed the connection, in order or not."""
    return next_byte.exception() is not None or next_byte.result() == b""


async def _stopped(task: asyncio.Future[Any]) -> None:
    """Cancel it, and return when it is over, however."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _read_request(first: bytes, reader: asyncio.StreamReader, connection: int) -> Request:
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    start, *lines = head.rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    try:
        body = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        body = None
    return Request(start.split(" ")[1], headers, raw, body, time.monotonic(), connection)


async def _send(reply: Reply, request: Request, number: int, writer: asyncio.StreamWriter) -> bool:
    """Send a reply; whether the connection stays open."""
    headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"} | reply.headers
    phrase = HTTPStatus(reply.status).phrase if reply.status in HTTPStatus._value2member_map_ else "Unknown"
    head = f"HTTP/1.1 {reply.status} {phrase}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(head.encode() + b"\r\n")
    await asyncio.sleep(reply.first_delay)
    for data in _writes(reply, request, number):
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
        if reply.delay:
            await asyncio.sleep(reply.delay)
    await asyncio.sleep(reply.hold)
    if reply.reset:
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _writes(reply: Reply, request: Request, number: int) -> Iterator[bytes]:
    """The body in the pieces in which it is written."""
    path = request.path.partition("?")[0]
    model = str(request.body.get("model", "")) if isinstance(request.body, dict) else ""
    parts = [reply.body] if reply.body is not None else events_of(path, reply, model, number)
    if reply.cut is not None or reply.chunk:
        whole = b"".join(parts)[: reply.cut]
        size = reply.chunk or len(whole) or 1
        parts = [whole[start : start + size] for start in range(0, len(whole), size)]
    return (part for part in parts if part)
