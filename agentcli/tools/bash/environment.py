"""The environment of commands: nothing in it asks, waits, runs first or contains a key.

Nor can commands read keys from the process of agentcli (Linux): `/proc/PID/environ` shows what a process was started
with, whatever it did to its environment since, and `/proc/PID/mem` all it knows. See `prctl(2)`, PR_SET_DUMPABLE, and
`proc(5)`, `env_start`.
"""

import contextlib
import os
import sys
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from agentcli.tools.options import ToolOptions

NOT_INTERACTIVE = {
    # No editor: it ends at once and leaves the text as it is.
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    # No pager.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "GH_PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "AWS_PAGER": "",
    # No question, neither in the terminal nor in a window.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "TERM": "dumb",
}

_SAFE_GIT = {
    # Git runs what the settings of a repository name, and takes any folder with the right files for one.
    "core.fsmonitor": "false",
    "safe.bareRepository": "explicit",
}

READ_BY_SHELLS = ("BASH_ENV", "SHELLOPTS")
"""With these a shell runs a file before any command, or runs none (`noexec`) and reports success."""

_PR_SET_DUMPABLE = 4
_ENV_START = 49
"""Field of `/proc/PID/stat`, from 0; `env_end` follows."""
_FIELDS_BEFORE_STATE = 2


def environment(options: ToolOptions) -> dict[str, str]:
    """What commands get: the environment of agentcli without keys, and nothing in it that asks, waits or runs first."""
    hidden = {name.upper() for name in options.hidden_env}
    kept = {name: value for name, value in os.environ.items() if name.upper() not in hidden}
    for name in ("GPG_TTY", *READ_BY_SHELLS):
        kept.pop(name, None)
    return {**kept, **NOT_INTERACTIVE, **_git_settings(kept), "PWD": str(options.cwd), **options.extra_env}


def _git_settings(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that give git `_SAFE_GIT`, after what the person's own give it."""
    given = env.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isdecimal() else 0
    settings = {"GIT_CONFIG_COUNT": str(count + len(_SAFE_GIT))}
    for number, (name, value) in enumerate(_SAFE_GIT.items(), count):
        settings[f"GIT_CONFIG_KEY_{number}"] = name
        settings[f"GIT_CONFIG_VALUE_{number}"] = value
    return settings


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
