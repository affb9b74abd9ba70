"""What the app costs beside a minimal chat on Textual: start, keys, an idle screen, streams, a long conversation."""

import contextlib
import shutil
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from tests.benchmarks.figure import Benchmark, Figure, Pair
from tests.benchmarks.terminal import Terminal
from tests.benchmarks.workbench import PROGRAMS, Workbench
from tests.fake_server import Call, Text

PROMPT = "sk anything"
KEYS = "QWZXVYUIOQ"
"""Letters that end no escape sequence which Textual writes."""
FLOOR = "minimal Textual chat"

ANSWER = """## What I found

The parser reads a line and **splits** it at `=`, which is wrong for values that hold one: 你好 = 世界.

- the first part is the *name*
- the rest is the value, with its `=` signs

```python
def parse(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name.strip(), value.strip()
```

I ran the tests: 12 passed. The change is in [parser.py](src/parser.py).

"""


@contextlib.contextmanager
def opened(bench: Workbench, *, floor: bool) -> Iterator[Terminal]:
    """The app, or the floor, in a terminal."""
    # The one before was killed: what it had in its editor would come back, and be told.
    shutil.rmtree(bench.command.home / "drafts", ignore_errors=True)
    app = [bench.agentcli, "--permission-mode", "auto"]
    argv = [bench.python, str(PROGRAMS / "floor_textual.py"), bench.chat_url] if floor else app
    terminal = Terminal(argv, bench.command.folder, bench.environment)
    try:
        yield terminal
    finally:
        terminal.close()


def _echoes(terminal: Terminal) -> float:
    """Milliseconds from a key to its echo; the line is empty again afterwards."""
    times = []
    for key in KEYS:
        terminal.read_for(0.06)
        times.append(terminal.echo(key))
    terminal.type("\x7f" * len(KEYS))
    terminal.read_for(0.2)
    return median(times) * 1000


def _ask(bench: Workbench, terminal: Terminal) -> float:
    """Send a prompt; milliseconds from Enter to the request."""
    before = len(bench.server.requests)
    terminal.type("go")
    terminal.read_for(0.2)
    begun = terminal.type("\r")
    while len(bench.server.requests) == before:
        terminal.read_for(0.005)
    return (bench.server.requests[before].time - begun) * 1000


def _start(bench: Workbench, *, floor: bool) -> dict[str, float]:
    bench.server.answer("hello")
    with opened(bench, floor=floor) as terminal:
        painted = terminal.wait_for(PROMPT) - terminal.started
        cpu = terminal.cpu
        usable = painted + terminal.echo("Q")
        _ask(bench, terminal)
        asked = bench.server.requests[-1].time - terminal.started
    bench.server.answer("hello")
    with opened(bench, floor=floor) as terminal:
        terminal.wait_for(PROMPT)
        terminal.read_for(1.0)
        echo = _echoes(terminal)
        submitted = _ask(bench, terminal)
    return {
        "app: start to the prompt painted": painted * 1000,
        "app: start to a key's echo": usable * 1000,
        "app: start to the prompt, CPU": cpu * 1000,
        "app: prompt typed at once, to request": asked * 1000,
        "app: key to echo": echo,
        "app: submit to request": submitted,
    }


def sample_start(bench: Workbench) -> dict[str, Pair]:
    floor = _start(bench, floor=True)
    return {name: Pair(value, floor[name]) for name, value in _start(bench, floor=False).items()}


def _idle(bench: Workbench, *, floor: bool) -> dict[str, float]:
    seconds = 3.0 if bench.short else 10.0
    with opened(bench, floor=floor) as terminal:
        terminal.wait_for(PROMPT)
        terminal.read_for(2.0)
        before, cpu = len(terminal.data), terminal.cpu
        terminal.read_for(seconds)
        return {
            "app: idle, CPU": (terminal.cpu - cpu) / seconds * 100,
            "app: idle, written in 10 s": (len(terminal.data) - before) / seconds * 10,
            "app: idle, memory": terminal.memory(),
        }


def sample_idle(bench: Workbench) -> dict[str, Pair]:
    floor = _idle(bench, floor=True)
    return {name: Pair(value, floor[name]) for name, value in _idle(bench, floor=False).items()}


class Streamed(NamedTuple):
    """What a streamed answer took: seconds, seconds of CPU, kB written to the terminal."""

    done: float
    cpu: float
    written: float


def _stream(bench: Workbench, terminal: Terminal, text: str, end: str, delay: float = 0.0) -> Streamed:
    """Have an answer streamed, four characters a delta."""
    bench.server.answer(Text(text + "\n\n"), Text(end), piece=4, delay=delay)
    before, cpu = len(terminal.data), terminal.cpu
    begun = terminal.type("go\r")
    done = terminal.wait_for(end) - begun
    terminal.read_for(0.3)
    return Streamed(done, terminal.cpu - cpu, (len(terminal.data) - before) / 1000)


def _at_once(bench: Workbench, terminal: Terminal, end: str) -> Streamed:
    """5,000 deltas."""
    words = " ".join(f"word{number}" for number in range(5_000))[:20_000]
    return _stream(bench, terminal, "\n\n".join(words[at : at + 700] for at in range(0, 20_000, 700)), end)


