"""`sandbox.py FOLDER NAME…` prints, as JSON, the milliseconds that each back end adds to `bash -c true`.

A back end that this machine has not is left out.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from agentcli.agent.errors import ConfigError
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.bash.process_manager import ProcessManager
from agentcli.tools.options import ToolOptions
from agentcli.tools.sandbox.policy import SandboxPolicy
from agentcli.tools.sandbox.sandbox import Sandbox

ROUNDS = 40


async def quartile(folder: Path, sandbox: Sandbox | None) -> tuple[float, float]:
    """Of plain commands and of those in the sandbox, in turn."""
    took: tuple[list[float], list[float]] = ([], [])
    tables = [ProcessManager(ToolOptions(cwd=folder, sandbox=each), SpillFolder(folder)) for each in (None, sandbox)]
    for _ in range(ROUNDS):
        for times, table in zip(took, tables, strict=True):
            start = time.perf_counter()
            command = table.launch("true")
            await command.settled
            times.append(time.perf_counter() - start)
            assert command.return_code == 0
    for table in tables:
        await table.close()
    plain, inside = (sorted(times)[ROUNDS // 4] * 1000 for times in took)
    return plain, inside


def main() -> None:
    folder, *names = sys.argv[1:]
    added: dict[str, float] = {}
    for name in names:
        try:
            sandbox = Sandbox(SandboxPolicy(cwd=Path(folder)), Path(folder) / "private", name)
        except ConfigError:
            continue
        plain, inside = asyncio.run(quartile(Path(folder), sandbox))
        added[name] = inside - plain
    print(json.dumps(added))


if __name__ == "__main__":
    main()
