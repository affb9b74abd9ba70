"""The two designs for a transcript on the same rows: `python -m tests.benchmarks.transcript_designs [--runs N]`.

With 0, 100 and 1,000 answers in it, in a pty that is read as fast as it writes. What came out decided, and stands in
`agentcli/tui/widgets/transcript.py`. `child` is the process in the pty.
"""

import argparse
import asyncio
import fcntl
import json
import os
import resource
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Coroutine
from pathlib import Path

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from agentcli.tui.colors.palette import Palette
from agentcli.tui.items.assistant_text import AssistantText
from agentcli.tui.widgets.transcript import Transcript
from tests.benchmarks.terminal import ROWS, Terminal
from tests.tui.views import assistant_text

PALETTE = Palette({})

ANSWER = """## What I found

The parser reads a line and **splits** it at `=`, which is wrong for values that hold one: 你好 = 世界.

- the first part is the *name*
- the rest is the value, with its `=` signs
- nothing else changes

```python
def parse(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name.strip(), value.strip()
```

| case | before | after |
| --- | --- | --- |
| `a=b` | ok | ok |
| `a=b=c` | fails | ok |

I ran the tests: 12 passed. The change is in [parser.py](src/parser.py).
"""


def designs(runs: int) -> None:
    print("design  answers   mount ms   stream CPU s   kB   append ms   resize ms   RSS MiB")
    for design in ("lines", "widgets"):
        for answers in (0, 100, 1_000):
            figures = sorted((_design(design, answers) for _ in range(runs)), key=lambda figure: figure["stream"])
            best = figures[0]
            print(
                f"{design:8}{answers:7}{best['mount'] * 1e3:11.0f}{best['stream']:15.2f}{best['kB']:5.0f}"
                f"{best['append'] * 1e3:12.1f}{best['resize'] * 1e3:12.1f}{best['rss']:10.0f}"
            )


def _design(design: str, answers: int) -> dict[str, float]:
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        argv = [sys.executable, "-m", "tests.benchmarks.transcript_designs", "child", design, str(answers), file.name]
        child = Terminal(argv, Path.cwd(), dict(os.environ))
        child.read_for(120)
        os.waitpid(child.pid, 0)
        os.close(child.fd)
        return {**json.load(file), "kB": len(child.data) / 1000}


class MessageWidget(Widget):
    """The other design: one widget a message, laid out per width."""

    DEFAULT_CSS = "MessageWidget { height: auto; width: 1fr; margin-bottom: 1; }"

    def __init__(self, item: AssistantText) -> None:
        super().__init__()
        self.item = item
        self.made: tuple[int, list[Strip]] = (0, [])

    def laid_out(self, width: int) -> list[Strip]:
        if self.made[0] != width:
            self.made = (width, self.item.rows(width, PALETTE))
        return self.made[1]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.laid_out(width))

    def render_line(self, y: int) -> Strip:
        strips = self.laid_out(self.size.width)
        return strips[y] if y < len(strips) else Strip.blank(self.size.width)

    def changed(self) -> None:
        self.made = (0, [])
        self.refresh(layout=True)


class DesignApp(App[None]):
    """In the pty: mount, stream 400 deltas at 100 a second, append, change the width; then write the figures."""

    CSS = "VerticalScroll { height: 1fr; layout: stream; } TextArea { height: 3; }"

    def __init__(self, design: str, answers: int, output: str) -> None:
        super().__init__()
        self.design = design
        self.answers = answers
        self.output = output

    def compose(self) -> ComposeResult:
        yield Transcript() if self.design == "lines" else VerticalScroll()
        area = TextArea(compact=True)
        area.cursor_blink = False
        yield area

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()
        self.run_worker(self.measure())

    async def add(self, items: list[AssistantText]) -> None:
        if self.design == "lines":
            transcript = self.query_one(Transcript)
            transcript.append(items)
            transcript.show()
        else:
            log = self.query_one(VerticalScroll)
            await log.mount(*(MessageWidget(item) for item in items[-200:]))
            log.anchor()

    def grown(self, item: AssistantText) -> None:
        if self.design == "lines":
            self.query_one(Transcript).changed(item)
            self.query_one(Transcript).show()
        else:
            self.query(MessageWidget).last().changed()

    async def painted(self) -> None:
        done = asyncio.Event()
        self.call_after_refresh(done.set)
        await done.wait()

    async def timed(self, work: Coroutine[None, None, None]) -> float:
        start = time.process_time()
        await work
        await self.painted()
        return time.process_time() - start

    async def stream(self, item: AssistantText) -> None:
        text = ANSWER * 3
        begun, given = time.monotonic(), 0
        while given < 400:
            await asyncio.sleep(0.04)
            due = min(int((time.monotonic() - begun) * 100), 400)
            item.item.append(text[given * 4 : due * 4])
            given = due
            self.grown(item)

    async def resize(self) -> None:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, 90, 0, 0))
        while self.size.width != 90:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.2)

    async def measure(self) -> None:
        await self.painted()
        figures = {"mount": await self.timed(self.add([assistant_text(ANSWER) for _ in range(self.answers)]))}
        item = assistant_text()
        await self.add([item])
        figures["stream"] = await self.timed(self.stream(item))
        figures["append"] = min([await self.timed(self.add([assistant_text(ANSWER)])) for _ in range(5)])
        figures["resize"] = await self.timed(self.resize())
        figures["rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        Path(self.output).write_text(json.dumps(figures))
        self.exit()


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        DesignApp(sys.argv[2], int(sys.argv[3]), sys.argv[4]).run()
        return
    parser = argparse.ArgumentParser(description="The two designs for a transcript.")
    parser.add_argument("--runs", type=int, default=3)
    designs(parser.parse_args().runs)


if __name__ == "__main__":
    main()
