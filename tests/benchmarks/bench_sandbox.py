"""What the sandbox adds to a command."""

from tests.benchmarks.figure import Benchmark, Figure, Pair
from tests.benchmarks.workbench import Workbench

_LIMITS = {"bubblewrap": 20, "Landlock": 50}


def sample(bench: Workbench) -> dict[str, Pair]:
    folder = bench.folder / "sandbox"
    folder.mkdir(exist_ok=True)
    added, _ = bench.program("sandbox.py", str(folder), *_LIMITS)
    return {_name(name): Pair(milliseconds) for name, milliseconds in added.items()}


def _name(back_end: str) -> str:
    return f"sandbox: added by {back_end}"


BENCHMARKS = [
    Benchmark(
        name="sandbox",
        figures=[Figure(name=_name(name), unit="ms", at_most=limit) for name, limit in _LIMITS.items()],
        sample=sample,
        runs=5,
        short_runs=1,
        warm_up=False,
    )
]
