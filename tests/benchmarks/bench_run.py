"""What a run of one short answer costs beside a minimal httpx client that does the same."""

from tests.benchmarks.figure import Benchmark, Figure, Pair
from tests.benchmarks.workbench import Ended, Workbench


def _asked(bench: Workbench, ended: Ended) -> float:
    """Milliseconds from the start to the request."""
    return (bench.server.requests.pop().time - ended.started) * 1000


def sample(bench: Workbench) -> dict[str, Pair]:
    bench.server.answer("hello")
    floor = bench.floor()
    floor_asked = _asked(bench, floor)
    bench.server.answer("hello")
    ours = bench.run()
    return {
        "run: to the first request": Pair(_asked(bench, ours), floor_asked),
        "run: whole, CPU": Pair(ours.cpu * 1000, floor.cpu * 1000),
        "run: whole, memory": Pair(ours.memory, floor.memory),
        "run: request body": Pair(bench.server.last_size / 1000),
    }


BENCHMARKS = [
    Benchmark(
        name="run",
        figures=[
            Figure(name="run: to the first request", unit="ms", floor="httpx", ratio=1.4),
            Figure(name="run: whole, CPU", unit="ms", floor="httpx", ratio=1.4),
            Figure(name="run: whole, memory", unit="MiB", floor="httpx", at_most=62),
            Figure(name="run: request body", unit="kB", at_most=5.4),
        ],
        sample=sample,
        runs=21,
        short_runs=3,
    )
]
