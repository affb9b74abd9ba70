"""The number of processes that one command may have: one that forks without end is not to take the machine with it.

A user's processes are limited by the system while a command is started, and so for all that comes of it; root's are
not. The count of all that runs, which costs one small read, tells when a command is worth a closer look.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

MOST_PROCESSES = 4096
"""Of one command. `make -j256` has a quarter of that."""

_starting = threading.Lock()


def count_tasks() -> int:
    """Processes and threads of the whole system; 0 where that is not told."""
    try:
        return int(Path("/proc/loadavg").read_bytes().split()[3].partition(b"/")[2])
    except (OSError, IndexError, ValueError):
        return 0


@contextlib.contextmanager
def few_processes() -> Iterator[None]:
    """What is started inside can have so many processes more than there are now. Its own user may raise that limit."""
    tasks = count_tasks()
    if sys.platform != "linux" or not tasks or os.geteuid() == 0:
        yield
        return
    import resource

    with _starting:
        soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        limit = tasks + MOST_PROCESSES
        is_lower = soft == resource.RLIM_INFINITY or limit < soft
        if is_lower:
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, hard))
        try:
            yield
        finally:
            if is_lower:
                resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
