"""What it costs to be asked for the version and for help, beside an interpreter that does nothing."""

from tests.benchmarks.figure import Benchmark, Figure, Pair
from tests.benchmarks.workbench import Workbench

BARE = "bare python"


def sample(bench: Workbench) -> dict[str, Pair]:
    figures: dict[str, Pair] = {}
    for option, name in (("--version", "version"), ("--help", "help")):
        floor = bench.finish(bench.python, "-c", "pass")
        ours = bench.finish(bench.agentcli, option)
        figures[name] = Pair(ours.wall * 1000, floor.wall * 1000)
        figures[f"{name}, memory"] = Pair(ours.memory, floor.memory)
    return figures


BENCHMARKS = [
    Benchmark(
        name="start",
        figures=[
            Figure(name="version", unit="ms", floor=BARE, ratio=2),
            Figure(name="version, memory", unit="MiB", floor=BARE),
            Figure(name="help", unit="ms", floor=BARE, ratio=8),
            Figure(name="help, memory", unit="MiB", floor=BARE),
        ],
        sample=sample,
        runs=21,
        short_runs=5,
    )
]
