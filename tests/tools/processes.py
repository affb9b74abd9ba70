"""Looking at processes from outside, as tests do."""

import os
from collections.abc import Iterator
from pathlib import Path


def unique(seconds: int) -> str:
    """A `sleep` of so many seconds that no other run of these tests has."""
    return f"sleep {seconds}.{os.getpid():08}"


def with_variable(name: str, value: str) -> list[int]:
    """Pids of living processes whose environment holds the variable."""
    item = f"{name}={value}".encode()
    return [pid for pid, environ, _ in _all() if item in environ.split(b"\0")]


def with_command(part: str) -> list[int]:
    """Pids of living processes whose command line holds the text."""
    return [pid for pid, _, command in _all() if part in command]


def is_alive(pid: int) -> bool:
    return any(pid == other for other, _, _ in _all())


def _all() -> Iterator[tuple[int, bytes, str]]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if folder.joinpath("stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z":
                continue
            environ = folder.joinpath("environ").read_bytes()
            command = folder.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        yield int(folder.name), environ, command
