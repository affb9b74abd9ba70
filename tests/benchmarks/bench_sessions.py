"""What sessions of a size that people reach cost: opening, listing and appending, each beside the same work on files."""

from pathlib import Path

from tests.benchmarks.figure import Benchmark, Figure, Pair
from tests.benchmarks.workbench import Workbench

_ONE, _TEN = "open 100,000 entries, one branch", "open 100,000 entries, ten branches"
_LIST, _APPEND = "list 1,000 sessions", "append an entry and sync"


def _run(bench: Workbench, *arguments: str) -> tuple[Pair, float]:
    """Milliseconds, ours and the floor's; MiB of the process in which both ran."""
    (ours, floor), ended = bench.program("sessions.py", *arguments)
    return Pair(ours * 1000, floor * 1000), ended.memory


def sample(bench: Workbench) -> dict[str, Pair]:
    scale = 5 if bench.short else 1
    entries, sessions = 100_000 // scale, 1000 // scale
    folder = bench.folder / "sessions"
    folder.mkdir(exist_ok=True)
    figures: dict[str, Pair] = {}
    for name, branch_every in ((_ONE, 0), (_TEN, entries // 10)):
        path = str(folder / f"{branch_every}.jsonl")
        if not Path(path).exists():
            bench.program("sessions.py", "write", path, str(entries), "1400", str(branch_every))
        figures[name], _ = _run(bench, "open", path, "2")
        if not branch_every:
            figures[f"{name}, memory / size"] = Pair(
                bench.program("sessions.py", "hold", path)[1].memory, Path(path).stat().st_size / 2**20
            )
    many, work = folder / "many", bench.command.folder
    if not many.exists():
        bench.program("sessions.py", "write-many", str(many), str(work), str(sessions))
    figures[_LIST], memory = _run(bench, "list", str(many), str(work), "5")
    figures[f"{_LIST}, memory"] = Pair(memory)
    figures[_APPEND], _ = _run(bench, "append", str(folder), "200")
    return figures


BENCHMARKS = [
    Benchmark(
        name="sessions",
        figures=[
            Figure(name=_ONE, unit="ms", floor="read + json of the path", ratio=2),
            Figure(name=f"{_ONE}, memory / size", unit="MiB", floor="the file"),
            Figure(name=_TEN, unit="ms", floor="read + json of the path", ratio=2),
            Figure(name=_LIST, unit="ms", floor="stat + read 4 KiB", at_most=300),
            Figure(name=f"{_LIST}, memory", unit="MiB"),
            Figure(name=_APPEND, unit="ms", floor="write + fsync", ratio=1.5),
        ],
        sample=sample,
        runs=5,
        short_runs=1,
        warm_up=False,
    )
]
