"""What a shell has left running when it exits, and what to call it."""

import time
from collections.abc import Callable

from msgspec import Struct

from agentcli.agent.text import one_line
from agentcli.tools.bash.process_tree import Process, command_of, is_at_work, shown_command, still_alive

_PAUSE_S = 0.01
"""Whatever ends together with the shell is gone after this long."""
_AT_MOST_S = 5.0
_MANY = 100
"""More are not waited for."""
_WIDTH = 100


class LeftRunning(Struct, frozen=True):
    processes: list[Process] = []
    names: dict[int, str] = {}
    """The command line of each process, by pid; of a part of the shell itself, which has none, the command's text."""


def left_running(find: Callable[[], list[Process]], shell_line: str, text: str) -> LeftRunning:
    """Wait until what is found is no more on its way to its own program, or to its end; then say what it is.

    Args:
        shell_line: the command line of the shell, which a child has too until it runs its own program.
        text: the command.
    """
    found = find()
    if not found:
        return LeftRunning()
    shell_line = shown_command(shell_line)
    deadline = time.monotonic() + _AT_MOST_S
    while found and len(found) <= _MANY:
        time.sleep(_PAUSE_S)
        found = find()
        if all(is_at_work(process.pid) for process in found) or time.monotonic() > deadline:
            break
    named = {process.pid: command_of(process.pid, len(shell_line)) for process in found[:_MANY]}
    alive = still_alive(found)
    own_name = one_line(text, _WIDTH)
    names = {pid: own_name if line == shell_line else line[:_WIDTH] for pid, line in named.items()}
    return LeftRunning(alive, names)
