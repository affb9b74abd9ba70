"""The table of the benchmarks says what the samples say."""

import pytest

from tests.benchmarks.__main__ import all_benchmarks, before_of, chosen, line_of
from tests.benchmarks.figure import Figure, Pair, Row

RATIO = Figure(name="a turn", unit="ms", floor="httpx", ratio=2)
PLAIN = Figure(name="memory", unit="MiB", at_most=75)


def test_a_row_has_medians_their_ratio_and_whether_the_target_is_met():
    row = Row(RATIO, [Pair(3, 2), Pair(90, 40), Pair(4, 2)])
    assert (row.ours, row.floor, row.ratio, row.is_met) == (4, 2, 2, True)
    assert Row(RATIO, [Pair(5, 2)]).is_met is False
    assert Row(PLAIN, [Pair(76)]).is_met is False
    assert Row(Figure(name="x", unit="ms"), [Pair(1)]).is_met is None


def test_a_line_shows_what_the_figure_was_before():
    before = {"a turn": {"median": 9.0, "ratio": 2.5}, "memory": {"median": 80.0, "ratio": None}}
    line = line_of(Row(RATIO, [Pair(5, 2)]), before)
    assert line.split() == ["a", "turn", "5.00", "ms", "2.00", "2.50", "<=", "2", "x", "2.50", "x", "MISSED", "(httpx)"]
    assert before_of(Row(PLAIN, [Pair(70)]), before) == "80.0"
    assert before_of(Row(PLAIN, [Pair(70)]), {}) == "-"


def test_every_figure_has_a_name_of_its_own():
    names = [figure.name for benchmark in all_benchmarks() for figure in benchmark.figures]
    assert len(names) == len(set(names))


def test_an_unknown_name_is_said():
    assert [benchmark.name for benchmark in chosen(["run"])] == ["run"]
    with pytest.raises(SystemExit, match="there is no benchmark walk; there are start, run"):
        chosen(["walk"])
