"""FileFinder: the files and directories below a directory, without those that git ignores, found by a few letters.

ripgrep lists them, as for the find tool: in a process of its own, limited in time and number, that delays no key.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

from agentcli.agent.errors import ToolError
from agentcli.agent.threads import to_thread
from agentcli.tools.files.paths import readable
from agentcli.tools.search.file_tree import LIST_ARGUMENTS, FileTree
from agentcli.tools.search.search_process import SearchProcess
from agentcli.tui.editing.query import Query

MAX_FILES = 100_000
MAX_SECONDS = 10.0
FRESH_S = 5.0
"""Seconds after which the list is made again. Meanwhile the old one is searched."""
MAX_LISTED = 10_000
"""Entries of one directory."""


class FileFinder:
    """Lists and searches paths.

    Args:
        cwd: the directory. Paths are relative to it; those of directories end in `/`.
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
        """Whether the list is being made."""
        return self._loading is not None and not self._loading.done()

    def refresh(self) -> None:
        """Make the list again, if it is older than `FRESH_S` and not being made."""
        if not self.is_loading and time.monotonic() - self._listed_at > FRESH_S:
            self._loading = asyncio.create_task(self._load(), name="list files")

    async def wait(self, seconds: float) -> None:
        """Wait until the list is there, but not for longer."""
        if self._loading is not None:
            await asyncio.wait([self._loading], timeout=seconds)

    async def find(self, letters: str, limit: int) -> list[str]:
        """The paths that fit the letters, the likeliest first. While the list is being made, of what there is."""
        return await to_thread(Query(letters).rank_paths, self._paths, limit)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.stop()

    async def _load(self) -> None:
        found: list[str] = []
        if not self._paths:
            self._paths = found
        tree = FileTree()

        def take(chunk: bytes) -> bool:
            found.extend(map(readable, tree.take(chunk)))
            return len(found) < MAX_FILES

        self._process = process = SearchProcess(LIST_ARGUMENTS, self.cwd, MAX_SECONDS)
        try:
            end = await to_thread(process.run, take)
            end.check(is_whole=True)
            await to_thread(lambda: found.extend(map(readable, tree.unlisted(self.cwd, process.is_stopped))))
            self.problem = ""
        except ToolError as error:
            self.problem = f"the files of {self.cwd} cannot be listed: {error}"
        del found[MAX_FILES:]
        # Without letters the nearest come first.
        self._paths = sorted(found, key=lambda path: (path.rstrip("/").count("/"), path.startswith("."), path))
        self._listed_at = time.monotonic()


def list_folder(written: str, cwd: Path) -> list[str]:
    """The paths that a written one may become, as they would be written; those of directories end in `/`.

    Hidden ones only if the written name begins with a dot. A directory that cannot be read counts as empty.
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
        # Not a directory, unreadable, or not a path: nothing to complete.
        return
