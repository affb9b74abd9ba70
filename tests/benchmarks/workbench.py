"""Workbench: the installed agentcli that is measured, a folder and a home for it, and the scripted server. Linux only.

Everything that is measured runs in a process of its own, started by a small one (`programs/launch.py`): the peak memory
of a process counts that of the one that started it.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.benchmarks.timed_server import TimedServer
from tests.cli.command import Command

PROGRAMS = Path(__file__).with_name("programs")


class Ended(Struct, frozen=True):
    """What a process took."""

    started: float
    """Seconds, monotonic."""
    wall: float
    """Seconds."""
    cpu: float
    """Seconds, with those of the processes it waited for."""
    memory: float
    """Peak resident MiB."""
    out: str


class Workbench:
    """Args:
    python: the interpreter of the environment that agentcli is installed in.
    folder: for everything that is written.
    short: whether smaller inputs do.
    """

    def __init__(self, python: Path, folder: Path, server: TimedServer, *, short: bool) -> None:
        self.python = str(python)
        self.agentcli = str(python.with_name("agentcli"))
        self.folder = folder
        self.server = server
        self.short = short
        self.command = Command(folder / "work", folder / "home")
        self.command.use_server(server.url)
        self.home = self.command.home
        self.environment = self.command.environment | {"COLORTERM": "truecolor"}

    @property
    def chat_url(self) -> str:
        return f"{self.server.url}/v1/chat/completions"

    def finish(self, *arguments: str, keep_output: bool = False) -> Ended:
        """Run a process to its end. Raises RuntimeError, with what it said, if it fails."""
        launch = [self.python, "-S", "-E", str(PROGRAMS / "launch.py"), "keep" if keep_output else "drop", *arguments]
        done = subprocess.run(
            launch, cwd=self.command.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stderr}")
        out, _, figures = done.stdout.rpartition("\n")
        return Ended(**json.loads(figures), out=out)

    def program(self, name: str, *arguments: str) -> tuple[Any, Ended]:
        """Run one of the programs beside this file in agentcli's environment: what it printed, as JSON; what it took."""
        ended = self.finish(self.python, "-P", str(PROGRAMS / name), *arguments, keep_output=True)
        return json.loads(ended.out.splitlines()[-1]), ended

    def floor(self, prompt: str = "go") -> Ended:
        """The minimal client on httpx, with one prompt."""
        return self.finish(self.python, str(PROGRAMS / "floor_httpx.py"), self.chat_url, prompt)

    def run(self, prompt: str = "go") -> Ended:
        """`agentcli run` with one prompt."""
        return self.finish(self.agentcli, "run", prompt)
