"""What agentcli costs, beside floors measured in the same run: `python -m tests.benchmarks [NAME …] [--short]`.

Read ratios, not seconds: machines differ. `before` is what the figure was before agentcli was made faster, on the
machine of `before.json`. Nothing is judged unless `--check` asks for it. Linux only.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from tests.benchmarks.figure import Benchmark, Row, measure
from tests.benchmarks.timed_server import TimedServer
from tests.benchmarks.workbench import Workbench

MODULES = ("start", "run", "turns", "stream", "sessions", "tools", "sandbox", "tui")
BEFORE = Path(__file__).with_name("before.json")
HEAD = f"{'figure':<42}{'median':>10} {'':<4}{'floor':>10}  {'ratio':>6}  {'target':<12}{'before':>9}  "


def all_benchmarks() -> list[Benchmark]:
    modules = [import_module(f"tests.benchmarks.bench_{name}") for name in MODULES]
    return [benchmark for module in modules for benchmark in module.BENCHMARKS]


def before_of(row: Row, before: dict[str, Any]) -> str:
    """What the figure was: the ratio if it has a floor, for the machine was another."""
    was = before.get(row.figure.name)
    if was is None:
        return "-"
    return f"{was['ratio']:.2f} x" if was["ratio"] is not None else f"{was['median']:.1f}"


def line_of(row: Row, before: dict[str, Any]) -> str:
    figure = row.figure
    floor = f"{'':>10}  {'':>6}" if row.floor is None else f"{row.floor:>10.2f}  {row.ratio or 0:>6.2f}"
    verdict = {True: "ok", False: "MISSED", None: ""}[row.is_met]
    note = f"  ({figure.floor})" if figure.floor else ""
    return (
        f"{figure.name:<42}{row.ours:>10.2f} {figure.unit:<4}{floor}  {figure.target:<12}"
        f"{before_of(row, before):>9}  {verdict:<6}{note}"
    )


def as_data(row: Row) -> dict[str, Any]:
    return {
        "unit": row.figure.unit,
        "median": row.ours,
        "floor": row.floor,
        "floor_is": row.figure.floor,
        "ratio": row.ratio,
        "target": row.figure.target,
        "samples": [[round(value, 4) for value in sample if value is not None] for sample in row.samples],
    }


def machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def chosen(names: list[str]) -> list[Benchmark]:
    benchmarks = all_benchmarks()
    known = [benchmark.name for benchmark in benchmarks]
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"there is no benchmark {unknown[0]}; there are {', '.join(known)}")
    return [benchmark for benchmark in benchmarks if not names or benchmark.name in names]


def measure_all(options: argparse.Namespace) -> list[Row]:
    before = json.loads(BEFORE.read_text())["figures"] if BEFORE.exists() else {}
    benchmarks = chosen(options.names)
    rows: list[Row] = []
    server = TimedServer.start_in_thread()
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(options.python, Path(folder), server, short=options.short)
        for benchmark in benchmarks:
            runs = options.runs or (benchmark.short_runs if options.short else benchmark.runs)
            for row in measure(benchmark, bench, runs):
                rows.append(row)
                print(line_of(row, before), flush=True)
    server.stop()
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="What agentcli costs.")
    parser.add_argument("names", nargs="*", help="which; without names all")
    parser.add_argument("--short", action="store_true", help="smaller inputs and few runs: a quick look")
    parser.add_argument("--runs", type=int, help="samples of each, in place of its own number")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures with all samples")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), help="of the environment whose agentcli is measured"
    )
    options = parser.parse_args()
    rows = measure_all(options)
    if options.json:
        data = {"machine": machine(), "figures": {row.figure.name: as_data(row) for row in rows}}
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n")
    missed = [row.figure.name for row in rows if row.is_met is False]
    print(f"missed: {', '.join(missed)}" if missed else "every target is met")
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
