"""How fast the app draws: `python tests/benchmarks/bench_tui.py [designs|start|stream] [--runs N]`.

Everything runs in a pty of 120 × 40 that is read as fast as it writes, so that what a terminal costs is in the figures
and what a test driver leaves out is not missing.

    designs   the two designs for a transcript, on the same rows, with 0, 100 and 1,000 answers in it
    app       the app beside a minimal Textual app with a TextArea: start to prompt, key to echo, idling, streams
"""

import argparse
import asyncio
import fcntl
import json
import os
import pty
import re
import resource
import select
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Coroutine
from pathlib import Path
from statistics import median

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from agentcli.tui.items.assistant_text import AssistantText
from agentcli.tui.palette import Palette
from agentcli.tui.widgets.transcript import Transcript

COLUMNS, ROWS = 120, 40
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


FLOOR = """
from textual.app import App
from textual.containers import VerticalScroll
from textual.widgets import TextArea

class Floor(App):
    CSS = "TextArea { height: 3; } VerticalScroll { height: 1fr; }"
    def compose(self):
        yield VerticalScroll()
        yield TextArea(placeholder="Ask anything")
    def on_mount(self):
        self.query_one(TextArea).focus()

Floor().run()
"""


class Pty:
    """A child in a pty that is read all the time."""

    def __init__(self, argv: list[str], env: dict[str, str] | None = None) -> None:
        self.data = bytearray()
        self.started = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read_for(self, seconds: float, until: str | None = None) -> float | None:
        """Read so long, or until this pattern was written. Returns when that was, in seconds since the start."""
        end = time.monotonic() + seconds
        begin = len(self.data)
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                continue
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:
                return None
            if not data:
                return None
            self.data += data
            if until and re.search(until.encode(), self.data[max(begin - 200, 0) :]):
                return time.monotonic() - self.started
        return None

    def echo(self, key: str) -> float:
        """Seconds from a key to the first byte that answers it."""
        begun = time.monotonic()
        os.write(self.fd, key.encode())
        select.select([self.fd], [], [], 2)
        seconds = time.monotonic() - begun
        self.read_for(0.06)
        return seconds

    def cpu(self) -> float:
        """Seconds of CPU that the child has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def app(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        command = [str(Path(sys.executable).with_name("agentcli")), "--model", f"scripted:{_script(home)}"]
        floor = [sys.executable, "-c", FLOOR]
        env = {"AGENTCLI_HOME": folder}
        starts: dict[str, list[float]] = {"agentcli": [], "floor": []}
        cpu: dict[str, list[float]] = {"agentcli": [], "floor": []}
        echoes: dict[str, list[float]] = {"agentcli": [], "floor": []}
        for _ in range(runs):
            for name, argv in (("floor", floor), ("agentcli", command)):
                child = Pty(argv, env)
                starts[name].append(child.read_for(20, "sk anything") or 99)
                cpu[name].append(child.cpu())
                child.read_for(1.0)
                echoes[name] += [child.echo(key) for key in "abcdefghij"]
                child.close()
        for name in starts:
            print(
                f"{name:10} prompt {median(starts[name]) * 1e3:5.0f} ms   cpu {median(cpu[name]) * 1e3:4.0f} ms   "
                f"echo {median(echoes[name]) * 1e3:.1f} ms"
            )
        _at_work(command, env)


def _script(folder: Path) -> Path:
    """400 deltas at 100 a second, then 5,000 at once, then a thousand answers to fill the transcript, then 400 again."""
    deltas = (ANSWER * 3)[:1600]
    words = " ".join(f"word{number}" for number in range(5_000))[: 5_000 * 4]
    paragraphs = "\n\n".join(words[start : start + 700] for start in range(0, len(words), 700))
    steps = [{"text": deltas, "chunk": 4, "delay": 0.01}, {"text": "\n\nENDONE"}, {"stop": "done"}]
    steps += [{"text": paragraphs, "chunk": 4}, {"text": "\n\nENDTWO"}, {"stop": "done"}]
    for number in range(1_000):
        # Short, so that the conversation stays within the window of the model.
        steps += [{"text": ANSWER[:120]}, {"tool": "nope", "arguments": {"n": number}}, {"stop": "tool_calls"}]
    steps += [{"text": "ENDTHREE"}, {"stop": "done"}]
    steps += [{"text": deltas, "chunk": 4, "delay": 0.01}, {"text": "\n\nENDFOUR"}, {"stop": "done"}]
    path = folder / "script.jsonl"
    path.write_text("".join(json.dumps(step) + "\n" for step in steps))
    return path


def _at_work(command: list[str], env: dict[str, str]) -> None:
    child = Pty(command, env)
    child.read_for(20, "sk anything")
    child.read_for(1.5)
    before, cpu = len(child.data), child.cpu()
    child.read_for(10)
    rss = int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{child.pid}/status").read_text())[0]) / 1024
    print(f"idle 10 s: {len(child.data) - before} bytes, {(child.cpu() - cpu) * 10:.1f} % CPU, {rss:.0f} MiB")
    for name, end in (
        ("400 deltas at 100/s", "ENDONE"),
        ("5,000 deltas at once", "ENDTWO"),
        ("1,000 turns", "ENDTHREE"),
        ("400 deltas at 100/s after them", "ENDFOUR"),
    ):
        before, cpu, begun = len(child.data), child.cpu(), time.monotonic()
        os.write(child.fd, b"go\r")
        found = child.read_for(120, end)
        seconds = time.monotonic() - begun
        child.read_for(0.3)
        print(
            f"{name}: {seconds:.2f} s, {child.cpu() - cpu:.2f} s CPU, {(len(child.data) - before) / 1000:.0f} kB"
            + ("" if found else " (end not seen)")
        )
        echo = median([child.echo(key) for key in "abcdefghij"])
        print(f"    echo afterwards {echo * 1e3:.1f} ms")
        os.write(child.fd, b"\x03")
        child.read_for(0.3)
    child.close()


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
        child = Pty([sys.executable, __file__, "child", design, str(answers), file.name])
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
            item.append(text[given * 4 : due * 4])
            given = due
            self.grown(item)

    async def resize(self) -> None:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, 90, 0, 0))
        while self.size.width != 90:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.2)

    async def measure(self) -> None:
        await self.painted()
        figures = {"mount": await self.timed(self.add([AssistantText(ANSWER) for _ in range(self.answers)]))}
        item = AssistantText()
        await self.add([item])
        figures["stream"] = await self.timed(self.stream(item))
        figures["append"] = min([await self.timed(self.add([AssistantText(ANSWER)])) for _ in range(5)])
        figures["resize"] = await self.timed(self.resize())
        figures["rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        Path(self.output).write_text(json.dumps(figures))
        self.exit()


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        DesignApp(sys.argv[2], int(sys.argv[3]), sys.argv[4]).run()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["app", "designs"], nargs="?", default="app")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    {"app": app, "designs": designs}[arguments.what](arguments.runs)


if __name__ == "__main__":
    main()
