"""What the tools cost beside the plainest way to do the same."""

import shutil

from tests.benchmarks.figure import Benchmark, Figure, Pair
from tests.benchmarks.workbench import Workbench


def sample(bench: Workbench) -> dict[str, Pair]:
    folder = bench.folder / "tools"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    figures, _ = bench.program("tools.py", str(folder), *(["--short"] if bench.short else []))
    return {name: Pair(*values) for name, values in figures.items()}


def _tick(name: str) -> Figure:
    return Figure(name=f"{name}, latest tick", unit="ms", at_most=100)


_FAR, _GREP, _FIND = "read: far into 1 GB", "grep: 20,000 files", "find: 20,000 files"

BENCHMARKS = [
    Benchmark(
        name="tools",
        figures=[
            Figure(name="bash: true", unit="ms", floor="subprocess.run", ratio=1.5),
            Figure(name="bash: seq 1 1000", unit="ms", floor="subprocess.run", ratio=1.5),
            Figure(name="bash: a flood of output", unit="ms", floor="cat through a pipe", ratio=3),
            Figure(name="bash: a flood of output, memory", unit="MiB", at_most=60),
            _tick("bash: a flood of output"),
            Figure(name="read: 20 lines", unit="ms", floor="read_text"),
            Figure(name=_FAR, unit="ms", floor="sed -n", ratio=1.3),
            Figure(name="read: far, and stop", unit="ms", floor="sed -n with q", ratio=1.3),
            Figure(name="read: far, memory", unit="MiB", at_most=20),
            _tick("read: far"),
            Figure(name="write: 44 kB", unit="ms", floor="write_text, no fsync"),
            Figure(name="edit: a line in 52 MB", unit="ms", floor="read + write", ratio=2),
            _tick("edit: a line in 52 MB"),
            Figure(name=_GREP, unit="ms", floor="rg, or grep -r", ratio=1.2),
            _tick(_GREP),
            Figure(name=_FIND, unit="ms", floor="find -name"),
            _tick(_FIND),
            Figure(name="ls: 200 folders", unit="ms", floor="ls -a"),
        ],
        sample=sample,
        runs=3,
        short_runs=1,
        warm_up=False,
    )
]