def _paced(bench: Workbench, terminal: Terminal, end: str) -> Streamed:
    """400 deltas, 100 a second."""
    return _stream(bench, terminal, (ANSWER * 4)[:1600], end, 0.01)


def _turns(bench: Workbench, terminal: Terminal, count: int) -> Streamed:
    for number in range(count):
        bench.server.answer(ANSWER[:120], Call("nope", {"n": number}), piece=60)
    return _stream(bench, terminal, "", "ENDTURNS")


def sample_work(bench: Workbench) -> dict[str, Pair]:
    with opened(bench, floor=True) as terminal:
        terminal.wait_for(PROMPT)
        terminal.read_for(1.0)
        floor_once, floor_paced = _at_once(bench, terminal, "ENDONE"), _paced(bench, terminal, "ENDTWO")
    with opened(bench, floor=False) as terminal:
        terminal.wait_for(PROMPT)
        terminal.read_for(1.5)
        _turns(bench, terminal, 3)
        once, paced = _at_once(bench, terminal, "ENDONE"), _paced(bench, terminal, "ENDTWO")
        echo = _echoes(terminal)
        turns = 100 if bench.short else 1_000
        long = _turns(bench, terminal, turns)
        once_late, paced_late = _at_once(bench, terminal, "ENDTHREE"), _paced(bench, terminal, "ENDFOUR")
        echo_late = _echoes(terminal)
        memory = terminal.memory("VmHWM")
    return {
        "app: 5,000 deltas, done": Pair(once.done, floor_once.done),
        "app: 5,000 deltas, CPU a delta": Pair(once.cpu * 200, floor_once.cpu * 200),
        "app: 5,000 deltas, written": Pair(once.written, floor_once.written),
        "app: 400 deltas at 100/s, CPU a delta": Pair(paced.cpu * 2500, floor_paced.cpu * 2500),
        "app: 400 deltas at 100/s, written": Pair(paced.written, floor_paced.written),
        "app: a turn with a call, CPU": Pair(long.cpu * 1000 / turns),
        "app: after 1,000 turns, 5,000 deltas, CPU": Pair(once_late.cpu * 200, once.cpu * 200),
        "app: after 1,000 turns, 400 deltas, CPU": Pair(paced_late.cpu * 2500, paced.cpu * 2500),
        "app: after 1,000 turns, key to echo": Pair(echo_late, echo),
        "app: after 1,000 turns, memory": Pair(memory),
    }


BENCHMARKS = [
    Benchmark(
        name="app-start",
        figures=[
            Figure(name="app: start to the prompt painted", unit="ms", floor=FLOOR, ratio=1.25),
            Figure(name="app: start to a key's echo", unit="ms", floor=FLOOR, ratio=1.25),
            Figure(name="app: start to the prompt, CPU", unit="ms", floor=FLOOR),
            Figure(name="app: prompt typed at once, to request", unit="ms", floor=FLOOR, ratio=1.1),
            Figure(name="app: key to echo", unit="ms", floor=FLOOR, ratio=1.2),
            Figure(name="app: submit to request", unit="ms", floor=FLOOR, at_most=40),
        ],
        sample=sample_start,
        runs=9,
        short_runs=2,
    ),
    Benchmark(
        name="app-idle",
        figures=[
            Figure(name="app: idle, CPU", unit="%", floor=FLOOR, at_most=0.3),
            Figure(name="app: idle, written in 10 s", unit="B", floor=FLOOR, at_most=100),
            Figure(name="app: idle, memory", unit="MiB", floor=FLOOR, at_most=75),
        ],
        sample=sample_idle,
        runs=3,
        short_runs=1,
        warm_up=False,
    ),
    Benchmark(
        name="app-work",
        figures=[
            Figure(name="app: 5,000 deltas, done", unit="s", floor=FLOOR, ratio=2.6),
            Figure(name="app: 5,000 deltas, CPU a delta", unit="us", floor=FLOOR, ratio=2.7),
            Figure(name="app: 5,000 deltas, written", unit="kB", floor=FLOOR, at_most=60),
            Figure(name="app: 400 deltas at 100/s, CPU a delta", unit="us", floor=FLOOR, ratio=1.55),
            Figure(name="app: 400 deltas at 100/s, written", unit="kB", floor=FLOOR),
            Figure(name="app: a turn with a call, CPU", unit="ms"),
            Figure(name="app: after 1,000 turns, 5,000 deltas, CPU", unit="us", floor="after 3 turns", ratio=1.2),
            Figure(name="app: after 1,000 turns, 400 deltas, CPU", unit="us", floor="after 3 turns", ratio=1.2),
            Figure(name="app: after 1,000 turns, key to echo", unit="ms", floor="after 3 turns", ratio=1.2),
            Figure(name="app: after 1,000 turns, memory", unit="MiB"),
        ],
        sample=sample_work,
        runs=3,
        short_runs=1,
        warm_up=False,
    ),
]
