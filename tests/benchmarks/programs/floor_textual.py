"""The floor of the app: the least that a chat on Textual does. `floor_textual.py URL`, of the chat completions.

An input line; of an answer one Static a paragraph, of which the last grows, at most 20 times a second.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Input, Static

URL = urlsplit(sys.argv[1])


async def deltas(prompt: str) -> AsyncIterator[str]:
    reader, writer = await asyncio.open_connection(URL.hostname, URL.port)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": prompt}]}).encode()
    head = f"POST {URL.path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await reader.readuntil(b"\r\n\r\n")
    while size := int(await reader.readline(), 16):
        data = (await reader.readexactly(size + 2)).removeprefix(b"data: ")
        if data.startswith(b"{"):
            for choice in json.loads(data)["choices"]:
                yield choice["delta"].get("content") or ""
    writer.close()


class Floor(App[None]):
    CSS = "Input { dock: bottom; } VerticalScroll { height: 1fr; } Static { margin-bottom: 1; }"

    def compose(self) -> ComposeResult:
        yield VerticalScroll()
        yield Input(placeholder="Ask anything")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.input.clear()
        self.run_worker(self.answer(event.value))

    async def answer(self, prompt: str) -> None:
        self.text = ""
        self.last: Static | None = None
        timer = self.set_interval(0.05, self.show_text)
        async for delta in deltas(prompt):
            self.text += delta
        timer.stop()
        await self.show_text()

    async def show_text(self) -> None:
        *whole, self.text = self.text.split("\n\n")
        for paragraph in whole:
            await self.show_paragraph(paragraph)
            self.last = None
        if self.text:
            await self.show_paragraph(self.text)

    async def show_paragraph(self, text: str) -> None:
        if self.last is None:
            log = self.query_one(VerticalScroll)
            self.last = Static(markup=False)
            await log.mount(self.last)
            log.anchor()
        self.last.update(text)


Floor().run()
