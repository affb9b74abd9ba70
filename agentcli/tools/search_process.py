"""Search processes: run a search program and take what it prints, line by line, until enough is there."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.threads import to_thread
from agentcli.tools.search_order import SearchOrder

_KEPT_ENV = ("PATH", "HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "SYSTEMROOT")


class SearchEnd(Struct, frozen=True):
    code: int
    """Exit code of the program; 0 too if it was ended because enough was there."""
    errors: str


def plain_search(order: SearchOrder) -> list[str]:
    """The command line of our own search program. `-P` keeps the searched folder off its import path."""
    return [sys.executable, "-P", "-m", "agentcli.tools.plain_search", msgspec.json.encode(order).decode()]


class SearchProcess:
    """One run of a program. `run` blocks, in a thread; `stop` may be called from any other."""

    def __init__(self, argv: Sequence[str], cwd: Path) -> None:
        self._argv = argv
        self._cwd = cwd
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the program, or keep it from being started."""
        self._is_stopped = True
        if self._process is not None:
            self._process.kill()

    def run(self, take: Callable[[bytes], bool]) -> SearchEnd:
        """Hand each line to `take` until that says False. Raises `OSError` if there is no such program."""
        if self._is_stopped:
            return SearchEnd(0, "")
        environment = {name: os.environ[name] for name in _KEPT_ENV if name in os.environ}
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        with subprocess.Popen(
            self._argv,
            cwd=self._cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            self._process = process
            if self._is_stopped:
                process.kill()
            for line in process.stdout:
                if not take(line):
                    self._is_stopped = True
                    process.kill()
                    break
            errors = process.stderr.read().decode("utf-8", "replace").strip()
            code = process.wait()
        return SearchEnd(0 if self._is_stopped else code, errors)


async def search(argv: Sequence[str], cwd: Path, take: Callable[[bytes], bool], signal: AbortSignal) -> SearchEnd:
    """Run a search program beside the event loop; an abort, or a cancelled wait, ends it at once."""

    # Loaded already; the search program, which shares this package, must not pay for it.

    process = SearchProcess(argv, cwd)
    remove = signal.on_abort(process.stop)
    try:
        return await to_thread(process.run, take)
    finally:
        remove()
        process.stop()
