"""The tools beside the plainest way to do the same: `tools.py FOLDER [--short]` prints `{figure: [ours, floor]}` as JSON.

Times are milliseconds, memory is MiB, and a tick is how late, in ms, one that was due every 20 ms came at most.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
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
    """The tools, a folder to work in, and what was measured."""

    def __init__(self, folder: Path, *, short: bool) -> None:
        self.folder = folder
        self.short = short
        self.toolset: Toolset = create_toolset(ToolOptions(cwd=folder), TOOL_NAMES)
        self.tools: dict[str, AgentTool] = {tool.name: tool for tool in self.toolset.tools}
        self.figures: dict[str, list[float]] = {}

    async def call(self, name: str, **arguments: Any) -> str:
        running: Any = self.tools[name].execute("bench", arguments, AbortController().signal)
        result = await running
        assert not result.is_error, result.content
        return result.content[0].text

    async def compare(
        self, name: str, rounds: int, ours: Callable[[], Awaitable[Any]], floor: Callable[[], Any]
    ) -> None:
        """Both in turn, and of each the lower quartile: other work of the machine makes times longer, never shorter."""
        await ours()
        floor()
        took: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            start = time.perf_counter()
            await ours()
            middle = time.perf_counter()
            floor()
            took[0].append(middle - start)
            took[1].append(time.perf_counter() - middle)
        self.figures[name] = [sorted(times)[rounds // 4] * 1000 for times in took]


def output_of(*command: str, cwd: Path | None = None) -> None:
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=cwd)


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


async def latest_tick(work: Awaitable[Any]) -> float:
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


async def bash_small(bench: Bench) -> None:
    rounds = 50 if bench.short else 200
    for command in ("true", "seq 1 1000"):

        async def ours(command: str = command) -> None:
            await bench.call("bash", command=command)

        def floor(command: str = command) -> None:
            output_of("/bin/bash", "-c", command, cwd=bench.folder)

        await bench.compare(f"bash: {command}", rounds, ours, floor)


async def bash_flood(bench: Bench) -> None:
    source = bench.folder / "flood.txt"
    block = b"The quick brown fox jumps over the lazy dog, again and again and again.\n" * (1 << 14)
    with source.open("wb") as file:
        for _ in range(84 if bench.short else 252):
            file.write(block)

    async def ours() -> None:
        await bench.call("bash", command=f"cat {source}")
        bench.toolset._spill.remove()

    with peak_growth() as growth:
        await bench.compare(
            "bash: a flood of output",
            1 if bench.short else 3,
            ours,
            lambda: output_of("/bin/bash", "-c", f"cat {source} | cat > /dev/null"),
        )
        bench.figures["bash: a flood of output, memory"] = [growth()]
    bench.figures["bash: a flood of output, latest tick"] = [await latest_tick(ours())]
    source.unlink()


async def read_small(bench: Bench) -> None:
    path = bench.folder / "small.txt"
    path.write_text("hello\n" * 20)
    await bench.compare("read: 20 lines", 200, lambda: bench.call("read", path="small.txt"), path.read_text)


async def read_far(bench: Bench) -> None:
    lines, first = (1_200_000, 100_000) if bench.short else (10_200_000, 1_000_000)
    path = bench.folder / "huge.txt"
    with path.open("wb") as file:
        for start in range(0, lines, 100_000):
            file.write(b"".join(b"%010d " % number + b"x" * 90 + b"\n" for number in range(start, start + 100_000)))

    async def ours() -> None:
        text = await bench.call("read", path="huge.txt", offset=first, limit=101)
        assert text.startswith(f"{first - 1:010d} x")

    wanted = f"{first},{first + 100}p"
    rounds = 2 if bench.short else 3
    await bench.compare("read: far into 1 GB", rounds, ours, lambda: output_of("sed", "-n", wanted, str(path)))
    quick = f"{wanted};{first + 100}q"
    await bench.compare("read: far, and stop", rounds, ours, lambda: output_of("sed", "-n", quick, str(path)))
    with peak_growth() as growth:
        bench.figures["read: far, latest tick"] = [await latest_tick(ours())]
        bench.figures["read: far, memory"] = [growth()]
    path.unlink()


async def write_file(bench: Bench) -> None:
    text = "some text that fills the line up to its end\n" * 1000
    copy = bench.folder / "copy.txt"

    def floor() -> None:
        copy.write_text(text)

    await bench.compare("write: 44 kB", 100, lambda: bench.call("write", path="new.txt", content=text), floor)


async def edit_large(bench: Bench) -> None:
    path, copy = bench.folder / "large.txt", bench.folder / "large-copy.txt"
    content = b"".join(b"%07d some text that fills the line up to its end\n" % number for number in range(1_000_000))
    for file in (path, copy):
        file.write_bytes(content)
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

    await bench.compare("edit: a line in 52 MB", 3 if bench.short else 9, ours, floor)
    bench.figures["edit: a line in 52 MB, latest tick"] = [await latest_tick(ours())]
    path.unlink()
    copy.unlink()


async def search_many(bench: Bench) -> None:
    tree = bench.folder / "tree"
    for number in range(4_000 if bench.short else 20_000):
        folder = tree / f"d{number % 200}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"def function_{number}():\n    return {number}\n" * 20
        (folder / f"file_{number}.py").write_text(text)
    pattern = "function_1234[0-9]?\\("

    async def grep() -> None:
        await bench.call("grep", pattern=pattern, path="tree")

    # Without ripgrep the tool searches itself, and what there is to hold it against is grep.
    ripgrep = ["rg", "--line-number", "--hidden", pattern, str(tree)]
    plain = ["grep", "-rnE", pattern, str(tree)]
    command = ripgrep if shutil.which("rg") else plain
    rounds = 5 if bench.short else 9
    await bench.compare("grep: 20,000 files", rounds, grep, lambda: output_of(*command))
    bench.figures["grep: 20,000 files, latest tick"] = [await latest_tick(grep())]

    async def find() -> None:
        await bench.call("find", pattern="*_1234.py", path="tree")

    await bench.compare("find: 20,000 files", rounds, find, lambda: output_of("find", str(tree), "-name", "*_1234.py"))
    bench.figures["find: 20,000 files, latest tick"] = [await latest_tick(find())]
    await bench.compare(
        "ls: 200 folders", 50, lambda: bench.call("ls", path="tree"), lambda: output_of("ls", "-a", str(tree))
    )


async def main(folder: Path, *, short: bool) -> None:
    bench = Bench(folder, short=short)
    for part in (bash_small, bash_flood, read_small, read_far, write_file, edit_large, search_many):
        await part(bench)
    await bench.toolset.close()
    print(json.dumps(bench.figures))


asyncio.run(main(Path(sys.argv[1]), short="--short" in sys.argv))
