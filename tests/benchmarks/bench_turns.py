"""What a turn with a tool costs beside a minimal httpx client, and whether the hundredth costs more than the first."""

from collections.abc import Callable
from itertools import pairwise
from statistics import mean, median
from typing import NamedTuple

from tests.benchmarks.figure import Benchmark, Figure, Pair
from tests.benchmarks.workbench import Ended, Workbench
from tests.fake_server import Call

BASH = Call("bash", {"command": "true"})
READ = Call("read", {"path": "a.txt"})


class Turns(NamedTuple):
    """What turns took: milliseconds of each, server included; of each client's part alone; and of the process."""

    whole: list[float]
    gaps: list[float]
    ended: Ended


def _turns(bench: Workbench, start: Callable[[], Ended], tool: Call, count: int) -> Turns:
    (bench.command.folder / "a.txt").write_text("hello\n" * 20)
    bench.server.requests.clear()
    bench.server.gaps.clear()
    for _ in range(count):
        bench.server.answer(tool)
    bench.server.answer("done")
    ended = start()
    times = [request.time for request in bench.server.requests]
    return Turns([(after - before) * 1000 for before, after in pairwise(times)], list(bench.server.gaps), ended)


def sample(bench: Workbench) -> dict[str, Pair]:
    count = 20 if bench.short else 100
    figures: dict[str, Pair] = {}
    for name, tool in (("bash", BASH), ("read", READ)):
        floor, ours = _turns(bench, bench.floor, tool, count), _turns(bench, bench.run, tool, count)
        figures[f"{name} turn"] = Pair(mean(ours.whole), mean(floor.whole))
        figures[f"{name} turn, CPU"] = Pair(ours.ended.cpu * 1000 / count, floor.ended.cpu * 1000 / count)
        figures[f"{name} turns: last 10 / first 10"] = Pair(median(ours.gaps[-10:]), median(ours.gaps[:10]))
        figures[f"{name} turns, memory"] = Pair(ours.ended.memory, floor.ended.memory)
    return figures


def sample_long(bench: Workbench) -> dict[str, Pair]:
    if bench.short:
        return {}
    floor, ours = _turns(bench, bench.floor, READ, 1000), _turns(bench, bench.run, READ, 1000)
    return {
        "1,000 turns: last 10 / first 10": Pair(median(ours.gaps[-10:]), median(ours.gaps[:10])),
        "1,000 turns: the last 10": Pair(median(ours.whole[-10:]), median(floor.whole[-10:])),
        "1,000 turns, memory": Pair(ours.ended.memory, floor.ended.memory),
    }


BENCHMARKS = [
    Benchmark(
        name="turns",
        figures=[
            Figure(name="bash turn", unit="ms", floor="httpx", ratio=1.8),
            Figure(name="bash turn, CPU", unit="ms", floor="httpx"),
            Figure(name="bash turns: last 10 / first 10", unit="ms", floor="first 10", ratio=1.1),
            Figure(name="bash turns, memory", unit="MiB", floor="httpx", at_most=75),
            Figure(name="read turn", unit="ms", floor="httpx", ratio=2),
            Figure(name="read turn, CPU", unit="ms", floor="httpx"),
            Figure(name="read turns: last 10 / first 10", unit="ms", floor="first 10", ratio=1.1),
            Figure(name="read turns, memory", unit="MiB", floor="httpx", at_most=75),
        ],
        sample=sample,
        runs=7,
        short_runs=1,
    ),
    Benchmark(
        name="long",
        figures=[
            Figure(name="1,000 turns: last 10 / first 10", unit="ms", floor="first 10", ratio=1.3),
            Figure(name="1,000 turns: the last 10", unit="ms", floor="httpx", ratio=2),
            Figure(name="1,000 turns, memory", unit="MiB", floor="httpx"),
        ],
        sample=sample_long,
        runs=3,
        short_runs=1,
        warm_up=False,
    ),
]
