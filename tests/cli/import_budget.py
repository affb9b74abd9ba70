"""What each command imports before its first useful act, by name: `python -m tests.cli.import_budget` prints it as TOML.

`import_budget.toml` says what each may import. A start is made of imports, so what is new there has to be worth it: if
it is, write it into the file (`python -m tests.cli.import_budget > tests/cli/import_budget.toml`).
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import pexpect

from tests.cli.command import Command
from tests.fake_server import FakeServer

BUDGET = Path(__file__).with_suffix(".toml")

LIBRARY = frozenset(
    [
        "argparse",
        "asyncio",
        "concurrent",
        "csv",
        "ctypes",
        "dataclasses",
        "decimal",
        "difflib",
        "email",
        "fractions",
        "getpass",
        "gzip",
        "hashlib",
        "http",
        "importlib.metadata",
        "importlib.resources",
        "inspect",
        "ipaddress",
        "json",
        "logging",
        "multiprocessing",
        "pickle",
        "platform",
        "pydoc",
        "random",
        "shutil",
        "socket",
        "sqlite3",
        "ssl",
        "statistics",
        "subprocess",
        "tempfile",
        "tomllib",
        "unittest",
        "urllib.request",
        "uuid",
        "xml",
        "zipfile",
    ]
)
"""Modules of the standard library that take a millisecond or more."""


class Act(StrEnum):
    """What is the first useful one."""

    END = "end"
    """The command has said what it was asked for."""
    REQUEST = "request"
    """It connects to the model's server."""
    PAINT = "paint"
    """The prompt is on the screen."""


COMMANDS = {
    "--version": Act.END,
    "--help": Act.END,
    "run hi": Act.REQUEST,
    "": Act.PAINT,
    "rpc": Act.END,
    "sessions list": Act.END,
    "models": Act.END,
    "config get model": Act.END,
}

_LOOK = """
import os, sys
bare = set(sys.modules)
place, act, *arguments = sys.argv[1:]
def tell():
    with open(place, "w") as file:
        file.write("\\n".join(set(sys.modules) - bare))
def connects(event, arguments):
    if event == "socket.connect":
        tell()
        os._exit(0)
match act:
    case "end":
        import atexit
        atexit.register(tell)
    case "request":
        sys.addaudithook(connects)
    case "paint":
        from textual.drivers._writer_thread import WriterThread
        def write(self, text):
            if "sk anything" in text:
                tell()
                os._exit(0)
        WriterThread.write = write
sys.argv = ["agentcli", *arguments]
from agentcli.__main__ import main
main()
"""


def imported(command: Command, arguments: str, act: Act) -> set[str]:
    """Own modules by their full names, packages of others, and what is weighty of the standard library."""
    place = command.folder / "modules"
    argv = ["-c", _LOOK, str(place), act, *arguments.split()]
    if act is Act.PAINT:
        child = pexpect.spawn(
            sys.executable, argv, cwd=str(command.folder), env=command.environment, dimensions=(24, 80), timeout=30
        )
        child.expect(pexpect.EOF)
    else:
        subprocess.run(
            [sys.executable, *argv],
            cwd=command.folder,
            env=command.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
    names = set(place.read_text().split())
    place.unlink()
    others = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    return {name for name in names if name.startswith("agentcli.")} | (others - {"agentcli"}) | (names & LIBRARY)


def budget() -> dict[str, set[str]]:
    """What each command may import."""
    rooms = tomllib.loads(BUDGET.read_text())
    return {
        arguments: {name for room, names in lists.items() for name in _full(room, names.split())}
        for arguments, lists in rooms.items()
    }


def written(names: Iterable[str]) -> str:
    """The lines of one command in the file."""
    rooms: dict[str, list[str]] = {}
    for name in sorted(names):
        own = re.fullmatch(r"(agentcli(?:\.\w+)*)\.(\w+)", name)
        room, last = own.groups() if own else ("library" if name in LIBRARY else "packages", name)
        rooms.setdefault(room, []).append(last)
    return "".join(f'"{room}" = "{" ".join(names)}"\n' for room, names in sorted(rooms.items()))


def _full(room: str, names: list[str]) -> list[str]:
    return [f"{room}.{name}" for name in names] if room.startswith("agentcli") else names


def main() -> None:
    server = FakeServer.start_in_thread()
    with tempfile.TemporaryDirectory() as folder:
        command = Command(Path(folder) / "work", Path(folder) / "home")
        command.use_server(server.url)
        print("# What each command may import before its first useful act; see import_budget.py.")
        for arguments, act in COMMANDS.items():
            print(f'\n["{arguments}"]\n{written(imported(command, arguments, act))}', end="")
    server.stop()


if __name__ == "__main__":
    main()
