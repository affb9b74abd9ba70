"""A model server for tests: real HTTP and real server-sent events on loopback, scripted by the test.

```python
async with FakeServer(strict=True) as server:            # or FakeServer.start_in_thread() … server.stop()
    server.answer("hello")                               # text
    server.answer(Thinking("hm"), "Looking.", Call("read", {"path": "a.txt"}))
    server.answer(Reply.error(429, {"error": {"message": "slow down"}}, headers={"retry-after": "2"}))
    server.answer(Reply.raw(b"data: …", chunk=7))        # bytes as they are, seven to a write
    server.answer(Reply("a long text", delay=0.01, cut=200))
    …  # base_url=server.url
    server.requests[0].body
```

It speaks chat completions, responses and messages, by the path of the request. Each answer is used once, in order.
"""

from tests.fake_server.replies import Call, Redacted, Reply, Text, Thinking
from tests.fake_server.server import FakeServer, Request

__all__ = ["Call", "FakeServer", "Redacted", "Reply", "Request", "Text", "Thinking"]
