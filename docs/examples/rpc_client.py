"""Drives agentcli from another program: commands out, responses and events in, one line of JSON each."""

import json
import subprocess
from collections.abc import Callable
from typing import Any


class RpcClient:
    def __init__(self, *command: str, **options: Any) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*command], stdin=pipe, stdout=pipe, **options)
        assert self.process.stdin and self.process.stdout
        self._commands, self._lines = self.process.stdin, self.process.stdout
        self.events: list[dict[str, Any]] = []
        self._calls = 0

    def send(self, type: str, **fields: Any) -> int:
        """Send a command and do not wait. Returns its id."""
        self._calls += 1
        line = json.dumps({"id": self._calls, "type": type, **fields}) + "\n"
        self._commands.write(line.encode())
        self._commands.flush()
        return self._calls

    def call(self, type: str, **fields: Any) -> Any:
        """Send a command and return the data of its response; events meanwhile go to `events`."""
        id = self.send(type, **fields)
        response = self._read(lambda line: line["type"] == "response" and line.get("id") == id)
        if not response["success"]:
            raise RuntimeError(f"{type}: {response['error']}")
        return response.get("data")

    def wait_for(self, type: str, **fields: Any) -> dict[str, Any]:
        """The next event of a type, and with these fields."""
        return self._read(lambda line: line["type"] == type and fields.items() <= line.items())

    def close(self) -> int:
        """End the session in order. Returns the exit code."""
        self._commands.close()
        for line in self._lines:
            self.events.append(json.loads(line))
        self._lines.close()
        return self.process.wait()

    def _read(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        for text in self._lines:
            line = json.loads(text)
            self.events.append(line)
            if wanted(line):
                return line
        raise EOFError(f"agentcli ended with exit code {self.process.wait()}")
