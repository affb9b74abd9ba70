"""What the tools cost beside the plainest way to do the same, measured in one run: `python -m tests.benchmarks.bench_tools`.

Each line is a ratio to a floor (or an absolute bound of memory), its target, and the two times. `--short` takes smaller
inputs and fewer rounds, for a quick look. Exit code 1 if a target is missed.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentcli.agent.abort import AbortController
from agentcli.agent.tools import AgentTool
from agentcli.tools.toolset import TOOL_NAMES, ToolOptions, Toolset, create_toolset


class Bench:
    """The tools, a folder to work in, and the lines of the report."""

    def __init__(self, folder: Path, *, is_short: bool) -> None:
        self.folder = folder
        self.is_short = is_short
        self.toolset: Toolset = create_toolset(ToolOptions(cwd=folder), TOOL_NAMES)
        self.tools: dict[str, AgentTool] = {tool.name: tool for tool in self.toolset.tools}
        self.missed: list[str] = []

    async def call(self, name: str, **arguments: Any) -> str:
        result = await self.tools[name].execute("bench", arguments, AbortController().signal)
        assert not result.is_error, result.content
        return result.content[0].text

    def report(
        self, name: str, value: float, target: float, note: str, *, unit: str = "x", at_least: bool = False
    ) -> None:
        is_met = value >= target if at_least else value <= target
        sign = ">=" if at_least else "<="
        print(f"{'ok  ' if is_met else 'MISS'} {name:<44} {value:6.2f}{unit} (target {sign} {target:g}{unit})  {note}")
        if not is_met:
            self.missed.append(name)

    async def ratio(
        self, name: str, target: float, ours: Callable[[], Awaitable[Any]], floor: Callable[[], Any], rounds: int
    ) -> None:
        """Both in turn, and of each the lower quartile: other work of the machine makes times longer, never shorter."""
        await ours()
        floor()
        our_times: list[float] = []
        floor_times: list[float] = []
        for _ in range(rounds):
            start = time.perf_counter()
            await ours()
            middle = time.perf_counter()
            floor()
            our_times.append(middle - start)
            floor_times.append(time.perf_counter() - middle)
        mine, theirs = lower_quartile(our_times), lower_quartile(floor_times)
        self.report(name, mine / theirs, target, f"{mine * 1000:.2f} ms / {theirs * 1000:.2f} ms")


def lower_quartile(times: list[float]) -> float:
    return sorted(times)[len(times) // 4]


@contextmanager
def peak_growth() -> Iterator[Callable[[], float]]:
    """Yields what tells by how many MiB the resident memory has grown at most since the start."""
    page = os.sysconf("SC_PAGE_SIZE")
    is_over = threading.Event()

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * page

    start = peak = resident()

    def watch() -> None:
        nonlocal peak
        while not is_over.wait(0.005):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: (max(peak, resident()) - start) / 2**20
    finally:
        is_over.set()
        watcher.join()


async def longest_delay(work: Awaitable[Any]) -> float:
    """How late, in ms, a tick that is due every 20 ms came at most while the work went on."""
    worst = 0.0
    is_over = False

    async def tick() -> None:
        nonlocal worst
        while not is_over:
            due = time.perf_counter() + 0.02
            await asyncio.sleep(0.02)
            worst = max(worst, time.perf_counter() - due)

    ticker = asyncio.create_task(tick())
    await asyncio.sleep(0)
    await work
    is_over = True
    await ticker
    return worst * 1000


async def bash_floor(bench: Bench) -> None:
    def run(command: str) -> Callable[[], Any]:
        return lambda: subprocess.run(
            ["/bin/bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, check=True, cwd=bench.folder
        )

    rounds = 50 if bench.is_short else 200
    await bench.ratio(
        "bash: true / subprocess.run", 1.5, lambda: bench.call("bash", command="true"), run("true"), rounds
    )
    command = "seq 1 1000"
    await bench.ratio(
        "bash: seq 1 1000 / subprocess.run", 1.5, lambda: bench.call("bash", command=command), run(command), rounds
    )


async def bash_flood(bench: Bench) -> None:
    count = 100_000_000 if bench.is_short else 300_000_000
    source = bench.folder / "flood.txt"
    line = b"The quick brown fox jumps over the lazy dog, again and again and again.\n"
    with source.open("wb") as file:
        block = line * (1 << 14)
        while file.tell() < count:
            file.write(block)
    shell = f"cat {source} | cat > /dev/null"
    command = f"cat {source}"
    subprocess.run(["/bin/bash", "-c", shell], check=True)
    with peak_growth() as growth:
        ours, theirs = [], []
        for _ in range(1 if bench.is_short else 3):
            start = time.perf_counter()
            await bench.call("bash", command=command)
            middle = time.perf_counter()
            subprocess.run(["/bin/bash", "-c", shell], check=True)
            ours.append(middle - start)
            theirs.append(time.perf_counter() - middle)
            bench.toolset._spill.remove()
        mine, floor = lower_quartile(ours), lower_quartile(theirs)
        megabytes = source.stat().st_size / 1e6
        note = f"{megabytes / mine:.0f} MB/s / {megabytes / floor:.0f} MB/s"
        bench.report(f"bash: speed of {megabytes:.0f} MB / cat through a pipe", floor / mine, 0.33, note, at_least=True)
        bench.report(f"bash: memory for {megabytes:.0f} MB", growth(), 60, "", unit=" MiB")
    late = await longest_delay(bench.call("bash", command=command))
    bench.report("bash: latest tick meanwhile", late, 100, "", unit=" ms")
    source.unlink()


async def read_far(bench: Bench) -> None:
    lines = 1_200_000 if bench.is_short else 10_200_000
    first = 100_000 if bench.is_short else 1_000_000
    path = bench.folder / "huge.txt"
    with path.open("wb") as file:
        for start in range(0, lines, 100_000):
            file.write(b"".join(b"%010d " % number + b"x" * 90 + b"\n" for number in range(start, start + 100_000)))
    note = f"{path.stat().st_size / 1e9:.1f} GB"
    floor = ["sed", "-n", f"{first},{first + 100}p", str(path)]
    quick = ["sed", "-n", f"{first},{first + 100}p;{first + 100}q", str(path)]
    rounds = 2 if bench.is_short else 3

    async def ours() -> None:
        text = await bench.call("read", path="huge.txt", offset=first, limit=101)
        assert text.startswith(f"{first - 1:010d} x")

    await bench.ratio(
        f"read: line {first:,} of {note} / sed -n",
        1.3,
        ours,
        lambda: subprocess.run(floor, capture_output=True),
        rounds,
    )
    await bench.ratio(
        f"read: line {first:,} of {note} / sed -n …q",
        1.3,
        ours,
        lambda: subprocess.run(quick, capture_output=True),
        rounds,
    )
    with peak_growth() as growth:
        late = await longest_delay(ours())
        bench.report("read: memory", growth(), 20, "", unit=" MiB")
    bench.report("read: latest tick meanwhile", late, 100, "", unit=" ms")
    path.unlink()


async def edit_large(bench: Bench) -> None:
    path = bench.folder / "large.txt"
    content = b"".join(b"%07d some text that fills the line up to its end\n" % number for number in range(1_000_000))
    path.write_bytes(content)
    copy = bench.folder / "copy.txt"
    copy.write_bytes(content)
    size = len(content)
    del content
    turn = 0

    async def ours() -> None:
        nonlocal turn
        names = [f"0600000 some text, turn {turn}", f"0600000 some text, turn {turn + 1}"]
        if turn == 0:
            names[0] = "0600000 some text that"
        turn += 1
        await bench.call("edit", path="large.txt", edits=[{"old_text": names[0], "new_text": names[1]}])

    def floor() -> None:
        copy.write_bytes(copy.read_bytes())

    await bench.ratio(
        f"edit: a line in {size / 1e6:.0f} MB / read + write", 2.0, ours, floor, 3 if bench.is_short else 9
    )
    bench.report("edit: latest tick meanwhile", await longest_delay(ours()), 100, "", unit=" ms")
    path.unlink()
    copy.unlink()


async def grep_many(bench: Bench) -> None:
    count = 4_000 if bench.is_short else 20_000
    tree = bench.folder / "tree"
    for number in range(count):
        folder = tree / f"d{number % 200}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"def function_{number}():\n    return {number}\n" * 20
        (folder / f"file_{number}.py").write_text(text)
    rounds = 5 if bench.is_short else 9
    pattern = "function_1234[0-9]?\\("
    if shutil.which("rg"):
        floor = ["rg", "--line-number", "--hidden", pattern, str(tree)]

        async def ours() -> None:
            await bench.call("grep", pattern=pattern, path="tree")

        await bench.ratio(
            f"grep: {count:,} files / rg", 1.2, ours, lambda: subprocess.run(floor, capture_output=True), rounds
        )
        bench.report("grep: latest tick meanwhile", await longest_delay(ours()), 100, "", unit=" ms")
    else:
        print("     grep / rg: ripgrep is not installed, so there is nothing to compare with")
    late = await longest_delay(bench.call("find", pattern="*_1234.py", path="tree"))
    bench.report("find: latest tick meanwhile", late, 100, "", unit=" ms")


async def run(is_short: bool) -> int:
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), is_short=is_short)
        for part in (bash_floor, bash_flood, read_far, edit_large, grep_many):
            await part(bench)
        await bench.toolset.close()
    if bench.missed:
        print(f"missed: {', '.join(bench.missed)}")
    return 1 if bench.missed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="smaller inputs, fewer rounds")
    return asyncio.run(run(parser.parse_args().short))


if __name__ == "__main__":
    sys.exit(main())
