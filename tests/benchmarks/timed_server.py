"""TimedServer: the scripted server, which notes how long a client takes from an answer to its next request."""

import asyncio
import time

from tests.fake_server.server import FakeServer, Request


class TimedServer(FakeServer):
    """`gaps` has the milliseconds between the end of each answer and the first byte after it, on one connection.

    What the server takes to read a request and to write an answer, which both grow, is not in them. It keeps no bodies:
    with a thousand long ones it would have so much to look through for garbage that all figures tell of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gaps: list[float] = []
        self.last_size = 0
        """Bytes of the last request's body."""

    async def _respond(self, request: Request, writer: asyncio.StreamWriter, next_byte: asyncio.Future[bytes]) -> bool:
        stays_open = await super()._respond(request, writer, next_byte)
        self.last_size, request.raw, request.body = len(request.raw), b"", None
        ended = time.monotonic()

        def came(first: asyncio.Future[bytes]) -> None:
            if not first.cancelled() and first.exception() is None and first.result():
                self.gaps.append((time.monotonic() - ended) * 1000)

        next_byte.add_done_callback(came)
        return stays_open
