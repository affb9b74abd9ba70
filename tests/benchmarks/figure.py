"""Figure and Benchmark: what is measured, what it is held against, and what its samples say."""

from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from msgspec import Struct

from tests.benchmarks.workbench import Workbench


class Pair(NamedTuple):
    """One sample: ours and the floor's, taken right after each other so that the machine's moods hit both."""

    ours: float
    floor: float | None = None


class Figure(Struct, frozen=True, kw_only=True):
    name: str
    unit: str
    floor: str = ""
    """What the floor is; empty if there is none."""
    ratio: float | None = None
    """What it may be at most, as a multiple of the floor."""
    at_most: float | None = None
    """What it may be at most, in its unit."""

    @property
    def target(self) -> str:
        ratio = "" if self.ratio is None else f"<= {self.ratio:g} x"
        return ratio if self.at_most is None else f"{ratio} <= {self.at_most:g} {self.unit}".strip()


class Benchmark(Struct, frozen=True, kw_only=True):
    name: str
    figures: list[Figure]
    sample: Callable[[Workbench], dict[str, Pair]]
    """Takes one sample of each figure, by the figures' names."""
    runs: int
    short_runs: int
    warm_up: bool = True
    """Whether a sample is taken first that does not count."""


class Row(Struct, frozen=True):
    """A figure with all its samples."""

    figure: Figure
    samples: list[Pair]

    @property
    def ours(self) -> float:
        return median(sample.ours for sample in self.samples)

    @property
    def floor(self) -> float | None:
        floors = [sample.floor for sample in self.samples if sample.floor is not None]
        return median(floors) if floors else None

    @property
    def ratio(self) -> float | None:
        return self.ours / self.floor if self.floor else None

    @property
    def is_met(self) -> bool | None:
        """Whether every target is reached; None if there is none."""
        bounds = [(self.ratio, self.figure.ratio), (self.ours, self.figure.at_most)]
        met = [value is not None and value <= most for value, most in bounds if most is not None]
        return all(met) if met else None


def measure(benchmark: Benchmark, bench: Workbench, runs: int) -> list[Row]:
    if benchmark.warm_up:
        benchmark.sample(bench)
    samples = [benchmark.sample(bench) for _ in range(runs)]
    rows = []
    for figure in benchmark.figures:
        taken = [sample[figure.name] for sample in samples if figure.name in sample]
        if taken:
            rows.append(Row(figure, taken))
    return rows
