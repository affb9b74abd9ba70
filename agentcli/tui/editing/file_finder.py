"""FileFinder: the files and folders below a folder, without what git ignores, found by a few letters of their paths.

The search program of the tools lists them, a process of its own: it is bounded in time and number and holds up no key.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from agentcli.agent.threads import to_thread
from agentcli.tools.search_order import SearchOrder
from agentcli.tools.search_process import SearchProcess, plain_search
from agentcli.tui.editing.query import Query

MAX_FILES = 100_000
MAX_SECONDS = 10.0
FRESH_S = 5.0
"""A list that is older is made anew. Meanwhile the old one answers."""
MAX_LISTED = 10_000
"""Entries of one folder."""


class FileFinder:
    """Args:
    cwd: the folder. Paths are relative to it; those of folders end in `/`.
    """

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.problem = ""
        """Why there is no list; empty if there is one."""
        self._paths: list[str] = []
        self._listed_at = -FRESH_S
        self._process: SearchProcess | None = None
        self._loading: asyncio.Task[None] | None = None

    @property
    def is_loading(self) -> bool:
        return self._loading is not None and not self._loading.done()

    def refresh(self) -> None:
        """Make the list anew, if it is not fresh and not being made."""
        if not self.is_loading and time.monotonic() - self._listed_at > FRESH_S:
            self._loading = asyncio.create_task(self._load(), name="list files")

    async def wait(self, seconds: float) -> None:
        """Wait until the list is there, but not for longer."""
        if self._loading is not None:
            await asyncio.wait([self._loading], timeout=seconds)

    async def find(self, letters: str, limit: int) -> list[str]:
        """The paths that the letters may mean, the likeliest first. While the list is made, from what there is."""
        return await to_thread(Query(letters).rank_paths, self._paths, limit)

    def close(self) -> None:
        if self._process is not None:
            self._process.stop()

    async def _load(self) -> None:
        found: list[str] = []
        if not self._paths:
            self._paths = found
        order = SearchOrder(kind="find", pattern="*", most=MAX_FILES)
        self._process = process = SearchProcess(plain_search(order), self.cwd)
        limit = asyncio.get_running_loop().call_later(MAX_SECONDS, process.stop)
        try:
            end = await to_thread(process.run, lambda line: _take(line, found))
            self.problem = "" if end.code == 0 else f"the files of {self.cwd} cannot be listed: {end.errors}"
        except OSError as error:
            self.problem = f"the files of {self.cwd} cannot be listed: {error.strerror}"
        finally:
            limit.cancel()
        # Without letters the nearest come first.
        self._paths = sorted(found, key=lambda path: (path.rstrip("/").count("/"), path.startswith(".")))
        self._listed_at = time.monotonic()


def list_folder(written: str, cwd: Path) -> list[str]:
    """The paths that a written one may become, as they would be written; those of folders end in `/`.

    Hidden ones only if the written name begins with a dot. A folder that cannot be read holds none.
    """
    name = written.rpartition("/")[2]
    before = written[: len(written) - len(name)]
    if written == "~":
        return ["~/"]
    place = cwd / os.path.expanduser(before) if before else cwd  # noqa: PTH111 (an unknown user stays as it is)
    return sorted(before + entry for entry in _entries(place, name))


def _entries(folder: Path, start: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number == MAX_LISTED:
                    return
                if entry.name.startswith(start) and (start or not entry.name.startswith(".")):
                    yield f"{entry.name}/" if entry.is_dir() else entry.name
    except (OSError, ValueError):
        # Not a folder, not to be read, or no name at all: nothing to complete.
        return


def _take(line: bytes, found: list[str]) -> bool:
    found.append(msgspec.json.decode(line, type=str))
    return True
