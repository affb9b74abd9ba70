"""How fast the output of what runs in the background is read."""

from agentcli.tools.bash.command_output import BURST_BYTES, BYTES_PER_S, OutputRate


def test_much_may_come_at_once_and_then_no_more_than_the_rate() -> None:
    rate = OutputRate(0.0)
    rate.take(BURST_BYTES, 1.0)
    assert rate.wait_s(1.0) == 0
    rate.take(2 * BYTES_PER_S, 1.0)
    assert rate.wait_s(1.0) == 2
    assert rate.wait_s(2.5) == 0.5
    assert rate.wait_s(3.0) == 0


def test_a_long_silence_allows_no_more_than_one_burst() -> None:
    rate = OutputRate(0.0)
    rate.take(BURST_BYTES + BYTES_PER_S, 1000.0)
    assert rate.wait_s(1000.0) == 1


def test_what_prints_at_the_rate_is_never_waited_for() -> None:
    rate = OutputRate(0.0)
    for second in range(1, 100):
        rate.take(BYTES_PER_S, float(second))
        assert rate.wait_s(float(second)) == 0
