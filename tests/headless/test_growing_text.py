"""What a tool shows while it works is told as changes, which are about as long as what is new."""

from hypothesis import given
from hypothesis import strategies as st

from agentcli.headless.growing_text import GrowingText


def applied(texts: list[str]) -> tuple[list[str], int]:
    """The texts as a reader makes them of the changes, and how many characters the changes had."""
    growing = GrowingText()
    made, size, text = [], 0, ""
    for each in texts:
        change = growing.become(each)
        text = text[change.start : change.start + change.keep] + change.text
        size += len(change.text)
        made.append(text)
    return made, size


@given(st.lists(st.text("ab\n", max_size=200), max_size=8))
def test_a_reader_gets_every_text(texts: list[str]):
    assert applied(texts)[0] == texts


@given(st.integers(1, 400))
def test_a_text_that_grows_and_whose_beginning_falls_away_is_told_once(window: int):
    lines = [f"{number * 7919 % 10007:06d} something\n" for number in range(600)]
    shown = ["".join(lines[max(0, end - window) : end]) for end in range(1, 601)]
    made, size = applied(shown)
    assert made == shown
    if window >= 5:  # What is looked for is longer than less than five of these lines.
        assert size <= len("".join(lines)) * 1.2


def test_a_last_line_that_is_written_anew_costs_that_line():
    log = "a line of the log\n" * 500
    shown = [f"{log}progress {percent} %" for percent in range(100)]
    made, size = applied(shown)
    assert made == shown
    assert size < len(log) + 100 * 20
