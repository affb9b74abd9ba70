"""agentcli as a person starts it: a process of its own, in a folder and a home of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tests.cli.fork_server import ForkedProcess, ForkServer
from tests.waiting import wait_until

AGENTCLI = Path(sys.executable).with_name("agentcli")
_server = ForkServer()


class Finished(Struct):
    code: int
    out: str
    err: str


class Command:
    """Args:
    folder: where it works; made if need be.
    home: what AGENTCLI_HOME is set to.
    """

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.home = home
        folder.mkdir(parents=True, exist_ok=True)
        home.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "AGENTCLI_HOME": str(home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def configure(self, text: str) -> None:
        (self.home / "config.toml").write_text(text)

    def use_server(self, url: str, more: str = "") -> None:
        """Make `fake/m1` at `url` the model."""
        self.configure(
            f'model = "fake/m1"\n{more}\n[retry]\nbase_delay = 0.01\n[providers.fake]\nbase_url = "{url}/v1"\n'
        )

    def start(
        self,
        *arguments: str,
        stdin: Any = subprocess.DEVNULL,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> ForkedProcess:
        return _server.start(arguments, cwd or self.folder, {**self.environment, **(environment or {})}, stdin)

    def run(self, *arguments: str, input: str | bytes | None = None, **options: Any) -> Finished:
        """Run to the end. `input` goes to stdin through a pipe; without one stdin is empty."""
        options.setdefault("stdin", subprocess.DEVNULL if input is None else subprocess.PIPE)
        process = self.start(*arguments, **options)
        if isinstance(input, bytes):
            assert process.stdin is not None
            process.stdin.buffer.write(input)
            process.stdin.buffer.flush()
            input = ""
        out, err = process.communicate(input, timeout=60)
        return Finished(process.returncode, out, err)

    def wait_for(self, name: str) -> None:
        """Return when a command has made this file in the folder; fail if it does not."""
        wait_until((self.folder / name).exists)

    def peak_memory(self, *arguments: str) -> float:
        """The peak resident memory of a run, in MiB."""
        return peak_memory([str(AGENTCLI), *arguments], self.folder, self.environment)

    def sessions(self) -> list[list[dict[str, Any]]]:
        """The entries of every session file, oldest first."""
        files = sorted(self.home.glob("sessions/*/*.jsonl"), key=lambda file: file.name)
        return [list(_lines(file)) for file in files]

    def transcript(self) -> list[str]:
        """The messages of the last session as `role: text`."""
        messages = [entry["message"] for entry in self.sessions()[-1] if entry["type"] == "message"]
        return [f"{message['role']}: {_text(message)}" for message in messages]


_MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(usage.ru_maxrss / 1024 if process.returncode == 0 else "failed")
"""


def peak_memory(arguments: list[str], folder: Path, environment: dict[str, str]) -> float:
    """The peak resident memory of a process, in MiB.

    Asked by a small process: a child begins with the memory of its parent, and the peak counts that.
    """
    measure = [sys.executable, "-S", "-c", _MEASURE, *arguments]
    done = subprocess.run(measure, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_bytes().splitlines():
        yield msgspec.json.decode(line)


def _text(message: dict[str, Any]) -> str:
    return "".join(block.get("text", "") for block in message.get("content", []))
