"""Own process: keys in the memory of agentcli that the system would show to the commands it runs (Linux).

`/proc/PID/environ` shows what a process was started with, whatever it did to its environment since, and `/proc/PID/mem`
all it knows. See `prctl(2)`, PR_SET_DUMPABLE, and `proc(5)`, `env_start`.
"""

import contextlib
import sys
from collections.abc import Collection
from functools import cache
from pathlib import Path

_PR_SET_DUMPABLE = 4
_ENV_START = 49
"""Field of `/proc/PID/stat`, from 0; `env_end` follows."""
_FIELDS_BEFORE_STATE = 2


@cache
def hide_keys(names: frozenset[str]) -> None:
    """Close this process to others of its user (not to root), and wipe these variables where it was started with them.

    `os.environ` keeps them. Where the system has no such thing, nothing is done.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # 6 ms, with the first command

    with contextlib.suppress(OSError, ValueError, IndexError):
        _wipe({name.upper() for name in names})
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _wipe(names: Collection[str]) -> None:
    from ctypes import memset, string_at

    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    start, end = (int(fields[place - _FIELDS_BEFORE_STATE]) for place in (_ENV_START, _ENV_START + 1))
    place = start
    for item in string_at(start, end - start).split(b"\0"):
        name, equals, value = item.partition(b"=")
        if equals and name.decode("utf-8", "surrogateescape").upper() in names:
            memset(place + len(name) + 1, 0, len(value))
        place += len(item) + 1
