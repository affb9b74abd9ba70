"""What a streamed delta costs without the app: in the stream client alone, and in a whole run that prints the answer."""

from tests.benchmarks.figure import Benchmark, Figure, Pair
from tests.benchmarks.workbench import Ended, Workbench

DELTAS = 5_000


def _cost(one: Ended, many: Ended) -> float:
    """Microseconds of CPU a delta: what the run with many takes beyond the run with one."""
    return (many.cpu - one.cpu) * 1e6 / DELTAS


def sample(bench: Workbench) -> dict[str, Pair]:
    """One delta and many, of both, in turns."""
    took: dict[str, list[Ended]] = {"floor": [], "ours": []}
    for text in ("word ", "word " * DELTAS):
        for name, start in (("floor", bench.floor), ("ours", bench.run)):
            bench.server.answer(text, piece=5)
            took[name].append(start())
    (floor_one, floor_many), (one, many) = took["floor"], took["ours"]
    return {
        "delta in a run, CPU": Pair(_cost(one, many), _cost(floor_one, floor_many)),
        "5,000 deltas in a run, memory": Pair(many.memory, floor_many.memory),
    }


def sample_client(bench: Workbench) -> dict[str, Pair]:
    rounds = 3
    for _ in range(rounds * 2):
        bench.server.answer("word " * DELTAS, piece=5)
    (ours, floor), _ = bench.program("stream.py", bench.server.url, str(DELTAS), str(rounds))
    return {"delta in the client, CPU": Pair(ours * 1e6 / DELTAS, floor * 1e6 / DELTAS)}


BENCHMARKS = [
    Benchmark(
        name="stream",
        figures=[
            Figure(name="delta in a run, CPU", unit="us", floor="httpx", ratio=2),
            Figure(name="5,000 deltas in a run, memory", unit="MiB", floor="httpx"),
        ],
        sample=sample,
        runs=11,
        short_runs=3,
    ),
    Benchmark(
        name="client",
        figures=[Figure(name="delta in the client, CPU", unit="us", floor="httpx + msgspec", ratio=2)],
        sample=sample_client,
        runs=5,
        short_runs=1,
        warm_up=False,
    ),
]
