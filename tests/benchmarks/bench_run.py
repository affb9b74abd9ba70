"""What a run costs beside a minimal httpx client that does the same: `python -m tests.benchmarks.bench_run [--short]`.

Each figure is a ratio of medians of interleaved runs, so that it holds on any machine.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.cli.command import AGENTCLI, Command, peak_memory
from tests.fake_server import Call, FakeServer

FLOOR = Path(__file__).with_name("floor_httpx.py")


class Bench:
    def __init__(self, server: FakeServer, command: Command) -> None:
        self.server = server
        self.command = command

    def arguments(self, which: str) -> list[str]:
        floor = [sys.executable, str(FLOOR), f"{self.server.url}/v1/chat/completions", "go"]
        return floor if which == "floor" else [str(AGENTCLI), "run", "go"]

    def start(self, which: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self.arguments(which),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=self.command.folder,
            env=self.command.environment,
        )

    def first_request(self, which: str) -> float:
        """Seconds from start to the first request on the wire."""
        self.server.requests.clear()
        self.server.answer("hello")
        started = time.monotonic()
        process = self.start(which)
        process.wait()
        return self.server.requests[0].time - started

    def cpu(self, which: str, answers: Callable[[], None]) -> float:
        """CPU seconds of a whole run."""
        answers()
        process = self.start(which)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        return usage.ru_utime + usage.ru_stime

    def memory(self, which: str, answers: Callable[[], None]) -> float:
        """Peak resident MiB of a whole run."""
        answers()
        return peak_memory(self.arguments(which), self.command.folder, self.command.environment)

    def round(self, which: str, turns: int, tool: Call) -> float:
        """Milliseconds from the first request to the last, a turn."""
        self.server.requests.clear()
        for _ in range(turns):
            self.server.answer(tool)
        self.server.answer("done")
        self.start(which).wait()
        times = [request.time for request in self.server.requests]
        return (times[-1] - times[0]) * 1000 / turns

    def hello(self) -> None:
        self.server.answer("hello")

    def deltas(self) -> None:
        self.server.answer("word " * 5000, piece=5)


def compare(name: str, measure: Callable[[str], float], runs: int, target: float | None, unit: str) -> None:
    figures: dict[str, list[float]] = {"floor": [], "agentcli": []}
    for which in figures:
        measure(which)
    for _ in range(runs):
        for which, values in figures.items():
            values.append(measure(which))
    floor, ours = statistics.median(figures["floor"]), statistics.median(figures["agentcli"])
    wanted = f"<= {target:g}" if target else ""
    print(f"{name:<34} {ours:9.2f} {unit:<4} floor {floor:9.2f}   ratio {ours / floor:5.2f} {wanted}", flush=True)


def main() -> None:
    short = "--short" in sys.argv
    runs = 3 if short else 11
    server = FakeServer.start_in_thread()
    with tempfile.TemporaryDirectory() as folder:
        command = Command(Path(folder) / "work", Path(folder) / "home")
        command.use_server(server.url)
        (command.folder / "a.txt").write_text("hello\n" * 20)
        bench = Bench(server, command)
        compare("start to first request", lambda w: bench.first_request(w) * 1000, runs, 1.4, "ms")
        compare("whole run, CPU", lambda w: bench.cpu(w, bench.hello) * 1000, runs, 1.4, "ms")
        compare("whole run, peak memory", lambda w: bench.memory(w, bench.hello), 3, None, "MiB")
        if not short:
            compare("5,000 deltas, CPU", lambda w: bench.cpu(w, bench.deltas) * 1000, 5, None, "ms")
            compare("bash turn", lambda w: bench.round(w, 50, Call("bash", {"command": "true"})), 5, 1.8, "ms")
            compare("read turn", lambda w: bench.round(w, 50, Call("read", {"path": "a.txt"})), 5, 2.0, "ms")
    server.stop()


if __name__ == "__main__":
    main()
