"""Exit statuses in words."""

import signal

_MEANINGS = {
    124: "timed out",
    126: "cannot be executed",
    127: "command not found",
}


def exit_code_of(return_code: int) -> int:
    """The code as a shell shows it: death by signal n is 128 + n."""
    return 128 - return_code if return_code < 0 else return_code


def signal_name(number: int) -> str:
    """`SIGKILL` for 9; `signal 99` for one that has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def signal_of(return_code: int) -> str | None:
    """The name of the signal that a shell died of."""
    return signal_name(-return_code) if return_code < 0 else None


def exit_line(return_code: int) -> str:
    """One line that states how a command ended; empty for success."""
    if return_code == 0:
        return ""
    if return_code < 0:
        return f"Command killed by signal {-return_code} ({signal_name(-return_code)}), exit code {128 - return_code}"
    meaning = _MEANINGS.get(return_code, "")
    if 128 < return_code < 128 + signal.NSIG:
        meaning = f"killed by {signal_name(return_code - 128)}"
    return f"Command exited with code {return_code}" + (f" ({meaning})" if meaning else "")
