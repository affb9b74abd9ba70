"""Recording: runs agentcli as a program and makes its output comparable, whatever the machine and the time.

What differs from run to run becomes a name in the order of its appearance: ids, timestamps, durations, directories.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

INPUTS = Path(__file__).parent / "inputs"

PROMPT = "write 'Hello World' to hello.txt, then replace Hello with Bye in hello.txt, then what is in hello.txt"

# Each command is sent when the response to the one before has come, and `agent_settled` if it is a prompt.
RPC_COMMANDS: list[dict[str, Any]] = [
    {"type": "get_state"},
    {"type": "get_commands"},
    {"type": "get_queue"},
    {"type": "prompt", "message": "write 'one' to one.txt"},
    {"type": "get_messages"},
    {"type": "get_last_assistant_text"},
    {"type": "bash", "command": "echo mine"},
    {"type": "prompt", "message": "what is in one.txt, then what is in missing.txt"},
    {"type": "set_thinking_level", "level": "high"},
    {"type": "get_available_thinking_levels"},
    {"type": "set_steering_mode", "mode": "all"},
    {"type": "set_follow_up_mode", "mode": "all"},
    {"type": "steer", "message": "run echo steered"},
    {"type": "follow_up", "message": "run echo followed"},
    {"type": "get_queue"},
    {"type": "clear_queue"},
    {"type": "set_session_name", "name": "a name"},
    {"type": "get_tree", "everything": True},
    {"type": "get_fork_messages"},
    {"type": "go_to", "entry_id": None},
    {"type": "prompt", "message": "run echo another branch"},
    {"type": "get_entries"},
    {"type": "get_tree"},
    {"type": "list_sessions"},
    {"type": "get_session_stats"},
    {"type": "clone"},
    {"type": "new_session"},
    {"type": "no_such_command"},
    {"type": "prompt"},
    {"type": "abort"},
]


EVERY_KIND = INPUTS / "every_kind.jsonl"
"""A session file, written by hand, with an entry of each kind, and one of a kind that no version knows."""

SHOWN = {
    "show.txt": ["show"],
    "tree.txt": ["tree"],
    "stats.txt": ["stats"],
    "export.md": ["export", "--format", "markdown"],
    "export.jsonl": ["export", "--format", "jsonl"],
}
"""By the name of the recording: the command of `sessions` that prints it of that file."""


class Recorder:
    """Args:
    folder: an empty directory of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.cwd = folder / "work"
        self.home = folder / "home"
        self.cwd.mkdir()
        self.home.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }

    def run(self, *arguments: str) -> str:
        """What the command prints on stdout."""
        command = [sys.executable, "-m", "agentcli", *arguments]
        done = subprocess.run(
            command, cwd=self.cwd, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def events(self) -> list[str]:
        return self.run("run", "-o", "events", PROMPT).splitlines()

    def session_lines(self) -> list[str]:
        """The lines of this directory's only session file."""
        (path,) = (self.home / ".agentcli" / "sessions").glob("*/*.jsonl")
        return path.read_text().splitlines()

    def rpc(self) -> list[str]:
        """Each command, and after it the lines that come until the next is sent."""
        process = subprocess.Popen(
            [sys.executable, "-m", "agentcli", "rpc", "--permission-mode", "auto"],
            cwd=self.cwd,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None and process.stdout is not None
        lines: list[str] = []
        with process:
            for number, command in enumerate(RPC_COMMANDS):
                line = json.dumps({"id": number, **command})
                lines.append(f"> {line}")
                print(line, file=process.stdin, flush=True)
                awaited = {"response"}
                if command["type"] == "prompt" and "message" in command:
                    awaited.add("agent_settled")
                while awaited:
                    line = process.stdout.readline()
                    assert line, f"no answer to {command}"
                    lines.append(line.rstrip("\n"))
                    awaited.discard(json.loads(line)["type"])
            process.stdin.close()
            lines += process.stdout.read().splitlines()
        return lines

    def shown(self, arguments: list[str]) -> list[str]:
        """What a command of `sessions` prints of the file with every kind of entry."""
        return self.comparable(self.run("sessions", *arguments, str(EVERY_KIND)).splitlines())

    def comparable(self, lines: list[str]) -> list[str]:
        """The lines with names for what varies. How often a running command is shown depends on the machine."""
        lines = [line for line in lines if "_execution_update" not in line[:40]]
        names = _Names([(str(self.cwd.resolve()), "CWD"), (str(self.home.resolve()), "HOME")])
        return [names.replace(line) for line in lines]


_VARIES = re.compile(
    r"(?P<path>[^\"\s]*/sessions/[^\"\s]*\.jsonl)"
    r"|(?P<id>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
    r"|(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"
    r"|(?P<number>\"(?:timestamp|modified|size|context_tokens|\w*_ms|\w*_s|\w*seconds)\":[\d.]+)"
)


class _Names:
    def __init__(self, folders: list[tuple[str, str]]) -> None:
        self._folders = folders
        self._known: dict[tuple[str, str], str] = {}

    def replace(self, line: str) -> str:
        for folder, name in self._folders:
            line = line.replace(folder, name)
        return _VARIES.sub(self._name, line)

    def _name(self, match: re.Match[str]) -> str:
        kind = str(match.lastgroup)
        if kind == "time":
            return "time"
        if kind == "number":
            return match.group().partition(":")[0] + ':"number"'
        count = sum(known == kind for known, _ in self._known)
        return self._known.setdefault((kind, match.group()), f"{kind}-{count + 1}")
